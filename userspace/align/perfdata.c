// SPDX-License-Identifier: GPL-2.0
/*
 * Opens, closes and queries a perf.data file: see perfdata.h. perfdata_file.c reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"

#define BLOCK (64u << 10)

int perf__broken(const struct perf_data *d, const char *what, struct error *error)
{
	return error__set(error, -EBADMSG,
			  "%s: corrupt perf.data: invalid %s at byte %llu" PERF_AGAIN,
			  input__name(d->in), what, (unsigned long long)d->at);
}

int perf__no_memory(const struct perf_data *d, struct error *error)
{
	return error__set(error, -ENOMEM, "%s: %s", input__name(d->in), strerror(ENOMEM));
}

int perf__keep(const struct perf_data *d, struct error *error)
{
	if (d->n + d->nlosses + intern__strings(d->names) + d->threads.n < PERF_KEPT_MORE + d->at)
		return 0;
	return error__set(error, -E2BIG,
			  "%s: corrupt perf.data: its first %llu bytes cannot "
			  "contain more than %zu events",
			  input__name(d->in), (unsigned long long)d->at, d->n);
}

int perf__take(struct perf_data *d, uint64_t *left, size_t len, const unsigned char **ret,
	       const char *what, struct error *error)
{
	size_t have;
	int err = input__need(d->in, len, ret, &have, error);

	if (err)
		return err;
	if (len > *left || len > have)
		return error__set(
			error, -EBADMSG, "%s: truncated in its %s, at byte %llu" PERF_AGAIN,
			input__name(d->in), what, (unsigned long long)input__offset(d->in));
	input__consume(d->in, len);
	*left -= len;
	return 0;
}

int perf__skip(struct perf_data *d, uint64_t *left, uint64_t len, const char *what,
	       struct error *error)
{
	const unsigned char *p;
	int err = 0;

	if (len > *left)
		return perf__broken(d, what, error);
	if (input__seekable(d->in) && len > INPUT_WINDOW) {
		*left -= len;
		if (len > input__size(d->in) - input__offset(d->in))
			return perf__broken(d, what, error);
		return input__seek(d->in, input__offset(d->in) + len, error);
	}
	while (len && !err) {
		size_t step = len < INPUT_WINDOW ? (size_t)len : INPUT_WINDOW;

		err = perf__take(d, left, step, &p, what, error);
		len -= step;
	}
	return err;
}

static int nothing(const struct perf_data *d, struct error *error)
{
	return error__set(error, -EBADMSG,
			  "%s: none of its %llu samples is a scheduler event; record with perf "
			  "sched record -k CLOCK_MONOTONIC",
			  input__name(d->in), (unsigned long long)d->samples);
}

static void describe(struct perf_data *d)
{
	snprintf(d->described, sizeof(d->described), "perf%s%s%s%s", *d->version ? " " : "",
		 d->version, d->unpack ? ", zstd" : "", d->pipe ? ", pipe" : "");
}

static int fill(struct perf_data *d, struct error *error)
{
	int err;

	arena__init(&d->arena, BLOCK);
	d->names = intern__create();
	err = d->names ? perf__read_all(d, error) : perf__no_memory(d, error);
	if (!err && !d->n)
		err = nothing(d, error);
	if (!err && !perf__sort(d->sched, d->n))
		err = perf__no_memory(d, error);
	perf__sort_losses(d);
	if (!err)
		err = perf__use_own_numbers(d, error);
	return err;
}

/* Frees what only reading requires. */
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

int perf_data__open(struct perf_data **ret, struct input *in, struct error *error)
{
	struct perf_data *d = calloc(1, sizeof(*d));
	int err;

	if (!d) {
		err = error__set(error, -ENOMEM, "%s: %s", input__name(in), strerror(ENOMEM));
		input__destroy(in);
		return err;
	}
	d->in = in;
	d->clock = PERF_NO_CLOCK;
	err = fill(d, error);
	describe(d);
	drop_reader(d);
	if (err) {
		perf_data__close(d);
		return err;
	}
	*ret = d;
	return 0;
}

int perf_data__open_path(struct perf_data **ret, const char *path, struct error *error)
{
	struct error why = {};
	struct input *in;
	int err = input__open(&in, path, &why);

	if (err == -EISDIR)
		return error__set(error, err,
				  "%s: directories of perf files are not supported; "
				  "record without --threads",
				  path);
	if (err)
		return error__set(error, err, "%s", why.text);
	return perf_data__open(ret, in, error);
}

void perf_data__close(struct perf_data *d)
{
	if (!d)
		return;
	drop_reader(d);
	map__deinit(&d->threads);
	intern__destroy(d->names);
	arena__deinit(&d->arena);
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

/* A loss may be recorded twice: by the kernel where it occurred, by perf per event at the end. */
uint64_t perf_data__lost(const struct perf_data *d)
{
	return d->lost_records > d->lost_samples ? d->lost_records : d->lost_samples;
}

const char *perf_data__describe(const struct perf_data *d)
{
	return d->described;
}
