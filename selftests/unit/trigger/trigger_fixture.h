/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Triggers that get events made by hand, and the requests for snapshots that they make. Times are ms.
 */
#ifndef UNIT_TRIGGER_FIXTURE_H
#define UNIT_TRIGGER_FIXTURE_H

#include "unit/test.h"
#include "flight/flight.h"
#include "trigger/trigger.h"
#include "unit/watched_sequencer.h"
#include "writer/intern.h"

#define MS 1000000ull

static struct {
	struct triggers *t;
	struct intern *intern;
	struct sequencer_watch watch;
	struct flight_cause cause; /* the latest */
	unsigned int causes;	   /* since expect_none() or expect_cause() */
} made;

bool flight__request(struct flight *f, const struct flight_cause *cause)
{
	made.cause = *cause;
	made.causes++;
	return true;
}

/* Up to three conditions; NULL: none. */
static void watch(const char *first, const char *second, const char *third)
{
	const char *text[] = { first, second, third };
	struct condition condition[3];
	struct trigger_opts opts = { .condition = condition };
	struct error error = {};

	for (size_t i = 0; i < 3 && text[i]; i++)
		assert_int_equal(condition__parse(text[i], &condition[opts.n++], &error), 0);
	memset(&watched, 0, sizeof(watched));
	memset(&made, 0, sizeof(made));
	made.intern = intern__create();
	made.t = triggers__create(&opts, NULL);
	assert_non_null(made.t);
	made.watch = triggers__watch(made.t);
	triggers__start(made.t, NULL, made.intern);
}

static void unwatch(void)
{
	if (made.t)
		assert_int_equal(triggers__failure(made.t), 0);
	triggers__destroy(made.t);
	intern__destroy(made.intern);
	memset(&made, 0, sizeof(made));
}

FIXTURE(NULL, unwatch)

/* On thread `tid`, on which goroutine `goid` runs. */
static void event(uint64_t ms, uint32_t tid, uint64_t goid, enum ev type, uint64_t arg)
{
	uint64_t args[EV_ARGS_MAX] = { arg };
	struct watch_event ev = { ms * MS, goid, tid, type, args };

	made.watch.event(made.watch.ctx, &ev);
}

static inline void block(uint64_t ms, uint64_t goid, const char *reason)
{
	event(ms, 1, goid, EV_GO_BLOCK, intern__cstring(made.intern, reason));
}

static void watermark(uint64_t ms)
{
	triggers__watermark(made.t, ms * MS);
}

static inline void expect_none(uint64_t at)
{
	watermark(at);
	assert_int_equal(made.causes, 0);
}

/* The watermark `at` reports one cause of this time and text. */
static inline void expect_cause(uint64_t at, uint64_t ms, const char *text)
{
	watermark(at);
	assert_int_equal(made.causes, 1);
	assert_string_equal(made.cause.text, text);
	assert_int_equal(made.cause.time, ms * MS);
	made.causes = 0;
}

#endif
