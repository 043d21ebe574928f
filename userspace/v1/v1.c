// SPDX-License-Identifier: GPL-2.0
/*
 * Opens v1 traces: runs the steps that v1.h lists, one after another, over the whole trace.
 *
 * Upstream: reader/reader.c, which has read the header. Downstream: v1_convert.c, which returns the
 * events.
 */
#include <string.h>

#include "v1/v1_impl.h"

/* Frees what only the steps of v1__open() need. */
static void free_temporary(struct v1 *v)
{
	map__deinit(&v->g_by_id);
	map__deinit(&v->p_by_id);
	free(v->seqs);
	free(v->batches);
	v->seqs = NULL;
	v->batches = NULL;
}

static int load(struct v1 *v, struct input *in, const char *binary, struct error *error)
{
	struct v1_symbols *symbols = NULL;
	int err = 0;

	input__consume(in, v->version ? 16 : 8);
	dictionary__init(&v->dictionary);
	dictionary__init(&v->messages);
	if (binary && !v1__has_symbols(v->version))
		err = v1_symbols__open(&symbols, binary, error);
	if (!err)
		err = v1__parse(v, in, symbols, error);
	v1_symbols__destroy(symbols);
	if (!err)
		err = v1__sort(v, error);
	if (!err)
		err = v1__verify(v, error);
	if (!err)
		err = v1__add_strings(v);
	free_temporary(v);
	return err;
}

int v1__open(struct v1 **ret, struct input *in, unsigned int version, const char *binary,
	     struct error *error)
{
	struct v1 *v = calloc(1, sizeof(*v));
	int err = -ENOMEM;

	if (v) {
		*v = (struct v1){ .version = version, .last_time = -1 };
		err = load(v, in, binary, error);
	}
	if (err) {
		v1__destroy(v);
		return error__set(error, err, "%s", strerror(-err));
	}
	*ret = v;
	return 0;
}

void v1__destroy(struct v1 *v)
{
	if (!v)
		return;
	free_temporary(v);
	dictionary__deinit(&v->dictionary);
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
