// SPDX-License-Identifier: GPL-2.0
/*
 * The analysis of a trace that comes in generations: see metrics/stream.h.
 *
 * The analysis begins anew, but for its sums, after a generation that is missing or corrupt, and if a
 * program leaves too many tasks open. A generation with which a trace can begin has the state of all
 * goroutines; others need not have that of goroutines that do nothing in them.
 */
#include "metrics/stream.h"

#include <errno.h>
#include <string.h>

#include "reader/push.h"

int stream_analysis__init(struct stream_analysis *s, const void *header)
{
	*s = (struct stream_analysis){ .engine = engine__create() };
	memcpy(s->header, header, sizeof(s->header));
	return s->engine ? 0 : -ENOMEM;
}

static void close_reader(struct stream_analysis *s)
{
	timeline__destroy(s->timeline);
	reader__destroy(s->reader);
	s->timeline = NULL;
	s->reader = NULL;
}

void stream_analysis__deinit(struct stream_analysis *s)
{
	close_reader(s);
	engine__destroy(s->engine);
	*s = (struct stream_analysis){};
}

void stream_analysis__skip(struct stream_analysis *s)
{
	s->engine->dropped++;
	s->broken = true;
}

bool stream_analysis__wants_state(const struct stream_analysis *s)
{
	return s->broken || engine__is_full(s->engine);
}

/* A reader for the next generation. 0 or a negative errno with the reason. */
static int begin(struct stream_analysis *s, bool has_state, struct error *error)
{
	int err = 0;

	if (has_state && s->reader && stream_analysis__wants_state(s)) {
		close_reader(s);
		err = engine__restart(s->engine);
	}
	s->broken = false;
	if (err || s->reader)
		return err;
	err = reader__create_pushed(&s->reader, s->header, error);
	return err ? err : timeline__create(&s->timeline, s->reader);
}

typedef int (*next_fn)(struct timeline *t, struct timeline_step *ret, struct error *error);

static int read_steps(struct stream_analysis *s, next_fn next, struct error *error)
{
	struct timeline_step step = {};
	int err;

	while ((err = next(s->timeline, &step, error)) > 0) {
		err = engine__step(s->engine, s->timeline, &step, error);
		if (err)
			return err;
	}
	return err;
}

int stream_analysis__add(struct stream_analysis *s, const void *generation, size_t len,
			 bool has_state)
{
	struct error why = {};
	int err;

	if (s->broken && !has_state) {
		stream_analysis__skip(s);
		return 0;
	}
	err = begin(s, has_state, &why);
	if (!err)
		err = reader__push(s->reader, generation, len, &why);
	if (!err)
		err = read_steps(s, timeline__next, &why);
	if (err && err != -ENOMEM)
		stream_analysis__skip(s);
	return err == -ENOMEM ? err : 0;
}

int stream_analysis__collect(struct stream_analysis *s, struct metric_values *ret)
{
	bool goes_on = s->reader && reader__is_pushed(s->reader);
	struct error why = {};
	int err;

	if (goes_on)
		engine__pass_end(s->engine);
	err = engine__collect(s->engine, ret);
	if (err)
		return err;
	if (goes_on && !s->broken)
		err = read_steps(s, timeline__next_rest, &why);
	err = err ?: engine__collect_rest(s->engine, ret);
	if (err)
		metric_values__deinit(ret);
	return err;
}

int stream_analysis__finish(struct stream_analysis *s)
{
	struct error why = {};

	if (!s->reader || s->broken)
		return 0;
	reader__push_end(s->reader);
	return read_steps(s, timeline__next, &why) == -ENOMEM ? -ENOMEM : 0;
}
