// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of merging: CPU nanoseconds per record, from 1 to 64 rings into one stream.
 *
 *	merge [-rings N] [-rounds N]
 *
 * Each round is a drain: 20,000 records of 40 bytes, assigned to the rings at random, with increasing
 * times; one in a hundred is swapped with its neighbour. Prints a number; without -rings, a table row
 * for each of 1, 4, 8 and 64.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gotrace/config.h"
#include "gotrace/record.h"
#include "sequence/merge.h"

#define BATCH	 20000
#define ROUND_NS 1000000000ull

struct sample {
	unsigned int ring, number;
	struct gt_record rec;
	struct gt_execute payload;
};

static struct sample sample[BATCH];

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void make_samples(unsigned int rings)
{
	uint64_t random = 1, time = 0;

	for (unsigned int i = 0; i < BATCH; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		time += 100 + (random >> 40) % 900;
		sample[i] = (struct sample){
			.ring = (random >> 33) % rings,
			.number = i,
			.rec = { .time = time - ((random >> 50) % 100 ? 0 : 1500),
				 .kind = GT_EXECUTE,
				 .tid = 1 + (random >> 20) % 50 },
		};
	}
}

/* Ring after ring, as a drain takes them. */
static int by_ring(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void put_all(struct merge *m, uint64_t base)
{
	for (unsigned int i = 0; i < BATCH; i++) {
		struct sample s = sample[i];

		s.rec.time += base;
		if (merge__put(m, s.ring, &s.rec, sizeof(s.rec) + sizeof(s.payload)))
			exit(1);
	}
}

static double measure(unsigned int rings, unsigned int rounds)
{
	struct merge *m = merge__create();
	unsigned long taken = 0;
	double begin;

	make_samples(rings);
	qsort(sample, BATCH, sizeof(sample[0]), by_ring);
	begin = cpu_ns();
	for (unsigned int round = 0; round < rounds; round++) {
		put_all(m, round * ROUND_NS);
		while (merge__next(m, (round + 1) * ROUND_NS))
			taken++;
		merge__trim(m);
	}
	begin = cpu_ns() - begin;
	merge__destroy(m);
	if (taken != (unsigned long)rounds * BATCH)
		exit(1);
	return begin / (double)taken;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rings", required_argument, NULL, 'r' },
		{ "rounds", required_argument, NULL, 'n' },
		{},
	};
	static const unsigned int all[] = { 1, 4, 8, 64 };
	unsigned int rings = 0, rounds = 100;
	int c;

	while ((c = getopt_long_only(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			rings = (unsigned int)atoi(optarg);
		else if (c == 'n')
			rounds = (unsigned int)atoi(optarg);
		else
			return 2;
	}
	if (rings > GT_RINGS_MAX || optind != argc)
		return 2;
	if (rings)
		printf("%.1f\n", measure(rings, rounds));
	for (unsigned int i = 0; !rings && i < sizeof(all) / sizeof(all[0]); i++)
		printf("| %u | %.1f |\n", all[i], measure(all[i], rounds));
	return 0;
}
