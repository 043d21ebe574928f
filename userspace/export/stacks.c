// SPDX-License-Identifier: GPL-2.0
/*
 * Exports stacks of a trace: see stacks.h.
 *
 * The profiles are computed in one pass. The schema of speedscope is
 * https://www.speedscope.app/file-format-schema.json.
 */
#include "export/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "export/stream.h"
#include "lib/json.h"
#include "profile/totals.h"

/* The profiles of speedscope, in the order in which they are offered. */
static const enum profile_kind kinds[] = { PROFILE_WALL, PROFILE_CPU, PROFILE_OFFCPU };

#define NKINDS (sizeof(kinds) / sizeof(*kinds))

static const char *const titles[NKINDS] = {
	"All time of goroutines, by state",
	"CPU samples",
	"Threads of goroutines without a CPU",
};

#define COUNTED_TITLE "CPU samples (rate unknown)"

struct stacks {
	struct profile *profile[NKINDS];
	size_t n; /* the first ones, which are made */
};

int stacks__too_much(int err, struct error *error)
{
	if (err == -E2BIG)
		return error__set(error, err,
				  "too many different stacks or samples; request fewer labels, or "
				  "fewer goroutines");
	return error__set(error, err, "out of memory");
}

static void deinit(struct stacks *s)
{
	for (size_t i = 0; i < s->n; i++)
		profile__destroy(s->profile[i]);
}

static int init(struct stacks *s, size_t n)
{
	struct profile_opts opts = {};

	*s = (struct stacks){};
	for (; s->n < n; s->n++) {
		opts.kind = kinds[s->n];
		s->profile[s->n] = profile__create(&opts);
		if (!s->profile[s->n])
			return -ENOMEM;
	}
	return 0;
}

/* Makes the first `n` profiles; deinit in any case. */
static int make(struct stacks *s, size_t n, struct timeline *t, struct error *error)
{
	struct timeline_step step = {};
	int err = init(s, n), more = 1;

	while (!err && (more = timeline__next(t, &step, error)) > 0)
		for (size_t i = 0; !err && i < n; i++)
			err = profile__step(s->profile[i], t, &step);
	if (more < 0)
		return more;
	for (size_t i = 0; !err && i < n; i++)
		err = profile__finish(s->profile[i]);
	return err ? stacks__too_much(err, error) : 0;
}

/* ---- speedscope ---- */

struct speedscope {
	struct json json;
	struct intern *texts, *frames; /* frames: stacks of one, of all profiles */
};

static struct trace_string name_of(const struct intern *texts, uint32_t id)
{
	static const struct trace_string unknown = { "(unknown)", 9 };
	struct trace_string name = intern__text_at(texts, id);

	return name.len ? name : unknown;
}

/* The ID of a frame of a profile in the table of all. 0: no memory. */
static uint32_t frame_id(struct speedscope *s, const struct intern *texts,
			 const struct intern_frame *of)
{
	struct intern_frame frame = { .line = of->line };

	if (intern__text(s->texts, name_of(texts, of->func), &frame.func) ||
	    intern__text(s->texts, intern__text_at(texts, of->file), &frame.file))
		return 0;
	return intern__stack(s->frames, &frame, 1);
}

/* Fills the table of frames. 0 or -ENOMEM. */
static int collect_frames(struct speedscope *s, const struct samples *samples)
{
	static const struct intern_frame unknown;

	if (!frame_id(s, samples->texts, &unknown))
		return -ENOMEM;
	for (size_t i = 0; i < samples->n; i++) {
		size_t n;
		const struct intern_frame *frames = samples__frames(samples, &samples->at[i], &n);

		while (n-- > 0)
			if (!frame_id(s, samples->texts, &frames[n]))
				return -ENOMEM;
	}
	return 0;
}

static void put_frames(struct speedscope *s)
{
	struct json *j = &s->json;

	json__open(j, "shared", '{');
	json__open(j, "frames", '[');
	for (uint32_t id = 1; id <= intern__stacks(s->frames); id++) {
		size_t n;
		const struct intern_frame *frame = intern__stack_at(s->frames, id, &n);
		struct trace_string name = intern__text_at(s->texts, frame->func);
		struct trace_string file = intern__text_at(s->texts, frame->file);

		json__open(j, NULL, '{');
		json__bytes(j, "name", name.data, name.len);
		if (file.len) {
			json__bytes(j, "file", file.data, file.len);
			json__u64(j, "line", frame->line);
		}
		json__close(j, '}');
	}
	json__close(j, ']');
	json__close(j, '}');
}

/* The frames of a sample, outermost first; indices are IDs minus 1. */
static void put_stack(struct speedscope *s, const struct samples *samples,
		      const struct sample *sample)
{
	static const struct intern_frame unknown;
	size_t n;
	const struct intern_frame *frames = samples__frames(samples, sample, &n);

	json__open(&s->json, NULL, '[');
	if (!n)
		json__u64(&s->json, NULL, frame_id(s, samples->texts, &unknown) - 1ull);
	while (n-- > 0)
		json__u64(&s->json, NULL, frame_id(s, samples->texts, &frames[n]) - 1ull);
	json__close(&s->json, ']');
}

static void put_profile(struct speedscope *s, const struct samples *samples, const char *title)
{
	struct json *j = &s->json;
	int64_t sum = 0;

	json__open(j, NULL, '{');
	json__string(j, "type", "sampled");
	json__string(j, "name", samples->counted ? COUNTED_TITLE : title);
	json__string(j, "unit", samples->counted ? "none" : "nanoseconds");
	json__open(j, "samples", '[');
	for (size_t i = 0; i < samples->n; i++)
		put_stack(s, samples, &samples->at[i]);
	json__close(j, ']');
	json__open(j, "weights", '[');
	for (size_t i = 0; i < samples->n; i++) {
		json__i64(j, NULL, samples->at[i].value);
		if (__builtin_add_overflow(sum, samples->at[i].value, &sum))
			sum = INT64_MAX;
	}
	json__close(j, ']');
	json__u64(j, "startValue", 0);
	json__i64(j, "endValue", sum);
	json__close(j, '}');
}

static int put_all(struct speedscope *s, const struct stacks *stacks)
{
	struct json *j = &s->json;

	for (size_t i = 0; i < stacks->n; i++)
		if (collect_frames(s, profile__samples(stacks->profile[i])))
			return -ENOMEM;
	json__open(j, NULL, '{');
	json__string(j, "exporter", "gotrace");
	json__string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	put_frames(s);
	json__open(j, "profiles", '[');
	for (size_t i = 0; i < stacks->n; i++) /* without samples only the first one */
		if (!i || profile__samples(stacks->profile[i])->n)
			put_profile(s, profile__samples(stacks->profile[i]), titles[i]);
	json__close(j, ']');
	json__close(j, '}');
	return 0;
}

static int write_speedscope(const struct stacks *stacks, struct outbuf *out, struct error *error)
{
	struct speedscope s = { .texts = intern__create(), .frames = intern__create() };
	struct stream_file stream = {};
	int err = s.texts && s.frames ? stream_file__open(&stream, out) : -ENOMEM;
	int failed = 0;

	if (!err) {
		json__init(&s.json, stream.file, true);
		err = put_all(&s, stacks);
		failed = stream_file__close(&stream, error);
	}
	intern__destroy(s.texts);
	intern__destroy(s.frames);
	return err ? error__set(error, err, "out of memory") : failed;
}

int stacks__speedscope(struct timeline *t, struct outbuf *out, struct error *error)
{
	struct stacks stacks;
	int err = make(&stacks, NKINDS, t, error);

	if (!err)
		err = write_speedscope(&stacks, out, error);
	deinit(&stacks);
	return err;
}

/* ---- folded stacks ---- */

/* The separators of folded stacks may occur in the names of generic functions and of types. */
static void put_frame(struct out *o, struct trace_string name)
{
	for (size_t i = 0, part; i < name.len; i += part) {
		for (part = 0; i + part < name.len && name.data[i + part] != ';'; part++)
			;
		out__unicode(o, name.data + i, part);
		if (i + part < name.len) {
			out__char(o, ':');
			part++;
		}
	}
	if (!name.len)
		out__text(o, "(unknown)");
}

int stacks__print_folded(struct out *o, const struct samples *s)
{
	struct folded folded;
	int err = folded__make(s, &folded);

	for (size_t i = 0; !err && i < folded.n; i++) {
		size_t n;
		const struct intern_frame *frames = folded__frames(&folded, &folded.at[i], &n);

		for (size_t f = n; f-- > 0;) {
			put_frame(o, intern__text_at(s->texts, frames[f].func));
			out__char(o, f ? ';' : ' ');
		}
		if (!n)
			out__text(o, "(unknown) ");
		out__i64(o, folded.at[i].value);
		out__char(o, '\n');
	}
	folded__deinit(&folded);
	out__flush(o);
	return err;
}

static int write_folded(const struct stacks *stacks, struct outbuf *out, struct error *error)
{
	struct out *o = calloc(1, sizeof(*o));
	struct stream_file stream = {};
	int err = o ? stream_file__open(&stream, out) : -ENOMEM;
	int failed = 0;

	if (!err) {
		o->file = stream.file;
		err = stacks__print_folded(o, profile__samples(stacks->profile[0]));
		failed = stream_file__close(&stream, error);
	}
	free(o);
	return err ? error__set(error, err, "out of memory") : failed;
}

int stacks__folded(struct timeline *t, struct outbuf *out, struct error *error)
{
	struct stacks stacks;
	int err = make(&stacks, 1, t, error);

	if (!err)
		err = write_folded(&stacks, out, error);
	deinit(&stacks);
	return err;
}
