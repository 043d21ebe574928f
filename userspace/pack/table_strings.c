// SPDX-License-Identifier: GPL-2.0
/*
 * Strings of the tables: see table_impl.h.
 *
 * A string is a text of the dictionary, a new text, or a part of a record of kernel events, whose
 * bytes item_model.c codes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "format/private.h"
#include "format/spec.h"
#include "lib/array.h"
#include "pack/canonical.h"
#include "pack/table_impl.h"

enum { STRING_NEW, STRING_KNOWN, STRING_ITEMS };

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
		data[i] = (char)predictor__byte(&c->p, TABLE_CONTEXT(TABLE_TEXT), before,
						(uint8_t)data[i]);
		before = before << 8 | (uint8_t)data[i];
	}
}

static size_t code_known_text(struct table_coder *c, size_t index)
{
	uint64_t candidate[] = { c->text + 1 };

	index = predictor__candidate(&c->p, TABLE_CONTEXT(TABLE_KNOWN),
				     TABLE_CONTEXT(TABLE_KNOWN) + 1, TABLE_MIXER + 64, candidate, 1,
				     index);
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
	return predictor__value(&c->p, TABLE_CONTEXT(TABLE_FIELD), field, field, v);
}

static void code_part(struct table_coder *c, struct part_head *h, size_t len)
{
	struct tables_data *d = c->d;
	uint64_t *last = predictor__guess(&c->p, TABLE_CONTEXT(TABLE_PART), 0),
		 candidate[] = { *last + 1, 0 };
	struct outbuf head = {};
	uint8_t zero[TRACE_STRING_MAX] = {};

	h->kind = code_field(c, 1, h->kind);
	h->part = predictor__candidate(&c->p, TABLE_CONTEXT(TABLE_PART), TABLE_CONTEXT(TABLE_PART),
				       TABLE_MIXER + 96, candidate, 2, h->part);
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
	table_coder__put_number(c, head.len + len);
	table_coder__put_bytes(c, head.data, head.len);
	d->part[d->nparts++] = (struct tables_part){
		.at = c->decode ? d->strings.len :
				  (size_t)((const char *)c->in.pos - d->strings.data) + head.len,
		.len = len,
		.first = !h->part,
		.last = !h->more,
	};
	table_coder__put_bytes(c, zero, len);
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

	len = predictor__value(&c->p, TABLE_CONTEXT(TABLE_LENGTH), 0, 0, len);
	if (len > sizeof(text)) {
		c->bad = true;
		return;
	}
	if (!c->decode && len)
		memcpy(text, data, len);
	code_text(c, text, len);
	table_coder__put_number(c, len);
	table_coder__put_bytes(c, text, len);
	remember_text(c, add_text(c, text, len), id);
}

void table_coder__string(struct table_coder *c)
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
	table_coder__put_bytes(c, (const uint8_t[]){ EV_STRING }, 1);
	id = table_coder__id(c, &c->string_id, id);
	table_coder__put_number(c, id);
	class = coder__symbol(c->p.coder, TABLE_CONTEXT(TABLE_CLASS),
			      TABLE_CONTEXT(TABLE_CLASS) + 1, TABLE_MIXER + 128, 2, class);
	if (class == STRING_ITEMS) {
		code_part(c, &head, len - head_len);
	} else if (class == STRING_KNOWN) {
		known = code_known_text(c, known - 1);
		if (c->bad)
			return;
		table_coder__put_number(c, c->t->text[known].len);
		table_coder__put_bytes(c, text_data(c->t, known), c->t->text[known].len);
		remember_text(c, known, id);
	} else {
		code_new_text(c, id, data, len);
	}
	if (!c->decode)
		buf__skip(&c->in, len);
}
