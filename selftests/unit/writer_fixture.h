/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A writer with a scratch file, and functions that read the file: shared by the writer's unit
 * tests.
 */
#ifndef SELFTESTS_WRITER_FIXTURE_H
#define SELFTESTS_WRITER_FIXTURE_H

#include "unit/test.h"
#include "format/dictionary.h"
#include "unit/trace_bytes.h"
#include "writer/output_file.h"
#include "writer/writer.h"

#define NOM TRACE_NO_M

struct fixture {
	struct trace_file *file;
	struct intern *in;
	struct writer *w;
	struct bytes bytes;
	const char *path;
};

static struct fixture x;

static inline void ok(int err)
{
	assert_int_equal(err, 0);
}

static inline void start_at(const char *path, unsigned int version, unsigned int tick)
{
	memset(&x, 0, sizeof(x));
	x.path = path;
	assert_int_equal(trace_file__open(&x.file, x.path, FILE_ANY), 0);
	x.in = intern__create();
	x.w = writer__create(x.file, x.in, &(struct writer_opts){ version, tick });
	assert_non_null(x.w);
}

static inline void start(unsigned int version, unsigned int tick)
{
	start_at(scratch("trace"), version, tick);
}

/* Commits and reads the file, and skips the header. */
static inline void finish(unsigned int version)
{
	assert_int_equal(trace_file__commit(x.file), 0);
	x.bytes = bytes__read(x.path);
	assert_int_equal(writer__stats(x.w)->bytes, x.bytes.len);
	assert_int_equal(bytes__header(&x.bytes), version);
}

static inline int stop(void **state)
{
	writer__destroy(x.w);
	intern__destroy(x.in);
	trace_file__destroy(x.file);
	free(x.bytes.data);
	memset(&x, 0, sizeof(x));
	return 0;
}

/* Closes the writer. The strings that were written, as a reader has them. */
static inline struct dictionary dictionary_of_file(void)
{
	struct dictionary dictionary;
	struct read_batch batch;
	struct read_event ev;
	uint64_t time;
	size_t at;

	dictionary__init(&dictionary);
	ok(writer__close(x.w));
	finish(25);
	while (bytes__batch(&x.bytes, &batch) == 1)
		for (at = time = 0;
		     batch.data[0] == EV_STRINGS && batch__event(&batch, &at, &time, &ev);)
			if (ev.type == EV_STRING)
				ok(dictionary__add_string(&dictionary, ev.arg[0], ev.blob,
							  ev.arg[1]));
	return dictionary;
}

static inline int event(uint64_t m, uint64_t time, enum ev type, uint64_t a, uint64_t b, uint64_t c,
			unsigned int n)
{
	uint64_t args[] = { a, b, c, 0 };

	return writer__event(x.w, m, time, type, args, n);
}

/* The events of the timed batches of the next generations, of thread m or all, as one list. */
static inline size_t timed_events(uint64_t m, bool all, struct read_event *evs, size_t max)
{
	struct read_batch batch;
	size_t n = 0, at;
	uint64_t time;

	for (x.bytes.at = 16; bytes__batch(&x.bytes, &batch);) {
		if (!batch__timed(&batch) || (!all && batch.m != m))
			continue;
		at = 0;
		time = batch.time;
		while (n < max && batch__event(&batch, &at, &time, &evs[n]))
			n++;
	}
	return n;
}

/* How often each id is defined in the tables of all generations of a file. */
static inline void count_ids(enum ev type, unsigned int gen, unsigned int *seen, size_t max)
{
	struct read_batch batch;
	struct read_event ev;
	uint64_t time = 0;
	size_t at;

	memset(seen, 0, max * sizeof(*seen));
	for (x.bytes.at = 16; bytes__batch(&x.bytes, &batch);) {
		if (batch.gen != gen || batch__timed(&batch))
			continue;
		for (at = 0; batch__event(&batch, &at, &time, &ev);)
			if (ev.type == type && ev.arg[0] < max)
				seen[ev.arg[0]]++;
	}
}

#endif
