// SPDX-License-Identifier: GPL-2.0
/*
 * The triggers of a flight recorder: see trigger.h. Passes each event to the detectors, and limits
 * the rate of requests.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "flight/flight.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/unicode.h"
#include "sequence/sequencer.h"
#include "trigger/calls.h"
#include "trigger/phases.h"
#include "trigger/process.h"
#include "trigger/runqueue.h"
#include "trigger/trigger_impl.h"
#include "trigger/waits.h"

/* Once per snapshot, and at the end. */
static void report_limited(struct trigger *trigger)
{
	if (trigger->limited)
		log__msg("--trigger %s was met another %llu times, too soon after its last "
			 "snapshot (--trigger-interval) or while too many were pending",
			 trigger->condition.text, (unsigned long long)trigger->limited);
	trigger->limited = 0;
}

struct triggers *triggers__create(const struct trigger_opts *opts, struct flight *flight)
{
	struct triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->opts = *opts;
	t->flight = flight;
	for (size_t i = 0; i < opts->n; i++)
		t->trigger[i].condition = opts->condition[i];
	if (wait_triggers__create(&t->waits, t) || phases__create(&t->phases, t) ||
	    runqueue__create(&t->runqueue, t) || call_triggers__create(&t->calls, t) ||
	    process_triggers__create(&t->process, t)) {
		triggers__destroy(t);
		return NULL;
	}
	return t;
}

void triggers__destroy(struct triggers *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->opts.n; i++)
		report_limited(&t->trigger[i]);
	wait_triggers__destroy(t->waits);
	phases__destroy(t->phases);
	runqueue__destroy(t->runqueue);
	call_triggers__destroy(t->calls);
	process_triggers__destroy(t->process);
	free(t);
}

void triggers__start(struct triggers *t, const struct sequencer *s, const struct intern *intern)
{
	t->sequencer = s;
	t->intern = intern;
	t->started = clock__now();
}

int triggers__failure(const struct triggers *t)
{
	return t->error;
}

uint64_t triggers__doubts(const struct triggers *t)
{
	const struct sequencer_stats *stats = sequencer__stats(t->sequencer);

	return sequencer__go_losses(t->sequencer) + stats->repairs + stats->corrected;
}

struct trigger *trigger__next(struct triggers *t, enum trigger_kind kind, struct trigger *after)
{
	size_t i = after ? (size_t)(after - t->trigger) + 1 : 0;

	while (i < t->opts.n && t->trigger[i].condition.kind != kind)
		i++;
	return i < t->opts.n ? &t->trigger[i] : NULL;
}

void trigger__met(struct triggers *t, struct trigger *trigger, uint64_t time, const char *fmt, ...)
{
	struct flight_cause cause = { .kind = condition_kinds[trigger->condition.kind],
				      .time = time };
	va_list ap;
	int len;

	/* Before the text is made: there may be any number of these. */
	if (trigger->last && time < trigger->last + t->opts.interval_ns) {
		trigger->limited++;
		return;
	}
	len = snprintf(cause.text, sizeof(cause.text), "%s: ", trigger->condition.text);
	va_start(ap, fmt);
	vsnprintf(cause.text + len, sizeof(cause.text) - (size_t)len, fmt, ap);
	va_end(ap);
	utf8__make_printable(cause.text); /* names are the traced program's */
	if (!flight__request(t->flight, &cause)) {
		trigger->limited++;
		return;
	}
	report_limited(trigger);
	trigger->last = time;
}

static void on_event(void *ctx, const struct watch_event *ev)
{
	struct triggers *t = ctx;

	if (t->waits)
		wait_triggers__event(t->waits, ev);
	if (t->phases)
		phases__event(t->phases, ev);
	if (t->calls)
		call_triggers__event(t, t->calls, ev);
}

static void on_kernel(void *ctx, const struct kernel_item *item)
{
	struct triggers *t = ctx;

	if (t->waits)
		wait_triggers__kernel(t->waits, item);
	if (t->runqueue)
		runqueue__kernel(t->runqueue, item);
}

struct sequencer_watch triggers__watch(struct triggers *t)
{
	return (struct sequencer_watch){ on_event, on_kernel, t };
}

void triggers__poll(struct triggers *t)
{
	if (t->opts.poll)
		t->opts.poll(t->opts.poll_ctx, t);
}

void triggers__watermark(struct triggers *t, uint64_t time)
{
	if (t->waits)
		wait_triggers__watermark(t->waits, time);
	if (t->phases)
		phases__watermark(t->phases, time);
	if (t->runqueue)
		runqueue__watermark(t->runqueue, time);
	if (t->calls)
		call_triggers__watermark(t, t->calls, time);
	triggers__poll(t);
	if (t->process)
		process_triggers__poll(t, t->process);
}
