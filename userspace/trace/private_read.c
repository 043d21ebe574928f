// SPDX-License-Identifier: GPL-2.0
/*
 * Private data, read back: strings to parts, parts to records, records to what they say.
 *
 * See private_read.h. Ordinary strings may stand between the parts of a record, since whoever copies a
 * trace may add some; parts out of turn make the record a broken one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/describe.h"
#include "trace/private_read.h"

struct part {
	uint64_t kind, number;
	uint8_t more;
	const uint8_t *data;
	size_t len;
};

void private_reader__init(struct private_reader *r, const struct dictionary *words)
{
	*r = (struct private_reader){ .words = words };
}

void private_reader__deinit(struct private_reader *r)
{
	free(r->joined);
	r->joined = NULL;
	r->cap = 0;
}

static bool is_private(const struct trace_string *s)
{
	return s->len >= PRIVATE_PREFIX_LEN && !memcmp(s->data, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
}

/* False: broken. */
static bool take_part(const struct trace_string *s, struct part *ret)
{
	struct buf b = buf__make(s->data, s->len);

	buf__skip(&b, PRIVATE_PREFIX_LEN);
	ret->kind = buf__uleb(&b);
	ret->number = buf__uleb(&b);
	ret->more = buf__u8(&b);
	ret->len = buf__left(&b);
	ret->data = buf__take(&b, ret->len);
	return !b.bad && ret->more <= 1;
}

/* The next private string: 1, or -EBADMSG: it is broken; 0: there is none. */
static int next_part(struct private_reader *r, struct part *ret)
{
	const struct trace_string *s;

	while (r->at < dictionary__nstrings(r->words)) {
		s = &r->words->strings[r->at++];
		if (is_private(s))
			return take_part(s, ret) ? 1 : -EBADMSG;
	}
	return 0;
}

/* Even for nothing: the parts of a record may all be empty. */
static int make_room(struct private_reader *r, size_t len)
{
	size_t cap = len < 4096 ? 4096 : 2 * len;
	uint8_t *p;

	if (r->joined && len <= r->cap)
		return 0;
	p = realloc(r->joined, cap);
	if (!p)
		return -ENOMEM;
	r->joined = p;
	r->cap = cap;
	return 0;
}

/* Copies the parts of a record, the first of which is given. 0, -ENOMEM, -EBADMSG: broken. */
static int join(struct private_reader *r, const struct part *first, size_t *ret_len)
{
	struct part part = *first;
	uint64_t number = 0;
	size_t len = 0;
	int got;

	for (;;) {
		if (part.len > PRIVATE_RECORD_MAX - len)
			return -EBADMSG;
		if (make_room(r, len + part.len))
			return -ENOMEM;
		memcpy(r->joined + len, part.data, part.len);
		len += part.len;
		if (!part.more)
			break;
		got = next_part(r, &part);
		if (got > 0 && !part.number)
			r->at--; /* the next record begins */
		if (got <= 0 || part.kind != first->kind || part.number != ++number)
			return -EBADMSG;
	}
	*ret_len = len;
	return 0;
}

int private_reader__next(struct private_reader *r, struct private_record *ret)
{
	struct part part;
	size_t len;
	int code;

	while ((code = next_part(r, &part))) {
		if (code > 0 && !part.number) {
			len = part.len;
			code = part.more ? join(r, &part, &len) : 0;
		} else {
			code = -EBADMSG;
		}
		if (code == -ENOMEM)
			return code;
		if (code) {
			r->bad++;
		} else if (!part.kind || part.kind >= PRIVATE_KIND_END) {
			r->unknown++;
		} else {
			r->records++;
			ret->kind = (enum private_kind)part.kind;
			ret->data = buf__make(part.more ? r->joined : part.data, len);
			return 1;
		}
	}
	return 0;
}

static struct trace_string take_bytes(struct buf *b)
{
	uint64_t len = buf__uleb(b);
	const char *data = buf__take(b, len);

	return (struct trace_string){ data, data ? (uint32_t)len : 0 };
}

bool private_read__pair(struct buf *data, struct private_pair *ret)
{
	struct private_pair pair;

	if (!buf__left(data))
		return false;
	pair.name = take_bytes(data);
	pair.value = take_bytes(data);
	if (data->bad)
		return false;
	*ret = pair;
	return true;
}

bool private_read__loss(struct buf *data, struct private_loss *ret)
{
	struct private_loss loss;

	if (!buf__left(data))
		return false;
	loss.kind = buf__uleb(data);
	loss.count = buf__uleb(data);
	loss.from = buf__uleb(data);
	if (__builtin_add_overflow(loss.from, buf__uleb(data), &loss.to))
		data->bad = true;
	if (data->bad)
		return false;
	*ret = loss;
	return true;
}

bool private_read__correction(struct buf *data, struct private_correction *ret)
{
	struct private_correction c;

	c.from = buf__uleb(data);
	if (__builtin_add_overflow(c.from, buf__uleb(data), &c.to))
		data->bad = true;
	c.goroutines = buf__uleb(data);
	c.threads = buf__uleb(data);
	c.events = buf__uleb(data);
	if (data->bad)
		return false;
	*ret = c;
	return true;
}

bool private_read__ticks(struct buf *data, struct private_ticks *ret)
{
	struct private_ticks ticks;

	ticks.tick_ns = buf__uleb(data);
	ticks.start_ns = buf__uleb(data);
	ticks.wall_ns = buf__uleb(data);
	if (data->bad)
		return false;
	*ret = ticks;
	return true;
}

int private_read__table(const struct dictionary *words, struct description **ret, struct error *err)
{
	struct private_reader r;
	struct private_record record;
	int code;

	private_reader__init(&r, words);
	do
		code = private_reader__next(&r, &record);
	while (code > 0 && record.kind != PRIVATE_TABLE);
	if (code > 0) {
		code = description__decode(ret, record.data.start, buf__left(&record.data), err);
		code = code ? code : 1;
	}
	private_reader__deinit(&r);
	return code;
}
