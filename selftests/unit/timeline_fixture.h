/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A timeline of the file that writer_fixture.h wrote: shared by tests of kernel events.
 */
#ifndef SELFTESTS_TIMELINE_FIXTURE_H
#define SELFTESTS_TIMELINE_FIXTURE_H

#include "unit/test.h"
#include "reader/timeline.h"
#include "unit/writer_fixture.h"

static inline struct timeline *open_timeline(struct reader **ret)
{
	struct error err = {};
	struct timeline *t;
	struct input *in;

	ok(input__open(&in, x.path, &err));
	ok(reader__open(ret, in, NULL, &err));
	ok(timeline__create(&t, *ret));
	return t;
}

/* Reads the rest, which must be valid. */
static inline void close_timeline(struct timeline *t, struct reader *r)
{
	struct timeline_step step;
	struct error err = {};

	while (timeline__next(t, &step, &err) > 0)
		;
	assert_string_equal(err.text, "");
	timeline__destroy(t);
	reader__destroy(r);
}

#endif
