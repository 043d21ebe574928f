// SPDX-License-Identifier: GPL-2.0
/*
 * Writes one Parquet file: see parquet_file.h.
 *
 * What the footer has to say about a group is kept in its final form until the end: about 100 bytes
 * per column.
 */
#include "sql/parquet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "sql/parquet_footer.h"
#include "sql/parquet_thrift.h"

#define MAGIC	      "PAR1"
#define ZSTD_LEVEL    1
#define NUMBERS_MAX   2048 /* distinct numbers of a chunk with a dictionary */
#define STATISTIC_MAX 64   /* bytes of a text that is a minimum or maximum */

/* Numbers of the format */
enum { ENCODING_PLAIN, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_DATA, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };

struct parquet_file {
	const struct table *table;
	const char *name;
	int fd;
	struct outbuf out;
	uint64_t size;	      /* of what is in the file or in `out` */
	struct outbuf groups; /* their part of the footer */
	uint64_t ngroups, rows;
};

struct parquet_scratch {
	struct distinct distinct;
	uint32_t *levels, *index;
	int64_t *numbers; /* that are not null */
	struct outbuf page, packed;
	ZSTD_CCtx *zstd;
};

struct chunk {
	bool is_text;
	unsigned int encoding;
	size_t n, present;	   /* values, and those that are not null */
	uint64_t dictionary, data; /* offsets of the pages; dictionary 0: there is none */
	uint64_t plain, packed;	   /* bytes of the pages, with their headers */
	bool has_limits;
	union distinct_value min, max;
};

/* ---- memory ---- */

void parquet_scratch__destroy(struct parquet_scratch *s)
{
	if (!s)
		return;
	distinct__deinit(&s->distinct);
	free(s->levels);
	free(s->index);
	free(s->numbers);
	outbuf__deinit(&s->page);
	outbuf__deinit(&s->packed);
	ZSTD_freeCCtx(s->zstd);
	free(s);
}

struct parquet_scratch *parquet_scratch__create(void)
{
	struct parquet_scratch *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	err = distinct__init(&s->distinct);
	s->levels = malloc(CHUNK_ROWS * sizeof(*s->levels));
	s->index = malloc(CHUNK_ROWS * sizeof(*s->index));
	s->numbers = malloc(CHUNK_ROWS * sizeof(*s->numbers));
	s->zstd = ZSTD_createCCtx();
	if (!err && s->levels && s->index && s->numbers && s->zstd)
		return s;
	parquet_scratch__destroy(s);
	return NULL;
}

static int write_out(void *to, const void *data, size_t len)
{
	const struct parquet_file *f = to;
	const char *p = data;
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = write(f->fd, p, len);
		if (n < 0)
			return -errno;
	}
	return 0;
}

static int put(struct parquet_file *f, const void *data, size_t len, struct error *error)
{
	f->size += len;
	return outbuf__put(&f->out, data, len, error);
}

int parquet_file__create(struct parquet_file **ret, int folder, const char *name,
			 const struct table *table, struct error *error)
{
	struct parquet_file *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return producer__out_of_memory(error);
	f->table = table;
	f->name = table->name;
	f->out = (struct outbuf){ .write = write_out, .to = f, .name = f->name };
	f->fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = f->fd < 0 ? error__set(error, -errno, "cannot create the file of %s: %s", f->name,
				     strerror(errno)) :
			  put(f, MAGIC, strlen(MAGIC), error);
	if (err)
		parquet_file__destroy(f);
	else
		*ret = f;
	return err;
}

void parquet_file__destroy(struct parquet_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	outbuf__deinit(&f->out);
	outbuf__deinit(&f->groups);
	free(f);
}

/* ---- pages ---- */

static int compress(struct parquet_scratch *s, struct error *error)
{
	size_t room = ZSTD_compressBound(s->page.len), len;
	int err;

	s->packed.len = 0;
	if (room > INT32_MAX)
		return error__set(error, -E2BIG, "more than 2 GiB of texts");
	err = outbuf__room(&s->packed, room, error);
	if (err)
		return err;
	len = ZSTD_compressCCtx(s->zstd, s->packed.data, s->packed.cap, s->page.data, s->page.len,
				ZSTD_LEVEL);
	if (ZSTD_isError(len))
		return error__set(error, -EIO, "zstd: %s", ZSTD_getErrorName(len));
	s->packed.len = len;
	return 0;
}

static int put_header(struct outbuf *header, const struct parquet_scratch *s, int type, size_t n,
		      unsigned int encoding)
{
	struct thrift t = { .out = header };

	thrift__begin(&t);
	thrift__number(&t, 1, THRIFT_I32, type);
	thrift__number(&t, 2, THRIFT_I32, (int64_t)s->page.len);
	thrift__number(&t, 3, THRIFT_I32, (int64_t)s->packed.len);
	thrift__begin_field(&t, type == PAGE_DATA ? 5 : 7);
	thrift__number(&t, 1, THRIFT_I32, (int64_t)n);
	thrift__number(&t, 2, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift__number(&t, 3, THRIFT_I32, ENCODING_RLE);
		thrift__number(&t, 4, THRIFT_I32, ENCODING_RLE);
	}
	thrift__end(&t);
	thrift__end(&t);
	return t.err;
}

/* Writes s->page, compressed. *ret is its offset. */
static int put_page(struct parquet_file *f, struct parquet_scratch *s, struct chunk *c, int type,
		    size_t n, uint64_t *ret, struct error *error)
{
	struct outbuf header = {};
	int err = compress(s, error);

	if (err)
		return err;
	if (put_header(&header, s, type, n, type == PAGE_DATA ? c->encoding : ENCODING_PLAIN))
		err = producer__out_of_memory(error);
	*ret = f->size;
	c->plain += header.len + s->page.len;
	c->packed += header.len + s->packed.len;
	err = err ?: put(f, header.data, header.len, error);
	err = err ?: put(f, s->packed.data, s->packed.len, error);
	outbuf__deinit(&header);
	return err;
}

static int put_dictionary(struct parquet_file *f, struct parquet_scratch *s, struct chunk *c,
			  struct error *error)
{
	const struct distinct *d = &s->distinct;
	const struct duckdb_text *text;
	int err = 0;

	s->page.len = 0;
	for (size_t i = 0; !err && i < d->n; i++) {
		text = &d->value[i].text;
		if (!c->is_text) {
			err = outbuf__put(&s->page, &d->value[i].number, sizeof(int64_t), error);
			continue;
		}
		err = outbuf__put(&s->page, &text->length, sizeof(text->length), error);
		err = err ?: outbuf__put(&s->page, text__data(text), text->length, error);
	}
	return err ?: put_page(f, s, c, PAGE_DICTIONARY, d->n, &c->dictionary, error);
}

/* The smallest number of bits that has values below n; 0 bits are not read by all programs. */
static unsigned int width_of(size_t n)
{
	return n > 2 ? 32 - (unsigned int)__builtin_clz((unsigned int)(n - 1)) : 1;
}

static int put_indices(struct parquet_scratch *s, const struct chunk *c, struct error *error)
{
	unsigned int width = width_of(s->distinct.n);
	char byte = (char)width;
	int err = outbuf__put(&s->page, &byte, 1, error);

	return err ?: encode__runs(&s->page, s->index, c->present, width, error);
}

/* The levels, 1: a value, 0: null, precede the values. */
static int put_levels(struct parquet_scratch *s, const struct chunk *c, struct error *error)
{
	uint32_t len = 0;
	int err;

	s->page.len = 0;
	err = outbuf__put(&s->page, &len, sizeof(len), error);
	err = err ?: encode__runs(&s->page, s->levels, c->n, 1, error);
	len = (uint32_t)(s->page.len - sizeof(len));
	if (!err)
		memcpy(s->page.data, &len, sizeof(len));
	return err;
}

static int put_data(struct parquet_file *f, struct parquet_scratch *s, struct chunk *c,
		    struct error *error)
{
	int err = put_levels(s, c, error);

	if (!err && c->encoding == ENCODING_DICTIONARY)
		err = put_indices(s, c, error);
	else if (!err && c->encoding == ENCODING_DELTA)
		err = encode__deltas(&s->page, s->numbers, c->present, error);
	return err ?: put_page(f, s, c, PAGE_DATA, c->n, &c->data, error);
}

/* ---- chunks ---- */

static void read_numbers(struct parquet_scratch *s, struct chunk *c, const int64_t *v)
{
	int64_t min = INT64_MAX, max = INT64_MIN;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		s->levels[i] = v[i] != ROW_NULL;
		s->numbers[n] = v[i];
		n += v[i] != ROW_NULL;
	}
	for (size_t i = 0; i < n; i++) {
		min = s->numbers[i] < min ? s->numbers[i] : min;
		max = s->numbers[i] > max ? s->numbers[i] : max;
	}
	c->present = n;
	c->has_limits = n;
	c->min.number = min;
	c->max.number = max;
	if (n && !distinct__numbers(&s->distinct, s->numbers, n, NUMBERS_MAX, s->index))
		c->encoding = ENCODING_DELTA;
}

static int compare_texts(const struct duckdb_text *a, const struct duckdb_text *b)
{
	uint32_t len = a->length < b->length ? a->length : b->length;
	int ret = memcmp(text__data(a), text__data(b), len);

	return ret ?: (a->length > b->length) - (a->length < b->length);
}

static void read_texts(struct parquet_scratch *s, struct chunk *c, const struct duckdb_text *v)
{
	const struct distinct *d = &s->distinct;

	for (size_t i = 0; i < c->n; i++)
		s->levels[i] = v[i].length != TEXT_NULL;
	c->present = distinct__texts(&s->distinct, v, c->n, s->index);
	if (!c->present)
		return;
	c->min = c->max = d->value[0];
	for (size_t i = 1; i < d->n; i++) {
		if (compare_texts(&d->value[i].text, &c->min.text) < 0)
			c->min = d->value[i];
		if (compare_texts(&d->value[i].text, &c->max.text) > 0)
			c->max = d->value[i];
	}
	c->has_limits = c->min.text.length <= STATISTIC_MAX && c->max.text.length <= STATISTIC_MAX;
}

static void put_limit(struct thrift *t, unsigned int field, const struct chunk *c,
		      const union distinct_value *v)
{
	if (c->is_text)
		thrift__binary(t, field, text__data(&v->text), v->text.length);
	else
		thrift__binary(t, field, &v->number, sizeof(v->number));
}

static void put_statistics(struct thrift *t, const struct chunk *c)
{
	thrift__begin_field(t, 12);
	thrift__number(t, 3, THRIFT_I64, (int64_t)(c->n - c->present));
	if (c->has_limits) {
		put_limit(t, 5, c, &c->max);
		put_limit(t, 6, c, &c->min);
	}
	thrift__end(t);
}

static void put_encodings(struct thrift *t, const struct chunk *c)
{
	const unsigned int encoding[] = { ENCODING_RLE, c->encoding, ENCODING_PLAIN };
	size_t n = c->dictionary ? 3 : 2;

	thrift__list(t, 2, THRIFT_I32, n);
	for (size_t i = 0; i < n; i++)
		thrift__varint(t, (uint64_t)encoding[i] << 1);
}

/* The chunk in the footer */
static void put_chunk(struct thrift *t, const struct chunk *c, const char *name)
{
	thrift__begin(t);
	thrift__number(t, 2, THRIFT_I64, (int64_t)(c->dictionary ?: c->data));
	thrift__begin_field(t, 3);
	thrift__number(t, 1, THRIFT_I32, parquet_type(c->is_text));
	put_encodings(t, c);
	thrift__list(t, 3, THRIFT_BINARY, 1);
	thrift__bytes(t, name, strlen(name));
	thrift__number(t, 4, THRIFT_I32, CODEC_ZSTD);
	thrift__number(t, 5, THRIFT_I64, (int64_t)c->n);
	thrift__number(t, 6, THRIFT_I64, (int64_t)c->plain);
	thrift__number(t, 7, THRIFT_I64, (int64_t)c->packed);
	thrift__number(t, 9, THRIFT_I64, (int64_t)c->data);
	if (c->dictionary)
		thrift__number(t, 11, THRIFT_I64, (int64_t)c->dictionary);
	put_statistics(t, c);
	thrift__end(t);
	thrift__end(t);
}

static int write_chunk(struct parquet_file *f, struct parquet_scratch *s, const struct rows *r,
		       unsigned int column, struct chunk *c, struct error *error)
{
	int err = 0;

	*c = (struct chunk){ .is_text = r->is_text[column], .n = r->n };
	c->encoding = ENCODING_DICTIONARY;
	if (c->is_text)
		read_texts(s, c, r->texts[column]);
	else
		read_numbers(s, c, r->numbers[column]);
	if (!c->present)
		c->encoding = ENCODING_PLAIN;
	if (c->encoding == ENCODING_DICTIONARY)
		err = put_dictionary(f, s, c, error);
	return err ?: put_data(f, s, c, error);
}

int parquet_file__group(struct parquet_file *f, struct parquet_scratch *s, const struct rows *r,
			struct error *error)
{
	struct thrift t = { .out = &f->groups };
	uint64_t plain = 0;
	struct chunk c;
	int err = 0;

	thrift__begin(&t);
	thrift__list(&t, 1, THRIFT_STRUCT, r->ncolumns);
	for (unsigned int i = 0; !err && i < r->ncolumns; i++) {
		err = write_chunk(f, s, r, i, &c, error);
		put_chunk(&t, &c, f->table->columns[i].name);
		plain += c.plain;
	}
	thrift__number(&t, 2, THRIFT_I64, (int64_t)plain);
	thrift__number(&t, 3, THRIFT_I64, (int64_t)r->n);
	thrift__end(&t);
	f->ngroups++;
	f->rows += r->n;
	return err ?: t.err ? producer__out_of_memory(error) : 0;
}

int parquet_file__finish(struct parquet_file *f, struct error *error)
{
	struct outbuf footer = {};
	uint32_t len;
	int err = parquet_footer__put(&footer, f->table, f->rows, f->ngroups, &f->groups) ?
			  producer__out_of_memory(error) :
			  0;

	len = (uint32_t)footer.len;
	if (!err && footer.len > INT32_MAX)
		err = error__set(error, -E2BIG, "too many rows of %s", f->name);
	err = err ?: put(f, footer.data, footer.len, error);
	err = err ?: put(f, &len, sizeof(len), error);
	err = err ?: put(f, MAGIC, strlen(MAGIC), error);
	err = err ?: outbuf__flush(&f->out, error);
	outbuf__deinit(&footer);
	return err;
}
