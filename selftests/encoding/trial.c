// SPDX-License-Identifier: GPL-2.0
/*
 * Compares encodings of the events of real traces with LEB128: size, also after zstd, and the speed
 * of decoding. docs/word-encoding.md describes the method and contains the results.
 *
 *	trial [-rounds N] TRACE...
 *
 * Prints two tables, with one row per trace. Before a trace is measured, all events are decoded from
 * each encoding and compared with the original. Exit status: 1 if a trace cannot be read or an event
 * differs, 2 for a wrong command line.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

struct result {
	const char *name; /* of the trace */
	uint64_t events, escapes[ENCODINGS];
	double plain[ENCODINGS], packed[ENCODINGS]; /* bytes per event */
	double ns[PASSES_MAX];			    /* CPU time per event, by pass */
};

static int try_trace(const char *path, unsigned int rounds, struct result *ret, struct error *error)
{
	const char *slash = strrchr(path, '/');
	struct recoded r;
	int err = recoded__read(&r, path, error);

	ret->name = slash ? slash + 1 : path;
	ret->events = r.events;
	for (unsigned int i = 0; i < ENCODINGS; i++) {
		ret->escapes[i] = r.escapes[i];
		ret->plain[i] = r.events ? (double)r.plain[i] / (double)r.events : 0;
		ret->packed[i] = r.events ? (double)r.packed[i] / (double)r.events : 0;
	}
	err = err ?: measure(&r, rounds, ret->ns, error);
	recoded__deinit(&r);
	return err;
}

static void print_sizes(const struct result *result, int n)
{
	printf("| bytes per event | events | LEB128 | words | groups | zstd: LEB128 | words | groups "
	       "| escapes: words | groups |\n|---|---|---|---|---|---|---|---|---|---|\n");
	for (const struct result *r = result; r < result + n; r++)
		printf("| %s | %" PRIu64 " | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %" PRIu64
		       " | %" PRIu64 " |\n",
		       r->name, r->events, r->plain[LEB128], r->plain[WORDS], r->plain[GROUPS],
		       r->packed[LEB128], r->packed[WORDS], r->packed[GROUPS], r->escapes[WORDS],
		       r->escapes[GROUPS]);
}

static void print_speeds(const struct result *result, int n)
{
	const struct result *r;
	double size;

	printf("\n| millions of events per second (MB/s) |");
	for (unsigned int i = 0; i < npasses; i++)
		printf(" %s |", passes[i].name);
	printf("\n|---|");
	for (unsigned int i = 0; i < npasses; i++)
		printf("---|");
	for (r = result; r < result + n; r++) {
		printf("\n| %s |", r->name);
		for (unsigned int i = 0; i < npasses; i++) {
			size = (passes[i].packed ? r->packed : r->plain)[passes[i].encoding];
			if (r->ns[i] > 0)
				printf(" %.0f (%.0f) |", 1000 / r->ns[i], 1000 * size / r->ns[i]);
			else
				printf(" - |");
		}
	}
	printf("\n");
}

static int usage(void)
{
	fprintf(stderr, "usage: trial [-rounds N] TRACE..., N from 1 to %d\n", ROUNDS_MAX);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "rounds", required_argument, NULL, 'r' }, {} };
	struct error error = {};
	struct result *result;
	int c, n, rounds = 11;

	while ((c = getopt_long_only(argc, argv, "", options, NULL)) != -1) {
		if (c != 'r')
			return usage();
		rounds = atoi(optarg);
	}
	n = argc - optind;
	if (n < 1 || rounds < 1 || rounds > ROUNDS_MAX)
		return usage();
	result = calloc((size_t)n, sizeof(*result));
#ifdef HAVE_VECTORS
	groups__init();
#endif
	for (int i = 0; i < n && result; i++) {
		if (try_trace(argv[optind + i], (unsigned int)rounds, &result[i], &error)) {
			fprintf(stderr, "trial: %s\n", error.text);
			free(result);
			return 1;
		}
	}
	if (!result) {
		fprintf(stderr, "trial: out of memory\n");
		return 1;
	}
	print_sizes(result, n);
	print_speeds(result, n);
	free(result);
	return fflush(stdout) ? 1 : 0;
}
