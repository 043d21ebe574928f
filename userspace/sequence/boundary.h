/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generation boundaries, and writing events to the open generation. Upstream: transition.c and
 * state*.c. Downstream: writer/writer.c. Errors are kept in s->error.
 */
#ifndef SEQUENCE_BOUNDARY_H
#define SEQUENCE_BOUNDARY_H

#include <stdint.h>

#include "format/spec.h"

struct goroutine;
struct proc;
struct sequencer;
struct thread;

#define REASONS 64

/* The id of a constant text, which is valid for the whole recording. */
struct reason {
	const char *text;
	uint32_t id;
};

/* The open generation, and the latest event in it. */
struct boundary {
	uint64_t generation; /* its number, 0: none yet */
	uint64_t start;	     /* its time */
	uint64_t last_time;  /* time of the latest event, or `start` */
	uint32_t last_tid;   /* thread of that event; 0: none in this generation */
	uint32_t late_tid;   /* while a record is applied that came late: its thread; or 0 */
	uint64_t events;     /* written in all generations */
	struct reason reason[REASONS]; /* of goroutines that block or stop, by address */
};

void boundary__save_g(struct sequencer *s, struct goroutine *g); /* call before a change */
void boundary__save_p(struct sequencer *s, struct proc *p);
uint64_t boundary__g_seq(struct sequencer *s, struct goroutine *g); /* the next sequence number */
uint64_t boundary__p_seq(struct sequencer *s, struct proc *p);
int boundary__first(struct sequencer *s, uint64_t time); /* the first generation of a file */
int boundary__close(struct sequencer *s,
		    uint64_t time);		       /* the generation, which lasts until then */
int boundary__end(struct sequencer *s, uint64_t time); /* the next one begins */
/*
 * The next one begins, if it is due by `time`: when it was due or, if records have been applied
 * since, just after the last of them. So it does not depend on when the recorder read the rings. `before`:
 * before `time`, so that what is at `time` has a time of the next generation, too; a reader that
 * divides the trace there counts it once.
 */
int boundary__roll(struct sequencer *s, uint64_t time, bool before);
void boundary__note(struct sequencer *s, int err); /* sets s->error, unless there is one */
/* The time of an event that is written now, after all earlier ones. */
uint64_t boundary__stamp(struct sequencer *s, const struct thread *t, uint64_t time, enum ev type);
/* Writes an event with a time from boundary__stamp(). */
void boundary__put(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		   unsigned int nargs, const uint64_t *args);
/* Passes an event to opts.watch, whether it is written or left out. */
void boundary__watch(struct sequencer *s, const struct thread *t, uint64_t time, enum ev type,
		     const uint64_t *args);
/* All three, after what short_calls.h has held back of the thread. */
void boundary__emit(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		    unsigned int nargs, const uint64_t *args);
/* boundary__emit() with the arguments of the event, if it has any. */
#define EMIT(s, t, time, type, ...)                                                                \
	boundary__emit(s, t, time, type, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),   \
		       (const uint64_t[]){ __VA_ARGS__ })

#endif
