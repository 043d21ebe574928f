// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a perf.data file or pipe: samples (see perfdata_sample.c), processes and losses,
 * in a pipe also the contents of a file's header, and compressed records, which contain others.
 * All other types are skipped.
 *
 * The contents of compressed records form one stream, so that a record may begin in one and end in
 * another. A record is parsed in place, in the window of the input or in the buffer of
 * decompressed data.
 */
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"
#include "lib/log.h"

#define UNPACKED    (2 * (PERF_RECORD_MAX + 1)) /* bytes of the buffer */

/*
 * Input that grows by more than this factor is rejected: perf's data shrinks to a tenth, and
 * without this limit 16 MB could keep the reader busy for hours.
 */
#define GROWTH_MAX  1000
#define GROWTH_FREE (64u << 20) /* bytes to which any input may grow */

struct header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* including these 8 bytes */
};

/* Data that follows a record. */
struct payload {
	uint64_t size;
	bool is_formats;
};

static int record(struct perf_data *d, const struct header *h, struct buf *b,
		  struct payload *payload, struct error *error);

/* The bytes that remain begin with an incomplete record; `payload` ends the loop, too. */
static int records(struct perf_data *d, const unsigned char *p, size_t len, size_t *ret_taken,
		   struct payload *payload, struct error *error)
{
	const unsigned char *start = p;
	struct header h;
	struct buf b;
	int err;

	while (len >= sizeof(h) && !payload->size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h))
			return perf__broken(d, "record", error);
		if (h.size > len)
			break;
		b = buf__make(p + sizeof(h), h.size - sizeof(h));
		err = record(d, &h, &b, payload, error);
		if (err)
			return err;
		if (!d->inside)
			d->at += h.size;
		p += h.size;
		len -= h.size;
	}
	*ret_taken = (size_t)(p - start);
	return 0;
}

/* `unpacked` has room for one record more than the longest. */
static int unpack(struct perf_data *d, struct unpack_io *io, struct error *error)
{
	struct payload none = {};
	const char *why = NULL;
	size_t before = io->in_len, taken;
	int err;

	io->out = d->unpacked + d->unpacked_len;
	io->out_len = UNPACKED - d->unpacked_len;
	err = unpack__step(d->unpack, io, &why);
	if (err == -ENOMEM)
		return perf__no_memory(d, error);
	if (err)
		return perf__broken(d, "compressed record", error);
	d->packed_total += before - io->in_len;
	d->unpacked_total += UNPACKED - d->unpacked_len - io->out_len;
	if (d->unpacked_total > GROWTH_FREE && d->unpacked_total / GROWTH_MAX > d->packed_total)
		return error__set(error, -E2BIG,
				  "%s: corrupt perf.data: the decompressed size of "
				  "its records exceeds the limit",
				  input__name(d->in));
	d->unpacked_len = UNPACKED - io->out_len;
	err = records(d, d->unpacked, d->unpacked_len, &taken, &none, error);
	if (err)
		return err;
	d->unpacked_len -= taken;
	memmove(d->unpacked, d->unpacked + taken, d->unpacked_len);
	return 0;
}

static int start_unpacking(struct perf_data *d, const void *p, size_t len, struct error *error)
{
	int err = unpack__create(&d->unpack, p, len);

	d->unpacked = malloc(UNPACKED);
	if (err || !d->unpacked)
		return perf__no_memory(d, error);
	if (!d->unpack || strcmp(unpack__format(d->unpack), "zstd"))
		return perf__broken(d, "compressed record", error);
	return 0;
}

static int compressed(struct perf_data *d, struct buf *b, uint64_t len, struct error *error)
{
	struct unpack_io io = { .in_len = (size_t)len };
	bool full;
	int err;

	io.in = len <= buf__left(b) ? buf__take(b, (size_t)len) : NULL;
	if (!io.in || d->inside)
		return perf__broken(d, "compressed record", error);
	err = d->unpack ? 0 : start_unpacking(d, io.in, io.in_len, error);
	d->inside = true;
	do {
		err = err ?: unpack(d, &io, error);
		full = io.out_len == 0;
	} while (!err && (io.in_len || full));
	d->inside = false;
	return err;
}

static int comm(struct perf_data *d, struct buf *b, struct error *error)
{
	uint32_t pid = buf__u32(b), tid = buf__u32(b);

	return b->bad ? perf__broken(d, "comm record", error) : perf__thread(d, tid, pid, error);
}

/* Start and end alike: the thread belongs to that process. */
static int task(struct perf_data *d, struct buf *b, struct error *error)
{
	uint32_t pid, tid;

	pid = buf__u32(b);
	buf__skip(b, sizeof(pid)); /* process of the creator */
	tid = buf__u32(b);
	buf__skip(b, sizeof(tid)); /* the creator */
	return b->bad ? perf__broken(d, "thread record", error) : perf__thread(d, tid, pid, error);
}

/* What a filter dropped (misc, bit 15) is not lost. */
static int lost(struct perf_data *d, const struct header *h, struct buf *b, struct error *error)
{
	uint64_t n;

	if (h->type == PERF_RECORD_LOST) {
		buf__skip(b, sizeof(uint64_t));
		n = buf__u64(b);
		d->lost_records += n;
		if (!b->bad && n)
			return perf__lose(d, b, n, error);
	} else {
		n = buf__u64(b);
		d->lost_samples += h->misc & 1 << 15 ? 0 : n;
	}
	return b->bad ? perf__broken(d, "lost record", error) : 0;
}

static int pipe_attr(struct perf_data *d, struct buf *b, struct error *error)
{
	struct perf_attr *attr;
	int err = perf__add_attr(d, b, &attr, error);

	while (!err && buf__left(b) >= sizeof(uint64_t))
		err = perf__add_id(d, attr, buf__u64(b), error);
	if (!err && d->has_formats)
		err = perf__resolve(d, attr, error);
	return err;
}

static int user_record(struct perf_data *d, const struct header *h, struct buf *b,
		       struct payload *payload, struct error *error)
{
	uint64_t len;

	switch (h->type) {
	case PERF_USER_COMPRESSED:
		return compressed(d, b, buf__left(b), error);
	case PERF_USER_COMPRESSED2:
		len = buf__u64(b);
		return compressed(d, b, len, error);
	case PERF_USER_AUXTRACE:
		payload->size = buf__u64(b);
		break;
	case PERF_USER_TRACING_DATA:
		payload->size = buf__u32(b);
		payload->is_formats = true;
		break;
	case PERF_USER_HEADER_ATTR:
		return d->pipe ? pipe_attr(d, b, error) : 0;
	case PERF_USER_FEATURE:
		len = buf__u64(b);
		return d->pipe ? perf__feature(d, len, b, error) : 0;
	default:
		return 0;
	}
	return b->bad || d->inside ? perf__broken(d, "record", error) : 0;
}

static int record(struct perf_data *d, const struct header *h, struct buf *b,
		  struct payload *payload, struct error *error)
{
	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		return perf__sample(d, b, error);
	case PERF_RECORD_COMM:
		return comm(d, b, error);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return task(d, b, error);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return lost(d, h, b, error);
	default:
		return h->type >= PERF_USER_FIRST ? user_record(d, h, b, payload, error) : 0;
	}
}

static int after_record(struct perf_data *d, uint64_t *left, const struct payload *payload,
			struct error *error)
{
	int err;

	if (payload->size > *left)
		return perf__broken(d, "record", error);
	*left -= *left == UINT64_MAX ? 0 : payload->size;
	if (payload->is_formats && d->pipe)
		return perf__read_formats(d, payload->size, error);
	err = perf__skip(d, &(uint64_t){ payload->size }, payload->size, "record", error);
	return err;
}

int perf__read_records(struct perf_data *d, uint64_t size, struct error *error)
{
	uint64_t left = size;
	const unsigned char *p;
	size_t len, taken;
	int err = 0;

	while (left && !err) {
		struct payload payload = {};

		d->at = input__offset(d->in);
		err = input__need(d->in, PERF_RECORD_MAX + 1, &p, &len, error);
		if (err || (!len && size == UINT64_MAX))
			break;
		len = len < left ? len : (size_t)left;
		err = records(d, p, len, &taken, &payload, error);
		if (!err && !taken)
			err = error__set(error, -EBADMSG,
					 "%s: truncated in a record, at byte %llu" PERF_AGAIN,
					 input__name(d->in), (unsigned long long)d->at);
		if (err)
			break;
		input__consume(d->in, taken);
		left -= size == UINT64_MAX ? 0 : taken;
		if (payload.size)
			err = after_record(d, &left, &payload, error);
	}
	/*
	 * perf (6.1) may end without writing the rest of its compressed data; it reads such a file,
	 * too
	 */
	if (!err && d->unpacked_len)
		log__msg("%s: the last compressed record is truncated and was left out",
			 input__name(d->in));
	return err;
}
