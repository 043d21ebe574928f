/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The joined trace: the bytes of the trace, and in each generation strings of private data more.
 *
 * Before it: align/side.c (generations), align/join.c (what to add). After it: trace/file.h. Nothing of
 * the trace changes but that its generations get longer, by one kind of batch that they have anyway.
 */
#ifndef ALIGN_WRITE_H
#define ALIGN_WRITE_H

#include "align/side.h"
#include "trace/file.h"

struct align_pair { /* of PRIVATE_ALIGNMENT */
	const char *name, *value;
};

struct align_job {
	struct input *trace; /* at its first byte, unpacked; the same that `side` was read from */
	const struct side *side;
	const struct join_perf *perf;
	const struct map *target; /* the target's threads, by tid */
	const uint8_t *wanted;	  /* by event of perf's: join__cores() */
	const struct align_pair *pairs;
	size_t npairs;
};

struct align_added {
	uint64_t switches, wakings, threads; /* items of the target's threads */
	uint64_t cores;			     /* who held a core */
	uint64_t bytes;
};

/* `name`: the output's, for messages. 0 or a negative errno with the reason. */
int align__write(const struct align_job *job, struct trace_file *file, const char *name,
		 struct align_added *ret, struct error *err);

#endif
