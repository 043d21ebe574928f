// SPDX-License-Identifier: GPL-2.0
/*
 * Private data: records made, cut into parts and added to the open generation as strings.
 *
 * Beside an event's way: losses come from sequence/repair.c, the rest from the command. tables.c
 * writes the strings. The format: gotrace-private(5).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/describe.h"
#include "trace/encode.h"
#include "trace/generation.h"
#include "trace/private.h"

#define PART_HEADER (PRIVATE_PREFIX_LEN + 2 * LEB_MAX + 1)
#define PART_DATA   (TRACE_STRING_MAX - PART_HEADER)

int private__parts(enum private_kind kind, const void *data, size_t len,
		   int (*put)(void *to, const void *part, size_t len), void *to)
{
	const uint8_t *from = data;
	uint8_t part[TRACE_STRING_MAX], *p;
	uint64_t number = 0;
	size_t n;
	int err;

	do {
		n = len < PART_DATA ? len : PART_DATA;
		len -= n;
		memcpy(part, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
		p = leb__put(part + PRIVATE_PREFIX_LEN, kind);
		p = leb__put(p, number++);
		*p++ = len != 0;
		if (n) {
			memcpy(p, from, n);
			from += n;
		}
		err = put(to, part, p + n - part);
	} while (!err && len);
	return err;
}

static int put_string(void *to, const void *part, size_t len)
{
	return writer__private(to, part, len);
}

int private__record(struct writer *w, enum private_kind kind, const void *data, size_t len)
{
	return private__parts(kind, data, len, put_string, w);
}

static uint8_t *put_bytes(uint8_t *p, const char *s, size_t len)
{
	p = leb__put(p, len);
	memcpy(p, s, len);
	return p + len;
}

int private__meta(struct writer *w, const struct private_meta *meta)
{
	const struct {
		const char *name, *value;
		size_t len;
	} fields[] = {
#define TEXT(member) { #member, meta->member, meta->member ? strlen(meta->member) : 0 }
		TEXT(tool),	  { "command", meta->command, meta->command_len },
		TEXT(build_id),	  TEXT(clock),
		TEXT(go_version),
#undef TEXT
	};
	const size_t n = sizeof(fields) / sizeof(fields[0]);
	size_t i, room = 0;
	uint8_t *data, *p;
	int err;

	for (i = 0; i < n; i++)
		room += 2 * LEB_MAX + strlen(fields[i].name) + fields[i].len;
	data = p = malloc(room);
	if (!data)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (!fields[i].value)
			continue;
		p = put_bytes(p, fields[i].name, strlen(fields[i].name));
		p = put_bytes(p, fields[i].value, fields[i].len);
	}
	err = private__record(w, PRIVATE_META, data, p - data);
	free(data);
	return err;
}

int private__losses(struct writer *w, const struct private_loss *losses, size_t n)
{
	uint8_t *data = malloc(n * 4 * LEB_MAX + 1), *p = data;
	size_t i;
	int err;

	if (!data)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		p = leb__put(p, losses[i].kind);
		p = leb__put(p, losses[i].count);
		p = leb__put(p, losses[i].from);
		p = leb__put(p, losses[i].to - losses[i].from);
	}
	err = private__record(w, PRIVATE_LOSSES, data, p - data);
	free(data);
	return err;
}

int private__correction(struct writer *w, const struct private_correction *correction)
{
	uint8_t data[5 * LEB_MAX], *p = data;

	p = leb__put(p, correction->from);
	p = leb__put(p, correction->to - correction->from);
	p = leb__put(p, correction->goroutines);
	p = leb__put(p, correction->threads);
	p = leb__put(p, correction->events);
	return private__record(w, PRIVATE_CORRECTION, data, p - data);
}

int private__ticks(struct writer *w, unsigned int tick_ns, uint64_t start_ns, uint64_t wall_ns)
{
	uint8_t data[3 * LEB_MAX], *p = data;

	p = leb__put(p, tick_ns);
	p = leb__put(p, start_ns);
	p = leb__put(p, wall_ns);
	return private__record(w, PRIVATE_TICKS, data, p - data);
}

int private__table(struct writer *w)
{
	uint8_t *table;
	size_t len;
	int err = description__encode(&table, &len);

	if (err)
		return err;
	err = private__record(w, PRIVATE_TABLE, table, len);
	free(table);
	return err;
}
