// SPDX-License-Identifier: GPL-2.0
/*
 * The dictionary, and the batches of the tables: see table_model.h.
 */
#include "pack/table_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "format/spec.h"
#include "lib/array.h"
#include "pack/canonical.h"

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

/* `len` bytes are written next. */
static bool has_room(struct table_coder *c, size_t len)
{
	if (c->d->strings.len + c->d->stacks.len + len > c->max)
		c->bad = true;
	else if (outbuf__room(c->out, len, NULL))
		c->err = -ENOMEM;
	return !c->bad && !c->err;
}

void table_coder__put_number(struct table_coder *c, uint64_t v)
{
	if (c->decode && has_room(c, LEB_MAX))
		leb__append(c->out, v);
}

void table_coder__put_bytes(struct table_coder *c, const void *data, size_t len)
{
	if (c->decode && has_room(c, len))
		outbuf__put(c->out, data, len, NULL);
}

static bool code_more(struct table_coder *c, unsigned int level, bool more)
{
	uint64_t context = pack__hash(TABLE_CONTEXT(TABLE_MORE), level);

	return coder__bit(c->p.coder, context, context + 1, TABLE_MIXER + level, more) && !c->bad &&
	       !c->err && !coder__is_bad(c->p.coder);
}

uint64_t table_coder__id(struct table_coder *c, uint64_t *last, uint64_t id)
{
	uint64_t candidate[] = { *last + 1 };

	*last = predictor__candidate(&c->p, TABLE_CONTEXT(TABLE_ID), TABLE_CONTEXT(TABLE_ID) + 1,
				     TABLE_MIXER + 32, candidate, 1, id);
	return *last;
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
		table_coder__put_bytes(c, (const uint8_t[]){ stacks ? EV_STACKS : EV_STRINGS }, 1);
		while (code_more(c, 2 + stacks, buf__left(&c->in)))
			stacks ? table_coder__stack(c) : table_coder__string(c);
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
