// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a profile in the format of pprof: see pprof.h.
 *
 * IDs of strings in the file are those of the table of texts, whose ID 0 is the empty string, too.
 * Locations and functions get IDs by interning their contents: one location per distinct frame, one
 * function per name and file. Each message is built in memory, because its length precedes it, and
 * then compressed.
 */
#include "profile/pprof.h"

#include <errno.h>
#include <string.h>

#include "format/encode.h"
#include "format/protobuf.h"
#include "profile/gzip.h"

/* Numbers of fields in profile.proto */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINED
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

#define WIRE_BYTES 2
#define MAPPING	   1 /* the ID of the only one */

struct pprof {
	struct samples *s;
	const struct pprof_opts *opts;
	struct gzip gzip;
	struct intern *locations; /* frames, each as a stack of one */
	struct intern *functions; /* the same, with the name and the file only */
	struct outbuf message, inner, packed;
	uint64_t limit; /* above the highest address */
	struct error *error;
	int err; /* the first error; nothing is written after it */
};

/* ---- protocol buffers ---- */

static void put_number(struct pprof *p, struct outbuf *to, unsigned int field, uint64_t v)
{
	if (v && !p->err)
		p->err = protobuf__number(to, field, v, p->error);
}

/* Adds a message to another one, and empties it. */
static void put_message(struct pprof *p, struct outbuf *to, unsigned int field, struct outbuf *what)
{
	if (!p->err)
		p->err = protobuf__bytes(to, field, what->data, what->len, p->error);
	what->len = 0;
}

/* An element of a packed array. */
static void pack(struct pprof *p, uint64_t v)
{
	if (!p->err)
		p->err = outbuf__room(&p->packed, LEB_MAX, p->error);
	if (!p->err)
		leb__append(&p->packed, v);
}

/* A member of the profile itself, whose message is `message`: compresses it. */
static void emit (struct pprof *p, unsigned int field)
{
	uint8_t head[2 * LEB_MAX], *end;

	end = leb__put(leb__put(head, field << 3 | WIRE_BYTES), p->message.len);
	if (!p->err)
		p->err = gzip__put(&p->gzip, head, (size_t)(end - head), p->error);
	if (!p->err)
		p->err = gzip__put(&p->gzip, p->message.data, p->message.len, p->error);
	p->message.len = 0;
}

static void emit_number(struct pprof *p, unsigned int field, uint64_t v)
{
	put_number(p, &p->message, field, v);
	if (!p->err)
		p->err = gzip__put(&p->gzip, p->message.data, p->message.len, p->error);
	p->message.len = 0;
}

static void no_memory(struct pprof *p)
{
	if (!p->err)
		p->err = error__set(p->error, -ENOMEM, "out of memory");
}

static uint32_t text(struct pprof *p, const char *s)
{
	uint32_t id = intern__cstring(p->s->texts, s);

	if (!id && *s)
		no_memory(p);
	return id;
}

/* ---- the profile ---- */

static void emit_type(struct pprof *p, unsigned int field, const char *type, const char *unit)
{
	put_number(p, &p->message, VALUE_TYPE, text(p, type));
	put_number(p, &p->message, VALUE_UNIT, text(p, unit));
	emit (p, field)
		;
}

static uint32_t location(struct pprof *p, const struct intern_frame *frame)
{
	uint32_t id = intern__stack(p->locations, frame, 1);

	if (!id)
		no_memory(p);
	return id;
}

static void put_label(struct pprof *p, const char *key, const struct trace_string *string,
		      uint64_t number)
{
	put_number(p, &p->inner, LABEL_KEY, text(p, key));
	if (string)
		put_number(p, &p->inner, LABEL_STRING,
			   intern__string(p->s->texts, string->data, string->len));
	else
		put_number(p, &p->inner, LABEL_NUMBER, number);
	put_message(p, &p->message, SAMPLE_LABEL, &p->inner);
}

static void put_labels(struct pprof *p, const struct sample *sample)
{
	struct sample_labels labels;
	struct trace_string name;

	samples__labels(p->s, sample, &labels);
	name = intern__text_at(p->s->texts, labels.function);
	if (labels.goroutine != TRACE_NO_G)
		put_label(p, "goroutine", NULL, labels.goroutine);
	if (labels.thread != TRACE_NO_M)
		put_label(p, "thread", NULL, labels.thread);
	if (labels.task)
		put_label(p, "task", NULL, labels.task);
	if (name.len)
		put_label(p, "start_function", &name, 0);
}

static void emit_sample(struct pprof *p, const struct sample *sample)
{
	size_t n;
	const struct intern_frame *frames = samples__frames(p->s, sample, &n);

	for (size_t i = 0; i < n; i++)
		pack(p, location(p, &frames[i]));
	put_message(p, &p->message, SAMPLE_LOCATIONS, &p->packed);
	pack(p, sample->count);
	if (!p->s->counted)
		pack(p, (uint64_t)sample->value);
	put_message(p, &p->message, SAMPLE_VALUES, &p->packed);
	put_labels(p, sample);
	emit (p, PROFILE_SAMPLE)
		;
}

static void emit_location(struct pprof *p, uint32_t id)
{
	size_t n;
	const struct intern_frame *frame = intern__stack_at(p->locations, id, &n);
	const struct intern_frame function = { .func = frame->func, .file = frame->file };
	uint32_t function_id = intern__stack(p->functions, &function, 1);

	if (!function_id)
		no_memory(p);
	if (frame->pc >= p->limit)
		p->limit = frame->pc < UINT64_MAX ? frame->pc + 1 : frame->pc;
	put_number(p, &p->inner, LINE_FUNCTION, function_id);
	put_number(p, &p->inner, LINE_NUMBER, frame->line);
	put_number(p, &p->message, LOCATION_ID, id);
	put_number(p, &p->message, LOCATION_MAPPING, p->opts->build_id ? MAPPING : 0);
	put_number(p, &p->message, LOCATION_ADDRESS, frame->pc);
	put_message(p, &p->message, LOCATION_LINE, &p->inner);
	emit (p, PROFILE_LOCATION)
		;
}

static void emit_function(struct pprof *p, uint32_t id)
{
	size_t n;
	const struct intern_frame *function = intern__stack_at(p->functions, id, &n);

	put_number(p, &p->message, FUNCTION_ID, id);
	put_number(p, &p->message, FUNCTION_NAME, function->func);
	put_number(p, &p->message, FUNCTION_SYSTEM_NAME, function->func);
	put_number(p, &p->message, FUNCTION_FILE, function->file);
	emit (p, PROFILE_FUNCTION)
		;
}

/* All addresses belong to the program, whose places in memory the trace does not have. */
static void emit_mapping(struct pprof *p)
{
	const struct pprof_opts *o = p->opts;

	if (!o->build_id)
		return;
	put_number(p, &p->message, MAPPING_ID, MAPPING);
	put_number(p, &p->message, MAPPING_LIMIT, p->limit);
	put_number(p, &p->message, MAPPING_FILE, o->program ? text(p, o->program) : 0);
	put_number(p, &p->message, MAPPING_BUILD_ID, text(p, o->build_id));
	for (unsigned int has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINED; has++)
		put_number(p, &p->message, has, 1);
	emit (p, PROFILE_MAPPING)
		;
}

/* Protocol buffers require UTF-8; names of a trace may contain anything. */
static void emit_string(struct pprof *p, uint32_t id)
{
	struct trace_string s = intern__text_at(p->s->texts, id);

	if (!p->err)
		p->err = protobuf__utf8(&p->message, s.data, s.len, p->error);
	emit (p, PROFILE_STRING)
		;
}

/* In the order of their dependencies; strings are last, since the other messages add some. */
static void emit_all(struct pprof *p)
{
	const struct profile_names *names = &profile_names[p->opts->kind];

	emit_type(p, PROFILE_SAMPLE_TYPE, names->count, "count");
	if (!p->s->counted)
		emit_type(p, PROFILE_SAMPLE_TYPE, names->value, "nanoseconds");
	for (size_t i = 0; i < p->s->n && !p->err; i++)
		emit_sample(p, &p->s->at[i]);
	for (uint32_t id = 1; id <= intern__stacks(p->locations) && !p->err; id++)
		emit_location(p, id);
	for (uint32_t id = 1; id <= intern__stacks(p->functions) && !p->err; id++)
		emit_function(p, id);
	emit_mapping(p);
	emit_number(p, PROFILE_TIME, p->opts->time_ns);
	emit_number(p, PROFILE_DURATION, p->opts->duration_ns);
	emit_type(p, PROFILE_PERIOD_TYPE, names->period, names->period_unit);
	emit_number(p, PROFILE_PERIOD, p->opts->period);
	for (uint32_t id = 0; id <= intern__strings(p->s->texts) && !p->err; id++)
		emit_string(p, id);
}

int pprof__write(struct samples *s, const struct pprof_opts *opts, struct outbuf *out,
		 struct error *error)
{
	struct pprof p = { .s = s, .opts = opts, .error = error };

	p.locations = intern__create();
	p.functions = intern__create();
	if (!p.locations || !p.functions)
		no_memory(&p);
	else
		p.err = gzip__init(&p.gzip, out, error);
	if (!p.err) {
		emit_all(&p);
		if (!p.err)
			p.err = gzip__finish(&p.gzip, error);
		gzip__deinit(&p.gzip);
	}
	intern__destroy(p.locations);
	intern__destroy(p.functions);
	outbuf__deinit(&p.message);
	outbuf__deinit(&p.inner);
	outbuf__deinit(&p.packed);
	return p.err;
}
