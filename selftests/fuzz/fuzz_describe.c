// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary bytes as a trace's description of its events, and as events skipped by it. Two bytes
 * for the length of the table come first.
 */
#include <stdlib.h>

#include "format/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void skip_all(const struct description *d, struct buf *events)
{
	uint64_t dt;
	uint8_t type;

	do
		type = buf__u8(events);
	while (!events->bad && description__skip(d, type, events, &dt));
}

static volatile uint8_t seen;

static void look_at(const struct trace_string *s)
{
	if (s->len)
		seen = s->data[0] ^ s->data[s->len - 1];
}

static void look_at_events(const struct description *d)
{
	for (unsigned int type = 0; type <= UINT8_MAX; type++) {
		const struct described_event *ev = description__event(d, type);

		if (!ev)
			continue;
		look_at(&ev->name);
		look_at(&ev->what);
		for (unsigned int i = 0; i < ev->nvalues; i++)
			look_at(&ev->values[i].what);
		for (unsigned int i = 0; i < ev->nargs; i++)
			look_at(&ev->args[i].what);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);
	struct description *d;
	struct error err = {};
	const void *table;
	uint16_t len;
	int code;

	len = buf__u16(&b);
	table = buf__take(&b, len);
	if (!table)
		return 0;
	code = description__decode(&d, table, len, &err);
	if (code && !err.text[0])
		abort();
	if (code)
		return 0;
	look_at_events(d);
	skip_all(d, &b);
	description__destroy(d);
	return 0;
}
