// SPDX-License-Identifier: GPL-2.0
/*
 * Writes an export as JSON in the trace event format of Chrome, which chrome://tracing and other
 * viewers read.
 *
 * Upstream: export/export.c. A top-level track is a process of the format, each other one a thread
 * of it. Times are microseconds since the start of the trace, with up to three decimals. There is one
 * event per line. CPU samples are instants with the stack as text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/sink.h"
#include "export/stream.h"
#include "lib/json.h"

#define STACK_TEXT 8192 /* bytes of a stack as text; the rest is cut off */

struct chrome {
	struct export_sink sink;
	struct stream_file stream;
	struct json json;
	int64_t start;
	bool started, has_event, has_tracks;
};

/* ---- events ---- */

static void open_event(struct chrome *c, const char *phase, enum export_group group, uint64_t track)
{
	struct json *j = &c->json;

	if (c->has_event)
		putc_unlocked(',', c->stream.file);
	c->has_event = true;
	json__open(j, NULL, '{');
	json__string(j, "ph", phase);
	json__u64(j, "pid", group + 1u);
	json__u64(j, "tid", track);
}

static void close_event(struct chrome *c)
{
	json__close(&c->json, '}');
	if (c->stream.err && !c->sink.err) {
		c->sink.err = c->stream.err;
		c->sink.error = c->stream.error;
	}
}

/* The difference of hostile times may overflow: unsigned arithmetic gives a number in any case. */
static void put_time(struct chrome *c, int64_t time)
{
	json__double(&c->json, "ts", (double)((uint64_t)time - (uint64_t)c->start) / 1e3);
}

static void put_text(struct chrome *c, const char *name, struct trace_string text)
{
	json__bytes(&c->json, name, text.data, text.len);
}

static void put_metadata(struct chrome *c, enum export_group group, uint64_t track,
			 const char *what, struct trace_string name, uint64_t rank)
{
	bool is_process = !track;

	open_event(c, "M", group, track);
	json__string(&c->json, "name", what);
	json__open(&c->json, "args", '{');
	put_text(c, "name", name);
	json__close(&c->json, '}');
	close_event(c);
	open_event(c, "M", group, track);
	json__string(&c->json, "name", is_process ? "process_sort_index" : "thread_sort_index");
	json__open(&c->json, "args", '{');
	json__u64(&c->json, "sort_index", rank);
	json__close(&c->json, '}');
	close_event(c);
}

static void write_clock(struct export_sink *sink, int64_t time, const struct trace_clock *clock)
{
	struct chrome *c = (struct chrome *)sink;

	(void)clock;
	if (c->started)
		return;
	c->started = true;
	c->start = time;
	fputs("{\"exporter\":\"gotrace\",\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n",
	      c->stream.file);
}

static void write_track(struct export_sink *sink, const struct export_track *track)
{
	struct chrome *c = (struct chrome *)sink;
	const char *name;

	for (unsigned int i = 0; i < EXPORT_GROUPS && !c->has_tracks; i++) {
		name = export_group__name(i);
		put_metadata(c, i, 0, "process_name",
			     (struct trace_string){ name, (uint32_t)strlen(name) }, i);
	}
	c->has_tracks = true;
	if (track->unit == EXPORT_SLICES)
		put_metadata(c, track->group, track->id, "thread_name", track->name, track->rank);
}

static void put_args(struct chrome *c, const struct export_event *ev)
{
	struct json *j = &c->json;

	if (!ev->args && ev->type != EXPORT_VALUE)
		return;
	json__open(j, "args", '{');
	if (ev->type == EXPORT_VALUE)
		json__u64(j, "value", ev->value);
	for (unsigned int i = 0; i < ev->args; i++) {
		if (ev->arg[i].text.data)
			put_text(c, ev->arg[i].name, ev->arg[i].text);
		else
			json__u64(j, ev->arg[i].name, ev->arg[i].number);
	}
	json__close(j, '}');
}

/* An end of an arrow: it belongs to the slice that is open on the track at this time. */
static void put_flow(struct chrome *c, const struct export_event *ev, const char *phase,
		     uint64_t id)
{
	open_event(c, phase, ev->group, ev->track);
	put_time(c, ev->time);
	json__string(&c->json, "name", "wakes");
	json__string(&c->json, "cat", "flow");
	json__u64(&c->json, "id", id);
	if (phase[0] == 'f')
		json__string(&c->json, "bp", "e");
	close_event(c);
}

static void write_event(struct export_sink *sink, const struct export_event *ev)
{
	static const char *const phases[] = {
		[EXPORT_BEGIN] = "B",
		[EXPORT_END] = "E",
		[EXPORT_INSTANT] = "i",
		[EXPORT_VALUE] = "C",
	};
	struct chrome *c = (struct chrome *)sink;

	if (c->sink.err)
		return;
	open_event(c, phases[ev->type], ev->group, ev->track);
	put_time(c, ev->time);
	if (ev->type != EXPORT_END)
		put_text(c, "name", ev->name);
	if (ev->type == EXPORT_INSTANT)
		json__string(&c->json, "s", "t");
	put_args(c, ev);
	close_event(c);
	if (ev->flow_to)
		put_flow(c, ev, "s", ev->flow_to);
	if (ev->flow_from)
		put_flow(c, ev, "f", ev->flow_from);
}

/* The functions of a stack, outermost first, separated by semicolons. */
static size_t stack_text(const struct export_sample *sample, char *to, size_t size)
{
	size_t n = dictionary__frames(sample->dictionary, sample->stack), len = 0;
	struct trace_string name;

	while (n-- > 0) {
		const struct trace_frame *frame =
			dictionary__frame(sample->dictionary, sample->stack, n);

		if (!dictionary__string(sample->dictionary, frame->func, &name) ||
		    len + name.len + 1 > size)
			break;
		memcpy(to + len, name.data, name.len);
		len += name.len;
		if (n)
			to[len++] = ';';
	}
	return len;
}

static void write_sample(struct export_sink *sink, const struct export_sample *sample)
{
	char text[STACK_TEXT];
	struct export_event ev = {
		.type = EXPORT_INSTANT,
		.group = EXPORT_THREADS,
		.track = sample->track,
		.time = sample->time,
		.name = { "CPU sample", strlen("CPU sample") },
		.args = 1,
	};

	ev.arg[0].name = "stack";
	ev.arg[0].text.data = text;
	ev.arg[0].text.len = (uint32_t)stack_text(sample, text, sizeof(text));
	write_event(sink, &ev);
}

static void write_finish(struct export_sink *sink)
{
	struct chrome *c = (struct chrome *)sink;
	int err;

	fputs("]}\n", c->stream.file);
	err = stream_file__close(&c->stream, &c->sink.error);
	if (!c->sink.err)
		c->sink.err = err;
}

static void destroy(struct export_sink *sink)
{
	struct chrome *c = (struct chrome *)sink;

	stream_file__close(&c->stream, NULL);
	free(c);
}

static const struct export_sink_ops ops = {
	.clock = write_clock,
	.track = write_track,
	.event = write_event,
	.sample = write_sample,
	.finish = write_finish,
	.destroy = destroy,
};

struct export_sink *chrome__create(struct outbuf *out)
{
	struct chrome *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sink = (struct export_sink){ .ops = &ops, .out = out, .marks_gaps = true };
	if (stream_file__open(&c->stream, out)) {
		free(c);
		return NULL;
	}
	json__init(&c->json, c->stream.file, true);
	return &c->sink;
}
