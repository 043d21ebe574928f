// SPDX-License-Identifier: GPL-2.0
/*
 * Strings that the probes have copied from the target: the names of requests that are made of them,
 * and the texts that records refer to. A name is printable and has 1 to REQUEST_NAME_MAX bytes; a
 * text is at most as long as its record. A name takes at most STEPS_BYTE steps per byte, and the
 * search of a ']' for each of up to REQUEST_NAME_MAX '['; records take STEPS_OP steps per byte.
 *
 * Input: a byte, a preset or TEXTS; the lengths of two parts as u16, and three parts; or operations
 * of 6 bytes, some with a text.
 */
#include "text_record.h"

#include "lib/buf.h"
#include "names/request_names.h"
#include "names/sql_text.h"

#define TEXTS	   GT_PRESETS
#define STEPS_BYTE 12
#define STEPS_NAME (8 * REQUEST_NAME_SIZE)
#define STEPS_OP   8
#define HELD	   16

/* ---- names ---- */

static uint64_t brackets(const struct request_part *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->len; i++)
		n += p->text[i] == '[';
	return n < REQUEST_NAME_MAX ? n : REQUEST_NAME_MAX;
}

static void check_steps(const struct request_part *part, size_t n)
{
	uint64_t most = STEPS_NAME;

	for (size_t i = 0; i < n; i++)
		most += (STEPS_BYTE + brackets(&part[i])) * part[i].len;
	if (parser_steps > most)
		abort();
}

/* A copy, so that the sanitizer detects a read past its end. */
static struct request_part copy_part(const uint8_t **data, size_t *size, uint32_t want)
{
	uint32_t len;
	const uint8_t *bytes = take_bytes(data, size, want, &len);
	char *text = malloc(len + !len);

	if (!text)
		abort();
	memcpy(text, bytes, len);
	return (struct request_part){ text, len };
}

static void check_name(const char *name, size_t len)
{
	if (!len || len > REQUEST_NAME_MAX || strlen(name) != len)
		abort();
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			abort();
}

static void make_names(enum gt_preset preset, const uint8_t *data, size_t size)
{
	struct request_part part[REQUEST_PARTS];
	char name[REQUEST_NAME_SIZE];
	uint16_t len[2];

	if (size < sizeof(len))
		return;
	memcpy(len, data, sizeof(len));
	data += sizeof(len);
	size -= sizeof(len);
	for (size_t i = 0; i < REQUEST_PARTS; i++)
		part[i] = copy_part(&data, &size, i < 2 ? len[i] % (GT_TEXT_MAX + 1) : GT_TEXT_MAX);
	parser_steps = 0;
	check_name(name, request_name__make(preset, part, name));
	check_steps(part, REQUEST_PARTS);
	parser_steps = 0;
	if (sql_text__shape(part[0].text, part[0].len, name, len[1] % sizeof(name)) >
	    len[1] % sizeof(name))
		abort();
	check_steps(part, 1);
	for (size_t i = 0; i < REQUEST_PARTS; i++)
		free((char *)part[i].text);
}

/* ---- texts ---- */

enum { ADD, SETTLE, NAME, MESSAGE, HOLD, RELEASE, EXPIRE, GENERATION, OPERATIONS };

static struct {
	struct intern *in;
	struct texts *texts;
	struct text *held[HELD];
	uint64_t number[HELD];
	uint64_t now, misses;
} f;

static void check_id(uint32_t id)
{
	size_t len;

	if (id && (!intern__string_at(f.in, id, &len) || len > GT_TEXT_MAX))
		abort();
}

static void hold(unsigned int i, uint64_t number)
{
	size_t len;

	texts__release(f.held[i]);
	f.held[i] = texts__hold(f.texts, number, f.now);
	f.number[i] = number;
	texts__bytes(f.held[i], &len);
	if (texts__held_bytes(f.held[i]).len != len || len > GT_TEXT_MAX)
		abort();
}

/* What a message is before it is consumed, and that it is consumed. */
static void take_message(uint64_t number)
{
	struct trace_string text;
	bool there = number != GT_TEXT_EMPTY && texts__message_bytes(f.texts, number, &text);
	uint32_t id = texts__message(f.texts, number, &f.misses);

	check_id(id);
	if (there && texts__message_bytes(f.texts, number, &text))
		abort();
}

static void settle(uint64_t number)
{
	uint64_t settled = texts__settle(f.texts, number, f.now);

	if (settled & GT_TEXT_ONCE)
		abort();
	check_id(texts__name(f.texts, settled, f.now, &f.misses));
}

static void operate(const uint8_t *op, const uint8_t **data, size_t *size)
{
	uint64_t number = text_number(op[1]);
	const uint8_t *bytes;
	uint32_t len;
	uint16_t arg;

	memcpy(&arg, op + 4, sizeof(arg));
	switch (op[0] % OPERATIONS) {
	case ADD:
		bytes = take_bytes(data, size, arg % (GT_TEXT_MAX + 1), &len);
		add_text(f.texts, number, f.now, bytes, len, op[2] & 1);
		break;
	case SETTLE:
		settle(number);
		break;
	case NAME:
		check_id(texts__name(f.texts, number, f.now, &f.misses));
		break;
	case MESSAGE:
		take_message(number);
		break;
	case HOLD:
		hold(op[2] % HELD, number);
		break;
	case RELEASE:
		check_id(texts__held_name(f.texts, f.number[op[2] % HELD], f.held[op[2] % HELD]));
		hold(op[2] % HELD, GT_TEXT_EMPTY);
		break;
	case EXPIRE:
		f.now += arg * 100000ull;
		texts__expire(f.texts, f.now);
		break;
	case GENERATION:
		intern__end_generation(f.in);
		break;
	}
}

static void apply_records(const uint8_t *data, size_t size)
{
	size_t n = size;

	memset(&f, 0, sizeof(f));
	f.in = intern__create();
	f.texts = texts__create(f.in);
	f.now = 1000;
	parser_steps = 0;
	while (size >= 6) {
		const uint8_t *op = data;

		data += 6;
		size -= 6;
		operate(op, &data, &size);
	}
	if (parser_steps > STEPS_OP * n)
		abort();
	for (unsigned int i = 0; i < HELD; i++)
		texts__release(f.held[i]);
	texts__destroy(f.texts);
	intern__destroy(f.in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] % (TEXTS + 1) == TEXTS)
		apply_records(data + 1, size - 1);
	else
		make_names(data[0] % (TEXTS + 1), data + 1, size - 1);
	return 0;
}
