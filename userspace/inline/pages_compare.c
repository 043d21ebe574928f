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

#include "inline/mappings.h"
#include "inline/pages_impl.h"
#include "target/arch/arch.h"

/* ---- mappings ---- */

/* Where an address is mapped from. */
struct place {
	uint64_t addr;	 /* looked for */
	uint64_t offset; /* of it in the file */
	struct mapping in;
	bool found;
};

struct places {
	struct place *place;
	size_t n;
};

static int look(void *ctx, const struct mapping *mapping)
{
	struct places *p = ctx;

	for (size_t i = 0; i < p->n; i++) {
		struct place *place = &p->place[i];

		if (place->addr < mapping->start || place->addr >= mapping->end)
			continue;
		place->offset = mapping->offset + (place->addr - mapping->start);
		place->in = *mapping;
		place->found = true;
	}
	return 0;
}

/*
 * Device and inode of maps are not those of stat() on overlay and btrfs file systems, but equal for
 * two mappings of one file.
 */
static bool are_alike(const struct place *a, const struct place *b)
{
	return a->found && b->found && a->offset == b->offset && a->in.inode &&
	       a->in.inode == b->in.inode && !strcmp(a->in.dev, b->in.dev) &&
	       !strcmp(a->in.perms, "r-xp") && !strcmp(b->in.perms, "r-xp");
}

/* A page of a span that was replaced before may have a mapping of its own. */
static size_t list_pages(const struct swap *s, struct place *used, struct place *copy)
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
	struct place *used = calloc(2 * max, sizeof(*used)), *copy = used + max;
	struct places all = { used, 2 * max };
	size_t n = used ? list_pages(s, used, copy) : 0;
	int err = !used ? -ENOMEM : mappings__each(s->target->pid, look, &all) ? -ESRCH : 0;

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
