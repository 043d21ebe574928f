// SPDX-License-Identifier: GPL-2.0
/*
 * Writes an export in the format of Perfetto: a protocol buffer, perfetto_trace.proto of
 * https://perfetto.dev/docs/reference/trace-packet-proto.
 *
 * Upstream: export/export.c. All packets are of one sequence. Names are interned: a packet defines
 * those that were not used before, and refers to them by ID. When the names take more than
 * NAMES_MEMORY, all are forgotten and the state of the sequence begins again, so that memory does
 * not grow with the trace. Times are CLOCK_MONOTONIC, if the trace has it, else those of the trace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/sink.h"
#include "format/protobuf.h"
#include "lib/array.h"
#include "reader/timeline.h"
#include "writer/intern.h"

#define NAMES_MEMORY ((size_t)32 << 20)
#define PID	     1 /* samples belong to a process; not each trace contains the real PID */

/* Numbers of fields in perfetto_trace.proto */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DROPPED = 42, /* previous_packet_dropped */
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { DEFAULTS_SAMPLE = 12, DEFAULTS_CLOCK = 58 };
enum { SAMPLE_DEFAULTS_TIMEBASE = 1, TIMEBASE_COUNTER = 4, COUNTER_CPU_CLOCK = 1 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY, CLOCK_ID = 1, CLOCK_TIME };
enum { CLOCK_REAL = 1, CLOCK_MONO = 3 };
enum {
	TRACK_ID = 1,
	TRACK_NAME,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_ORDERING = 11,
	TRACK_RANK,
	TRACK_DESCRIPTION = 14
};
enum { COUNTER_UNIT = 3, UNIT_COUNT = 2, UNIT_BYTES };
enum { ORDERING_EXPLICIT = 3 };
enum {
	EVENT_ARG = 4,
	EVENT_TYPE = 9,
	EVENT_NAME,
	EVENT_TRACK,
	EVENT_VALUE = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_VALUE };
enum { ARG_NAME = 1, ARG_NUMBER = 3, ARG_TEXT = 17 };
enum { SAMPLE_PID = 2, SAMPLE_TID, SAMPLE_STACK };
enum { TREE_PROCESS = 1, TREE_THREAD };
enum { PROCESS_PID = 1, PROCESS_COMMAND = 3, THREAD_TID = 1, THREAD_PID = 3 };
enum {
	INTERNED_EVENTS = 2,
	INTERNED_ARGS,
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES,
	INTERNED_STACKS,
	INTERNED_PATHS = 17,
	INTERNED_MAPPINGS = 19,
	INTERNED_TEXTS = 29
};
enum { INTERNED_ID = 1, INTERNED_TEXT };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING, FRAME_ADDRESS, FRAME_LINE = 6 };
enum { MAPPING_PATH = 7 };
enum { STACK_FRAME = 2 };

/* What has been defined of a name: one bit per kind of definition. */
enum { IS_EVENT = 1, IS_ARG = 2, IS_TEXT = 4, IS_FUNCTION = 8 };

struct perfetto {
	struct export_sink sink;
	struct intern *names, *frames, *stacks; /* frames: stacks of one */
	uint8_t *defined;			/* by ID of a name */
	uint32_t nframes, nstacks;		/* IDs that are defined, up to this one */
	size_t cap;
	struct outbuf packet, message, inner, innermost, interned;
	struct map threads; /* that have samples */
	int64_t offset; /* CLOCK_MONOTONIC minus the clock of the trace, or what makes times positive */
	bool cleared; /* the state of the sequence has begun */
	bool has_clock, has_tracks;
};

/* ---- messages ---- */

static void fail(struct perfetto *p, int err)
{
	if (!p->sink.err)
		p->sink.err = err;
}

static void put(struct perfetto *p, struct outbuf *to, unsigned int field, uint64_t v)
{
	if (!p->sink.err)
		p->sink.err = protobuf__number(to, field, v, &p->sink.error);
}

static void put_fixed(struct perfetto *p, struct outbuf *to, unsigned int field, uint64_t v)
{
	if (!p->sink.err)
		p->sink.err = protobuf__fixed64(to, field, v, &p->sink.error);
}

static void put_text(struct perfetto *p, struct outbuf *to, unsigned int field,
		     struct trace_string s)
{
	if (!p->sink.err)
		p->sink.err = protobuf__text(to, field, s.data, s.len, &p->sink.error);
}

static void put_literal(struct perfetto *p, struct outbuf *to, unsigned int field, const char *s)
{
	put_text(p, to, field, (struct trace_string){ s, (uint32_t)strlen(s) });
}

/* Adds a message to another one, and empties it. */
static void put_message(struct perfetto *p, struct outbuf *to, unsigned int field,
			struct outbuf *what)
{
	if (!p->sink.err)
		p->sink.err = protobuf__bytes(to, field, what->data, what->len, &p->sink.error);
	what->len = 0;
}

/* ---- packets ---- */

static void put_defaults(struct perfetto *p)
{
	put(p, &p->innermost, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
	put_message(p, &p->inner, SAMPLE_DEFAULTS_TIMEBASE, &p->innermost);
	put(p, &p->message, DEFAULTS_CLOCK, CLOCK_MONO);
	put_message(p, &p->message, DEFAULTS_SAMPLE, &p->inner);
	put_message(p, &p->packet, PACKET_DEFAULTS, &p->message);
}

/* Writes the packet whose content, except names, is in p->packet. */
static void emit_packet(struct perfetto *p)
{
	unsigned int flags = FLAG_NEEDS_STATE;

	if (p->interned.len)
		put_message(p, &p->packet, PACKET_INTERNED, &p->interned);
	if (!p->cleared) {
		flags |= FLAG_CLEARED;
		put_defaults(p);
	}
	p->cleared = true;
	put(p, &p->packet, PACKET_SEQUENCE, 1);
	put(p, &p->packet, PACKET_FLAGS, flags);
	put_message(p, p->sink.out, TRACE_PACKET, &p->packet);
}

static uint64_t mono(const struct perfetto *p, int64_t time)
{
	return (uint64_t)time + (uint64_t)p->offset;
}

/* ---- names ---- */

/* Forgets all names, before a packet; after a gap, since readers do so, too. */
static void limit_memory(struct perfetto *p)
{
	if (p->sink.err) /* there may be no tables */
		return;
	if (!p->sink.dropped &&
	    intern__memory(p->names) + intern__memory(p->frames) + intern__memory(p->stacks) <=
		    NAMES_MEMORY)
		return;
	intern__destroy(p->names);
	intern__destroy(p->frames);
	intern__destroy(p->stacks);
	p->names = intern__create();
	p->frames = intern__create();
	p->stacks = intern__create();
	memset(p->defined, 0, p->cap);
	p->nframes = p->nstacks = 0;
	p->cleared = false;
	if (!p->names || !p->frames || !p->stacks)
		fail(p, -ENOMEM);
}

/*
 * The ID of a text, which the packet defines if it is new. That of the file must not be 0, as that
 * of the empty text is.
 */
static uint32_t name_id(struct perfetto *p, struct trace_string s, unsigned int field, uint8_t kind)
{
	struct outbuf *def = &p->innermost;
	uint32_t id = 0;

	if (p->sink.err || intern__text(p->names, s, &id)) {
		fail(p, -ENOMEM);
		return 0;
	}
	while (id >= p->cap)
		if (array__grow_cleared(&p->defined, p->cap, &p->cap, 1)) {
			fail(p, -ENOMEM);
			return 0;
		}
	if (p->defined[id] & kind)
		return id + 1;
	p->defined[id] |= kind;
	put(p, def, INTERNED_ID, id + 1ull);
	put_text(p, def, INTERNED_TEXT, intern__text_at(p->names, id));
	put_message(p, &p->interned, field, def);
	return id + 1;
}

/* ---- clocks and tracks ---- */

static void put_clock(struct perfetto *p, unsigned int id, uint64_t time)
{
	put(p, &p->inner, CLOCK_ID, id);
	put(p, &p->inner, CLOCK_TIME, time);
	put_message(p, &p->message, CLOCKS_CLOCK, &p->inner);
}

/* The first packet: what wrote the file, which also identifies it. */
static void emit_head(struct perfetto *p)
{
	put(p, &p->message, TRACK_ID, EXPORT_GROUPS + 1);
	put_literal(p, &p->message, TRACK_DESCRIPTION, "written by gotrace export");
	put_message(p, &p->packet, PACKET_TRACK, &p->message);
	put_message(p, p->sink.out, TRACE_PACKET, &p->packet);
}

static void write_clock(struct export_sink *sink, int64_t time, const struct trace_clock *clock)
{
	struct perfetto *p = (struct perfetto *)sink;
	bool known = clock && clock->known;

	if (!p->has_clock) {
		emit_head(p);
		p->offset = known ? timeline__mono_offset(clock) : 0;
		if (!known && time < 0) /* of v1: their first event is 0 */
			p->offset = time == INT64_MIN ? INT64_MAX : -time;
	}
	p->has_clock = true;
	put_clock(p, CLOCK_MONO, mono(p, known ? clock->time : time));
	if (known)
		put_clock(p, CLOCK_REAL, clock->sec * 1000000000 + clock->nsec);
	put(p, &p->message, CLOCKS_PRIMARY, CLOCK_MONO);
	put_message(p, &p->packet, PACKET_CLOCKS, &p->message);
	emit_packet(p);
}

/* IDs of top-level tracks are 1 to EXPORT_GROUPS; the others follow. */
static uint64_t track_id(uint64_t id)
{
	return id + EXPORT_GROUPS + 1;
}

static void emit_track(struct perfetto *p, uint64_t id, uint64_t parent, struct trace_string name,
		       uint64_t rank, enum export_unit unit)
{
	put(p, &p->message, TRACK_ID, id);
	if (parent)
		put(p, &p->message, TRACK_PARENT, parent);
	put_text(p, &p->message, TRACK_NAME, name);
	put(p, &p->message, TRACK_ORDERING, ORDERING_EXPLICIT);
	put(p, &p->message, TRACK_RANK, rank < INT32_MAX ? rank : INT32_MAX);
	if (unit != EXPORT_SLICES) {
		put(p, &p->inner, COUNTER_UNIT, unit == EXPORT_BYTES ? UNIT_BYTES : UNIT_COUNT);
		put_message(p, &p->message, TRACK_COUNTER, &p->inner);
	}
	put_message(p, &p->packet, PACKET_TRACK, &p->message);
	emit_packet(p);
}

static void write_track(struct export_sink *sink, const struct export_track *track)
{
	struct perfetto *p = (struct perfetto *)sink;
	const char *group;

	for (unsigned int i = 0; i < EXPORT_GROUPS && !p->has_tracks; i++) {
		group = export_group__name(i);
		emit_track(p, i + 1, 0, (struct trace_string){ group, (uint32_t)strlen(group) }, i,
			   EXPORT_SLICES);
	}
	p->has_tracks = true;
	emit_track(p, track_id(track->id),
		   track->parent ? track_id(track->parent) : track->group + 1u, track->name,
		   track->rank, track->unit);
}

/* ---- events ---- */

static void put_arg(struct perfetto *p, const struct export_arg *arg)
{
	struct trace_string name = { arg->name, (uint32_t)strlen(arg->name) };

	put(p, &p->inner, ARG_NAME, name_id(p, name, INTERNED_ARGS, IS_ARG));
	if (arg->text.data)
		put(p, &p->inner, ARG_TEXT, name_id(p, arg->text, INTERNED_TEXTS, IS_TEXT));
	else
		put(p, &p->inner, ARG_NUMBER, arg->number);
	put_message(p, &p->message, EVENT_ARG, &p->inner);
}

static void write_event(struct export_sink *sink, const struct export_event *ev)
{
	static const unsigned int types[] = {
		[EXPORT_BEGIN] = TYPE_BEGIN,
		[EXPORT_END] = TYPE_END,
		[EXPORT_INSTANT] = TYPE_INSTANT,
		[EXPORT_VALUE] = TYPE_VALUE,
	};
	struct perfetto *p = (struct perfetto *)sink;

	limit_memory(p);
	if (p->sink.dropped)
		put(p, &p->packet, PACKET_DROPPED, 1);
	p->sink.dropped = false;
	put(p, &p->packet, PACKET_TIME, mono(p, ev->time));
	put(p, &p->message, EVENT_TYPE, types[ev->type]);
	put(p, &p->message, EVENT_TRACK, track_id(ev->track));
	if (ev->type == EXPORT_BEGIN || ev->type == EXPORT_INSTANT)
		put(p, &p->message, EVENT_NAME, name_id(p, ev->name, INTERNED_EVENTS, IS_EVENT));
	for (unsigned int i = 0; i < ev->args; i++)
		put_arg(p, &ev->arg[i]);
	if (ev->type == EXPORT_VALUE)
		put(p, &p->message, EVENT_VALUE, ev->value);
	if (ev->flow_to)
		put_fixed(p, &p->message, EVENT_FLOW, ev->flow_to);
	if (ev->flow_from)
		put_fixed(p, &p->message, EVENT_FLOW_ENDS, ev->flow_from);
	put_message(p, &p->packet, PACKET_EVENT, &p->message);
	emit_packet(p);
}

/* ---- samples ---- */

/* Samples belong to threads, which belong to a process. */
static void name_thread(struct perfetto *p, uint64_t thread)
{
	if (map__get(&p->threads, thread))
		return;
	if (map__put(&p->threads, thread, p))
		fail(p, -ENOMEM);
	put(p, &p->inner, PROCESS_PID, PID);
	put_literal(p, &p->inner, PROCESS_COMMAND, "CPU samples");
	put_message(p, &p->message, TREE_PROCESS, &p->inner);
	put(p, &p->inner, THREAD_TID, thread);
	put(p, &p->inner, THREAD_PID, PID);
	put_message(p, &p->message, TREE_THREAD, &p->inner);
	put_message(p, &p->packet, PACKET_PROCESS_TREE, &p->message);
	emit_packet(p);
}

/* The one mapping, which contains all frames: its ID is 1. */
static void define_mapping(struct perfetto *p)
{
	put(p, &p->innermost, INTERNED_ID, 1);
	put_literal(p, &p->innermost, INTERNED_TEXT, "(Go program)");
	put_message(p, &p->interned, INTERNED_PATHS, &p->innermost);
	put(p, &p->innermost, INTERNED_ID, 1);
	put(p, &p->innermost, MAPPING_PATH, 1);
	put_message(p, &p->interned, INTERNED_MAPPINGS, &p->innermost);
}

static uint32_t frame_id(struct perfetto *p, const struct dictionary *d,
			 const struct trace_frame *from)
{
	struct intern_frame frame = { .pc = from->pc, .line = (uint32_t)from->line };
	struct trace_string function = {};
	uint32_t id;

	dictionary__string(d, from->func, &function);
	frame.func = name_id(p, function, INTERNED_FUNCTIONS, IS_FUNCTION);
	id = intern__stack(p->frames, &frame, 1);
	if (!id)
		fail(p, -ENOMEM);
	if (id <= p->nframes || p->sink.err)
		return id;
	if (!p->nframes)
		define_mapping(p);
	p->nframes = id;
	put(p, &p->innermost, INTERNED_ID, id);
	put(p, &p->innermost, FRAME_FUNCTION, frame.func);
	put(p, &p->innermost, FRAME_MAPPING, 1);
	put(p, &p->innermost, FRAME_ADDRESS, frame.pc);
	put(p, &p->innermost, FRAME_LINE, frame.line);
	put_message(p, &p->interned, INTERNED_FRAMES, &p->innermost);
	return id;
}

/* Perfetto has the outermost frame first. */
static uint32_t stack_id(struct perfetto *p, const struct dictionary *d, uint64_t stack)
{
	struct intern_frame frames[TRACE_STACK_MAX] = {};
	size_t n = dictionary__frames(d, stack);
	uint32_t id;

	n = n < TRACE_STACK_MAX ? n : TRACE_STACK_MAX;
	for (size_t i = 0; i < n; i++)
		frames[n - 1 - i].pc = frame_id(p, d, dictionary__frame(d, stack, i));
	id = intern__stack(p->stacks, frames, n);
	if (!id)
		fail(p, -ENOMEM);
	if (id <= p->nstacks || p->sink.err)
		return id;
	p->nstacks = id;
	put(p, &p->inner, INTERNED_ID, id);
	for (size_t i = 0; i < n; i++)
		put(p, &p->inner, STACK_FRAME, frames[i].pc);
	put_message(p, &p->interned, INTERNED_STACKS, &p->inner);
	return id;
}

static void write_sample(struct export_sink *sink, const struct export_sample *sample)
{
	struct perfetto *p = (struct perfetto *)sink;
	uint32_t stack;

	limit_memory(p);
	name_thread(p, sample->thread);
	stack = stack_id(p, sample->dictionary, sample->stack);
	put(p, &p->packet, PACKET_TIME, mono(p, sample->time));
	put(p, &p->message, SAMPLE_PID, PID);
	put(p, &p->message, SAMPLE_TID, sample->thread);
	put(p, &p->message, SAMPLE_STACK, stack);
	put_message(p, &p->packet, PACKET_SAMPLE, &p->message);
	emit_packet(p);
}

/* ---- the sink ---- */

static void write_finish(struct export_sink *sink)
{
	(void)sink; /* a trace is a sequence of packets */
}

static void destroy(struct export_sink *sink)
{
	struct perfetto *p = (struct perfetto *)sink;

	intern__destroy(p->names);
	intern__destroy(p->frames);
	intern__destroy(p->stacks);
	free(p->defined);
	map__deinit(&p->threads);
	outbuf__deinit(&p->packet);
	outbuf__deinit(&p->message);
	outbuf__deinit(&p->inner);
	outbuf__deinit(&p->innermost);
	outbuf__deinit(&p->interned);
	free(p);
}

static const struct export_sink_ops ops = {
	.clock = write_clock,
	.track = write_track,
	.event = write_event,
	.sample = write_sample,
	.finish = write_finish,
	.destroy = destroy,
};

struct export_sink *perfetto__create(struct outbuf *out)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->sink = (struct export_sink){ .ops = &ops, .out = out, .marks_gaps = true };
	p->names = intern__create();
	p->frames = intern__create();
	p->stacks = intern__create();
	if (!p->names || !p->frames || !p->stacks) {
		destroy(&p->sink);
		return NULL;
	}
	return &p->sink;
}
