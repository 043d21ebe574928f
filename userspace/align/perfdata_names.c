// SPDX-License-Identifier: GPL-2.0
/*
 * The names and threads of a perf.data file: each name is kept once, and of each thread its process and
 * its last name. perfdata_sample.c and perfdata_records.c put them in, the joined trace takes them out.
 */
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"

struct entry {
	struct entry *same; /* with the same key */
	uint32_t id;
	uint32_t len;
	char text[];
};

static struct entry *new_entry(struct perf_data *d, const char *s, size_t len)
{
	struct perf_names *names = &d->names;
	size_t cap = names->cap;
	struct entry *e;

	if (array__grow(&names->name, names->n, &cap, sizeof(*names->name)))
		return NULL;
	names->cap = (uint32_t)cap;
	e = blocks__take(d->blocks, sizeof(*e) + len + 1);
	if (!e)
		return NULL;
	e->id = names->n;
	e->len = (uint32_t)len;
	memcpy(e->text, s, len);
	e->text[len] = 0;
	names->name[names->n++] = e->text;
	return e;
}

int perf__name(struct perf_data *d, const void *s, size_t max, uint32_t *ret, struct error *err)
{
	size_t len = strnlen(s, max < PERF_NAME_MAX ? max : PERF_NAME_MAX);
	uint64_t key = hash__bytes(s, len);
	struct entry *first = map__get(&d->names.by_key, key), *e;
	int code;

	for (e = first; e; e = e->same)
		if (e->len == len && !memcmp(e->text, s, len)) {
			*ret = e->id;
			return 0;
		}
	code = perf__keep(d, err);
	if (code)
		return code;
	e = new_entry(d, s, len);
	if (!e)
		return perf__no_memory(d, err);
	e->same = first;
	if (map__put(&d->names.by_key, key, e))
		return perf__no_memory(d, err);
	*ret = e->id;
	return 0;
}

int perf__thread(struct perf_data *d, uint32_t tid, struct perf_thread **ret, struct error *err)
{
	struct perf_thread *t = map__get(&d->threads, tid);
	int code;

	if (!t) {
		code = perf__keep(d, err);
		if (code)
			return code;
		t = blocks__take(d->blocks, sizeof(*t));
		if (!t)
			return perf__no_memory(d, err);
		*t = (struct perf_thread){};
		if (map__put(&d->threads, tid, t))
			return perf__no_memory(d, err);
	}
	*ret = t;
	return 0;
}

const char *perf_data__comm(const struct perf_data *d, uint32_t comm)
{
	return comm < d->names.n ? d->names.name[comm] : "";
}

uint32_t perf_data__process(const struct perf_data *d, uint32_t tid)
{
	const struct perf_thread *t = map__get(&d->threads, tid);

	return t ? t->pid : 0;
}

const char *perf_data__thread_name(const struct perf_data *d, uint32_t tid)
{
	const struct perf_thread *t = map__get(&d->threads, tid);

	return t ? perf_data__comm(d, t->name) : "";
}
