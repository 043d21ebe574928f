/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The black box: what its daemon puts into the checkpoint, and how all is read when it is recovered.
 *
 * The probes write into a session of the kernel module (gotrace/uapi.h), which overwrites its oldest
 * records; nobody takes any out. The checkpoint is a raw file (rawfile.h) without records: a header that
 * says what is recorded, a pair of snapshots, and the frames of the PCs in the session's stack table. What is
 * recovered is a raw file, too, with the rings' records: so the trace comes from the same code as all others.
 * Before it in an event's way: kmod.h. After it: replay.c.
 */
#ifndef CAPTURE_BLACKBOX_H
#define CAPTURE_BLACKBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/rawfile.h"
#include "lib/error.h"

/* ---- the daemon's side; errors are negative errnos ---- */

/* The t0 of the first checkpoint, which is there before any probe: it is another's when all of them are live. */
#define BLACKBOX_NOT_BEGUN UINT64_MAX

struct blackbox_writer;

/* Both are copied; what the symbolizer refers to must outlive the writer. */
int blackbox_writer__create(struct blackbox_writer **ret, const struct raw_header *facts,
			    const struct symbolizer *symbolizer);
void blackbox_writer__destroy(struct blackbox_writer *w);
/*
 * A checkpoint of now. Snapshots: NULL for one that could not be had. memory: the session's, whose
 * stacks are looked through for new PCs. *ret is good until the next call.
 */
int blackbox_writer__make(struct blackbox_writer *w, const void *memory, size_t bytes,
			  const struct snapshot *first, const struct snapshot *second,
			  const void **ret, size_t *ret_size);

/* ---- the reader's: pure, of bytes that may be anything ---- */

struct blackbox_image {
	const void *memory; /* of a frozen session */
	size_t bytes;
	struct {
		const void *data; /* NULL: there is none */
		size_t bytes;
	} checkpoint[2]; /* the newest, the one before */
};

struct blackbox_facts {
	uint64_t t0, t1; /* the window, CLOCK_MONOTONIC, ns */
	uint64_t
		snapshots; /* time of the pair of snapshots; 0: there was none that could be used */
	bool stale;	   /* it was taken before the window */
	bool headless;	   /* no checkpoint said what program this was */
	bool overwritten;  /* records older than the window were */
	unsigned int broken; /* sub-buffers that were left out: not written to their end */
	uint64_t records;    /* of the window */
	uint64_t lost; /* records that had no room in a sub-buffer, or are in one of the broken */
	uint64_t stacks_lost; /* that the table had no room for, since the black box was made */
	uint64_t stacks, stacks_gone; /* that records name: found; overwritten */
};

/* What the newest checkpoint that can be read says of the program. False: there is none. */
bool blackbox__header(const struct blackbox_image *image, struct raw_header *ret);

/*
 * Makes a raw file of it, in memory. `more` (NULL: none) names what the checkpoint has no frames of.
 * -EBADMSG and the reason: this is no session's memory; -ENODATA and the reason: the recorder ended while it
 * attached its probes, and what some of them wrote is no trace; -ENOMEM. The caller destroys *ret.
 */
int blackbox__read(const struct blackbox_image *image, const struct symbolizer *more,
		   struct rawfile **ret, struct blackbox_facts *ret_facts, struct error *err);

#endif
