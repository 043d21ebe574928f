/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where goroutines are blocked: of each stack the one frame that identifies the place in the
 * program, and a time's part, reason and place as one number.
 *
 * Between the stacks of a generation (format/dictionary.h) and analysis/latency.c, which adds up
 * times by these numbers. Downstream: `gotrace requests`.
 *
 * The relevant frame is the innermost one outside of Go's standard library; of a stack that has
 * none, the innermost one outside of the runtime, internal packages, sync and syscall; else the
 * innermost one.
 *
 * Memory: a map entry per distinct stack of a generation; places and numbers are bounded.
 */
#ifndef ANALYSIS_PLACE_TABLE_H
#define ANALYSIS_PLACE_TABLE_H

#include "format/dictionary.h"
#include "lib/map.h"
#include "writer/intern.h"

/* Distinct places, and distinct numbers: lists of numbers are searched from first to last. */
#define PLACES_MAX    500u
#define PLACE_UNKNOWN 0u	       /* no stack */
#define PLACE_OTHERS  (PLACES_MAX + 1) /* all further ones */

struct place {
	uint32_t reason; /* as in latency_stats.reasons: part and kind */
	uint32_t place;	 /* for place_table__frame(): PLACE_UNKNOWN to PLACE_OTHERS */
};

/* The frame; function is "" if it is unknown, or PLACE_OTHERS. */
struct place_frame {
	struct trace_string function, file;
	uint64_t line;
};

struct place_table {
	struct intern *texts; /* a stack of one frame per place */
	struct map stacks;    /* of the generation, by ID: place + 1 */
	struct map numbers;   /* by place and reason: number + 1 */
	struct place at[PLACES_MAX];
	uint32_t n;
};

int place_table__init(
	struct place_table *p); /* 0 or -ENOMEM, as for all of them; deinit in either case */
void place_table__deinit(struct place_table *p);
/* The IDs of stacks are those of another generation from now on. */
void place_table__forget_stacks(struct place_table *p);
int place_table__of(struct place_table *p, const struct dictionary *dictionary, uint64_t stack,
		    uint32_t *ret);
/* The number for time that is spent for that reason at that place. */
int place_table__number(struct place_table *p, uint32_t reason, uint32_t place, uint32_t *ret);

/* What a number stands for. */
struct place place_table__at(const struct place_table *p, uint32_t number);
struct place_frame place_table__frame(const struct place_table *p, uint32_t place);

/* Whether a function belongs to Go's standard library, by the path of its package. */
bool place__is_standard(struct trace_string function);

#endif
