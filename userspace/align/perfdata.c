// SPDX-License-Identifier: GPL-2.0
/*
 * What came out of a file perf.data, and its reader's beginning and end: see perfdata.h. Between them is
 * perfdata_file.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"

#define BLOCK (64u << 10)

int perf__broken(const struct perf_data *d, const char *what, struct error *err)
{
	return error__set(err, -EBADMSG,
			  "%s: no good perf.data: its %s at byte %llu is broken" PERF_AGAIN,
			  input__name(d->in), what, (unsigned long long)d->at);
}

int perf__no_memory(const struct perf_data *d, struct error *err)
{
	return error__set(err, -ENOMEM, "%s: %s", input__name(d->in), strerror(ENOMEM));
}

int perf__keep(const struct perf_data *d, struct error *err)
{
	if (d->n + d->nlosses + d->names.n + d->threads.n < PERF_KEPT_MORE + d->at)
		return 0;
	return error__set(err, -E2BIG, "%s: its first %llu bytes cannot hold more than %zu events",
			  input__name(d->in), (unsigned long long)d->at, d->n);
}

int perf__take(struct perf_data *d, uint64_t *left, size_t len, const unsigned char **ret,
	       const char *what, struct error *err)
{
	size_t have;
	int code = input__need(d->in, len, ret, &have, err);

	if (code)
		return code;
	if (len > *left || len > have)
		return error__set(err, -EBADMSG, "%s: cut short in its %s, at byte %llu" PERF_AGAIN,
				  input__name(d->in), what,
				  (unsigned long long)input__offset(d->in));
	input__consume(d->in, len);
	*left -= len;
	return 0;
}

int perf__skip(struct perf_data *d, uint64_t *left, uint64_t len, const char *what,
	       struct error *err)
{
	const unsigned char *p;
	int code = 0;

	if (len > *left)
		return perf__broken(d, what, err);
	if (input__seekable(d->in) && len > INPUT_WINDOW) {
		*left -= len;
		if (len > input__size(d->in) - input__offset(d->in))
			return perf__broken(d, what, err);
		return input__seek(d->in, input__offset(d->in) + len, err);
	}
	while (len && !code) {
		size_t step = len < INPUT_WINDOW ? (size_t)len : INPUT_WINDOW;

		code = perf__take(d, left, step, &p, what, err);
		len -= step;
	}
	return code;
}

static int nothing(const struct perf_data *d, struct error *err)
{
	return error__set(err, -EBADMSG,
			  "%s: none of its %llu samples is of the scheduler; "
			  "record with perf sched record -k CLOCK_MONOTONIC",
			  input__name(d->in), (unsigned long long)d->samples);
}

static void describe(struct perf_data *d)
{
	snprintf(d->described, sizeof(d->described), "perf%s%s%s%s", *d->version ? " " : "",
		 d->version, d->unpack ? ", zstd" : "", d->pipe ? ", pipe" : "");
}

static int fill(struct perf_data *d, struct error *err)
{
	uint32_t none;
	int code;

	d->blocks = blocks__create(BLOCK);
	if (!d->blocks)
		return perf__no_memory(d, err);
	code = perf__name(d, "", 0, &none, err);
	if (!code)
		code = perf__read_all(d, err);
	if (!code && !d->n)
		code = nothing(d, err);
	if (!code && !perf__sort(d->sched, d->n))
		code = perf__no_memory(d, err);
	perf__sort_losses(d);
	return code;
}

/* What only reading needs. */
static void drop_reader(struct perf_data *d)
{
	input__destroy(d->in);
	d->in = NULL;
	unpack__destroy(d->unpack);
	d->unpack = NULL;
	free(d->unpacked);
	d->unpacked = NULL;
	map__deinit(&d->attr_of);
	map__deinit(&d->format_of);
	free(d->attr);
	d->attr = NULL;
	free(d->latest);
	d->latest = NULL;
}

int perf_data__open(struct perf_data **ret, struct input *in, struct error *err)
{
	struct perf_data *d = calloc(1, sizeof(*d));
	int code;

	if (!d) {
		code = error__set(err, -ENOMEM, "%s: %s", input__name(in), strerror(ENOMEM));
		input__destroy(in);
		return code;
	}
	d->in = in;
	d->clock = PERF_NO_CLOCK;
	code = fill(d, err);
	describe(d);
	drop_reader(d);
	if (code) {
		perf_data__close(d);
		return code;
	}
	*ret = d;
	return 0;
}

int perf_data__open_path(struct perf_data **ret, const char *path, struct error *err)
{
	struct error why = {};
	struct input *in;
	int code = input__open(&in, path, &why);

	if (code == -EISDIR)
		return error__set(err, code, "%s is a folder of files: record without --threads",
				  path);
	if (code)
		return error__set(err, code, "%s", why.text);
	return perf_data__open(ret, in, err);
}

void perf_data__close(struct perf_data *d)
{
	if (!d)
		return;
	drop_reader(d);
	map__deinit(&d->threads);
	map__deinit(&d->names.by_key);
	blocks__destroy(d->blocks);
	free(d->names.name);
	free(d->sched);
	free(d->losses);
	free(d);
}

int perf_data__clock(const struct perf_data *d)
{
	return d->clock;
}

const struct perf_sched *perf_data__sched(const struct perf_data *d, size_t *ret_n)
{
	*ret_n = d->n;
	return d->sched;
}

/* The same losses may be told twice: by the kernel where they were, by perf per event at the end. */
uint64_t perf_data__lost(const struct perf_data *d)
{
	return d->lost_records > d->lost_samples ? d->lost_records : d->lost_samples;
}

const char *perf_data__describe(const struct perf_data *d)
{
	return d->described;
}
