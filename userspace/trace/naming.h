/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names that outlive the generations which have them: of start functions, regions and tasks, and of
 * what time is spent on (its kind: why a goroutine was blocked, which range).
 *
 * Between trace/meaning.h and the folds that add up goroutines' time: trace/summary.c and
 * trace/latency.c. Id 0 is the empty name and the empty kind.
 */
#ifndef TRACE_NAMING_H
#define TRACE_NAMING_H

#include "trace/intern.h"
#include "trace/meaning.h"

/*
 * So many kinds are told apart: Go's runtime has about 50 reasons and ranges, a program's threads sleep
 * in a few dozen system calls, and trace/latency_part.c adds 128 names of other programs at most. What
 * has more was made to be slow to sum up. The last one holds all the others.
 */
#define KINDS_MAX     255
#define KIND_EMPTY    0u
#define KIND_FOREVER  1u
#define KIND_THE_REST (KINDS_MAX + 1u)

struct naming {
	struct intern *names, *kinds;
};

/* 0 or -ENOMEM, as for all of them; deinit in either case. */
int naming__init(struct naming *n);
void naming__deinit(struct naming *n);

int naming__name(struct naming *n, struct trace_string name, uint32_t *ret);
/* Why it blocked, or which range. */
int naming__kind(struct naming *n, const struct meaning *m, uint32_t *ret);
int naming__text_kind(struct naming *n, const char *text, size_t len, uint32_t *ret);

/*
 * A goroutine's start function is the outermost frame of any of its stacks: pc and name are set if
 * `stack` is one.
 */
int naming__start_function(struct naming *n, const struct trace_event *ev, uint64_t stack,
			   uint64_t *ret_pc, uint32_t *ret_name);

struct trace_string naming__name_at(const struct naming *n, uint32_t name);
struct trace_string naming__kind_at(const struct naming *n, uint32_t kind);

#endif
