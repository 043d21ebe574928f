// SPDX-License-Identifier: GPL-2.0
/*
 * Maps the three areas of gotrace/inline.h into a process and patches its code: see install.h.
 *
 * One thread of the process, which sleeps, makes the system calls; the others run on. A jump appears
 * in the code when its page is replaced by a patched copy (pages.c).
 */
#include "inline/install.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inline/areas.h"
#include "inline/leftover.h"
#include "inline/trampoline.h"
#include "target/process/proc.h"
#include "target/arch/arch.h"

#define LINE(n) (((n) + 63) & ~63ull)

static int cannot(const struct installation *s, const char *what, long err, struct error *error)
{
	return error__set(error, (int)err, "process %d cannot %s (%s): record with --probes=uprobe",
			  s->proc->pid, what, strerror((int)-err));
}

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

static int refuse_mdwe(const struct installation *s, struct injection *inj, struct error *error)
{
	if (INJECT_CALL(inj, SYS_prctl, PR_GET_MDWE) <= 0) /* -EINVAL: before Linux 6.3 */
		return 0;
	return error__set(error, -ENOTSUP,
			  "process %d forbids itself new executable memory (PR_SET_MDWE), which "
			  "inline probes need; record with --probes=uprobe",
			  s->proc->pid);
}

static void unmap(const struct installation *s, struct injection *inj)
{
	INJECT_CALL(inj, SYS_munmap, s->in.code, s->in.code_bytes);
	INJECT_CALL(inj, SYS_munmap, s->in.flag, AREA_PAGE);
	if (s->in.rings)
		INJECT_CALL(inj, SYS_munmap, s->in.rings, s->in.ring_bytes);
}

static int switch_flag(int mem_fd, uint64_t flag, bool on)
{
	uint64_t word = on;

	return inject__write(mem_fd, flag, &word, sizeof(word)) ? -ESRCH : 0;
}

/* The areas of code and of the flag, one behind the other, and that of the rings. */
static int map_areas(struct installation *s, struct injection *inj, struct error *error)
{
	struct gt_inline *in = &s->in;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	long code, flag, rings = -ENOMEM, err;

	in->rings = 0;
	code = INJECT_CALL(inj, SYS_mmap, in->code, in->code_bytes, PROT_READ | PROT_EXEC, flags,
			   -1);
	if (code < 0)
		return cannot(s, "map executable memory", code, error);
	if ((uint64_t)code != in->code) { /* before Linux 4.17 */
		INJECT_CALL(inj, SYS_munmap, (uint64_t)code, in->code_bytes);
		return cannot(s, "map memory near its code", -EEXIST, error);
	}
	flag = INJECT_CALL(inj, SYS_mmap, in->flag, AREA_PAGE, PROT_READ, flags, -1);
	err = flag < 0 ? flag : INJECT_CALL(inj, SYS_madvise, in->flag, AREA_PAGE, MADV_WIPEONFORK);
	if (err >= 0)
		err = rings = INJECT_CALL(inj, SYS_mmap, 0, in->ring_bytes, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1);
	if (rings > 0)
		in->rings = (uint64_t)rings;
	if (rings > 0)
		err = INJECT_CALL(inj, SYS_madvise, in->rings, in->ring_bytes, MADV_DONTDUMP);
	if (err >= 0)
		return 0;
	unmap(s, inj);
	return cannot(s, "map memory", err, error);
}

/* Behind the stubs: the process cannot write it, and no thread runs it. */
static uint64_t table_at(uint64_t code)
{
	return code + GT_INLINE_CODE - INJECT_BATCH * sizeof(struct inject_call);
}

static int write_code(struct installation *s, struct error *error)
{
	const struct trampoline_code code = trampoline__code();
	uint64_t handler = s->in.code + TRAMPOLINE_AT + code.entry,
		 at = s->in.code + TRAMPOLINE_AT + LINE(code.size);
	static unsigned char bytes[GT_INLINE_CODE];

	memset(bytes, ARCH_BREAKPOINT, sizeof(bytes));
	memcpy(bytes + TRAMPOLINE_AT, code.bytes, code.size);
	for (size_t i = 0; i < s->in.nsites; i++, at += GT_INLINE_STUB) {
		s->in.site[i].stub = at;
		trampoline__stub(bytes + (at - s->in.code), &s->in, (uint32_t)i, handler);
	}
	memcpy(bytes, &s->in, sizeof(s->in));
	if (at > table_at(s->in.code))
		return cannot(s, "hold the code of inline probes", -ENOSPC, error);
	if (inject__write(s->mem_fd, s->in.code, bytes, sizeof(bytes)))
		return cannot(s, "be written to", -EIO, error);
	return 0;
}

static struct pages_target target_of(const struct installation *s)
{
	return (struct pages_target){
		.pid = s->proc->pid,
		.mem_fd = s->mem_fd,
		.elf = s->elf,
		.bias = s->proc->bias,
	};
}

static size_t make_patches(const struct installation *s, struct page_patch *ret)
{
	for (size_t i = 0; i < s->in.nsites; i++) {
		const struct gt_inline_site *site = &s->in.site[i];

		ret[i] = (struct page_patch){ .addr = site->addr, .len = site->size };
		memcpy(ret[i].was, site->was, sizeof(site->was));
		trampoline__patch(site, ret[i].now);
	}
	return s->in.nsites;
}

static int swap(const struct installation *s, struct injection *inj, const struct page_patch *patch,
		size_t n, bool patched, struct error *error)
{
	const struct pages_target target = target_of(s);

	return pages__swap(inj, &target, patch, n, patched, error);
}

static int swap_sites(struct installation *s, struct injection *inj, bool patched,
		      struct error *error)
{
	struct page_patch patch[GT_INLINE_SITES];
	int err = swap(s, inj, patch, make_patches(s, patch), patched, error);

	if (!err || err == -ETIMEDOUT) /* then it may be done yet */
		s->patched = patched || err;
	return err;
}

/* ---- one stop of one thread for all that is to be done ---- */

static int begin(struct installation *s, struct injection **ret, struct error *error)
{
	const struct inject_target target = {
		.pid = s->proc->pid,
		.mem_fd = s->mem_fd,
		.stub = s->start_code + s->proc->bias,
		.stub_size = s->start_code_size,
		.stub_file = s->start_bytes,
	};

	return injection__begin(ret, &target, error);
}

static int end(struct installation *s, struct injection *inj, int err, struct error *error)
{
	struct error why = {};
	int failed = injection__end(inj, &why, &s->held_ns);

	if (failed)
		error__set(error, err ?: failed, "%s", why.text);
	return err ? cannot(s, "map memory", err, error) : failed; /* unless there is a reason */
}

/*
 * Replaces the memory of the rings, at the same addresses: the former memory is freed, and a child
 * that the process has forked does not share the new one. A thread that is still in the handler
 * writes into the new memory.
 */
static int renew_rings(const struct installation *s, struct injection *inj)
{
	const struct gt_inline *in = &s->in;
	const struct inject_call call[] = {
		{ SYS_mmap,
		  { in->rings, in->ring_bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1 },
		  in->rings },
		{ SYS_madvise, { in->rings, in->ring_bytes, MADV_DONTDUMP }, 0 },
	};
	size_t done;

	return (int)injection__calls(inj, call, 2, &done);
}

/* The code of the program as an earlier recorder left it. The areas found are used again. */
static int remove_leftover(struct installation *s, struct injection *inj, struct error *error)
{
	const struct pages_target target = target_of(s);
	struct leftover left;
	int found = leftover__find(&left, &target, &s->in), err = 0;

	if (found <= 0)
		return found;
	if (left.fits)
		injection__use_table(inj, table_at(left.code));
	if (left.patches) {
		switch_flag(s->mem_fd, left.flag, false);
		err = swap(s, inj, left.patch, left.patches, false, error);
	}
	if (err || !left.fits)
		return err;
	s->in.code = left.code;
	s->in.flag = left.flag;
	s->in.rings = left.rings;
	err = renew_rings(s, inj);
	s->mapped = !err;
	return err;
}

static int install(struct installation *s, struct injection *inj, struct error *error)
{
	int err = remove_leftover(s, inj, error);
	bool is_new = false;

	if (!err)
		err = refuse_mdwe(s, inj, error);
	if (!err && !s->mapped) {
		err = areas__place(s->proc, s->elf, &s->in, error);
		if (!err)
			err = map_areas(s, inj, error);
		s->mapped = is_new = !err;
	}
	if (!err)
		err = installation__switch(s, false);
	if (!err)
		err = write_code(s, error);
	if (!err)
		injection__use_table(inj, table_at(s->in.code));
	if (!err)
		err = swap_sites(s, inj, true, error);
	if (err && is_new) { /* no thread has been there */
		unmap(s, inj);
		s->mapped = false;
	}
	return err;
}

int installation__prepare(struct installation *s, uint64_t start, uint64_t size,
			  struct error *error)
{
	s->mem_fd = s->proc_fd = -1;
	s->start_code = start;
	s->start_code_size = size < sizeof(s->start_bytes) ? size : sizeof(s->start_bytes);
	if (elf_image__read(s->elf, start, s->start_bytes, s->start_code_size) ==
	    s->start_code_size)
		return 0;
	return error__set(error, -EPROTO, "the program's file does not contain its start-up code");
}

int installation__open(struct installation *s, struct error *error)
{
	s->mem_fd = inject__open(s->proc->pid, O_RDWR, error);
	if (s->mem_fd < 0)
		return s->mem_fd;
	s->proc_fd = proc__directory();
	if (s->proc_fd < 0)
		return error__set(error, s->proc_fd, "/proc: %s", strerror(-s->proc_fd));
	return process__check_same(s->proc, error);
}

int installation__install(struct installation *s, struct error *error)
{
	struct injection *inj;
	int err;

	areas__shape(&s->in);
	for (size_t i = 0; i < s->in.nsites; i++)
		s->in.site[i].addr += s->proc->bias;
	err = begin(s, &inj, error);
	return err ? err : end(s, inj, install(s, inj, error), error);
}

int installation__switch(struct installation *s, bool on)
{
	return switch_flag(s->mem_fd, s->in.flag, on);
}

uint64_t installation__foreign(const struct installation *s)
{
	struct page_patch patch[GT_INLINE_SITES];
	unsigned char now[PATCH_MAX];
	size_t n = make_patches(s, patch);

	for (size_t i = 0; i < n; i++)
		if (!process__read(s->proc, patch[i].addr, now, patch[i].len) &&
		    memcmp(now, patch[i].now, patch[i].len))
			return patch[i].addr;
	return 0;
}

/* The process has ended, or executed another program. */
static bool is_over(const struct installation *s)
{
	return !process__alive(s->proc) || !areas__are_ours(s->mem_fd, &s->in);
}

static int take_out(struct installation *s, struct injection *inj, struct error *error)
{
	int err;

	injection__use_table(inj, table_at(s->in.code));
	err = swap_sites(s, inj, false, error);
	if (!err)
		renew_rings(s, inj);
	return err;
}

int installation__remove(struct installation *s, struct error *error)
{
	struct injection *inj;
	int err;

	if (!s->patched)
		return 0;
	if (is_over(s) || installation__switch(s, false)) {
		s->patched = false;
		return 0;
	}
	err = begin(s, &inj, error);
	if (err)
		return is_over(s) ? 0 : err;
	return end(s, inj, take_out(s, inj, error), error);
}

void installation__deinit(struct installation *s)
{
	if (s->mem_fd >= 0)
		close(s->mem_fd);
	if (s->proc_fd >= 0)
		close(s->proc_fd);
	s->mem_fd = s->proc_fd = -1;
}
