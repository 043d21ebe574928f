/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-made events for the unit tests of profiles, and the samples as text: one line per sample,
 * COUNT VALUE and the functions of the stack, leaf first, then labels.
 */
#ifndef SELFTESTS_PROFILE_FIXTURE_H
#define SELFTESTS_PROFILE_FIXTURE_H

#include "unit/scratch.h"
#include "unit/tracker_fixture.h"
#include "profile/profile.h"

enum { NONE, MAIN, WORKER, READ, LEAF, CHAN, NETWORK, STRINGS };
static const char *const strings[STRINGS] = { "",     "main.main",    "main.worker", "main.read",
					      "leaf", "chan receive", "network" };

static struct profile *profile;

/* Stack N is the function N, called from main.worker; stack MAIN is main.main alone. */
static inline void begin_with(const struct profile_opts *opts)
{
	struct trace_frame frames[] = { {}, { .pc = 0x20, .func = WORKER, .file = LEAF } };

	add_strings(strings, STRINGS);
	for (uint64_t id = MAIN; id <= LEAF; id++) {
		frames[0] = (struct trace_frame){ 0x10 * id, id, LEAF, 7 };
		assert_int_equal(dictionary__add_stack(&dictionary, id, frames, 1 + (id != MAIN)),
				 0);
	}
	profile = profile__create(opts);
	assert_non_null(profile);
	on_m = TRACE_NO_M;
	on_p = TRACE_NO_P;
	on_g = TRACE_NO_G;
}

static inline void begin(enum profile_kind kind)
{
	begin_with(&(struct profile_opts){ .kind = kind });
}

static inline void end(void)
{
	profile__destroy(profile);
	dictionary__deinit(&dictionary);
}

static inline void event(int64_t time, unsigned int type, uint8_t old, uint64_t a, uint64_t b,
			 uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	ev.old = old;
	assert_int_equal(profile__event(profile, &ev), 0);
}

static inline void put_sample(FILE *f, const struct samples *s, const struct sample *sample)
{
	struct sample_labels labels;
	struct trace_string name;
	size_t n;
	const struct intern_frame *frames = samples__frames(s, sample, &n);

	fprintf(f, "%" PRIu64 " %" PRId64, sample->count, sample->value);
	for (size_t i = 0; i < n; i++) {
		name = intern__text_at(s->texts, frames[i].func);
		fprintf(f, "%s%.*s", i ? "<" : " ", (int)name.len, name.data);
	}
	samples__labels(s, sample, &labels);
	if (labels.goroutine != TRACE_NO_G)
		fprintf(f, " g%" PRIu64, labels.goroutine);
	if (labels.thread != TRACE_NO_M)
		fprintf(f, " m%" PRIu64, labels.thread);
	if (labels.task)
		fprintf(f, " t%" PRIu64, labels.task);
	name = intern__text_at(s->texts, labels.function);
	if (name.len)
		fprintf(f, " of %.*s", (int)name.len, name.data);
	fputc('\n', f);
}

/* The trace ends: the samples are these, in the order in which they were first added. */
static inline void expect(const char *want)
{
	const struct samples *s = profile__samples(profile);
	FILE *f = capture();

	assert_int_equal(profile__finish(profile), 0);
	for (size_t i = 0; i < s->n; i++)
		put_sample(f, s, &s->at[i]);
	expect_captured(want);
	end();
}

#endif
