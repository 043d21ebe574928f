// SPDX-License-Identifier: GPL-2.0
/* See areas.h. Downstream: inject.c, for reading and writing memory. */
#include "inline/areas.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inline/inject.h"
#include "inline/mappings.h"

#define LOWEST		 0x10000ull   /* the usual vm.mmap_min_addr */
#define REACH		 (1ull << 30) /* of a jump, with a margin for the program's own size */
#define ROOM		 (2ull << 20) /* beside the program, free for itself */

#define SHARED_ANONYMOUS "/dev/zero (deleted)" /* its name; a memfd or SysV segment has another */

void areas__shape(struct gt_inline *in)
{
	in->magic[0] = GT_INLINE_MAGIC0;
	in->magic[1] = GT_INLINE_MAGIC1;
	in->slots = AREA_SLOTS;
	in->code_bytes = GT_INLINE_CODE;
	in->stride = GT_INLINE_HEAD + (uint64_t)in->slots * GT_INLINE_SLOT;
	in->ring_bytes = GT_INLINE_SEEN_BYTES + GT_INLINE_RINGS * in->stride;
}

/* ---- a place ---- */

struct place {
	uint64_t text, size;  /* the program's code, in the process; bytes needed */
	uint64_t before, ret; /* the end of the mapping before; the place, or 0 */
};

/* In the last hole below the code; or the first above it that leaves room for the heap of C. */
static int look_at_hole(void *ctx, const struct mapping *m)
{
	struct place *p = ctx;
	uint64_t from = p->before < LOWEST ? LOWEST : p->before, to = m->start;

	p->before = m->end;
	if (to <= p->text) {
		uint64_t room = to > from + 2 * ROOM ? ROOM : AREA_PAGE;

		if (to > from + room + p->size + AREA_PAGE)
			p->ret = (to - room - p->size) & ~(AREA_PAGE - 1ull);
		return 0;
	}
	if (p->ret && p->text - p->ret < REACH)
		return 1;
	p->ret = 0;
	if (from < p->text + REACH / 2)
		from = p->text + REACH / 2;
	if (to > from + p->size + AREA_PAGE && from < p->text + REACH) {
		p->ret = (from + AREA_PAGE - 1) & ~(AREA_PAGE - 1ull);
		return 1;
	}
	return 0;
}

int areas__place(const struct process *proc, const struct elf_image *elf, struct gt_inline *in,
		 struct error *error)
{
	struct place p = { .text = in->site[0].addr, .size = in->code_bytes + AREA_PAGE };
	int err = mappings__each(proc->pid, look_at_hole, &p);

	if (err < 0)
		return error__set(error, err, "cannot read the memory map of process %d: %s",
				  proc->pid, strerror(-err));
	if (process__check_same(proc, error))
		return -ESRCH;
	if (!p.ret || (p.ret > p.text ? p.ret - p.text : p.text - p.ret) > REACH)
		return error__set(
			error, -ENOSPC,
			"process %d has no free addresses within 1 GiB of its code; record "
			"with --probes=uprobe",
			proc->pid);
	in->code = p.ret;
	in->flag = p.ret + in->code_bytes;
	return 0;
}

bool areas__are_ours(int mem_fd, const struct gt_inline *in)
{
	struct gt_inline now;

	return !inject__read(mem_fd, in->code, &now, sizeof(now)) && !memcmp(&now, in, sizeof(now));
}

/* ---- the rings ---- */

static bool is_anonymous(int fd)
{
	char path[64], name[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name));
	return n == sizeof(SHARED_ANONYMOUS) - 1 && !memcmp(name, SHARED_ANONYMOUS, (size_t)n);
}

/*
 * The file behind the process's mapping, or -errno. The process may have mapped anything there by
 * now: only memory of the kernel's own file system, as of our own mapping, is opened.
 */
static int open_rings(const struct process *proc, const struct gt_inline *in)
{
	void *own = mmap(NULL, AREA_PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char path[128], self[64];
	struct stat st, ours;
	int fd, err = 0;

	if (own == MAP_FAILED)
		return -ENOMEM;
	snprintf(self, sizeof(self), "/proc/self/map_files/%lx-%lx", (unsigned long)own,
		 (unsigned long)own + AREA_PAGE);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, proc->pid,
		 (uint64_t)in->rings, (uint64_t)(in->rings + in->ring_bytes));
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || stat(self, &ours))
		err = -errno;
	else if (st.st_dev != ours.st_dev || !is_anonymous(fd) || !S_ISREG(st.st_mode) ||
		 (uint64_t)st.st_size != in->ring_bytes)
		err = -EPROTO;
	munmap(own, AREA_PAGE);
	if (err && fd >= 0)
		close(fd);
	if (err)
		return err;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	err = open(self, O_RDWR | O_CLOEXEC);
	if (err < 0)
		err = -errno;
	close(fd);
	return err;
}

int areas__open_rings(const struct process *proc, const struct gt_inline *in, int *ret_fd,
		      void **ret, struct error *error)
{
	int fd = open_rings(proc, in);

	if (fd == -EPROTO)
		return error__set(error, fd, "process %d has replaced the memory of its rings",
				  proc->pid);
	if (fd < 0)
		return error__set(error, fd, "cannot open the rings of process %d: %s", proc->pid,
				  strerror(-fd));
	*ret_fd = fd;
	*ret = mmap(NULL, in->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return *ret == MAP_FAILED ?
		       error__set(error, -errno, "cannot map the rings: %s", strerror(errno)) :
		       0;
}
