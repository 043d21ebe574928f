/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thrift's compact protocol, as far as the headers and the footer of Parquet files need it:
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
 *
 * Upstream: sql/parquet_file.c. The fields of a struct are put in the order of their numbers.
 */
#ifndef SQL_PARQUET_THRIFT_H
#define SQL_PARQUET_THRIFT_H

#include <string.h>

#include "lib/outbuf.h"

#define THRIFT_DEPTH 8 /* structs in structs */

enum thrift_type { THRIFT_I32 = 5, THRIFT_I64, THRIFT_BINARY = 8, THRIFT_LIST, THRIFT_STRUCT = 12 };

struct thrift {
	struct outbuf *out;
	unsigned int last[THRIFT_DEPTH]; /* field of each open struct */
	unsigned int depth;
	int err; /* 0 or -ENOMEM; then nothing more is put */
};

static inline void thrift__put(struct thrift *t, const void *data, size_t len)
{
	t->err = t->err ?: outbuf__put(t->out, data, len, NULL);
}

static inline void thrift__varint(struct thrift *t, uint64_t v)
{
	unsigned char bytes[10];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (unsigned char)(v | 0x80);
	bytes[n++] = (unsigned char)v;
	thrift__put(t, bytes, n);
}

static inline void thrift__field(struct thrift *t, unsigned int field, enum thrift_type type)
{
	unsigned char byte = (unsigned char)((field - t->last[t->depth]) << 4 | type);

	t->last[t->depth] = field;
	thrift__put(t, &byte, 1);
}

/* Of any of both types: they differ in the header only. */
static inline void thrift__number(struct thrift *t, unsigned int field, enum thrift_type type,
				  int64_t v)
{
	thrift__field(t, field, type);
	thrift__varint(t, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static inline void thrift__bytes(struct thrift *t, const void *data, size_t len)
{
	thrift__varint(t, len);
	thrift__put(t, data, len);
}

static inline void thrift__binary(struct thrift *t, unsigned int field, const void *data,
				  size_t len)
{
	thrift__field(t, field, THRIFT_BINARY);
	thrift__bytes(t, data, len);
}

static inline void thrift__text(struct thrift *t, unsigned int field, const char *text)
{
	thrift__binary(t, field, text, strlen(text));
}

/* The elements follow: structs by begin and end, others as they are. */
static inline void thrift__list(struct thrift *t, unsigned int field, enum thrift_type type,
				size_t n)
{
	unsigned char byte = (unsigned char)((n < 15 ? n : 15) << 4 | type);

	thrift__field(t, field, THRIFT_LIST);
	thrift__put(t, &byte, 1);
	if (n >= 15)
		thrift__varint(t, n);
}

/* A struct that is an element, or the whole. */
static inline void thrift__begin(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

static inline void thrift__end(struct thrift *t)
{
	thrift__put(t, "", 1);
	t->depth--;
}

static inline void thrift__begin_field(struct thrift *t, unsigned int field)
{
	thrift__field(t, field, THRIFT_STRUCT);
	thrift__begin(t);
}

#endif
