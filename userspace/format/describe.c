// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes the event table of spec.c and spec_doc.c into its binary form, and decodes it.
 *
 * Upstream: the two tables, or the private data of a file (format/private_read.c). Downstream:
 * writer/private_write.c, which puts the bytes into a trace; reader/reader.c, which skips unknown
 * events; `gotrace describe`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/describe.h"
#include "lib/outbuf.h"

/* The table in the making. After an error, nothing more is appended. */
struct describe_out {
	struct outbuf bytes;
	int err;
};

static void put(struct describe_out *o, const void *data, size_t len)
{
	if (!o->err)
		o->err = outbuf__put(&o->bytes, data, len, NULL);
}

static void put_u8(struct describe_out *o, uint8_t v)
{
	put(o, &v, sizeof(v));
}

static void put_text(struct describe_out *o, const char *text)
{
	uint16_t len = strlen(text);

	put(o, &len, sizeof(len));
	put(o, text, len);
}

/* Reserves a size field and returns its position; put_size() fills it in. */
static size_t put_room(struct describe_out *o)
{
	size_t at = o->bytes.len;

	put(o, &(uint32_t){ 0 }, sizeof(uint32_t));
	return at;
}

static void put_size(struct describe_out *o, size_t at)
{
	uint32_t size = o->bytes.len - at - sizeof(size);

	if (!o->err)
		memcpy(o->bytes.data + at, &size, sizeof(size));
}

static enum described_type described_type(enum ev_arg type)
{
	return type == ARG_STRING ? DESCRIBED_STRING_ID :
	       type == ARG_STACK  ? DESCRIBED_STACK :
				    DESCRIBED_UINT;
}

static void put_event(struct describe_out *o, unsigned int type)
{
	const struct ev_spec *spec = spec__event(type);
	const struct ev_doc *doc = spec__doc(type);
	const struct ev_value *values;
	size_t size, n = 0, i;

	put_u8(o, type);
	size = put_room(o);
	put_text(o, spec->name);
	put_text(o, doc->what);
	values = spec__values(type, &n);
	put_u8(o, n);
	for (i = 0; i < n; i++) {
		put_u8(o, values[i].value);
		put_text(o, values[i].name);
		put_text(o, values[i].what);
	}
	put_u8(o, doc->descriptive);
	if (doc->descriptive) {
		put_u8(o, doc->scope);
		put_u8(o, doc->class);
		put_u8(o, doc->link);
		put_u8(o, spec->nargs - 1);
		for (i = 1; i < spec->nargs; i++) {
			put_u8(o, described_type(spec->arg[i].type));
			put_text(o, spec->arg[i].name);
			put_text(o, spec__arg_doc(spec->arg[i].name));
		}
	}
	put_size(o, size);
}

static void put_table(struct describe_out *o)
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
	struct describe_out o = {};

	put_table(&o);
	if (o.err) {
		outbuf__deinit(&o.bytes);
		return o.err;
	}
	*ret = (uint8_t *)o.bytes.data;
	*ret_len = o.bytes.len;
	return 0;
}

static struct trace_string take_text(struct buf *b)
{
	uint16_t len = buf__u16(b);

	return (struct trace_string){ .data = buf__take(b, len), .len = len };
}

/* The values of one event. Returns NULL if memory is exhausted. */
static struct described_value *take_values(struct buf *b, struct arena *memory, uint8_t n)
{
	struct described_value *values = arena__alloc(memory, n * sizeof(*values));

	for (unsigned int i = 0; values && i < n; i++) {
		values[i].value = buf__u8(b);
		values[i].name = take_text(b);
		values[i].what = take_text(b);
	}
	return values;
}

static struct described_arg *take_args(struct buf *b, struct arena *memory, uint8_t n)
{
	struct described_arg *args = arena__alloc(memory, n * sizeof(*args));

	for (unsigned int i = 0; args && i < n; i++) {
		args[i].type = buf__u8(b);
		args[i].name = take_text(b);
		args[i].what = take_text(b);
	}
	return args;
}

/* Whether the event has a value that this minor version does not define. */
static bool is_foreign(const struct described_event *ev, uint8_t flag)
{
	if (flag > 1 || ev->scope > SCOPE_GLOBAL || ev->class > CLASS_END)
		return true;
	for (unsigned int i = 0; i < ev->nargs; i++)
		if (ev->args[i].type > DESCRIBED_STACK)
			return true;
	return false;
}

/* Decodes one event, without its type byte. Returns 0, -ENOMEM or -EBADMSG. */
static int decode_event(struct description *d, struct described_event *ev, struct buf *b)
{
	uint8_t flag;

	ev->name = take_text(b);
	ev->what = take_text(b);
	ev->nvalues = buf__u8(b);
	ev->values = take_values(b, &d->memory, ev->nvalues);
	if (!ev->values)
		return -ENOMEM;
	flag = buf__u8(b);
	ev->descriptive = flag;
	if (flag) {
		ev->scope = buf__u8(b);
		ev->class = buf__u8(b);
		ev->link = buf__u8(b);
		ev->nargs = buf__u8(b);
		ev->args = take_args(b, &d->memory, ev->nargs);
		if (!ev->args)
			return -ENOMEM;
	}
	if (b->bad || (d->minor <= DESCRIPTION_MINOR && is_foreign(ev, flag)))
		return -EBADMSG;
	return 0;
}

/* Decodes the next row of the table. Returns 0, -ENOMEM, or -EBADMSG with a message. */
static int next_event(struct description *d, struct buf *table, struct error *error)
{
	struct described_event *ev = &d->events[d->n];
	struct buf bytes;
	uint32_t size;
	int err;

	*ev = (struct described_event){ .type = buf__u8(table) };
	size = buf__u32(table);
	bytes = buf__make(buf__take(table, size), size);
	if (table->bad)
		return error__set(error, -EBADMSG, "truncated event table, in row %u", d->n + 1);
	if (!ev->type || d->at[ev->type])
		return error__set(error, -EBADMSG,
				  "row %u of the event table has type %u, which is %s", d->n + 1,
				  ev->type, ev->type ? "already defined" : "invalid");
	err = decode_event(d, ev, &bytes);
	if (err == -EBADMSG)
		return error__set(error, err, "row %u of the event table, type %u, is invalid",
				  d->n + 1, ev->type);
	d->at[ev->type] = ++d->n;
	return err;
}

static int decode_table(struct description *d, struct error *error)
{
	struct buf b = buf__make(d->bytes, d->len), table;
	uint32_t size;
	unsigned int n;
	int err = 0;

	d->minor = buf__u8(&b);
	size = buf__u32(&b);
	table = buf__make(buf__take(&b, size), size);
	n = buf__u8(&table);
	if (b.bad || table.bad)
		return error__set(error, -EBADMSG, "truncated event table");
	d->events = arena__alloc(&d->memory, n * sizeof(*d->events));
	if (!d->events)
		return -ENOMEM;
	while (!err && d->n < n)
		err = next_event(d, &table, error);
	return err;
}

int description__decode(struct description **ret, const void *data, size_t len, struct error *error)
{
	struct description *d = calloc(1, sizeof(*d));
	void *copy;
	int err;

	if (!d)
		return error__set(error, -ENOMEM, "out of memory");
	arena__init(&d->memory, 64 << 10);
	copy = arena__alloc(&d->memory, len);
	if (!copy) {
		description__destroy(d);
		return error__set(error, -ENOMEM, "out of memory");
	}
	memcpy(copy, data, len);
	d->bytes = copy;
	d->len = len;
	err = decode_table(d, error);
	if (err) {
		description__destroy(d);
		return error__set(error, err, "out of memory");
	}
	*ret = d;
	return 0;
}

void description__destroy(struct description *d)
{
	if (!d)
		return;
	arena__deinit(&d->memory);
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
