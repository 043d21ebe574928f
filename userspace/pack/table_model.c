// SPDX-License-Identifier: GPL-2.0
/*
 * String and stack tables: see table_model.h.
 */
#include "pack/table_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "format/private.h"
#include "format/spec.h"
#include "lib/array.h"
#include "pack/canonical.h"

/* Kinds of contexts. */
enum {
	MORE = 300,
	ID,
	CLASS,
	WORD,
	TEXT,
	LENGTH,
	KIND,
	PART,
	STACK,
	FRAMES,
	PC,
	FUNC,
	FILES,
	LINE
};
#define CONTEXT(kind) ((uint64_t)(kind) << 32)
#define MIXER	      1024

enum { STRING_NEW, STRING_KNOWN, STRING_ITEMS };

struct table_coder {
	struct table_model *t;
	struct predictor p;
	struct tables_data *d;
	bool decode, bad;
	int err;
	struct buf in;	    /* the batch that is encoded */
	struct outbuf *out; /* where what was decoded goes */
	size_t max;
	uint64_t string_id, stack_id, max_func;
	uint64_t text, stack;  /* indices of the last ones that were known */
	struct map text_by_id; /* index + 1, of the strings of this segment */
};

void table_model__deinit(struct table_model *t)
{
	outbuf__deinit(&t->bytes);
	free(t->text);
	free(t->pc);
	free(t->stack);
	free(t->frame);
	map__deinit(&t->frame_by_pc);
	map__deinit(&t->text_by_hash);
	map__deinit(&t->stack_by_hash);
	*t = (struct table_model){};
}

bool table_model__is_full(const struct table_model *t)
{
	return t->bytes.len + t->ntexts * sizeof(*t->text) + t->npcs * sizeof(*t->pc) +
		       t->nstacks * sizeof(*t->stack) + t->nframes * sizeof(*t->frame) >
	       TABLES_BYTES_MAX;
}

void table_model__begin(struct table_model *t, bool fresh)
{
	uint32_t segment = t->segment + 1;

	if (fresh || table_model__is_full(t))
		table_model__deinit(t);
	t->segment = segment;
}

void tables_data__deinit(struct tables_data *d)
{
	outbuf__deinit(&d->strings);
	outbuf__deinit(&d->stacks);
	free(d->strings_end);
	free(d->stacks_end);
	free(d->part);
	*d = (struct tables_data){};
}

static int end_batch(struct tables_data *d, bool stacks)
{
	size_t **end = stacks ? &d->stacks_end : &d->strings_end;
	size_t *n = stacks ? &d->nstacks : &d->nstrings;

	if (array__grow(end, *n, stacks ? &d->stacks_cap : &d->strings_cap, sizeof(**end)))
		return -ENOMEM;
	(*end)[(*n)++] = stacks ? d->stacks.len : d->strings.len;
	return 0;
}

int tables_data__add(struct tables_data *d, bool stacks, const void *data, size_t len)
{
	int err = outbuf__put(stacks ? &d->stacks : &d->strings, data, len, NULL);

	return err ?: end_batch(d, stacks);
}

bool table_model__can_encode(const void *data, size_t len)
{
	struct buf b = buf__make(data, len);
	uint8_t kind = buf__u8(&b);
	uint64_t id, n, number;

	if (kind != EV_STRINGS && kind != EV_STACKS)
		return false;
	while (buf__left(&b)) {
		if (buf__u8(&b) != kind + 1 || !canonical__take(&b, &id) ||
		    !canonical__take(&b, &n))
			return false;
		if (kind == EV_STRINGS ? n > TRACE_STRING_MAX : n > TRACE_STACK_MAX)
			return false;
		if (kind == EV_STRINGS)
			buf__skip(&b, n);
		for (uint64_t i = 0; kind == EV_STACKS && i < 4 * n; i++)
			if (!canonical__take(&b, &number))
				return false;
	}
	return !b.bad;
}

/* ---- output ---- */

/* `len` bytes are written next. */
static bool has_room(struct table_coder *c, size_t len)
{
	if (c->d->strings.len + c->d->stacks.len + len > c->max)
		c->bad = true;
	else if (outbuf__room(c->out, len, NULL))
		c->err = -ENOMEM;
	return !c->bad && !c->err;
}

static void put_number(struct table_coder *c, uint64_t v)
{
	if (c->decode && has_room(c, LEB_MAX))
		leb__append(c->out, v);
}

static void put_bytes(struct table_coder *c, const void *data, size_t len)
{
	if (c->decode && has_room(c, len))
		outbuf__put(c->out, data, len, NULL);
}

static void put_byte(struct table_coder *c, uint8_t byte)
{
	put_bytes(c, &byte, 1);
}

static bool code_more(struct table_coder *c, unsigned int level, bool more)
{
	uint64_t context = pack__hash(CONTEXT(MORE), level);

	return coder__bit(c->p.coder, context, context + 1, MIXER + level, more) && !c->bad &&
	       !c->err && !coder__is_bad(c->p.coder);
}

static uint64_t code_id(struct table_coder *c, uint64_t *last, uint64_t id)
{
	uint64_t candidate[] = { *last + 1 };

	*last = predictor__candidate(&c->p, CONTEXT(ID), CONTEXT(ID) + 1, MIXER + 32, candidate, 1,
				     id);
	return *last;
}

/* ---- texts ---- */

static const char *text_data(const struct table_model *t, size_t i)
{
	return t->bytes.data + t->text[i].at;
}

/* Index + 1 of the text; 0: it is not in the dictionary. Only to encode. */
static size_t find_text(const struct table_model *t, const void *data, size_t len)
{
	size_t found = (uintptr_t)map__get(&t->text_by_hash, hash__bytes(data, len));

	if (!found || t->text[found - 1].len != len ||
	    (len && memcmp(text_data(t, found - 1), data, len)))
		return 0;
	return found;
}

/* Returns the index, or SIZE_MAX without memory. */
static size_t add_text(struct table_coder *c, const void *data, size_t len)
{
	struct table_model *t = c->t;

	if (array__grow(&t->text, t->ntexts, &t->texts_cap, sizeof(*t->text)) ||
	    outbuf__put(&t->bytes, data, len, NULL))
		return SIZE_MAX;
	t->text[t->ntexts] = (struct tables_text){ .at = t->bytes.len - len, .len = (uint32_t)len };
	if (!c->decode &&
	    map__put(&t->text_by_hash, hash__bytes(data, len), (void *)((uintptr_t)t->ntexts + 1)))
		return SIZE_MAX;
	return t->ntexts++;
}

static void code_text(struct table_coder *c, char *data, size_t len)
{
	uint64_t before = 0;

	for (size_t i = 0; i < len; i++) {
		data[i] = (char)predictor__byte(&c->p, CONTEXT(TEXT), before, (uint8_t)data[i]);
		before = before << 8 | (uint8_t)data[i];
	}
}

static size_t code_known_text(struct table_coder *c, size_t index)
{
	uint64_t candidate[] = { c->text + 1 };

	index = predictor__candidate(&c->p, CONTEXT(WORD), CONTEXT(WORD) + 1, MIXER + 64, candidate,
				     1, index);
	c->bad |= index >= c->t->ntexts;
	return index;
}

/* ---- parts of kernel events ---- */

struct part_head {
	uint64_t kind, part;
	uint8_t more;
};

/* Whether a string is a part of kernel events. *ret_len is the length of what precedes them. */
static bool parse_part(const char *data, size_t len, struct part_head *ret, size_t *ret_len)
{
	struct buf b = buf__make(data, len);
	const void *prefix = buf__take(&b, PRIVATE_PREFIX_LEN);

	if (!prefix || memcmp(prefix, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN) ||
	    !canonical__take(&b, &ret->kind) || !canonical__take(&b, &ret->part))
		return false;
	ret->more = buf__u8(&b);
	*ret_len = (size_t)(b.pos - b.start);
	return !b.bad && (ret->kind == PRIVATE_KERNEL || ret->kind == PRIVATE_MACHINE) &&
	       ret->more <= 1;
}

static uint64_t code_field(struct table_coder *c, unsigned int field, uint64_t v)
{
	return predictor__value(&c->p, CONTEXT(KIND), field, field, v);
}

static void code_part(struct table_coder *c, struct part_head *h, size_t len)
{
	struct tables_data *d = c->d;
	uint64_t *last = predictor__guess(&c->p, CONTEXT(PART), 0), candidate[] = { *last + 1, 0 };
	struct outbuf head = {};
	uint8_t zero[TRACE_STRING_MAX] = {};

	h->kind = code_field(c, 1, h->kind);
	h->part = predictor__candidate(&c->p, CONTEXT(PART), CONTEXT(PART), MIXER + 96, candidate,
				       2, h->part);
	*last = h->part;
	h->more = (uint8_t)code_field(c, 2, h->more);
	len = code_field(c, 3, len);
	if (len > TRACE_STRING_MAX ||
	    array__grow(&d->part, d->nparts, &d->parts_cap, sizeof(*d->part)) ||
	    outbuf__room(&head, PRIVATE_PREFIX_LEN + 2 * LEB_MAX + 1, NULL)) {
		c->bad = true;
		return;
	}
	outbuf__put(&head, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN, NULL);
	leb__append(&head, h->kind);
	leb__append(&head, h->part);
	outbuf__put(&head, &h->more, 1, NULL);
	put_number(c, head.len + len);
	put_bytes(c, head.data, head.len);
	d->part[d->nparts++] = (struct tables_part){
		.at = c->decode ? d->strings.len :
				  (size_t)((const char *)c->in.pos - d->strings.data) + head.len,
		.len = len,
		.first = !h->part,
		.last = !h->more,
	};
	put_bytes(c, zero, len);
	outbuf__deinit(&head);
}

/* ---- strings ---- */

static void remember_text(struct table_coder *c, size_t index, uint64_t id)
{
	if (index == SIZE_MAX || map__put(&c->text_by_id, id, (void *)((uintptr_t)index + 1))) {
		c->err = -ENOMEM;
		return;
	}
	c->text = index;
	c->t->text[index].id = id;
	c->t->text[index].segment = c->t->segment;
}

static void code_new_text(struct table_coder *c, uint64_t id, const void *data, size_t len)
{
	char text[TRACE_STRING_MAX];

	len = predictor__value(&c->p, CONTEXT(LENGTH), 0, 0, len);
	if (len > sizeof(text)) {
		c->bad = true;
		return;
	}
	if (!c->decode && len)
		memcpy(text, data, len);
	code_text(c, text, len);
	put_number(c, len);
	put_bytes(c, text, len);
	remember_text(c, add_text(c, text, len), id);
}

static void code_string(struct table_coder *c)
{
	const char *data = NULL;
	struct part_head head = {};
	size_t len = 0, head_len = 0, known = 0;
	unsigned int class = STRING_NEW;
	uint64_t id = 0;

	if (!c->decode) {
		buf__u8(&c->in);
		id = buf__uleb(&c->in);
		len = buf__uleb(&c->in);
		data = (const char *)c->in.pos;
		known = find_text(c->t, data, len);
		class = parse_part(data, len, &head, &head_len) ? STRING_ITEMS :
			known					? STRING_KNOWN :
								  STRING_NEW;
	}
	put_byte(c, EV_STRING);
	id = code_id(c, &c->string_id, id);
	put_number(c, id);
	class = coder__symbol(c->p.coder, CONTEXT(CLASS), CONTEXT(CLASS) + 1, MIXER + 128, 2,
			      class);
	if (class == STRING_ITEMS) {
		code_part(c, &head, len - head_len);
	} else if (class == STRING_KNOWN) {
		known = code_known_text(c, known - 1);
		if (c->bad)
			return;
		put_number(c, c->t->text[known].len);
		put_bytes(c, text_data(c->t, known), c->t->text[known].len);
		remember_text(c, known, id);
	} else {
		code_new_text(c, id, data, len);
	}
	if (!c->decode)
		buf__skip(&c->in, len);
}

/* ---- stacks ---- */

static struct tables_frame *frame_of(struct table_coder *c, uint64_t pc)
{
	struct table_model *t = c->t;
	size_t found = (uintptr_t)map__get(&t->frame_by_pc, pc);

	if (found)
		return &t->frame[found - 1];
	if (array__grow(&t->frame, t->nframes, &t->frames_cap, sizeof(*t->frame)) ||
	    map__put(&t->frame_by_pc, pc, (void *)((uintptr_t)t->nframes + 1))) {
		c->err = -ENOMEM;
		return NULL;
	}
	t->frame[t->nframes] = (struct tables_frame){};
	return &t->frame[t->nframes++];
}

/* The ID of a string of a frame. *text is the index + 1 of its text, 0 if that is not known. */
static uint64_t code_frame_text(struct table_coder *c, unsigned int kind, uint64_t *text,
				uint64_t near, uint64_t id)
{
	const struct tables_text *known = *text ? &c->t->text[*text - 1] : NULL;
	uint64_t *by_near = predictor__guess(&c->p, CONTEXT(kind), near);
	uint64_t *max = predictor__guess(&c->p, CONTEXT(kind), kind);
	bool is_known = known && known->segment == c->t->segment;
	uint64_t candidate[] = { is_known ? known->id : *by_near, *by_near, *max + 1, *max };
	uint64_t a = pack__hash(CONTEXT(kind), is_known);

	id = predictor__candidate(&c->p, a, pack__hash(a, *by_near == *max), MIXER + kind % 8 * 64,
				  candidate, 4, id);
	*by_near = id;
	if (id > *max)
		*max = id;
	*text = (uintptr_t)map__get(&c->text_by_id, id);
	return id;
}

static void code_frame(struct table_coder *c, uint64_t pc)
{
	struct tables_frame *f = frame_of(c, pc);
	uint64_t id[3] = {}, known, *by_func;

	if (!f)
		return;
	known = f->func && f->file;
	for (unsigned int i = 0; i < 3 && !c->decode; i++)
		id[i] = buf__uleb(&c->in);
	id[0] = code_frame_text(c, FUNC, &f->func, pc, id[0]);
	id[1] = code_frame_text(c, FILES, &f->file, pack__hash(id[0], 0), id[1]);
	by_func = predictor__guess(&c->p, CONTEXT(LINE), id[0]);
	id[2] = predictor__candidate(&c->p, pack__hash(CONTEXT(LINE), known), CONTEXT(LINE) + 1,
				     MIXER + 600, known ? &f->line : by_func, 1, id[2]);
	f->line = *by_func = id[2];
	for (unsigned int i = 0; i < 3; i++)
		put_number(c, id[i]);
}

static uint64_t hash_pcs(const uint64_t *pc, size_t n)
{
	return hash__bytes(pc, n * sizeof(*pc));
}

/* Adds a stack to the dictionary, whose n PCs were appended already. */
static void add_stack(struct table_coder *c, size_t n)
{
	struct table_model *t = c->t;
	size_t at = t->npcs - n;

	if (array__grow(&t->stack, t->nstacks, &t->stacks_cap, sizeof(*t->stack)) ||
	    (!c->decode && map__put(&t->stack_by_hash, hash_pcs(t->pc + at, n),
				    (void *)((uintptr_t)t->nstacks + 1)))) {
		c->err = -ENOMEM;
		return;
	}
	c->stack = t->nstacks;
	t->stack[t->nstacks++] = (struct tables_stack){ at, n };
}

/* Index + 1; 0: not in the dictionary. */
static size_t find_stack(const struct table_model *t, const uint64_t *pc, size_t n)
{
	size_t found = (uintptr_t)map__get(&t->stack_by_hash, hash_pcs(pc, n));

	if (!found || t->stack[found - 1].n != n ||
	    (n && memcmp(t->pc + t->stack[found - 1].at, pc, n * sizeof(*pc))))
		return 0;
	return found;
}

/* The PCs of a new stack: callers of the same PC are often the same. */
static void code_pcs(struct table_coder *c, uint64_t *pc, size_t n)
{
	uint64_t before[2] = {}, *near, *far;

	for (size_t i = 0; i < n; i++) {
		far = predictor__guess(&c->p, CONTEXT(PC), pack__hash(before[0], before[1]));
		near = predictor__guess(&c->p, CONTEXT(PC) + 1, before[0]);
		uint64_t candidate[] = { *far, *near, before[0] };

		pc[i] = predictor__candidate(&c->p, CONTEXT(PC), CONTEXT(PC) + (*far == *near),
					     MIXER + 640, candidate, 2, pc[i]);
		*far = *near = pc[i];
		before[1] = before[0];
		before[0] = pc[i];
	}
}

static void code_stack(struct table_coder *c)
{
	uint64_t pc[TRACE_STACK_MAX], id = 0, n = 0, known = 0, candidate[] = { c->stack + 1 };
	struct buf frames;

	if (!c->decode) {
		buf__u8(&c->in);
		id = buf__uleb(&c->in);
		n = buf__uleb(&c->in);
		frames = c->in;
		for (size_t i = 0; i < n; i++) {
			pc[i] = buf__uleb(&frames);
			buf__uleb(&frames), buf__uleb(&frames), buf__uleb(&frames);
		}
		known = find_stack(c->t, pc, n);
	}
	put_byte(c, EV_STACK);
	put_number(c, code_id(c, &c->stack_id, id));
	if (coder__bit(c->p.coder, CONTEXT(STACK), CONTEXT(STACK) + 1, MIXER + 680, known)) {
		known = predictor__candidate(&c->p, CONTEXT(STACK) + 2, CONTEXT(STACK) + 3,
					     MIXER + 684, candidate, 1, known - 1);
		if (known >= c->t->nstacks) {
			c->bad = true;
			return;
		}
		c->stack = known;
		n = c->t->stack[known].n;
		if (n)
			memcpy(pc, c->t->pc + c->t->stack[known].at, n * sizeof(*pc));
	} else {
		n = predictor__value(&c->p, CONTEXT(FRAMES), 0, 0, n);
		if (n > TRACE_STACK_MAX) {
			c->bad = true;
			return;
		}
		code_pcs(c, pc, n);
		for (size_t i = 0; i < n; i++) {
			if (array__grow(&c->t->pc, c->t->npcs, &c->t->pcs_cap, sizeof(*c->t->pc))) {
				c->err = -ENOMEM;
				return;
			}
			c->t->pc[c->t->npcs++] = pc[i];
		}
		add_stack(c, n);
	}
	put_number(c, n);
	for (size_t i = 0; i < n && !c->bad && !c->err; i++) {
		if (!c->decode)
			buf__uleb(&c->in);
		put_number(c, pc[i]);
		code_frame(c, pc[i]);
	}
}

/* ---- batches ---- */

static void code_batches(struct table_coder *c, bool stacks)
{
	struct tables_data *d = c->d;
	size_t n = stacks ? d->nstacks : d->nstrings, start = 0, end;
	const char *data = stacks ? d->stacks.data : d->strings.data;

	c->out = stacks ? &d->stacks : &d->strings;
	for (size_t i = 0; code_more(c, stacks, i < n); i++) {
		end = c->decode ? 0 : (stacks ? d->stacks_end : d->strings_end)[i];
		c->in = buf__make(c->decode ? NULL : data + start, end - start);
		start = end;
		buf__u8(&c->in);
		put_byte(c, stacks ? EV_STACKS : EV_STRINGS);
		while (code_more(c, 2 + stacks, buf__left(&c->in)))
			stacks ? code_stack(c) : code_string(c);
		if (c->decode && end_batch(d, stacks))
			c->err = -ENOMEM;
	}
}

int table_model__code(struct table_model *t, struct coder *coder, struct tables_data *d, size_t max)
{
	struct table_coder c = { .t = t, .d = d, .decode = coder->decode, .max = max };
	int err = predictor__init(&c.p, coder);

	if (!err) {
		code_batches(&c, false);
		code_batches(&c, true);
		err = c.err ?: c.bad || coder__is_bad(coder) ? -EBADMSG : 0;
	}
	predictor__deinit(&c.p);
	map__deinit(&c.text_by_id);
	return err;
}
