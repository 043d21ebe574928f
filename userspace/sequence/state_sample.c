// SPDX-License-Identifier: GPL-2.0
/*
 * CPU samples: where a thread was, and for which goroutine, on which P.
 *
 * The sample itself knows its thread and its PCs; the rest is what the model says of the thread at
 * that point of the stream, so that it agrees with the transitions around it. Readers hold samples
 * against nothing. Before: state.c. After: trace/generation.c.
 */
#include "sequence/state_impl.h"

enum verdict apply_sample(struct step *st)
{
	struct sequencer *s = st->s;
	const struct thread *t = st->t;
	/* an exit that is not settled has its P, too: else it would be running without one */
	bool has_p = t->p && (t->p->state == PROC_RUNNING || t->exit_time);
	uint64_t time = st->time;
	const uint64_t *pc;
	uint32_t stack = 0;
	size_t len;
	int err;

	pc = once__get(&s->sampled, st->rec->object, &len);
	if (pc)
		stack = stacks__sample(s->stacks, pc, len / sizeof(*pc));
	once__drop(&s->sampled, st->rec->object);
	/* One that waited behind a record of its thread comes late. */
	if (time < s->last_sample)
		time = s->last_sample;
	if (time < s->gen_start)
		time = s->gen_start;
	s->last_sample = time;
	err = writer__sample(s->opts.writer, time, t->tid, has_p ? t->p->id : UINT64_MAX,
			     t->g ? t->g->id : 0, stack);
	if (err && !s->error)
		s->error = err;
	return DONE;
}
