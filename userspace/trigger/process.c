// SPDX-License-Identifier: GPL-2.0
/* Triggers on the process as a whole: see process.h. */
#include "trigger/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/clock.h"

struct cpu_sample {
	uint64_t time, cpu; /* ns */
};

struct process_triggers {
	struct cpu_sample sample[CPU_SAMPLES + 1]; /* a ring */
	size_t n;				   /* taken so far */
	bool above[CONDITIONS_MAX];		   /* since it was met */
};

int process_triggers__create(struct process_triggers **ret, struct triggers *t)
{
	bool is_wanted = trigger__next(t, TRIGGER_CPU, NULL);

	*ret = is_wanted ? calloc(1, sizeof(**ret)) : NULL;
	return is_wanted && !*ret ? -ENOMEM : 0;
}

void process_triggers__destroy(struct process_triggers *p)
{
	free(p);
}

static bool is_time(const struct process_triggers *p, uint64_t now)
{
	size_t last = (p->n + CPU_SAMPLES) % (CPU_SAMPLES + 1);

	return !p->n || now >= p->sample[last].time + CPU_WINDOW / CPU_SAMPLES;
}

static void compare(struct triggers *t, struct process_triggers *p, uint64_t now, double percent)
{
	for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_CPU, tr));) {
		bool *above = &p->above[tr - t->trigger];
		double limit = (double)tr->condition.limit;

		if (percent < 0.9 * limit)
			*above = false;
		if (*above || percent < limit)
			continue;
		*above = true;
		trigger__met(t, tr, now, "%.0f %% of a CPU in the last second", percent);
	}
}

void process_triggers__cpu(struct triggers *t, struct process_triggers *p, uint64_t now,
			   uint64_t cpu)
{
	const struct cpu_sample *oldest;

	p->sample[p->n++ % (CPU_SAMPLES + 1)] = (struct cpu_sample){ now, cpu };
	if (p->n <= CPU_SAMPLES)
		return;
	oldest = &p->sample[p->n % (CPU_SAMPLES + 1)];
	if (cpu >= oldest->cpu)
		compare(t, p, now,
			100 * (double)(cpu - oldest->cpu) / (double)(now - oldest->time));
}

void process_triggers__poll(struct triggers *t, struct process_triggers *p)
{
	uint64_t now = clock__now(), cpu;

	if (!is_time(p, now))
		return;
	cpu = clock__cpu_of(t->opts.pid);
	if (cpu) /* else it has ended */
		process_triggers__cpu(t, p, now, cpu);
}

/* ---- signals and the end ---- */

static const char *name_of(unsigned int number)
{
	const char *name = sigabbrev_np((int)number);

	return name ? name : "real-time";
}

void triggers__signal(struct triggers *t, uint64_t time, uint32_t tid, unsigned int number)
{
	for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_SIGNAL, tr));)
		if (time > t->started && (!tr->condition.limit || tr->condition.limit == number))
			trigger__met(t, tr, time, "signal %u (%s) delivered to thread %u", number,
				     name_of(number), tid);
}

void triggers__exit(struct triggers *t, uint64_t time, uint32_t status)
{
	for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_EXIT, tr));) {
		if (WIFSIGNALED(status))
			trigger__met(t, tr, time, "the process was terminated by signal %d (%s)",
				     WTERMSIG(status), name_of((unsigned int)WTERMSIG(status)));
		else
			trigger__met(t, tr, time, "the process exited with status %d",
				     WEXITSTATUS(status));
	}
}
