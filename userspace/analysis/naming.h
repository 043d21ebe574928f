/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names whose lifetime spans generations: of start functions, regions and tasks, and kinds of
 * durations (why a goroutine was blocked, which range).
 *
 * Between reader/semantics.h and analysis/summary.c, latency.c and goroutine_tracker.h. Id 0 is the
 * empty name and the empty kind.
 */
#ifndef TRACE_NAMING_H
#define TRACE_NAMING_H

#include "reader/semantics.h"
#include "writer/intern.h"

/*
 * Distinct kinds: Go's runtime has about 50 reasons and ranges, a program's threads sleep in a few
 * dozen system calls, and analysis/latency_part.c adds at most 128 names of other programs. A trace
 * with more was made to slow the analysis down. The last kind stands for all others.
 */
#define KINDS_MAX     255
#define KIND_EMPTY    0u
#define KIND_FOREVER  1u
#define KIND_THE_REST (KINDS_MAX + 1u)

#define NAMING_RECENT 16

struct naming {
	struct intern *names, *kinds;
	uint32_t recent[NAMING_RECENT]; /* kinds found last, by address of the text; 0: none */
};

/* 0 or -ENOMEM, as for all of them; deinit in either case. */
int naming__init(struct naming *n);
void naming__deinit(struct naming *n);

static inline int naming__name(struct naming *n, struct trace_string name, uint32_t *ret)
{
	return intern__text(n->names, name, ret);
}
/* Why it blocked, or which range. */
int naming__kind(struct naming *n, const struct semantics *m, uint32_t *ret);
int naming__text_kind(struct naming *n, const char *text, size_t len, uint32_t *ret);

/*
 * A goroutine's start function is the outermost frame of any of its stacks: pc and name are set if
 * `stack` is one.
 */
int naming__start_function(struct intern *names, const struct trace_event *ev, uint64_t stack,
			   uint64_t *ret_pc, uint32_t *ret_name);

struct trace_string naming__name_at(const struct naming *n, uint32_t name);
struct trace_string naming__kind_at(const struct naming *n, uint32_t kind);

#endif
