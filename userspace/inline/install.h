/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Puts inline probes into a process, and takes them out again.
 *
 * Upstream: guardian.c, whose process makes all changes. Downstream: inject.c, pages.c.
 */
#ifndef INLINE_INSTALL_H
#define INLINE_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/inline.h"
#include "inline/inject.h"
#include "inline/pages.h"
#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/process/process.h"

#define INSTALL_STUB_MAX 512

/* What is in the process, or is to be. The caller sets the members up to `in`. */
struct installation {
	const struct process *proc;
	const struct elf_image *elf;
	struct gt_inline in; /* sites with link-time addresses, offsets */
	uint64_t start_code,
		start_code_size; /* of runtime.rt0_go, which runs only once; link-time */
	int mem_fd;		 /* the process's memory, for reading and writing; -1: not open */
	int proc_fd;		 /* /proc, for the guardian; -1: not open */
	bool mapped, patched;
	uint64_t held_ns; /* how long a thread was held, the last time */
	unsigned char start_bytes[INSTALL_STUB_MAX];
};

/* Reads the start-up code from the file: `size` bytes at the link-time address `start`. */
int installation__prepare(struct installation *s, uint64_t start, uint64_t size,
			  struct error *error);

/* Opens the process's memory and /proc, before the others. -ESRCH: it ended or executed another program. */
int installation__open(struct installation *s, struct error *error);

/*
 * Removes what a recorder that was killed has left, maps the areas or uses those of an earlier
 * recording, and patches the sites. Nothing is recorded yet. On success `in` has the addresses. On
 * failure the program's code is as before.
 */
int installation__install(struct installation *s, struct error *error);

/* Whether threads of the process write records. 0, or -ESRCH if it has ended. */
int installation__switch(struct installation *s, bool on);

/*
 * The address of an instruction that another tracer or a debugger has changed since; 0: there is none.
 * Called by the recorder.
 */
uint64_t installation__foreign(const struct installation *s);

/*
 * Restores the code of the program. The areas stay: a thread may be in the handler. -EBUSY with the
 * reason: not now; otherwise it is done, or the process has ended.
 */
int installation__remove(struct installation *s, struct error *error);
void installation__deinit(struct installation *s);

#endif
