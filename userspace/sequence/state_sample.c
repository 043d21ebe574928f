// SPDX-License-Identifier: GPL-2.0
/*
 * CPU samples: the stack of a thread, with its goroutine and P.
 *
 * The record contains the thread and the PCs; goroutine and P come from the model at that point of
 * the stream, so that the sample agrees with the transitions around it. Readers do not check
 * samples. Each generation contains their rate, because the samples do not.
 */
#include "sequence/state_impl.h"
#include "writer/private_write.h"

int samples__end_generation(struct sequencer *s)
{
	struct private_cpu_samples *taken = &s->samples.taken;
	int err = taken->period_ns ? private__cpu_samples(s->opts.writer, taken) : 0;

	taken->throttles = taken->throttled_ns = 0;
	return err;
}

void sequencer__cpu_samples(struct sequencer *s, const struct private_cpu_samples *taken)
{
	s->samples.taken.period_ns = taken->period_ns;
	s->samples.taken.throttles += taken->throttles;
	s->samples.taken.throttled_ns += taken->throttled_ns;
}

enum apply_result apply_sample(struct step *st)
{
	struct sequencer *s = st->s;
	const struct thread *t = st->t;
	/* a tentative exit keeps its P: else the thread would run without one */
	bool has_p = t->p && (t->p->state == PROC_RUNNING || t->exit_time);
	uint64_t time = st->time;
	const uint64_t *pc;
	uint32_t stack = 0;
	size_t len;

	pc = once__get(&s->samples.pcs, st->rec->object, &len);
	if (pc)
		stack = stacks__sample(s->stacks, pc, len / sizeof(*pc));
	once__drop(&s->samples.pcs, st->rec->object);
	/* A sample that was held behind another record of its thread is late. */
	if (time < s->samples.last_time)
		time = s->samples.last_time;
	if (time < s->out.start)
		time = s->out.start;
	s->samples.last_time = time;
	boundary__note(s,
		       writer__sample(s->opts.writer, time, t->tid, has_p ? t->p->id : UINT64_MAX,
				      t->g ? t->g->id : 0, stack));
	return DONE;
}
