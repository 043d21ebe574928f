// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a trace and encodes its events in each encoding: see recode.h.
 */
#include "recode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

#include "format/header.h"
#include "lib/array.h"
#include "lib/input.h"
#include "reader/decode.h"

#define DATA_MAX                                                                                   \
	(256u << 20) /* bytes of LEB128 in one trace; all encodings are in memory at once */

static const struct {
	const char *name;
	int (*put)(struct outbuf *o, const struct event *e, const uint8_t count[256]);
	bool (*take)(struct buf *b, struct event *e, const uint8_t count[256]);
} encodings[ENCODINGS] = {
	[WORDS] = { "words", words__put, words__take },
	[GROUPS] = { "groups", groups__put, groups__take },
};

static void init_counts(struct recoded *r)
{
	const struct ev_spec *spec;

	for (unsigned int type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		if (spec && spec->timed)
			r->count[type] = spec->nargs;
	}
}

static bool is_same(const struct event *a, const struct event *b, const uint8_t count[256])
{
	return a->type == b->type &&
	       !memcmp(a->number, b->number, count[a->type] * sizeof(*a->number));
}

/* The data of one batch in an encoding. */
static struct buf slice(const struct outbuf *o, size_t len)
{
	return buf__make(o->data + o->len - len, len);
}

#ifdef HAVE_VECTORS
static VECTORS bool take_words_vector(struct buf *b, struct event *e, const uint8_t count[256])
{
	return words__take_vector(b, e, count);
}

static VECTORS bool take_groups_vector(struct buf *b, struct event *e, const uint8_t count[256])
{
	return groups__take_vector(b, e, count);
}
#endif

/* Compares the events of the last batch in an encoding with those of LEB128. */
static int compare(const struct recoded *r, struct buf leb, struct buf other,
		   bool (*take)(struct buf *b, struct event *e, const uint8_t count[256]),
		   const char *name, struct error *error)
{
	struct event e, o;

	while (buf__left(&leb)) {
		leb128__take(&leb, &e, r->count);
		if (!take(&other, &o, r->count) || !is_same(&e, &o, r->count))
			return error__set(error, -EILSEQ, "an event of type %u differs in %s",
					  e.type, name);
	}
	if (buf__left(&other))
		return error__set(error, -EILSEQ, "more events in %s", name);
	return 0;
}

static int compare_all(const struct recoded *r, const struct part *part, struct error *error)
{
	const struct piece *piece = &part->piece[part->n - 1];
	struct buf b[ENCODINGS];
	int err = 0;

	for (unsigned int i = 0; i < ENCODINGS; i++)
		b[i] = slice(&part->plain[i], piece->len[i]);
	for (unsigned int i = WORDS; i < ENCODINGS; i++)
		err = err   ?:
			      compare(r, b[LEB128], b[i], encodings[i].take, encodings[i].name,
				      error);
#ifdef HAVE_VECTORS
	if (vectors_work()) {
		err = err   ?:
			      compare(r, b[LEB128], b[WORDS], take_words_vector, "words, vector",
				      error);
		err = err   ?:
			      compare(r, b[LEB128], b[GROUPS], take_groups_vector, "groups, vector",
				      error);
	}
#endif
	return err;
}

/* Encodes the events of a batch. */
static int encode(struct recoded *r, struct part *part, struct buf b, struct error *error)
{
	struct outbuf *o;
	struct event e;
	size_t at;

	for (; buf__left(&b); r->events++) {
		if (!leb128__take(&b, &e, r->count))
			return error__set(error, -EBADMSG, "event type %u is unknown or truncated",
					  e.type);
		for (unsigned int i = WORDS; i < ENCODINGS; i++) {
			o = &part->plain[i];
			at = o->len;
			if (encodings[i].put(o, &e, r->count))
				return error__set(error, -ENOMEM, "out of memory");
			r->escapes[i] += (uint8_t)o->data[at] == ESCAPE;
		}
	}
	return 0;
}

static int add_batch(struct recoded *r, struct part *part, const struct gen_batch *batch,
		     struct error *error)
{
	struct piece piece = {};
	int err;

	if (array__grow(&part->piece, part->n, &part->cap, sizeof(*part->piece)))
		return error__set(error, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < ENCODINGS; i++)
		piece.len[i] = part->plain[i].len;
	err = outbuf__put(&part->plain[LEB128], batch->data, batch->len, error);
	err = err ?: encode(r, part, buf__make(batch->data, batch->len), error);
	if (err)
		return err;
	for (unsigned int i = 0; i < ENCODINGS; i++) {
		piece.len[i] = part->plain[i].len - piece.len[i];
		r->plain[i] += piece.len[i];
	}
	part->piece[part->n++] = piece;
	if (r->plain[LEB128] > DATA_MAX)
		return error__set(error, -EFBIG, "more than %u MiB of events", DATA_MAX >> 20);
	return compare_all(r, part, error);
}

static int pack(struct outbuf *to, const struct outbuf *from, struct error *error)
{
	size_t len, room = ZSTD_compressBound(from->len);
	int err = outbuf__room(to, room, error);

	if (err)
		return err;
	len = ZSTD_compress(to->data, room, from->data, from->len, ZSTD_LEVEL);
	if (ZSTD_isError(len))
		return error__set(error, -EIO, "compression failed: %s", ZSTD_getErrorName(len));
	to->len = len;
	return 0;
}

static int add_generation(struct recoded *r, const struct generation *g, struct error *error)
{
	struct part *part;
	int err = 0;

	if (array__grow_cleared(&r->part, r->n, &r->cap, sizeof(*r->part)))
		return error__set(error, -ENOMEM, "out of memory");
	part = &r->part[r->n++];
	for (size_t t = 0; t < g->nthreads; t++)
		for (size_t i = 0; i < g->threads[t].n && !err; i++)
			err = add_batch(r, part, &g->threads[t].batch[i], error);
	for (unsigned int i = 0; i < ENCODINGS && !err; i++) {
		err = pack(&part->packed[i], &part->plain[i], error);
		r->packed[i] += part->packed[i].len;
	}
	return err;
}

static int read_generations(struct recoded *r, struct input *in, struct error *error)
{
	struct block_pool blocks;
	struct generation g;
	struct decoder *d;
	unsigned int version;
	int err = header__read(in, &version, error);

	if (err)
		return err;
	if (header__is_v1(version))
		return error__set(error, -EPROTONOSUPPORT, "a trace of Go 1.21 or older");
	input__consume(in, TRACE_HEADER_LEN);
	d = decoder__create(in, version);
	if (!d)
		return error__set(error, -ENOMEM, "out of memory");
	block_pool__init(&blocks);
	generation__init(&g, &blocks);
	while ((err = decoder__next(d, &g, error)) > 0) {
		err = add_generation(r, &g, error);
		if (err)
			break;
	}
	generation__deinit(&g);
	block_pool__deinit(&blocks);
	decoder__destroy(d);
	return err;
}

int recoded__read(struct recoded *r, const char *path, struct error *error)
{
	struct error why = {};
	struct input *in;
	int err;

	*r = (struct recoded){};
	init_counts(r);
	err = input__open(&in, path, error);
	if (err)
		return err;
	err = read_generations(r, in, &why);
	input__destroy(in);
	return err ? error__about(error, err, path, &why) : 0;
}

void recoded__deinit(struct recoded *r)
{
	for (size_t i = 0; i < r->n; i++) {
		for (unsigned int e = 0; e < ENCODINGS; e++) {
			outbuf__deinit(&r->part[i].plain[e]);
			outbuf__deinit(&r->part[i].packed[e]);
		}
		free(r->part[i].piece);
	}
	free(r->part);
	*r = (struct recoded){};
}
