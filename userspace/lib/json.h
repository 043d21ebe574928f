/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streaming JSON writer, used by every --json option.
 *
 * It writes commas and line ends, escapes strings, and replaces bytes that are not UTF-8 by
 * U+FFFD. `name` is NULL in arrays. The caller checks for errors of the stream once, at the end
 * (ferror()).
 */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 32

struct json {
	FILE *out;
	unsigned int depth;
	bool filled[JSON_DEPTH]; /* the object or array at that depth has a member */
	bool lines;		 /* one object per line (JSON lines), without indentation */
};

void json__init(struct json *j, FILE *out, bool lines);
void json__open(struct json *j, const char *name, char bracket); /* '{' or '[' */
void json__close(struct json *j, char bracket);			 /* '}' or ']' */
void json__u64(struct json *j, const char *name, uint64_t v);
void json__i64(struct json *j, const char *name, int64_t v);
void json__double(struct json *j, const char *name, double v); /* NaN and infinity are null */
void json__bool(struct json *j, const char *name, bool v);
void json__null(struct json *j, const char *name);
void json__string(struct json *j, const char *name, const char *text); /* NULL is null */
void json__bytes(struct json *j, const char *name, const void *text, size_t len);

#endif
