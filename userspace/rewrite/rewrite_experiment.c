// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the batches of experiment AllocFree, which its events refer to.
 *
 * Upstream: rewrite.c. Downstream: writer/writer.h. The output has the generations of the input,
 * and the events keep their arguments, so the batches are valid as they are. If names are replaced,
 * batches with names of types are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_impl.h"

static bool has_units(const struct trace_experiment *e)
{
	return e->len && e->data[0] == ALLOC_FREE_UNITS;
}

static int write_batch(struct rewrite *r, const struct trace_experiment *e)
{
	if (!spec__in_version(spec__event(EV_EXPERIMENTAL_BATCH), r->opts.version))
		return 0;
	return writer__experiment(r->writer, EXPERIMENT_ALLOC_FREE, e->data, e->len);
}

void rw_experiment__deinit(struct rewrite *r)
{
	free((void *)r->units.data);
}

int rw_experiment__keep(struct rewrite *r, const struct dictionary *from)
{
	unsigned char *copy;

	for (size_t i = 0; !r->units.data && i < from->nexperiments; i++) {
		if (!has_units(&from->experiments[i]))
			continue;
		copy = malloc(from->experiments[i].len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, from->experiments[i].data, from->experiments[i].len);
		r->units = (struct trace_experiment){ copy, from->experiments[i].len };
	}
	return 0;
}

int rw_experiment__write_kept(struct rewrite *r)
{
	return r->units.data ? write_batch(r, &r->units) : 0;
}

int rw_experiment__copy(struct rewrite *r, bool whole)
{
	const struct dictionary *from = r->tables.from;
	const struct trace_experiment *e;
	int err = 0;

	for (size_t i = 0; !err && i < from->nexperiments; i++) {
		e = &from->experiments[i];
		if (has_units(e) ? whole : !r->opts.names)
			err = write_batch(r, e);
	}
	return err;
}
