// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces pages of code while other threads execute them: see pages.h.
 *
 * The executable's page is mapped once more, private and with the file behind it; the copy is
 * patched through /proc/PID/mem; mremap() then moves it over the page in use. mremap() unmaps the
 * old page and moves the new one while it holds mmap_lock for writing (mremap_to()), so a thread
 * that executes there finds the old page, or waits in a page fault for the new one. The CPUs that
 * run the process are interrupted to flush their TLBs, and return by IRET, which serializes: none
 * sees part of a patch. The file stays behind the page, so uprobes in it work as before.
 *
 * Linux before 6.16 could lose the accounting of a page if mremap() merged mappings that have
 * uprobes (fixed by 2b12d06c37fd); pages with uprobes are therefore not patched.
 */
#include "inline/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "inline/pages_impl.h"
#include "target/process/proc.h"

/* ---- which pages ---- */

/* Adds the pages of a patch. Spans that share a page become one. */
static int add_span(struct swap *s, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < s->spans; i++) {
		struct span *span = &s->span[i];
		uint64_t end = span->addr + (span->pages - 1) * PAGE;

		if (last < span->addr || first > end)
			continue;
		first = first < span->addr ? first : span->addr;
		last = last > end ? last : end;
		*span = s->span[--s->spans];
		return add_span(s, first, last);
	}
	if (s->spans == SPANS_MAX || last - first >= SPAN_MAX * PAGE)
		return -E2BIG;
	s->span[s->spans++] =
		(struct span){ .addr = first, .pages = (unsigned int)((last - first) / PAGE) + 1 };
	return 0;
}

static int find_spans(struct swap *s, struct error *error)
{
	for (size_t i = 0; i < s->n; i++) {
		uint64_t first = s->patch[i].addr, last = first + s->patch[i].len - 1;

		if (add_span(s, first & ~(PAGE - 1), last & ~(PAGE - 1)))
			return error__set(error, -E2BIG, "too many pages of code to change");
	}
	for (size_t i = 0; i < s->spans; i++)
		if (injection__uses(s->inj, s->span[i].addr, s->span[i].pages * PAGE))
			return error__set(error, -ENOTSUP,
					  "the code to change is in the same page as the start-up "
					  "code, which inline probes need; record with "
					  "--probes=uprobe");
	return 0;
}

/* ---- the file ---- */

/* Whether the file that the process has opened is the one that was analysed. */
static bool is_the_file(const struct swap *s)
{
	const struct stat *want = elf_image__stat(s->target->elf);
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", s->target->pid, s->fd);
	return !proc__stat(path, &st) && st.st_dev == want->st_dev && st.st_ino == want->st_ino;
}

static int open_file(struct swap *s, struct error *error)
{
	uint64_t path = injection__string(s->inj, "/proc/self/exe");

	if (!path)
		return error__set(error, -EIO, "cannot write to the code of process %d",
				  s->target->pid);
	s->fd = INJECT_CALL(s->inj, SYS_openat, (uint64_t)AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return error__set(error, (int)s->fd,
				  "process %d cannot open its own program, /proc/self/exe: %s; "
				  "record with --probes=uprobe",
				  s->target->pid, strerror((int)-s->fd));
	if (is_the_file(s))
		return 0;
	return error__set(error, -ENOTSUP,
			  "the Go code of process %d is not in its own executable; record with "
			  "--probes=uprobe",
			  s->target->pid);
}

static void close_file(struct swap *s)
{
	if (s->fd >= 0)
		INJECT_CALL(s->inj, SYS_close, (uint64_t)s->fd);
}

/* ---- copies ---- */

static int64_t offset_of(const struct swap *s, const struct span *span)
{
	return elf_image__offset(s->target->elf, span->addr - s->target->bias);
}

static int map_copy(struct swap *s, struct span *span)
{
	int64_t offset = offset_of(s, span);
	long at;

	if (offset < 0)
		return -EPROTO;
	at = INJECT_CALL(s->inj, SYS_mmap, 0, span->pages * PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE, (uint64_t)s->fd, (uint64_t)offset);
	if (at < 0)
		return (int)at;
	span->copy = (uint64_t)at;
	return 0;
}

static void unmap_copies(struct swap *s)
{
	for (size_t i = 0; i < s->spans; i++)
		if (s->span[i].copy)
			INJECT_CALL(s->inj, SYS_munmap, s->span[i].copy, s->span[i].pages * PAGE);
}

/* Addresses for all copies, one behind the other: each is then mapped where it is expected. */
static int place_copies(struct swap *s)
{
	uint64_t size = 0;
	long at;

	for (size_t i = 0; i < s->spans; i++)
		size += s->span[i].pages * PAGE;
	at = INJECT_CALL(s->inj, SYS_mmap, 0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 (uint64_t)-1);
	if (at < 0)
		return (int)at;
	for (size_t i = 0; i < s->spans; i++) {
		s->span[i].copy = (uint64_t)at;
		at += (long)(s->span[i].pages * PAGE);
	}
	return 0;
}

static int map_copies(struct swap *s)
{
	struct inject_call call[SPANS_MAX];
	size_t done;
	int err;

	for (size_t i = 0; i < s->spans; i++)
		if (offset_of(s, &s->span[i]) < 0)
			return -EPROTO;
	err = place_copies(s);
	if (err)
		return err;
	for (size_t i = 0; i < s->spans; i++) {
		const struct span *span = &s->span[i];

		call[i] = (struct inject_call){
			.number = SYS_mmap,
			.arg = { span->copy, span->pages * PAGE, PROT_READ | PROT_EXEC,
				 MAP_PRIVATE | MAP_FIXED, (uint64_t)s->fd,
				 (uint64_t)offset_of(s, span) },
			.expect = span->copy,
		};
	}
	return (int)injection__calls(s->inj, call, s->spans, &done);
}

static int patch_copies(struct swap *s)
{
	int err = 0;

	for (size_t i = 0; i < s->spans && !err; i++) {
		const struct span *span = &s->span[i];
		size_t size = span->pages * PAGE;

		err = inject__read(s->target->mem_fd, span->copy, s->copy, size);
		swap__patch(s, span, s->copy);
		if (!err)
			err = inject__write(s->target->mem_fd, span->copy, s->copy, size);
	}
	return err;
}

/* ---- replacement ---- */

/*
 * mremap() unmaps the old pages first, and may then fail to allocate memory: map the file again at
 * once, which needs no more memory than was just released.
 */
static void close_gap(struct swap *s, const struct span *span)
{
	unsigned char byte;

	if (inject__read(s->target->mem_fd, span->addr, &byte, sizeof(byte)))
		INJECT_CALL(s->inj, SYS_mmap, span->addr, span->pages * PAGE, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED, (uint64_t)s->fd, (uint64_t)offset_of(s, span));
}

static struct inject_call replacement(const struct span *span)
{
	uint64_t size = span->pages * PAGE;

	return (struct inject_call){
		.number = SYS_mremap,
		.arg = { span->copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, span->addr },
		.expect = span->addr,
	};
}

/* Replaces all pages by other copies, whether they have been replaced or not. */
static void undo(struct swap *s)
{
	size_t done;

	for (size_t i = 0; i < s->spans; i++) {
		const struct span *span = &s->span[i];
		struct span again = { span->addr, span->pages, 0 };
		struct inject_call call;

		if (map_copy(s, &again))
			continue;
		call = replacement(&again);
		injection__calls(s->inj, &call, 1, &done);
	}
}

static int replace_all(struct swap *s, bool patched)
{
	struct inject_call call[SPANS_MAX + 1];
	size_t n = s->spans, done;
	int err;

	for (size_t i = 0; i < n; i++)
		call[i] = replacement(&s->span[i]);
	call[n] = (struct inject_call){ .number = SYS_close, .arg = { (uint64_t)s->fd } };
	err = (int)injection__calls(s->inj, call, n + 1, &done);
	for (size_t i = 0; i < n && i < done; i++)
		s->span[i].copy = 0;
	if (done >= n)
		s->fd = -1;
	if (err == -ESRCH || err == -ETIMEDOUT)
		return err;
	if (done >= n)
		return 0;
	close_gap(s, &s->span[done]);
	/* Unless mremap() failed, more may be done; others may have got the addresses of the copies. */
	for (size_t i = done; i < n && err != -ENOMEM; i++)
		s->span[i].copy = 0;
	if (patched)
		undo(s);
	return err;
}

static int swap_pages(struct swap *s, bool patched, struct error *error)
{
	int err = map_copies(s);

	if (!err)
		err = swap__check_mappings(s, error);
	if (!err)
		err = swap__check_contents(s, patched, error);
	if (!err && patched)
		err = patch_copies(s);
	if (!err)
		err = replace_all(s, patched);
	if (!err)
		return 0;
	unmap_copies(s);
	return error__set(error, err, "the code of process %d cannot be changed: %s",
			  s->target->pid, strerror(-err));
}

int pages__swap(struct injection *inj, const struct pages_target *target,
		const struct page_patch *patch, size_t n, bool patched, struct error *error)
{
	struct swap *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->inj = inj;
	s->target = target;
	s->patch = patch;
	s->n = n;
	s->fd = -1;
	err = find_spans(s, error);
	if (!err)
		err = open_file(s, error);
	if (!err)
		err = swap_pages(s, patched, error);
	close_file(s);
	free(s);
	return err;
}
