// SPDX-License-Identifier: GPL-2.0
/*
 * Compares pages in use with their copies: do they map the same file, and have the same contents?
 *
 * A copy is a fresh mapping of the executable. The kernel puts the breakpoints of uprobes into it
 * at once (uprobe_mmap() of kernel/events/uprobes.c), so it differs from the file exactly where
 * uprobes are; the page in use differs from it where a debugger or an earlier run has written.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inline/pages_impl.h"
#include "target/arch/arch.h"

/* ---- mappings ---- */

/* Where an address is mapped from, as /proc/PID/maps has it. */
struct mapping {
	uint64_t addr;	 /* looked for */
	uint64_t offset; /* of it in the file */
	char perms[5], dev[16];
	uint64_t inode;
	bool found;
};

static void take_line(const char *line, struct mapping *mapping, size_t n)
{
	uint64_t start, end, offset, inode;
	char perms[5], dev[16];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64, &start, &end,
		   perms, &offset, dev, &inode) != 6)
		return;
	for (size_t i = 0; i < n; i++) {
		struct mapping *m = &mapping[i];

		if (m->addr < start || m->addr >= end)
			continue;
		m->offset = offset + (m->addr - start);
		m->inode = inode;
		m->found = true;
		memcpy(m->perms, perms, sizeof(perms));
		memcpy(m->dev, dev, sizeof(dev));
	}
}

static int read_mappings(pid_t pid, struct mapping *mapping, size_t n)
{
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	while (getline(&line, &size, f) > 0)
		take_line(line, mapping, n);
	free(line);
	fclose(f);
	return 0;
}

/*
 * Device and inode of maps are not those of stat() on overlay and btrfs file systems, but equal for
 * two mappings of one file.
 */
static bool are_alike(const struct mapping *a, const struct mapping *b)
{
	return a->found && b->found && a->offset == b->offset && a->inode && a->inode == b->inode &&
	       !strcmp(a->dev, b->dev) && !strcmp(a->perms, "r-xp") && !strcmp(b->perms, "r-xp");
}

/* A page of a span that was replaced before may have a mapping of its own. */
static size_t list_pages(const struct swap *s, struct mapping *used, struct mapping *copy)
{
	size_t n = 0;

	for (size_t i = 0; i < s->spans; i++)
		for (unsigned int page = 0; page < s->span[i].pages; page++, n++) {
			used[n].addr = s->span[i].addr + page * PAGE;
			copy[n].addr = s->span[i].copy + page * PAGE;
		}
	return n;
}

int swap__check_mappings(const struct swap *s, struct error *error)
{
	const size_t max = SPANS_MAX * SPAN_MAX;
	struct mapping *used = calloc(2 * max, sizeof(*used)), *copy = used + max;
	size_t n = used ? list_pages(s, used, copy) : 0;
	int err = used ? read_mappings(s->target->pid, used, 2 * max) : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		if (!are_alike(&used[i], &copy[i]))
			err = error__set(error, -ENOTSUP,
					 "process %d does not map its executable at %#" PRIx64
					 " (it may have been remapped to huge pages); record with "
					 "--probes=uprobe",
					 s->target->pid, used[i].addr);
	free(used);
	return err;
}

/* ---- contents ---- */

void swap__patch(const struct swap *s, const struct span *span, unsigned char *bytes)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct page_patch *patch = &s->patch[i];
		uint64_t at = patch->addr - span->addr;

		if (patch->addr >= span->addr && at + patch->len <= span->pages * PAGE)
			memcpy(bytes + at, patch->now, patch->len);
	}
}

static int refuse(const struct swap *s, uint64_t addr, const char *what, struct error *error)
{
	return error__set(error, -EBUSY,
			  "the code of process %d at %#" PRIx64 " differs from its file (%s): "
			  "another tracer or a debugger changes it; record with --probes=uprobe",
			  s->target->pid, addr, what);
}

static const char *kind_of(unsigned char byte)
{
	return byte == ARCH_BREAKPOINT ? "a breakpoint" : "modified";
}

static int read_span(struct swap *s, const struct span *span)
{
	size_t size = span->pages * PAGE;

	if (inject__read(s->target->mem_fd, span->addr, s->live, size) ||
	    inject__read(s->target->mem_fd, span->copy, s->copy, size))
		return -EPROTO;
	return 0;
}

/* The copy is as in the file, as far as the ELF segment extends, and the page as its copy. */
static int check_untouched(struct swap *s, const struct span *span, struct error *error)
{
	size_t size = span->pages * PAGE;
	size_t known = elf_image__read(s->target->elf, span->addr - s->target->bias, s->file, size);

	for (size_t i = 0; i < size; i++) {
		if (i < known && s->copy[i] != s->file[i])
			return refuse(s, span->addr + i,
				      s->copy[i] == ARCH_BREAKPOINT ? "a uprobe" : "modified file",
				      error);
		if (s->live[i] != s->copy[i])
			return refuse(s, span->addr + i, kind_of(s->live[i]), error);
	}
	return 0;
}

/* The page is as its copy, or has our patches. */
static int check_patched(struct swap *s, const struct span *span, struct error *error)
{
	size_t size = span->pages * PAGE;

	memcpy(s->file, s->copy, size);
	swap__patch(s, span, s->file);
	for (size_t i = 0; i < size; i++)
		if (s->live[i] != s->copy[i] && s->live[i] != s->file[i])
			return refuse(s, span->addr + i, kind_of(s->live[i]), error);
	return 0;
}

/* The instructions are what the caller takes them for. */
static int check_instructions(const struct swap *s, struct error *error)
{
	unsigned char now[PATCH_MAX];

	for (size_t i = 0; i < s->n; i++)
		if (inject__read(s->target->mem_fd, s->patch[i].addr, now, s->patch[i].len) ||
		    memcmp(now, s->patch[i].was, s->patch[i].len))
			return refuse(s, s->patch[i].addr, "another instruction", error);
	return 0;
}

int swap__check_contents(struct swap *s, bool patched, struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < s->spans && !err; i++) {
		err = read_span(s, &s->span[i]);
		if (err)
			return error__set(error, err,
					  "the code of process %d cannot be compared with its file",
					  s->target->pid);
		err = patched ? check_untouched(s, &s->span[i], error) :
				check_patched(s, &s->span[i], error);
	}
	return err || !patched ? err : check_instructions(s, error);
}
