// SPDX-License-Identifier: GPL-2.0
/*
 * Opens v1 traces: runs the steps that v1.h names, one after another, over the whole trace.
 *
 * Before it: trace/reader.c, which has looked at the header. After it: v1_convert.c, which hands
 * the events out.
 */
#include <string.h>

#include "trace/v1_impl.h"

/* What only the steps before needed. */
static void forget(struct v1 *v)
{
	map__deinit(&v->g_by_id);
	map__deinit(&v->p_by_id);
	free(v->seqs);
	free(v->batches);
	v->seqs = NULL;
	v->batches = NULL;
}

static int load(struct v1 *v, struct input *in, const char *binary, struct error *err)
{
	struct v1_symbols *symbols = NULL;
	int e;

	input__consume(in, v->version ? 16 : 8);
	e = dictionary__init(&v->words);
	if (!e)
		e = dictionary__init(&v->messages);
	if (!e && binary && !v1__has_symbols(v->version))
		e = v1_symbols__open(&symbols, binary, err);
	if (!e)
		e = v1__parse(v, in, symbols, err);
	v1_symbols__destroy(symbols);
	if (!e)
		e = v1__sort(v, err);
	if (!e)
		e = v1__verify(v, err);
	if (!e)
		e = v1__add_strings(v);
	forget(v);
	return e;
}

int v1__open(struct v1 **ret, struct input *in, unsigned int version, const char *binary,
	     struct error *err)
{
	struct v1 *v = calloc(1, sizeof(*v));
	int e = -ENOMEM;

	if (v) {
		*v = (struct v1){ .version = version, .last_time = -1 };
		e = load(v, in, binary, err);
	}
	if (e) {
		v1__destroy(v);
		return error__set(err, e, "%s", strerror(-e));
	}
	*ret = v;
	return 0;
}

void v1__destroy(struct v1 *v)
{
	if (!v)
		return;
	forget(v);
	dictionary__deinit(&v->words);
	dictionary__deinit(&v->messages);
	free(v->events);
	free(v->more);
	free(v->order);
	free(v->gs);
	free(v->ps);
	free(v->reasons);
	free(v->unknown);
	free(v);
}
