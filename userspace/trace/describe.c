// SPDX-License-Identifier: GPL-2.0
/*
 * The binary form of the event table: made of spec.c and spec_words.c, and read back.
 *
 * Before it: the two tables, or a file's private data. After it: trace/private.c (into the file),
 * the reader (skips unknown events), `gotrace describe`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/blocks.h"
#include "trace/describe.h"

/* Bytes that are written; with p NULL only counted. */
struct out {
	uint8_t *p;
	size_t len;
};

static void put(struct out *o, const void *data, size_t len)
{
	if (o->p)
		memcpy(o->p + o->len, data, len);
	o->len += len;
}

static void put_u8(struct out *o, uint8_t v)
{
	put(o, &v, sizeof(v));
}

static void put_text(struct out *o, const char *text)
{
	uint16_t len = strlen(text);

	put(o, &len, sizeof(len));
	put(o, text, len);
}

/* The place of a size that is not known yet; put_size() fills it in. */
static size_t put_room(struct out *o)
{
	size_t at = o->len;

	put(o, &(uint32_t){ 0 }, sizeof(uint32_t));
	return at;
}

static void put_size(struct out *o, size_t at)
{
	uint32_t size = o->len - at - sizeof(size);

	put(&(struct out){ o->p, at }, &size, sizeof(size));
}

static enum described_type described_type(enum ev_arg type)
{
	return type == ARG_STRING ? DESCRIBED_STRING_ID :
	       type == ARG_STACK  ? DESCRIBED_STACK :
				    DESCRIBED_UINT;
}

static void put_event(struct out *o, unsigned int type)
{
	const struct ev_spec *spec = spec__event(type);
	const struct ev_words *words = spec__words(type);
	const struct ev_value *values;
	size_t size, n = 0, i;

	put_u8(o, type);
	size = put_room(o);
	put_text(o, spec->name);
	put_text(o, words->what);
	values = spec__values(type, &n);
	put_u8(o, n);
	for (i = 0; i < n; i++) {
		put_u8(o, values[i].value);
		put_text(o, values[i].name);
		put_text(o, values[i].what);
	}
	put_u8(o, words->descriptive);
	if (words->descriptive) {
		put_u8(o, words->scope);
		put_u8(o, words->class);
		put_u8(o, words->link);
		put_u8(o, spec->nargs - 1);
		for (i = 1; i < spec->nargs; i++) {
			put_u8(o, described_type(spec->arg[i].type));
			put_text(o, spec->arg[i].name);
			put_text(o, spec__arg_words(spec->arg[i].name));
		}
	}
	put_size(o, size);
}

static void put_table(struct out *o)
{
	size_t size;
	unsigned int type, n = 0;

	for (type = 0; type < EV_END; type++)
		n += !!spec__event(type);
	put_u8(o, DESCRIPTION_MINOR);
	size = put_room(o);
	put_u8(o, n);
	for (type = 0; type < EV_END; type++)
		if (spec__event(type))
			put_event(o, type);
	put_size(o, size);
}

int description__encode(uint8_t **ret, size_t *ret_len)
{
	struct out count = {}, o = {};

	put_table(&count);
	o.p = malloc(count.len);
	if (!o.p)
		return -ENOMEM;
	put_table(&o);
	*ret = o.p;
	*ret_len = o.len;
	return 0;
}

static struct trace_string take_text(struct buf *b)
{
	uint16_t len = buf__u16(b);

	return (struct trace_string){ .data = buf__take(b, len), .len = len };
}

/* Those of one event. NULL: no memory. */
static struct described_value *take_values(struct buf *b, struct blocks *memory, uint8_t n)
{
	struct described_value *values = blocks__take(memory, n * sizeof(*values));

	for (unsigned int i = 0; values && i < n; i++) {
		values[i].value = buf__u8(b);
		values[i].name = take_text(b);
		values[i].what = take_text(b);
	}
	return values;
}

static struct described_arg *take_args(struct buf *b, struct blocks *memory, uint8_t n)
{
	struct described_arg *args = blocks__take(memory, n * sizeof(*args));

	for (unsigned int i = 0; args && i < n; i++) {
		args[i].type = buf__u8(b);
		args[i].name = take_text(b);
		args[i].what = take_text(b);
	}
	return args;
}

/* Has a value that this minor version does not know. */
static bool is_foreign(const struct described_event *ev, uint8_t flag)
{
	if (flag > 1 || ev->scope > SCOPE_GLOBAL || ev->class > CLASS_END)
		return true;
	for (unsigned int i = 0; i < ev->nargs; i++)
		if (ev->args[i].type > DESCRIBED_STACK)
			return true;
	return false;
}

/* The bytes of one event, without its type. 0, -ENOMEM, -EBADMSG. */
static int decode_event(struct description *d, struct described_event *ev, struct buf *b)
{
	uint8_t flag;

	ev->name = take_text(b);
	ev->what = take_text(b);
	ev->nvalues = buf__u8(b);
	ev->values = take_values(b, d->memory, ev->nvalues);
	if (!ev->values)
		return -ENOMEM;
	flag = buf__u8(b);
	ev->descriptive = flag;
	if (flag) {
		ev->scope = buf__u8(b);
		ev->class = buf__u8(b);
		ev->link = buf__u8(b);
		ev->nargs = buf__u8(b);
		ev->args = take_args(b, d->memory, ev->nargs);
		if (!ev->args)
			return -ENOMEM;
	}
	if (b->bad || (d->minor <= DESCRIPTION_MINOR && is_foreign(ev, flag)))
		return -EBADMSG;
	return 0;
}

/* The next event of the table. 0, -ENOMEM, or -EBADMSG with the reason. */
static int next_event(struct description *d, struct buf *table, struct error *err)
{
	struct described_event *ev = &d->events[d->n];
	struct buf bytes;
	uint32_t size;
	int code;

	*ev = (struct described_event){ .type = buf__u8(table) };
	size = buf__u32(table);
	bytes = buf__make(buf__take(table, size), size);
	if (table->bad)
		return error__set(err, -EBADMSG, "the event table is cut off in row %u", d->n + 1);
	if (!ev->type || d->at[ev->type])
		return error__set(err, -EBADMSG, "row %u of the event table has type %u, %s",
				  d->n + 1, ev->type,
				  ev->type ? "as one before has" : "which is none");
	code = decode_event(d, ev, &bytes);
	if (code == -EBADMSG)
		return error__set(err, code, "row %u of the event table, type %u, is broken",
				  d->n + 1, ev->type);
	d->at[ev->type] = ++d->n;
	return code;
}

static int decode_table(struct description *d, struct error *err)
{
	struct buf b = buf__make(d->bytes, d->len), table;
	uint32_t size;
	unsigned int n;
	int code = 0;

	d->minor = buf__u8(&b);
	size = buf__u32(&b);
	table = buf__make(buf__take(&b, size), size);
	n = buf__u8(&table);
	if (b.bad || table.bad)
		return error__set(err, -EBADMSG, "the event table is cut off");
	d->events = blocks__take(d->memory, n * sizeof(*d->events));
	if (!d->events)
		return -ENOMEM;
	while (!code && d->n < n)
		code = next_event(d, &table, err);
	return code;
}

int description__decode(struct description **ret, const void *data, size_t len, struct error *err)
{
	struct description *d = calloc(1, sizeof(*d));
	void *copy;
	int code;

	if (!d)
		return error__set(err, -ENOMEM, "no memory");
	d->memory = blocks__create(64 << 10);
	copy = d->memory ? blocks__take(d->memory, len) : NULL;
	if (!copy) {
		description__destroy(d);
		return error__set(err, -ENOMEM, "no memory");
	}
	memcpy(copy, data, len);
	d->bytes = copy;
	d->len = len;
	code = decode_table(d, err);
	if (code) {
		description__destroy(d);
		return error__set(err, code, "no memory");
	}
	*ret = d;
	return 0;
}

void description__destroy(struct description *d)
{
	if (!d)
		return;
	blocks__destroy(d->memory);
	free(d);
}

const struct described_event *description__event(const struct description *d, uint8_t type)
{
	return d->at[type] ? &d->events[d->at[type] - 1] : NULL;
}

bool description__skip(const struct description *d, uint8_t type, struct buf *b, uint64_t *ret_dt)
{
	const struct described_event *ev = description__event(d, type);
	uint64_t dt;

	if (!ev || !ev->descriptive)
		return false;
	dt = buf__uleb(b);
	for (unsigned int i = 0; i < ev->nargs; i++) {
		if (ev->args[i].type > DESCRIBED_STACK)
			return false;
		if (ev->args[i].type == DESCRIBED_STRING)
			buf__skip(b, buf__uleb(b));
		else
			buf__uleb(b);
	}
	if (b->bad)
		return false;
	*ret_dt = dt;
	return true;
}
