/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes the aligned trace: the bytes of the trace, with strings of private data added to each
 * generation.
 *
 * Input: align/alignment.h (generations, what to add). Output: writer/output_file.h. The trace
 * changes only in that its generations get longer, by batches of a type that they have anyway.
 */
#ifndef ALIGN_WRITE_H
#define ALIGN_WRITE_H

#include "align/alignment.h"
#include "writer/output_file.h"

/* of PRIVATE_ALIGNMENT */
struct align_pair {
	const char *name, *value;
};

struct align_job {
	const struct alignment *alignment;
	struct input *trace; /* at its first byte; the input of alignment->side */
	const struct align_pair *pairs;
	size_t npairs;
};

struct align_added {
	uint64_t switches, wakings, threads; /* items of the target's threads */
	uint64_t cpus;			     /* who occupied a CPU */
	uint64_t bytes;
};

/* `name`: of the output, for messages. 0 or a negative errno with the reason. */
int align__write(const struct align_job *job, struct trace_file *file, const char *name,
		 struct align_added *ret, struct error *error);

#endif
