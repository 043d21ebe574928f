/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel flight recorder: writing its checkpoints, and reading a flight recorder buffer.
 *
 * The probes write into a session of the kernel module (gotrace/uapi.h), which overwrites its
 * oldest records; no process drains them. A checkpoint is a raw file (rawfile.h) without records: a
 * header that describes the program, a pair of snapshots, and the frames of the PCs in the
 * session's stack table. The result of a recovery is a raw file, too, with the records of the
 * rings, so that the trace is made by the same code as all others. Upstream: kmod.h. Downstream:
 * rawfile/replay.c.
 */
#ifndef BLACKBOX_BLACKBOX_H
#define BLACKBOX_BLACKBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "rawfile/rawfile.h"

/* ---- writing checkpoints; errors are negative errnos ---- */

/*
 * t0 of the first checkpoint, which is written before the first probe is attached. Later ones have
 * the real t0.
 */
#define BLACKBOX_NOT_BEGUN UINT64_MAX

struct blackbox_writer;

/* Copies both; what the symbolizer refers to must outlive the writer. */
int blackbox_writer__create(struct blackbox_writer **ret, const struct raw_header *facts,
			    const struct symbolizer *symbolizer);
void blackbox_writer__destroy(struct blackbox_writer *w);
/*
 * Makes a checkpoint. A snapshot is NULL if it could not be read. `memory` is that of the session,
 * whose stack table is searched for new PCs. *ret is valid until the next call.
 */
int blackbox_writer__make(struct blackbox_writer *w, const void *memory, size_t bytes,
			  const struct snapshot *first, const struct snapshot *second,
			  const void **ret, size_t *ret_size);

/* ---- reading; the input is untrusted ---- */

struct blackbox_image {
	const void *memory; /* of a frozen session */
	size_t bytes;
	uint64_t
		from; /* the window begins no earlier; CLOCK_MONOTONIC, ns; 0: as early as possible */
	struct {
		const void *data; /* NULL: none */
		size_t bytes;
	} checkpoint[2]; /* the newest, and the one before */
};

struct blackbox_facts {
	uint64_t t0, t1;     /* the window, CLOCK_MONOTONIC, ns */
	uint64_t snapshots;  /* time of the pair of snapshots; 0: none usable */
	bool stale;	     /* the pair was taken before the window */
	bool headless;	     /* no checkpoint is readable: the program is unknown */
	bool overwritten;    /* older records than those of the window were overwritten */
	unsigned int broken; /* incomplete sub-buffers, which were skipped */
	uint64_t records;    /* in the window */
	uint64_t lost; /* records that did not fit into a sub-buffer, or are in a broken one */
	uint64_t stacks_lost; /* that did not fit into the table, since the session was created */
	uint64_t stacks, stacks_gone; /* that records refer to: found; overwritten */
};

/* The header of the newest readable checkpoint. False: none. */
bool blackbox__header(const struct blackbox_image *image, struct raw_header *ret);

/*
 * Converts the image to a raw file in memory. `more` (or NULL) supplies frames that no checkpoint
 * contains. -EBADMSG and the reason: the memory is not that of a session; -ENODATA and the reason:
 * the recorder ended while it attached the probes; -ENOMEM. The caller destroys *ret.
 */
int blackbox__read(const struct blackbox_image *image, const struct symbolizer *more,
		   struct rawfile **ret, struct blackbox_facts *ret_facts, struct error *error);

#endif
