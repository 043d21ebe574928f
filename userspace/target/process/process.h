/* SPDX-License-Identifier: GPL-2.0 */
/* A running process: its program's file, load bias, threads, and memory, all read-only. */
#ifndef TARGET_PROCESS_H
#define TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"
#include "lib/map.h"
#include "target/elf/elf.h"
#include "target/layout/layout.h"

#define PROCESS_LISTINGS 16

struct process {
	pid_t pid; /* in our PID namespace */
	int pidfd;
	int exe_fd;	      /* /proc/PID/exe, readable even when deleted; or its Go library */
	char exe[4096];	      /* target of the link, for messages; or the library's path */
	char exe_path[64];    /* "/proc/PID/exe": the program running now */
	char attach_path[64]; /* "/proc/self/fd/N" of exe_fd: this program, even after exec */
	uint64_t program_dev, program_ino; /* of /proc/PID/exe when it was opened */
	char cmdline[1024];		   /* arguments separated by blanks */
	uint64_t start_time;   /* field 22 of /proc/PID/stat: differs for a reused PID */
	uint64_t start_stack;  /* field 28: random, differs after each exec; 0: unknown */
	uint64_t bias;	       /* run-time minus link-time address; set by process__find_bias() */
	bool own_pid_ns;       /* the target is in a PID namespace below ours */
	struct map ns_tids;    /* TIDs in its namespace by ours, and the other way */
	struct map host_tids;  /* round: a cache, see process__host_tid() */
	unsigned int listings; /* of threads, since process__begin_reading() */
};

/*
 * Reads a file below /proc/PID as a string, at most size - 1 bytes: its length or a negative errno.
 */
ssize_t process__read_file(pid_t pid, const char *name, char *buf, size_t size);
/* Copies the value of "KEY:" in /proc/PID/`file`: "status", or "task/TID/status". */
bool process__status(pid_t pid, const char *file, const char *key, char *ret, size_t size);
bool process__runs_this_program(pid_t pid); /* the same file as this process */
/*
 * Negative errno with a reason: no process, kernel thread, zombie, no permission. Caller deinits.
 */
int process__open(struct process *ret, pid_t pid, struct error *error);
void process__deinit(struct process *proc);

/*
 * Sets `bias` from /proc/PID/maps, which must map the program's text from this very file,
 * identified by its name or its inode (newlines break names; overlay file systems break inodes).
 * -EPROTO with a reason: not found.
 */
int process__find_bias(struct process *proc, const struct elf_image *elf, struct error *error);

/* Reads all `len` bytes at an address of the target: 0, or -EFAULT, -ESRCH, -EPERM. */
int process__read(const struct process *proc, uint64_t addr, void *buf, size_t len);
/*
 * Reads `len` bytes from each of `n` addresses into consecutive parts of `buf`, in few system
 * calls; ok[i]: part i could be read. 0, -ESRCH or -EPERM.
 */
int process__read_many(const struct process *proc, const uint64_t *addr, size_t n, void *buf,
		       size_t len, bool *ok);
/*
 * The same for ranges of different sizes, which are not 0; part i follows part i - 1.
 */
struct process_range {
	uint64_t addr;
	size_t len;
};

int process__read_ranges(const struct process *proc, const struct process_range *range, size_t n,
			 void *buf, bool *ok);
bool process__alive(const struct process *proc);
/*
 * Whether it is alive and runs the same program as when it was opened: false after an exec of
 * another program and, with randomized addresses, of the same one.
 */
bool process__is_same(const struct process *proc);
/*
 * Whether it executed another program. False for a process that is ending: before its end is visible,
 * it has no program any more.
 */
bool process__was_replaced(const struct process *proc);
/* 0, or -ESRCH with that reason. */
int process__check_same(const struct process *proc, struct error *error);
/*
 * The TID in our PID namespace (the host's, if we run there) of the thread that the target's
 * namespace calls `nstid`; 0: none. If the target has its own namespace, an unknown nstid causes
 * all threads to be listed, but at most PROCESS_LISTINGS times per reading, since a target may name
 * a hundred thousand threads that do not exist.
 */
uint32_t process__host_tid(const struct process *proc, uint64_t nstid);
/* Called at the start of a snapshot or of all checks: allows threads to be listed again. */
void process__begin_reading(const struct process *proc);

/*
 * The live checks, in target/process/live.c. For every M with a thread: m.procid is a thread of
 * this process, m.g0.m == m, valid stack bounds of g0 (or, of more than 4 GiB, a stack pointer
 * near the upper one), m.p and m.oldp are Ps, m.p.m == m, m.curg.m == m, a valid block reason.
 * For every P: its id, a known status and worker mode. For every G in allgs: valid bounds, a
 * known status and reason, a unique id, and, if it waits, a stack pointer within bounds. (Of very
 * many Ms and Gs, a sample.) A mismatch may be a change in progress: only one that persists at
 * the third attempt is reported, as -EPROTO with a reason.
 */
int process__check_layout(const struct process *proc, const struct layout *layout,
			  struct error *error);

#endif
