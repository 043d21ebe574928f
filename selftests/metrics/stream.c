// SPDX-License-Identifier: GPL-2.0
/*
 * Passes a trace to the metrics as a recorder does, one generation after the other:
 *
 *	build/selftests/metrics [--thread | --corrupt N] FILE
 *
 * Prints the metrics at the end, for selftests/check/metrics.sh, which compares them with those of
 * `gotrace metrics FILE`. There is a snapshot after each generation, and none of its counters may be
 * less than before. Standard error gets the number of events, the CPU time that they took and the
 * memory in use (RssAnon) after each quarter of the generations. --thread: by the thread
 * and queue of metrics/metrics.c; --corrupt: the N-th generation, from 1, is cut in half, and the trace
 * is one of runtime/trace, which has the state of all goroutines in each generation.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"
#include "metrics/metrics.h"
#include "metrics/stream.h"
#include "reader/decode.h"

struct parts {
	const char *data;
	size_t size, n;
	size_t *end; /* of each generation */
};

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "metrics: %s\n", what);
	exit(1);
}

static void map_file(const char *path, struct parts *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	check(fd >= 0 && !fstat(fd, &st), "cannot open the trace");
	ret->size = (size_t)st.st_size;
	ret->data = mmap(NULL, ret->size, PROT_READ, MAP_PRIVATE, fd, 0);
	check(ret->data != MAP_FAILED, "cannot map the trace");
	close(fd);
}

/* The decoder finds the ends. */
static void split(struct parts *parts)
{
	struct block_pool pool;
	struct generation g;
	struct error why = {};
	unsigned int version;
	struct decoder *d;
	struct input *in;
	int got;

	check(!input__open_memory(&in, parts->data, parts->size, &why), why.text);
	check(!header__read(in, &version, &why) && version >= 22, "not a v2 trace");
	input__consume(in, TRACE_HEADER_LEN);
	d = decoder__create(in, version);
	block_pool__init(&pool);
	generation__init(&g, &pool);
	while ((got = decoder__next(d, &g, &why)) > 0) {
		parts->end = realloc(parts->end, (parts->n + 1) * sizeof(*parts->end));
		parts->end[parts->n++] = input__offset(in);
	}
	check(!got, why.text);
	generation__deinit(&g);
	block_pool__deinit(&pool);
	decoder__destroy(d);
	input__destroy(in);
}

static size_t start_of(const struct parts *parts, size_t i)
{
	return i ? parts->end[i - 1] : TRACE_HEADER_LEN;
}

static long resident_kib(void)
{
	char line[128];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static uint64_t of_series(unsigned int row, const struct series *s)
{
	return metrics_rows[row].type == METRIC_HISTOGRAM ? histogram__count(&s->histogram) :
							    s->value;
}

/* No counter falls, and each series keeps its place. */
static void compare(const struct metric_values *before, const struct metric_values *now)
{
	const struct series *a, *b;

	for (unsigned int row = 0; row < METRICS_ROWS; row++) {
		check(before->row[row].n <= now->row[row].n, "a series is gone");
		for (size_t i = 0; i < before->row[row].n; i++) {
			a = &before->row[row].at[i];
			b = &now->row[row].at[i];
			check(a->len == b->len && !memcmp(a->label, b->label, a->len),
			      "a series has moved");
			check(metrics_rows[row].type == METRIC_GAUGE ||
				      of_series(row, a) <= of_series(row, b),
			      metrics_rows[row].family);
		}
	}
}

static void print(const void *snapshot, size_t size)
{
	struct metrics_target target = { .snapshot = snapshot, .size = size };
	struct error why = {};

	check(!metrics__print(stdout, &target, 1, &why), why.text);
}

static void print_values(const struct metric_values *v)
{
	struct outbuf o = {};

	check(!metric_values__pack(v, &o), "out of memory");
	print(o.data, o.len);
	outbuf__deinit(&o);
}

static void directly(const struct parts *parts, size_t corrupt)
{
	struct metric_values now, before = {};
	struct stream_analysis s;
	uint64_t ns = clock__cpu();
	long kib[5] = {};

	check(!stream_analysis__init(&s, parts->data), "out of memory");
	for (size_t i = 0; i < parts->n; i++) {
		size_t len = parts->end[i] - start_of(parts, i);

		if (i + 1 == corrupt)
			len /= 2;
		check(!stream_analysis__add(&s, parts->data + start_of(parts, i), len, true),
		      "out of memory");
		check(!stream_analysis__collect(&s, &now), "out of memory");
		compare(&before, &now);
		metric_values__deinit(&before);
		before = now;
		kib[(i + 1) * 4 / parts->n] = resident_kib();
	}
	ns = clock__cpu() - ns;
	fprintf(stderr, "events %llu kernel %llu cpu_ns %llu kib %ld %ld %ld %ld\n",
		(unsigned long long)s.engine->statistics.events,
		(unsigned long long)s.engine->kernel_events, (unsigned long long)ns, kib[1], kib[2],
		kib[3], kib[4]);
	print_values(&before);
	metric_values__deinit(&before);
	stream_analysis__deinit(&s);
}

static void by_thread(const struct parts *parts)
{
	const struct metrics_opts opts = { .queue = SIZE_MAX };
	struct error why = {};
	struct metrics *m;
	void *snapshot;
	struct iovec iov;
	size_t size;

	check(!metrics__create(&m, &opts, &why), why.text);
	iov = (struct iovec){ (void *)parts->data, TRACE_HEADER_LEN };
	check(!metrics__append(m, &iov, 1), "the header");
	for (size_t i = 0; i < parts->n; i++) {
		iov.iov_base = (char *)parts->data + start_of(parts, i);
		iov.iov_len = parts->end[i] - start_of(parts, i);
		check(!metrics__append(m, &iov, 1), "a generation");
		check(!metrics__snapshot(m, &snapshot, &size), "a snapshot");
		check(size <= METRICS_SNAPSHOT_MAX, "the size of a snapshot");
		free(snapshot);
	}
	metrics__finish(m);
	check(!metrics__snapshot(m, &snapshot, &size), "the last snapshot");
	print(snapshot, size);
	free(snapshot);
	metrics__destroy(m);
}

int main(int argc, char **argv)
{
	bool thread = argc > 2 && !strcmp(argv[1], "--thread");
	size_t corrupt = argc > 3 && !strcmp(argv[1], "--corrupt") ? strtoul(argv[2], NULL, 10) : 0;
	struct parts parts = {};

	check(argc == 2 || thread || corrupt, "usage: metrics [--thread | --corrupt N] FILE");
	map_file(argv[argc - 1], &parts);
	split(&parts);
	if (thread)
		by_thread(&parts);
	else
		directly(&parts, corrupt);
	free(parts.end);
	return 0;
}
