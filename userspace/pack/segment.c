// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: see segment.h.
 *
 * First the tables are coded; then, by another coder, the headers of all batches, what has no
 * model, the events, and the kernel events that strings contain. When a segment was decoded, the
 * batches are put together in their order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "lib/array.h"
#include "pack/canonical.h"
#include "pack/item_model.h"
#include "pack/segment_impl.h"

/* Kinds of contexts. */
enum { MORE = 500, PIECE, EXPERIMENT, GEN, M, TIME, SIZE, LENGTH, BYTES };
#define CONTEXT(kind) ((uint64_t)(kind) << 32)
#define MIXER	      2560

static void segment__deinit(struct segment *s)
{
	for (size_t i = 0; i < s->nthreads; i++)
		outbuf__deinit(&s->thread[i].out);
	free(s->thread);
	free(s->piece);
	free(s->begins.time);
	free(s->ends.time);
	map__deinit(&s->thread_by_m);
	outbuf__deinit(&s->other);
	predictor__deinit(&s->p);
}

/* Size of the coder's table: large enough for what the segment can contain. */
static unsigned int coder_log2(size_t plain)
{
	unsigned int log2 = 14;

	while (log2 < 22 && (size_t)1 << log2 < plain)
		log2++;
	return log2;
}

/* ---- splitting a segment into pieces ---- */

/* Parses the header of a batch and the position of its data; false: it is not a whole batch. */
static bool parse_batch(struct buf *b, struct piece *ret)
{
	const unsigned char *before;
	uint64_t size;
	uint8_t kind = buf__u8(b);

	*ret = (struct piece){ .kind = PIECE_BATCH };
	if (kind == EV_END_OF_GENERATION) {
		ret->kind = PIECE_END;
		return true;
	}
	if (kind == EV_EXPERIMENTAL_BATCH)
		ret->experiment = buf__u8(b);
	if (kind != EV_EVENT_BATCH && !ret->experiment)
		return false;
	if (!canonical__take(b, &ret->gen) || !canonical__take(b, &ret->m) ||
	    !canonical__take(b, &ret->time))
		return false;
	before = b->pos;
	size = buf__uleb(b);
	ret->size_len = (uint8_t)(b->pos - before);
	ret->at = (size_t)(b->pos - b->start);
	ret->len = size;
	return !b->bad && size <= TRACE_BATCH_MAX && buf__take(b, size);
}

size_t segment__batch(const void *data, size_t len, uint64_t *ret_generation)
{
	struct buf b = buf__make(data, len);
	struct piece piece;

	if (!len || !parse_batch(&b, &piece))
		return 0;
	*ret_generation = piece.gen;
	return piece.kind == PIECE_END || piece.gen ? (size_t)(b.pos - b.start) : 0;
}

static void classify(const struct segment *s, struct piece *piece)
{
	const unsigned char *data = s->data + piece->at;

	if (piece->kind != PIECE_BATCH || piece->experiment || !piece->len)
		return;
	if (table_model__can_encode(data, piece->len))
		piece->kind = data[0] == EV_STRINGS ? PIECE_STRINGS : PIECE_STACKS;
	else if (segment__are_events(data, piece->len))
		piece->kind = PIECE_EVENTS;
}

static int split(struct segment *s, size_t len, struct tables_data *tables)
{
	struct buf b = buf__make(s->data, len);
	struct piece *piece;
	size_t at;
	int err = 0;

	while (!err && buf__left(&b)) {
		if (array__grow(&s->piece, s->n, &s->cap, sizeof(*s->piece)))
			return -ENOMEM;
		piece = &s->piece[s->n++];
		at = (size_t)(b.pos - b.start);
		if (!parse_batch(&b, piece)) {
			*piece = (struct piece){ PIECE_BYTES, .at = at, .len = len - at };
			return 0;
		}
		classify(s, piece);
		if (piece->kind == PIECE_STRINGS || piece->kind == PIECE_STACKS)
			err = tables_data__add(tables, piece->kind == PIECE_STACKS,
					       s->data + piece->at, piece->len);
		else if (piece->kind == PIECE_EVENTS)
			err = segment__add_to_thread(s, s->n - 1);
	}
	return err;
}

/* ---- coding ---- */

static uint64_t code_header(struct segment *s, unsigned int kind, uint64_t near, uint64_t v)
{
	return predictor__value(&s->p, CONTEXT(kind), near, 0, v);
}

/* `len` bytes of the segment were decoded. Rejects more than were announced, before they use memory. */
static int charge(struct segment *s, size_t len)
{
	if (len > s->max)
		return -EBADMSG;
	s->max -= len;
	return 0;
}

static uint8_t *put_padded(uint8_t *p, uint64_t v, unsigned int len)
{
	for (; len > 1; len--, v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

#define HEAD_MAX (2 + 4 * LEB_MAX)

/* Writes the header of a batch with `len` bytes of data. Returns one past it. */
static uint8_t *put_head(uint8_t *p, const struct piece *piece, size_t len)
{
	*p++ = piece->experiment ? EV_EXPERIMENTAL_BATCH : EV_EVENT_BATCH;
	if (piece->experiment)
		*p++ = piece->experiment;
	p = leb__put(leb__put(leb__put(p, piece->gen), piece->m), piece->time);
	return put_padded(p, len, piece->size_len);
}

/* The header of a batch was decoded. */
static int charge_head(struct segment *s, const struct piece *piece)
{
	uint8_t head[HEAD_MAX];

	if (!piece->size_len || piece->size_len > LEB_MAX)
		return -EBADMSG;
	return charge(s, (size_t)(put_head(head, piece, 0) - head));
}

static int code_bytes(struct segment *s, struct piece *piece)
{
	uint64_t before = piece->kind;
	const uint8_t *data = s->data + piece->at;
	uint8_t byte = 0;

	piece->len = code_header(s, LENGTH, piece->kind, piece->len);
	if (s->p.coder->decode) {
		if (charge(s, piece->len))
			return -EBADMSG;
		piece->at = s->other.len;
	}
	for (size_t i = 0; i < piece->len; i++) {
		byte = predictor__byte(&s->p, CONTEXT(BYTES), before,
				       s->p.coder->decode ? 0 : data[i]);
		before = before << 8 | byte;
		if (s->p.coder->decode && outbuf__put(&s->other, &byte, 1, NULL))
			return -ENOMEM;
	}
	return 0;
}

static int code_piece(struct segment *s, size_t i)
{
	struct piece *piece = &s->piece[i];
	uint64_t kind;

	piece->kind = (uint8_t)coder__symbol(s->p.coder, CONTEXT(PIECE),
					     CONTEXT(PIECE) + (i ? s->piece[i - 1].kind : 9),
					     MIXER + 32, 3, piece->kind);
	kind = piece->kind;
	if (kind == PIECE_BYTES)
		return code_bytes(s, piece);
	if (kind == PIECE_END)
		return s->p.coder->decode ? charge(s, 1) : 0;
	if (kind > PIECE_BYTES)
		return -EBADMSG;
	piece->experiment = (uint8_t)code_header(s, EXPERIMENT, kind, piece->experiment);
	piece->gen = code_header(s, GEN, 0, piece->gen);
	piece->m = code_header(s, M, kind, piece->m);
	piece->time = code_header(s, TIME, kind, piece->time);
	piece->size_len = (uint8_t)code_header(s, SIZE, kind, piece->size_len);
	if (s->p.coder->decode && charge_head(s, piece))
		return -EBADMSG;
	if (kind == PIECE_BATCH)
		return code_bytes(s, piece);
	return s->p.coder->decode && kind == PIECE_EVENTS ? segment__add_to_thread(s, i) : 0;
}

static int code_pieces(struct segment *s)
{
	bool decode = s->p.coder->decode;
	int err = 0;

	for (size_t i = 0; !err; i++) {
		if (!coder__bit(s->p.coder, CONTEXT(MORE), CONTEXT(MORE) + 1, MIXER, i < s->n))
			return 0;
		if (decode && (coder__is_bad(s->p.coder) || i == SEGMENT_PIECES_MAX ||
			       (i && s->piece[i - 1].kind == PIECE_BYTES)))
			return -EBADMSG;
		if (decode) {
			if (array__grow_cleared(&s->piece, i, &s->cap, sizeof(*s->piece)))
				return -ENOMEM;
			s->n = i + 1;
		}
		err = code_piece(s, i);
	}
	return err;
}

/* Codes the kernel events that the strings contain, record by record. */
static int code_items(struct segment *s, struct tables_data *tables)
{
	struct item_model *k = malloc(sizeof(*k));
	struct outbuf record = {};
	size_t begin = 0, done;
	bool decode = s->p.coder->decode;
	int err = k ? 0 : -ENOMEM;

	if (k)
		item_model__init(k, &s->p, &s->begins, &s->ends);
	for (size_t end = 0, len = 0; !err && end < tables->nparts; end++) {
		const struct tables_part *part = &tables->part[end];

		if (!decode)
			err = outbuf__put(&record, tables->strings.data + part->at, part->len,
					  NULL);
		len += part->len;
		if (!part->last && end + 1 < tables->nparts && !part[1].first)
			continue;
		err = err   ?:
			      item_model__code(k, record.data, len, tables->part[begin].first,
					       decode ? &record : NULL);
		for (done = 0; !err && decode && begin <= end; begin++) {
			part = &tables->part[begin];
			if (part->len)
				memcpy(tables->strings.data + part->at, record.data + done,
				       part->len);
			done += part->len;
		}
		begin = end + 1;
		record.len = len = 0;
	}
	outbuf__deinit(&record);
	free(k);
	return err;
}

/* What follows the tables. */
static int code_rest(struct segment *s, struct tables_data *tables)
{
	int err = code_pieces(s);

	err = err ?: segment__code_events(s);
	return err ?: code_items(s, tables);
}

int segment__encode(struct table_model *t, const void *data, size_t len, struct outbuf *ret_tables,
		    struct outbuf *ret_events)
{
	struct segment s = { .data = data };
	struct tables_data tables = {};
	struct coder *first = coder__encode(ret_tables, coder_log2(len)), *second = NULL;
	int err = first ? split(&s, len, &tables) : -ENOMEM;

	err = err ?: table_model__code(t, first, &tables, 0);
	err = err ?: coder__finish(first);
	coder__destroy(first);
	if (!err) {
		second = coder__encode(ret_events, coder_log2(len));
		err = second ? predictor__init(&s.p, second) : -ENOMEM;
	}
	err = err ?: code_rest(&s, &tables);
	err = err ?: coder__finish(second);
	coder__destroy(second);
	tables_data__deinit(&tables);
	segment__deinit(&s);
	return err;
}

/* ---- putting a decoded segment together ---- */

static int put_batch(struct outbuf *ret, const struct piece *piece, const char *data, size_t len)
{
	uint8_t head[HEAD_MAX];

	if (piece->size_len < LEB_MAX && len >> 7 * piece->size_len)
		return -EBADMSG;
	return outbuf__put(ret, head, (size_t)(put_head(head, piece, len) - head), NULL) ?:
		       outbuf__put(ret, data, len, NULL)				 ? -ENOMEM :
											   0;
}

/* The data of the next batch of a table. */
static bool next_table(const struct outbuf *data, const size_t *end, size_t n, size_t *i,
		       const char **ret, size_t *ret_len)
{
	size_t start;

	if (*i >= n)
		return false;
	start = *i ? end[*i - 1] : 0;
	*ret = data->data + start;
	*ret_len = end[*i] - start;
	(*i)++;
	return true;
}

static int assemble(const struct segment *s, const struct tables_data *t, size_t plain,
		    struct outbuf *ret)
{
	size_t before = ret->len, strings = 0, stacks = 0, len;
	const uint8_t end = EV_END_OF_GENERATION;
	const struct piece *piece;
	const char *data;
	bool good = true;
	int err = outbuf__room(ret, plain, NULL);

	for (size_t i = 0; i < s->n && !err && good && ret->len - before <= plain; i++) {
		piece = &s->piece[i];
		data = s->other.data + piece->at;
		len = piece->len;
		if (piece->kind == PIECE_EVENTS)
			data = s->thread[piece->thread].out.data + piece->at;
		else if (piece->kind == PIECE_STRINGS)
			good = next_table(&t->strings, t->strings_end, t->nstrings, &strings, &data,
					  &len);
		else if (piece->kind == PIECE_STACKS)
			good = next_table(&t->stacks, t->stacks_end, t->nstacks, &stacks, &data,
					  &len);
		if (!good)
			break;
		if (piece->kind == PIECE_BYTES)
			err = outbuf__put(ret, data, len, NULL);
		else if (piece->kind == PIECE_END)
			err = outbuf__put(ret, &end, 1, NULL);
		else
			err = put_batch(ret, piece, data, len);
	}
	return err ?: good && ret->len - before == plain ? 0 : -EBADMSG;
}

static int decode_tables(struct table_model *t, struct buf tables, size_t plain,
			 struct tables_data *ret)
{
	struct coder *c = coder__decode(tables.pos, buf__left(&tables), coder_log2(plain));
	int err = c ? table_model__code(t, c, ret, plain + LEB_MAX) : -ENOMEM;

	coder__destroy(c);
	return err;
}

int segment__decode_tables(struct table_model *t, struct buf tables, size_t plain)
{
	struct tables_data data = {};
	int err = decode_tables(t, tables, plain, &data);

	tables_data__deinit(&data);
	return err;
}

int segment__decode(struct table_model *t, struct buf tables, struct buf events, size_t plain,
		    struct outbuf *ret)
{
	struct segment s = { .max = plain };
	struct tables_data data = {};
	struct coder *c = NULL;
	int err = decode_tables(t, tables, plain, &data);

	if (!err) {
		c = coder__decode(events.pos, buf__left(&events), coder_log2(plain));
		err = c ? predictor__init(&s.p, c) : -ENOMEM;
	}
	err = err ?: code_rest(&s, &data);
	err = err ?: assemble(&s, &data, plain, ret);
	coder__destroy(c);
	tables_data__deinit(&data);
	segment__deinit(&s);
	return err;
}
