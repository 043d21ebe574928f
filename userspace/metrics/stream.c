// SPDX-License-Identifier: GPL-2.0
/*
 * The analysis of a trace that comes in generations: see metrics/stream.h.
 *
 * A generation is complete in itself except for tasks and regions that are open, so the analysis can
 * begin again with any of them: after one that is missing or corrupt, and if a program leaves too
 * many tasks open.
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
	s->restart = true;
}

/* A reader for the next generation. 0 or a negative errno with the reason. */
static int begin(struct stream_analysis *s, struct error *error)
{
	int err = 0;

	if (s->restart && s->reader) {
		close_reader(s);
		err = engine__restart(s->engine);
	}
	s->restart = false;
	if (err || s->reader)
		return err;
	err = reader__create_pushed(&s->reader, s->header, error);
	return err ? err : timeline__create(&s->timeline, s->reader);
}

static int read_steps(struct stream_analysis *s, struct error *error)
{
	struct timeline_step step = {};
	int err;

	while ((err = timeline__next(s->timeline, &step, error)) > 0) {
		err = engine__step(s->engine, s->timeline, &step, error);
		if (err)
			return err;
	}
	return err;
}

int stream_analysis__add(struct stream_analysis *s, const void *generation, size_t len)
{
	struct error why = {};
	int err = begin(s, &why);

	if (!err)
		err = reader__push(s->reader, generation, len, &why);
	if (!err)
		err = read_steps(s, &why);
	if (!err) {
		s->restart = engine__is_full(s->engine);
		return 0;
	}
	if (err != -ENOMEM)
		stream_analysis__skip(s);
	return err == -ENOMEM ? err : 0;
}

int stream_analysis__finish(struct stream_analysis *s)
{
	struct error why = {};

	if (!s->reader || s->restart)
		return 0;
	reader__push_end(s->reader);
	return read_steps(s, &why) == -ENOMEM ? -ENOMEM : 0;
}
