// SPDX-License-Identifier: GPL-2.0
/*
 * Times in the records of inline probes, which a process may have written: any reading of the TSC
 * becomes a time, after at most as many steps as a binary search of the pairs takes. Times never
 * decrease with the reading, and that of a pair is the pair's.
 *
 * Input: operations of 17 bytes: kind, and two values of 8 bytes each.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inline/inline_clock.h"
#include "lib/buf.h"

#define OPERATION 17
#define STEPS_MAX 8 /* binary logarithm of INLINE_CLOCK_PAIRS */

enum { ADD, ADD_LATER, ADD_MANY, ASK, ASK_NEAR, OPERATIONS };

static uint64_t ask(const struct inline_clock *c, uint64_t tsc)
{
	uint64_t ns;

	parser_steps = 0;
	ns = inline_clock__ns(c, tsc);
	if (parser_steps > STEPS_MAX)
		abort();
	return ns;
}

static void ask_two(const struct inline_clock *c, uint64_t a, uint64_t b)
{
	uint64_t first = ask(c, a < b ? a : b), last = ask(c, a < b ? b : a);

	if (first > last)
		abort();
}

static const struct clock_pair *stored(const struct inline_clock *c, uint64_t i)
{
	uint64_t n = c->n < INLINE_CLOCK_PAIRS ? c->n : INLINE_CLOCK_PAIRS;

	return &c->pair[(c->n - 1 - i % n) % INLINE_CLOCK_PAIRS];
}

static void ask_near(const struct inline_clock *c, uint64_t i, uint64_t distance)
{
	const struct clock_pair *p = stored(c, i);

	if (ask(c, p->tsc) != p->ns)
		abort();
	ask_two(c, p->tsc, p->tsc + distance);
	ask_two(c, p->tsc, p->tsc - distance);
}

static void add_later(struct inline_clock *c, uint64_t cycles, uint64_t ns)
{
	const struct clock_pair *last = stored(c, 0);

	inline_clock__add(c, last->tsc + cycles, last->ns + ns, ns % 1000);
}

static void step(struct inline_clock *c, unsigned int kind, uint64_t a, uint64_t b)
{
	switch (kind % OPERATIONS) {
	case ADD:
		inline_clock__add(c, a, b, a % 1000);
		break;
	case ADD_LATER:
		add_later(c, a, b);
		break;
	case ADD_MANY:
		for (unsigned int i = 0; i < kind; i++)
			add_later(c, a % 65536 + i, b % 65536 + i);
		break;
	case ASK:
		ask_two(c, a, b);
		break;
	case ASK_NEAR:
		ask_near(c, a, b);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct inline_clock c;
	uint64_t value[2];

	memset(&c, 0, sizeof(c));
	inline_clock__add(&c, 1000, 1000, 0);
	inline_clock__add(&c, 3000, 2000, 0);
	for (; size >= OPERATION; data += OPERATION, size -= OPERATION) {
		memcpy(value, data + 1, sizeof(value));
		step(&c, data[0], value[0], value[1]);
	}
	if (c.error != inline_clock__error_ns(&c))
		abort();
	return 0;
}
