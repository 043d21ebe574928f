// SPDX-License-Identifier: GPL-2.0
/*
 * Writes an archive: see archive.h.
 *
 * A segment is a generation, or a part of one that is larger than a segment may be. Each is decoded
 * again before it is written; if that does not return the same bytes, or saves nothing, it is
 * compressed with zstd instead. So are v1 traces and what follows the last valid batch of a trace.
 */
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "format/header.h"
#include "format/spec.h"
#include "pack/archive.h"
#include "pack/archive_impl.h"

#define ZSTD_LEVEL 19

struct archive_writer {
	struct outbuf *out;
	struct outbuf plain; /* of the open segment */
	struct outbuf tables, events, again;
	struct outbuf entries;		       /* of the index */
	struct table_model dictionary, reader; /* to encode, and as a reader will have it */
	uint64_t offset, plain_offset, generation;
	size_t batches; /* of the open segment */
};

static int no_memory(struct error *error)
{
	return error__set(error, -ENOMEM, "out of memory");
}

static int write_bytes(struct archive_writer *w, const void *data, size_t len, struct error *error)
{
	w->offset += len;
	return outbuf__put(w->out, data, len, error);
}

/* Writes the plain bytes as coded in w->tables and w->events. */
static int write_segment(struct archive_writer *w, struct archive_head *head, struct error *error)
{
	const struct archive_entry entry = { w->offset, w->plain_offset, head->generation,
					     head->flags };
	uint8_t bytes[ARCHIVE_HEAD_LEN], in_index[ARCHIVE_ENTRY_LEN];
	int err;

	if (w->entries.len / ARCHIVE_ENTRY_LEN >= ARCHIVE_SEGMENTS)
		return error__set(error, -EFBIG, "the trace has too many generations");
	head->plain = (uint32_t)w->plain.len;
	head->tables = (uint32_t)w->tables.len;
	head->events = (uint32_t)w->events.len;
	head->sum = archive__sum(0, w->plain.data, w->plain.len);
	archive_head__put(bytes, head);
	archive_entry__put(in_index, &entry);
	if (outbuf__put(&w->entries, in_index, sizeof(in_index), NULL))
		return no_memory(error);
	w->plain_offset += w->plain.len;
	w->plain.len = w->batches = 0;
	err = write_bytes(w, bytes, sizeof(bytes), error);
	err = err ?: write_bytes(w, w->tables.data, w->tables.len, error);
	return err ?: write_bytes(w, w->events.data, w->events.len, error);
}

static int store(struct archive_writer *w, struct error *error)
{
	struct archive_head head = { .kind = ARCHIVE_STORED, .generation = w->generation };

	w->tables.len = w->events.len = 0;
	if (outbuf__put(&w->events, w->plain.data, w->plain.len, NULL))
		return no_memory(error);
	return write_segment(w, &head, error);
}

/* Ends the segment without a model. */
static int end_bytes(struct archive_writer *w, struct error *error)
{
	struct archive_head head = { .kind = ARCHIVE_ZSTD, .generation = w->generation };
	size_t room = ZSTD_compressBound(w->plain.len), len;

	if (!w->plain.len)
		return 0;
	w->tables.len = w->events.len = 0;
	if (outbuf__room(&w->events, room, NULL))
		return no_memory(error);
	len = ZSTD_compress(w->events.data, room, w->plain.data, w->plain.len, ZSTD_LEVEL);
	if (ZSTD_isError(len) || len >= w->plain.len)
		return store(w, error);
	w->events.len = len;
	return write_segment(w, &head, error);
}

/* Whether a reader will get the same bytes. */
static int is_exact(struct archive_writer *w, bool fresh, bool *ret)
{
	int err;

	w->again.len = 0;
	table_model__begin(&w->reader, fresh);
	err = segment__decode(&w->reader, buf__make(w->tables.data, w->tables.len),
			      buf__make(w->events.data, w->events.len), w->plain.len, &w->again);
	*ret = !err && !memcmp(w->again.data, w->plain.data, w->plain.len);
	return err == -ENOMEM ? err : 0;
}

/* Ends the open segment. */
static int end_segment(struct archive_writer *w, struct error *error)
{
	struct archive_head head = { .kind = ARCHIVE_MODEL, .generation = w->generation };
	bool exact = false, fresh = table_model__is_full(&w->dictionary);
	int err;

	if (!w->plain.len)
		return 0;
	w->tables.len = w->events.len = 0;
	table_model__begin(&w->dictionary, fresh);
	err = segment__encode(&w->dictionary, w->plain.data, w->plain.len, &w->tables, &w->events);
	err = err ?: is_exact(w, fresh, &exact);
	if (err)
		return no_memory(error);
	head.flags = fresh ? ARCHIVE_FRESH : 0;
	if (exact && w->tables.len + w->events.len < w->plain.len)
		return write_segment(w, &head, error);
	/* The reader's dictionary lacks this segment. */
	table_model__deinit(&w->dictionary);
	table_model__deinit(&w->reader);
	return end_bytes(w, error);
}

/* Adds the rest of the input in segments without a model. */
static int add_bytes(struct archive_writer *w, struct input *in, struct error *error)
{
	const unsigned char *data;
	size_t len;
	int err;

	for (;;) {
		err = input__need(in, 1, &data, &len, error);
		if (err)
			return err;
		if (!len)
			return end_bytes(w, error);
		if (len > SEGMENT_MAX - w->plain.len)
			len = SEGMENT_MAX - w->plain.len;
		if (outbuf__put(&w->plain, data, len, NULL))
			return no_memory(error);
		input__consume(in, len);
		if (w->plain.len == SEGMENT_MAX)
			err = end_bytes(w, error);
		if (err)
			return err;
	}
}

static int add_batches(struct archive_writer *w, struct input *in, struct error *error)
{
	const unsigned char *data;
	uint64_t generation;
	size_t len;
	int err;

	for (;;) {
		err = input__need(in, SEGMENT_BATCH_MAX, &data, &len, error);
		if (err)
			return err;
		len = segment__batch(data, len, &generation);
		if (!len)
			break;
		if (w->plain.len + len > SEGMENT_MAX || w->batches == SEGMENT_PIECES_MAX ||
		    (generation && generation != w->generation))
			err = end_segment(w, error);
		if (err)
			return err;
		if (generation)
			w->generation = generation;
		if (outbuf__put(&w->plain, data, len, NULL))
			return no_memory(error);
		input__consume(in, len);
		w->batches++;
		if (!generation) /* EndOfGeneration */
			err = end_segment(w, error);
		if (err)
			return err;
	}
	err = end_segment(w, error);
	return err ?: add_bytes(w, in, error);
}

static int write_index(struct archive_writer *w, struct error *error)
{
	const struct archive_head head = {
		.kind = ARCHIVE_INDEX,
		.events = (uint32_t)w->entries.len,
		.sum = archive__sum(0, w->entries.data, w->entries.len),
		.generation = w->plain_offset,
	};
	uint8_t bytes[ARCHIVE_HEAD_LEN];
	uint64_t at = w->offset;
	int err;

	archive_head__put(bytes, &head);
	err = write_bytes(w, bytes, sizeof(bytes), error);
	err = err ?: write_bytes(w, w->entries.data, w->entries.len, error);
	err = err ?: write_bytes(w, &at, sizeof(at), error);
	return err ?: write_bytes(w, ARCHIVE_END, ARCHIVE_END_LEN - sizeof(at), error);
}

static int write_all(struct archive_writer *w, struct input *in, struct error *error)
{
	const unsigned char *data;
	unsigned int version;
	size_t len;
	int err = header__read(in, &version, error);

	err = err ?: write_bytes(w, ARCHIVE_MAGIC, ARCHIVE_MAGIC_LEN, error);
	if (err)
		return err;
	if (!header__is_v1(version)) {
		err = input__need(in, TRACE_HEADER_LEN, &data, &len, error);
		if (err)
			return err;
		if (outbuf__put(&w->plain, data, TRACE_HEADER_LEN, NULL))
			return no_memory(error);
		input__consume(in, TRACE_HEADER_LEN);
		err = store(w, error);
		err = err ?: add_batches(w, in, error);
	} else {
		err = add_bytes(w, in, error);
	}
	return err ?: write_index(w, error);
}

int archive__write(struct input *in, struct outbuf *out, struct error *error)
{
	struct archive_writer w = { .out = out };
	int err = write_all(&w, in, error);

	outbuf__deinit(&w.plain);
	outbuf__deinit(&w.tables);
	outbuf__deinit(&w.events);
	outbuf__deinit(&w.again);
	outbuf__deinit(&w.entries);
	table_model__deinit(&w.dictionary);
	table_model__deinit(&w.reader);
	return err;
}
