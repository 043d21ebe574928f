/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A running process: its program's file, load bias, threads, and memory, all read-only.
 */
#ifndef TARGET_PROCESS_H
#define TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "lib/map.h"
#include "target/elf.h"
#include "target/layout.h"

#define PROCESS_LISTINGS 16

struct process {
	pid_t pid; /* as the user gave it: in our PID namespace */
	int pidfd;
	int exe_fd;	      /* /proc/PID/exe, readable even when deleted; or its Go library */
	char exe[4096];	      /* the link's text, for messages; or the library's path */
	char exe_path[64];    /* "/proc/PID/exe": what it runs now */
	char attach_path[64]; /* "/proc/self/fd/N", exe_fd: this program, whatever it runs now */
	uint64_t program_dev, program_ino; /* of /proc/PID/exe when it was opened */
	char cmdline[1024];		   /* arguments joined by blanks */
	uint64_t start_time;		   /* field 22 of /proc/PID/stat: tells a reused PID */
	uint64_t start_stack;  /* field 28: another one, by chance, after each exec; 0: unknown */
	uint64_t bias;	       /* run-time minus link-time address; set by process__find_bias() */
	bool own_pid_ns;       /* the target lives in a PID namespace below ours */
	struct map ns_tids;    /* what its threads are called: ours to its own, and the other way */
	struct map host_tids;  /* round; a cache, see process__host_tid() */
	unsigned int listings; /* of its threads, since process__begin_reading() */
};

/* A small file below /proc/PID, up to size - 1 bytes, as a string; its length, or a negative errno. */
ssize_t process__read_file(pid_t pid, const char *name, char *buf, size_t size);
/* No such process, a kernel thread, a zombie, no permission: a reason and a negative errno. */
int process__open(struct process *ret, pid_t pid, struct error *err);
void process__deinit(struct process *proc);

/*
 * By /proc/PID/maps: the program's text must be mapped there from this very file, which is known by
 * its name there, or by its inode (names may be broken by newlines; inodes, by overlay file systems).
 */
int process__find_bias(struct process *proc, const struct elf_image *elf, struct error *err);

/* All or nothing: 0, or -EFAULT/-ESRCH/-EPERM. Addresses are the target's. */
int process__read(const struct process *proc, uint64_t addr, void *buf, size_t len);
/*
 * `len` bytes from each of `n` addresses into `buf`, one after the other, in few system calls;
 * ok[i] tells which could be read. 0, or -ESRCH/-EPERM.
 */
int process__read_many(const struct process *proc, const uint64_t *addr, size_t n, void *buf,
		       size_t len, bool *ok);
bool process__alive(const struct process *proc);
/*
 * It lives and runs what it ran when it was opened: false after an exec of another program, and,
 * where addresses are random, of the same one.
 */
bool process__is_same(const struct process *proc);
/*
 * The TID, in our PID namespace (the host's, when we run there), of the thread that the target's
 * namespace calls `nstid`; 0: none such. If the target has a namespace of its own, all its threads
 * are listed for an nstid that is not known yet; but no more than PROCESS_LISTINGS times for one
 * reading, since a target may name a hundred thousand threads that do not exist.
 */
uint32_t process__host_tid(const struct process *proc, uint64_t nstid);
/* A snapshot, or a check of all, begins: threads may be listed anew. */
void process__begin_reading(const struct process *proc);

/*
 * A library with Go code (-buildmode=c-shared) that the process has mapped, the first one: from here on
 * exe, exe_fd and attach_path are those of the library. For a program that is none of Go's.
 */
bool process__use_go_library(struct process *proc);

/*
 * The live checks. For every M with a thread: m.procid is a thread of this process, m.g0.m == m, g0's
 * stack bounds are sane, m.p and m.oldp are Ps, m.p.m == m, m.curg.m == m, its block reason is one.
 * For every P: its id, a known status and worker mode. For every G reachable from allgs: sane bounds,
 * a known status and reason, an id that no other has, and, when it waits, its stack pointer within its
 * bounds. (Of very many Ms and Gs, a part.) At least one M must have been checked. The process runs meanwhile, so that a disagreement
 * may be a change that was half done: only one that is still there at the third look counts, as
 * -EPROTO and the reason: the offsets are wrong for this process. In target/live.c.
 */
int process__check_layout(const struct process *proc, const struct layout *layout,
			  struct error *err);

#endif
