// SPDX-License-Identifier: GPL-2.0
/*
 * Names and threads of a perf.data file: each name is stored once, each thread with its process.
 * perfdata_sample.c and perfdata_records.c add them; they end up in the aligned trace.
 */
#include <string.h>

#include "align/perfdata_impl.h"

/* Interned with its NUL. */
int perf__name(struct perf_data *d, const void *s, size_t max, uint32_t *ret, struct error *error)
{
	size_t len = strnlen(s, max < PERF_NAME_MAX ? max : PERF_NAME_MAX);
	uint32_t before = intern__strings(d->names), id = 0;
	char name[PERF_NAME_MAX + 1] = "";

	memcpy(name, s, len);
	if (len) {
		id = intern__string(d->names, name, len + 1);
		if (!id)
			return perf__no_memory(d, error);
	}
	*ret = id;
	return intern__strings(d->names) > before ? perf__keep(d, error) : 0;
}

int perf__thread(struct perf_data *d, uint32_t tid, uint32_t pid, struct error *error)
{
	void *value = (void *)((uintptr_t)pid + 1), *known = map__get(&d->threads, tid);
	int err = known ? 0 : perf__keep(d, error);

	if (!err && value != known && map__put(&d->threads, tid, value))
		err = perf__no_memory(d, error);
	return err;
}

const char *perf_data__comm(const struct perf_data *d, uint32_t comm)
{
	size_t len;
	const char *name = intern__string_at(d->names, comm, &len);

	return name ? name : "";
}

uint32_t perf_data__process(const struct perf_data *d, uint32_t tid)
{
	void *value = map__get(&d->threads, tid);

	return value ? (uint32_t)((uintptr_t)value - 1) : 0;
}
