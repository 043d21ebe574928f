/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small reader of the writer's output for the unit tests: header, batches, events. It uses the
 * table of spec.c and the format of docs/trace-format.md, and shares no code with the encoder.
 */
#ifndef SELFTESTS_TRACE_BYTES_H
#define SELFTESTS_TRACE_BYTES_H

#include "unit/scratch.h"
#include "format/spec.h"

struct bytes {
	uint8_t *data;
	size_t len, at;
};

struct read_batch {
	uint64_t gen, m, time;
	const uint8_t *data; /* first byte: the kind, or the first event's type */
	size_t len;
};

struct read_event {
	unsigned int type;
	uint64_t arg[EV_ARGS_MAX + 1]; /* with dt; the length of a string or stack is the last */
	const uint8_t *blob;	       /* of a string */
	uint64_t time;		       /* ticks, if timed */
};

static inline struct bytes bytes__read(const char *path)
{
	struct bytes b = { 0 };
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	b.len = ftell(f);
	rewind(f);
	b.data = malloc(b.len + 1);
	assert_int_equal(fread(b.data, 1, b.len, f), b.len);
	fclose(f);
	return b;
}

static inline void assert_content(const char *path, const char *text)
{
	struct bytes b = bytes__read(path);

	assert_int_equal(b.len, strlen(text));
	assert_memory_equal(b.data, text, b.len);
	free(b.data);
}

static inline uint8_t bytes__u8(struct bytes *b)
{
	assert_true(b->at < b->len);
	return b->data[b->at++];
}

static inline uint64_t bytes__leb(struct bytes *b)
{
	uint64_t v = 0;
	int shift;
	uint8_t c;

	for (shift = 0; shift < 70; shift += 7) {
		c = bytes__u8(b);
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
	fail_msg("a number of more than 10 bytes");
	return 0;
}

/* The file's header; returns its version. */
static inline unsigned int bytes__header(struct bytes *b)
{
	unsigned int version = 0;

	assert_true(b->len >= 16);
	assert_int_equal(sscanf((char *)b->data, "go 1.%u trace", &version), 1);
	assert_memory_equal(b->data + 13, "\0\0\0", 3);
	b->at = 16;
	return version;
}

/* Returns 1 with a batch, 0 at the end of the file, or 2 with an empty batch for an end mark. */
static inline int bytes__batch(struct bytes *b, struct read_batch *batch)
{
	uint8_t type;

	*batch = (struct read_batch){ 0 };
	if (b->at == b->len)
		return 0;
	type = bytes__u8(b);
	if (type == EV_END_OF_GENERATION)
		return 2;
	assert_int_equal(type, EV_EVENT_BATCH);
	batch->gen = bytes__leb(b);
	batch->m = bytes__leb(b);
	batch->time = bytes__leb(b);
	batch->len = bytes__leb(b);
	assert_in_range(batch->len, 1, TRACE_BATCH_MAX);
	assert_true(batch->len <= b->len - b->at);
	batch->data = b->data + b->at;
	b->at += batch->len;
	return 1;
}

static inline bool batch__timed(const struct read_batch *batch)
{
	uint8_t kind = batch->len ? batch->data[0] : EV_SYNC;

	return kind != EV_STACKS && kind != EV_STRINGS && kind != EV_FREQUENCY && kind != EV_SYNC &&
	       kind != EV_CPU_SAMPLES;
}

static inline void event__stack(struct bytes *b, uint64_t frames)
{
	for (frames *= 4; frames; frames--)
		bytes__leb(b);
}

/*
 * Reads the events of a batch one by one: start with *at 0 and *time of the batch. The first byte
 * of a table is returned as an event without arguments, as in spec.c.
 */
static inline bool batch__event(const struct read_batch *batch, size_t *at, uint64_t *time,
				struct read_event *ev)
{
	struct bytes b = { (uint8_t *)batch->data, batch->len, *at };
	const struct ev_spec *spec;
	unsigned int i;

	if (*at == batch->len)
		return false;
	memset(ev, 0, sizeof(*ev));
	ev->type = bytes__u8(&b);
	spec = spec__event(ev->type);
	assert_non_null(spec);
	for (i = 0; i < spec->nargs; i++)
		ev->arg[i] = bytes__leb(&b);
	if (spec->blob) {
		ev->arg[i] = bytes__leb(&b);
		ev->blob = b.data + b.at;
		b.at += ev->arg[i];
	}
	if (spec->frames)
		event__stack(&b, ev->arg[1]);
	if (spec->timed)
		*time += ev->arg[0];
	ev->time = *time;
	assert_true(b.at <= b.len);
	*at = b.at;
	return true;
}

#endif
