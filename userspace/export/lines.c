// SPDX-License-Identifier: GPL-2.0
/*
 * Exports a trace as lines of JSON: see lines.h.
 */
#include "export/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "export/stream.h"
#include "print/print.h"

static void put_head(struct json *j)
{
	json__open(j, NULL, '{');
	json__string(j, "exporter", "gotrace");
	json__string(j, "schema", "events");
	json__u64(j, "version", LINES_VERSION);
	json__string(j, "unit", "ns");
	json__close(j, '}');
}

/* Each gap precedes the first event after its begin. */
static void put_gaps(struct json *j, const struct gaps *gaps, int64_t time, int64_t *passed)
{
	const struct gap *gap;

	while ((gap = gaps__first(gaps, *passed)) && gap->from <= time) {
		json__open(j, NULL, '{');
		json__i64(j, "time", gap->from);
		json__string(j, "kind", "Gap");
		json__i64(j, "to", gap->to);
		json__close(j, '}');
		*passed = gap->to;
	}
}

static void put_step(struct printer *p, struct timeline *t, const struct timeline_step *step)
{
	if (step->event)
		print__json(p, step->event, step->event->time);
	if (step->item) {
		struct print_item item = print_item__of(t, step->item);

		print__json_item(p, &item, timeline__time(t, step->item->time));
	}
}

static int put_all(struct timeline *t, struct printer *p, const struct stream_file *stream,
		   struct error *error)
{
	struct timeline_step step = {};
	int64_t passed = INT64_MIN;
	int more = 1;

	put_head(&p->json);
	while (!stream->err && (more = timeline__next(t, &step, error)) > 0) {
		if (step.event)
			put_gaps(&p->json, timeline__gaps(t), step.event->time, &passed);
		put_step(p, t, &step);
	}
	return more < 0 ? more : 0;
}

int lines__write(struct timeline *t, struct outbuf *out, struct error *error)
{
	struct printer *p = calloc(1, sizeof(*p));
	struct stream_file stream = {};
	int err, failed;

	if (!p || stream_file__open(&stream, out)) {
		free(p);
		return error__set(error, -ENOMEM, "out of memory");
	}
	p->stacks = true;
	json__init(&p->json, stream.file, true);
	err = put_all(t, p, &stream, error);
	failed = stream_file__close(&stream, error);
	free(p);
	return err ? err : failed;
}
