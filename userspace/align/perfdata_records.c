// SPDX-License-Identifier: GPL-2.0
/*
 * The records of a perf.data file or of perf's output to a pipe: samples, for perfdata_sample.c, what the
 * kernel says of processes and losses, what perf says in a pipe instead of in a file's header, and
 * compressed records, which hold others. Everything else is passed over.
 *
 * The bytes of compressed records are one stream: a record that it holds may begin in one and end in
 * another. A record is taken apart where it lies, in the input's window or in the buffer it was
 * unpacked into.
 */
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"
#include "lib/log.h"

#define UNPACKED    (2 * (PERF_RECORD_MAX + 1)) /* bytes of the buffer */

/*
 * Compressed bytes that grow to this many times their size are no recording: perf's shrink to a tenth,
 * and without this, 16 MB could keep us busy for hours.
 */
#define GROWTH_MAX  1000
#define GROWTH_FREE (64u << 20) /* bytes to which anything may grow */

struct header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* with these 8 bytes */
};

/* What stands behind a record, not in it. */
struct payload {
	uint64_t size;
	bool is_formats;
};

static int record(struct perf_data *d, const struct header *h, struct buf *b,
		  struct payload *payload, struct error *err);

/* The bytes that are not taken begin with a record that is not there in full; `payload` ends it, too. */
static int records(struct perf_data *d, const unsigned char *p, size_t len, size_t *ret_taken,
		   struct payload *payload, struct error *err)
{
	const unsigned char *start = p;
	struct header h;
	struct buf b;
	int code;

	while (len >= sizeof(h) && !payload->size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h))
			return perf__broken(d, "record", err);
		if (h.size > len)
			break;
		b = buf__make(p + sizeof(h), h.size - sizeof(h));
		code = record(d, &h, &b, payload, err);
		if (code)
			return code;
		if (!d->inside)
			d->at += h.size;
		p += h.size;
		len -= h.size;
	}
	*ret_taken = (size_t)(p - start);
	return 0;
}

/* `unpacked` has room for a record more than the longest. */
static int unpack(struct perf_data *d, struct unpack_io *io, struct error *err)
{
	struct payload none = {};
	const char *why = NULL;
	size_t before = io->in_len, taken;
	int code;

	io->out = d->unpacked + d->unpacked_len;
	io->out_len = UNPACKED - d->unpacked_len;
	code = unpack__step(d->unpack, io, &why);
	if (code == -ENOMEM)
		return perf__no_memory(d, err);
	if (code)
		return perf__broken(d, "compressed record", err);
	d->packed_total += before - io->in_len;
	d->unpacked_total += UNPACKED - d->unpacked_len - io->out_len;
	if (d->unpacked_total > GROWTH_FREE && d->unpacked_total / GROWTH_MAX > d->packed_total)
		return error__set(err, -E2BIG, "%s: its compressed records grow beyond measure",
				  input__name(d->in));
	d->unpacked_len = UNPACKED - io->out_len;
	code = records(d, d->unpacked, d->unpacked_len, &taken, &none, err);
	if (code)
		return code;
	d->unpacked_len -= taken;
	memmove(d->unpacked, d->unpacked + taken, d->unpacked_len);
	return 0;
}

static int start_unpacking(struct perf_data *d, const void *p, size_t len, struct error *err)
{
	int code = unpack__create(&d->unpack, p, len);

	d->unpacked = malloc(UNPACKED);
	if (code || !d->unpacked)
		return perf__no_memory(d, err);
	if (!d->unpack || strcmp(unpack__format(d->unpack), "zstd"))
		return perf__broken(d, "compressed record", err);
	return 0;
}

static int compressed(struct perf_data *d, struct buf *b, uint64_t len, struct error *err)
{
	struct unpack_io io = { .in_len = (size_t)len };
	bool full;
	int code;

	io.in = len <= buf__left(b) ? buf__take(b, (size_t)len) : NULL;
	if (!io.in || d->inside)
		return perf__broken(d, "compressed record", err);
	code = d->unpack ? 0 : start_unpacking(d, io.in, io.in_len, err);
	d->inside = true;
	do {
		if (!code)
			code = unpack(d, &io, err);
		full = io.out_len == 0;
	} while (!code && (io.in_len || full));
	d->inside = false;
	return code;
}

static int comm(struct perf_data *d, struct buf *b, struct error *err)
{
	uint32_t pid = buf__u32(b), tid = buf__u32(b);
	struct perf_thread *t;
	int code;

	if (b->bad)
		return perf__broken(d, "record of a name", err);
	code = perf__thread(d, tid, &t, err);
	if (code)
		return code;
	t->pid = pid;
	return perf__name(d, b->pos, buf__left(b), &t->name, err);
}

/* Of its beginning and of its end alike: the thread is one of that process. */
static int task(struct perf_data *d, struct buf *b, bool begins, struct error *err)
{
	struct perf_thread *t, *creator;
	uint32_t pid, tid, parent;
	int code;

	pid = buf__u32(b);
	buf__skip(b, sizeof(pid)); /* the creator's process */
	tid = buf__u32(b);
	parent = buf__u32(b);
	if (b->bad)
		return perf__broken(d, "record of a thread", err);
	code = perf__thread(d, tid, &t, err);
	if (code)
		return code;
	t->pid = pid;
	creator = map__get(&d->threads, parent);
	if (begins && creator)
		t->name = creator->name;
	return 0;
}

/* What a filter dropped (misc, bit 15) is not lost. */
static int lost(struct perf_data *d, const struct header *h, struct buf *b, struct error *err)
{
	uint64_t n;

	if (h->type == PERF_RECORD_LOST) {
		buf__skip(b, sizeof(uint64_t));
		n = buf__u64(b);
		d->lost_records += n;
		if (!b->bad && n)
			return perf__lose(d, b, n, err);
	} else {
		n = buf__u64(b);
		d->lost_samples += h->misc & 1 << 15 ? 0 : n;
	}
	return b->bad ? perf__broken(d, "record of losses", err) : 0;
}

static int pipe_attr(struct perf_data *d, struct buf *b, struct error *err)
{
	struct perf_attr *attr;
	int code = perf__add_attr(d, b, &attr, err);

	while (!code && buf__left(b) >= sizeof(uint64_t))
		code = perf__add_id(d, attr, buf__u64(b), err);
	if (!code && d->has_formats)
		code = perf__resolve(d, attr, err);
	return code;
}

static int user_record(struct perf_data *d, const struct header *h, struct buf *b,
		       struct payload *payload, struct error *err)
{
	uint64_t len;

	switch (h->type) {
	case PERF_USER_COMPRESSED:
		return compressed(d, b, buf__left(b), err);
	case PERF_USER_COMPRESSED2:
		len = buf__u64(b);
		return compressed(d, b, len, err);
	case PERF_USER_AUXTRACE:
		payload->size = buf__u64(b);
		break;
	case PERF_USER_TRACING_DATA:
		payload->size = buf__u32(b);
		payload->is_formats = true;
		break;
	case PERF_USER_HEADER_ATTR:
		return d->pipe ? pipe_attr(d, b, err) : 0;
	case PERF_USER_FEATURE:
		len = buf__u64(b);
		return d->pipe ? perf__feature(d, len, b, err) : 0;
	default:
		return 0;
	}
	return b->bad || d->inside ? perf__broken(d, "record", err) : 0;
}

static int record(struct perf_data *d, const struct header *h, struct buf *b,
		  struct payload *payload, struct error *err)
{
	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		return perf__sample(d, b, err);
	case PERF_RECORD_COMM:
		return comm(d, b, err);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return task(d, b, h->type == PERF_RECORD_FORK, err);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return lost(d, h, b, err);
	default:
		return h->type >= PERF_USER_FIRST ? user_record(d, h, b, payload, err) : 0;
	}
}

static int after_record(struct perf_data *d, uint64_t *left, const struct payload *payload,
			struct error *err)
{
	int code;

	if (payload->size > *left)
		return perf__broken(d, "record", err);
	*left -= *left == UINT64_MAX ? 0 : payload->size;
	if (payload->is_formats && d->pipe)
		return perf__read_formats(d, payload->size, err);
	code = perf__skip(d, &(uint64_t){ payload->size }, payload->size, "record", err);
	return code;
}

int perf__read_records(struct perf_data *d, uint64_t size, struct error *err)
{
	uint64_t left = size;
	const unsigned char *p;
	size_t len, taken;
	int code = 0;

	while (left && !code) {
		struct payload payload = {};

		d->at = input__offset(d->in);
		code = input__need(d->in, PERF_RECORD_MAX + 1, &p, &len, err);
		if (code || (!len && size == UINT64_MAX))
			break;
		len = len < left ? len : (size_t)left;
		code = records(d, p, len, &taken, &payload, err);
		if (!code && !taken)
			code = error__set(err, -EBADMSG,
					  "%s: cut short in a record, at byte %llu" PERF_AGAIN,
					  input__name(d->in), (unsigned long long)d->at);
		if (code)
			break;
		input__consume(d->in, taken);
		left -= size == UINT64_MAX ? 0 : taken;
		if (payload.size)
			code = after_record(d, &left, &payload, err);
	}
	/* perf (6.1) may stop with the end of what it compressed still in its hands; it reads such a file, too */
	if (!code && d->unpacked_len)
		log__msg(
			"%s: perf did not write the end of its last compressed record, which is left out",
			input__name(d->in));
	return code;
}
