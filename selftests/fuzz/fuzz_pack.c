// SPDX-License-Identifier: GPL-2.0
/*
 * Packed traces: a segment of any bytes, or of a valid trace, is decoded to the same bytes; and any
 * bytes as coded tables and events are rejected or decoded to as many bytes as announced. The first
 * byte selects what is tried; a trace is tried as it is. Checksums are not involved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/header.h"
#include "pack/segment.h"
#include "make_trace.h"
#include "plain.h"

#define PLAIN_MAX (64u << 10) /* bytes that corrupt data announces: more is only slower */

static void round_trip(const void *data, size_t len)
{
	struct table_model writer = {}, reader = {};
	struct outbuf tables = {}, events = {}, again = {};

	for (unsigned int i = 0; i < 2; i++) { /* the second time with a dictionary */
		tables.len = events.len = again.len = 0;
		table_model__begin(&writer, false);
		table_model__begin(&reader, false);
		if (segment__encode(&writer, data, len, &tables, &events) ||
		    segment__decode(&reader, buf__make(tables.data, tables.len),
				    buf__make(events.data, events.len), len, &again) ||
		    again.len != len || memcmp(again.data, data, len))
			abort();
	}
	outbuf__deinit(&tables);
	outbuf__deinit(&events);
	outbuf__deinit(&again);
	table_model__deinit(&writer);
	table_model__deinit(&reader);
}

/* Two bytes: the announced length, less 1; and two: the length of the tables, which follow. */
static void decode(const uint8_t *data, size_t size)
{
	struct table_model t = {};
	struct outbuf ret = {};
	size_t plain, tables;
	int err = 0;

	if (size < 4)
		return;
	plain = 1 + (data[0] | data[1] << 8) % PLAIN_MAX;
	tables = (size_t)(data[2] | data[3] << 8) % (size - 3);
	data += 4;
	size -= 4;
	for (unsigned int i = 0; i < 2 && !err; i++) {
		ret.len = 0;
		table_model__begin(&t, false);
		err = segment__decode(&t, buf__make(data, tables),
				      buf__make(data + tables, size - tables), plain, &ret);
		if (err ? err != -EBADMSG : ret.len != plain)
			abort();
	}
	outbuf__deinit(&ret);
	table_model__deinit(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t trace[MADE_MAX];
	size_t len;

	if (size < 2)
		return 0;
	if (header__version(data, size) >= 0) {
		round_trip(data + TRACE_HEADER_LEN, size - TRACE_HEADER_LEN);
	} else if (data[0] % 4 == 0) {
		decode(data + 1, size - 1);
	} else if (data[0] % 4 == 1) {
		len = make_trace(data + 1, size - 1, trace);
		if (len > TRACE_HEADER_LEN)
			round_trip(trace + TRACE_HEADER_LEN, len - TRACE_HEADER_LEN);
	} else {
		round_trip(data + 1, size - 1);
	}
	return 0;
}
