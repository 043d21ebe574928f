/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private data: what gotrace-bpf tells gotrace inside a trace and Go's tools pass over.
 *
 * It travels as strings that no event refers to, the one carrier that every reader accepts and
 * ignores, in the string table of the generation that it is about. Written here, read back by
 * trace/private_read.c. The format: gotrace-private(5).
 */
#ifndef TRACE_PRIVATE_H
#define TRACE_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

struct writer;

#define PRIVATE_PREFIX	   "\0gotrace-bpf/1 "
#define PRIVATE_PREFIX_LEN (sizeof(PRIVATE_PREFIX) - 1)

enum private_kind {
	PRIVATE_META = 1,
	PRIVATE_LOSSES = 2,
	PRIVATE_TICKS = 3,
	PRIVATE_TABLE = 4,
	PRIVATE_CORRECTION = 5,
	PRIVATE_THREADS = 6,   /* trace/kernel.h: the threads as the generation begins */
	PRIVATE_KERNEL = 7,    /* what happened to them in it */
	PRIVATE_MACHINE = 8,   /* gotrace align: what else had their cores */
	PRIVATE_ALIGNMENT = 9, /* gotrace align: of which file, and how its clock was fitted */
	PRIVATE_KIND_END
};

struct private_loss {
	uint64_t kind, count; /* enum gt_kind of gotrace/record.h; 0: not known */
	uint64_t from, to;    /* CLOCK_MONOTONIC, ns */
};

/* After a loss: what two looks at the process have put right. */
struct private_correction {
	uint64_t from, to;   /* CLOCK_MONOTONIC, ns: of the first look, and of the events */
	uint64_t goroutines; /* that were wrong */
	uint64_t threads;    /* that had another P */
	uint64_t events;     /* inserted */
};

/* Any may be NULL: left out. The names in the file are the members'. */
struct private_meta {
	const char *tool;    /* "gotrace-bpf 0.1" */
	const char *command; /* of the target, as /proc/PID/cmdline */
	size_t command_len;
	const char *build_id;	/* of the target's executable, in hex */
	const char *clock;	/* "CLOCK_MONOTONIC" */
	const char *go_version; /* of the target: "go1.26.8" */
};

/* Each adds one record to the open generation; 0, -ENOMEM or -EINVAL (none is open). */
int private__meta(struct writer *w, const struct private_meta *meta);
int private__losses(struct writer *w, const struct private_loss *losses, size_t n);
int private__correction(struct writer *w, const struct private_correction *correction);
int private__ticks(struct writer *w, unsigned int tick_ns, uint64_t start_ns, uint64_t wall_ns);
int private__table(struct writer *w); /* the event table, trace/describe.c */

/* One record of any kind, already encoded; split as need be. */
int private__record(struct writer *w, enum private_kind kind, const void *data, size_t len);
/* The same, but each string that it takes goes to `put`, which returns 0 or a negative errno. */
int private__parts(enum private_kind kind, const void *data, size_t len,
		   int (*put)(void *to, const void *part, size_t len), void *to);

#endif
