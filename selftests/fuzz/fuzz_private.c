// SPDX-License-Identifier: GPL-2.0
/*
 * Any strings as those of a generation, read for private data. Each string has two bytes in front:
 * its length, and by the highest bit that the mark of private data comes first.
 */
#include <string.h>

#include "format/describe.h"
#include "format/private_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MARKED 0x8000

static void add_strings(struct dictionary *dictionary, struct buf *b)
{
	char string[TRACE_STRING_MAX + PRIVATE_PREFIX_LEN] = PRIVATE_PREFIX;
	uint64_t id = 1;

	while (buf__left(b) && !b->bad) {
		uint16_t head = buf__u16(b);
		size_t front = head & MARKED ? PRIVATE_PREFIX_LEN : 0;
		size_t len = head % (TRACE_STRING_MAX + 1);
		const void *bytes;

		if (len > buf__left(b))
			len = buf__left(b);
		bytes = buf__take(b, len);
		if (!bytes)
			break;
		memcpy(string + PRIVATE_PREFIX_LEN, bytes, len);
		dictionary__add_string(dictionary, id++, string + PRIVATE_PREFIX_LEN - front,
				       front + len);
	}
}

static void read_record(struct private_record *record)
{
	struct private_pair pair;
	struct private_loss loss;
	struct private_ticks ticks;
	struct private_short sum = {};
	struct private_request request = {};
	struct private_gap gap = {};
	struct buf data = record->data;

	while (private_read__pair(&data, &pair))
		;
	data = record->data;
	while (private_read__loss(&data, &loss))
		;
	data = record->data;
	private_read__ticks(&data, &ticks);
	data = record->data;
	while (private_read__request(&data, &request))
		;
	data = record->data;
	while (private_read__gap(&data, &gap))
		;
	data = record->data;
	private_read__add_short(&data, &sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);
	struct private_reader reader;
	struct private_record record;
	struct description *table;
	struct dictionary dictionary;

	dictionary__init(&dictionary);
	add_strings(&dictionary, &b);
	private_reader__init(&reader, &dictionary);
	while (private_reader__next(&reader, &record) > 0)
		read_record(&record);
	private_reader__deinit(&reader);
	if (private_read__table(&dictionary, &table, NULL) > 0)
		description__destroy(table);
	dictionary__deinit(&dictionary);
	return 0;
}
