// SPDX-License-Identifier: GPL-2.0
/*
 * Times the decoders of the encodings: see measure.h.
 *
 * Each decoder runs in a loop that also adds up the times, as the reader does, and stores the events
 * in a small ring, so that the compiler cannot omit a part of the work. The order of the passes is
 * the same in each round: what else runs on the machine affects all of them alike.
 */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#define RING 64 /* events; fits in the first-level cache */

struct decoded {
	struct event event;
	uint64_t time; /* ticks since the start of the batch */
};

/* The compiler must assume that the ring is read here. */
static inline void use(struct decoded *ring)
{
	__asm__ volatile("" : : "r"(ring) : "memory");
}

#define DEFINE_DECODE(name, attributes, encoding, take)                                            \
	static attributes uint64_t name(const struct part *part, const void *data,                 \
					const uint8_t count[256])                                  \
	{                                                                                          \
		const unsigned char *p = data;                                                     \
		struct decoded ring[RING], *d;                                                     \
		uint64_t n = 0, time;                                                              \
		struct buf b;                                                                      \
                                                                                                   \
		for (size_t i = 0; i < part->n; p += part->piece[i++].len[encoding]) {             \
			b = buf__make(p, part->piece[i].len[encoding]);                            \
			time = 0;                                                                  \
			while (buf__left(&b)) {                                                    \
				d = &ring[n++ % RING];                                             \
				if (!take)                                                         \
					return 0;                                                  \
				time += d->event.number[0];                                        \
				d->time = time;                                                    \
			}                                                                          \
			use(ring);                                                                 \
		}                                                                                  \
		return n;                                                                          \
	}

#define NOTHING
DEFINE_DECODE(decode_leb128, NOTHING, LEB128, leb128__take(&b, &d->event, count))
DEFINE_DECODE(decode_words, NOTHING, WORDS, words__take(&b, &d->event, count))
DEFINE_DECODE(decode_groups, NOTHING, GROUPS, groups__take(&b, &d->event, count))
DEFINE_DECODE(decode_leb128_fast, LEB_FAST, LEB128,
	      buf__event(&b, &d->event.type, count, d->event.number, true))
#ifdef HAVE_VECTORS
DEFINE_DECODE(decode_words_vector, VECTORS, WORDS, words__take_vector(&b, &d->event, count))
DEFINE_DECODE(decode_groups_vector, VECTORS, GROUPS, groups__take_vector(&b, &d->event, count))
#endif

const struct pass passes[] = {
	{ "LEB128", LEB128, false, decode_leb128 },
	{ "LEB128 fast", LEB128, false, decode_leb128_fast, leb__has_fast },
	{ "words", WORDS, false, decode_words },
#ifdef HAVE_VECTORS
	{ "words vector", WORDS, false, decode_words_vector, vectors_work },
#endif
	{ "groups", GROUPS, false, decode_groups },
#ifdef HAVE_VECTORS
	{ "groups vector", GROUPS, false, decode_groups_vector, vectors_work },
#endif
	{ "zstd, LEB128 fast", LEB128, true, decode_leb128_fast, leb__has_fast },
	{ "zstd, words", WORDS, true, decode_words },
	{ "zstd, groups", GROUPS, true, decode_groups },
#ifdef HAVE_VECTORS
	{ "zstd, groups vector", GROUPS, true, decode_groups_vector, vectors_work },
#endif
};
const unsigned int npasses = sizeof(passes) / sizeof(passes[0]);
_Static_assert(sizeof(passes) / sizeof(passes[0]) <= PASSES_MAX, "one result for each pass");

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Decodes the whole trace. Returns the number of events. */
static uint64_t run(const struct recoded *r, const struct pass *pass, struct outbuf *scratch)
{
	const struct outbuf *plain, *packed;
	const void *data;
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		plain = &r->part[i].plain[pass->encoding];
		packed = &r->part[i].packed[pass->encoding];
		data = plain->data;
		if (pass->packed) {
			if (ZSTD_decompress(scratch->data, scratch->cap, packed->data,
					    packed->len) != plain->len)
				return 0;
			data = scratch->data;
		}
		n += pass->decode(&r->part[i], data, r->count);
	}
	return n;
}

static int make_scratch(const struct recoded *r, struct outbuf *scratch, struct error *error)
{
	size_t longest = 1;

	for (size_t i = 0; i < r->n; i++)
		for (unsigned int e = 0; e < ENCODINGS; e++)
			if (r->part[i].plain[e].len > longest)
				longest = r->part[i].plain[e].len;
	return outbuf__room(scratch, longest, error);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One round: stores the CPU time of each pass. */
static int run_all(const struct recoded *r, unsigned int round, double (*ret_ns)[ROUNDS_MAX],
		   struct outbuf *scratch, struct error *error)
{
	double begin;

	for (unsigned int i = 0; i < npasses; i++) {
		if (passes[i].works && !passes[i].works())
			continue;
		begin = cpu_ns();
		if (run(r, &passes[i], scratch) != r->events)
			return error__set(error, -EILSEQ, "%s: the number of events differs",
					  passes[i].name);
		ret_ns[i][round] = cpu_ns() - begin;
	}
	return 0;
}

int measure(const struct recoded *r, unsigned int rounds, double *ret_ns, struct error *error)
{
	double(*ns)[ROUNDS_MAX] = calloc(npasses, sizeof(*ns));
	struct outbuf scratch = {};
	int err = ns ? 0 : error__set(error, -ENOMEM, "out of memory");

	err = err ?: make_scratch(r, &scratch, error);
	for (unsigned int round = 0; round < rounds && !err; round++)
		err = run_all(r, round, ns, &scratch, error);
	for (unsigned int i = 0; i < npasses && !err; i++) {
		qsort(ns[i], rounds, sizeof(ns[i][0]), by_value);
		ret_ns[i] = r->events ? ns[i][rounds / 2] / (double)r->events : 0;
	}
	outbuf__deinit(&scratch);
	free(ns);
	return err;
}
