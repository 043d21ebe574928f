// SPDX-License-Identifier: GPL-2.0
/*
 * Copies private data from generations of the input to those of the output.
 *
 * Upstream: rewrite.c. Downstream: writer/private_write.h. Kernel events are in rewrite_kernel.c. If names
 * are replaced, nothing is copied: rewrite_records.c writes what it understands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "rewrite/rewrite_impl.h"
#include "writer/private_write.h"

#define KEPT_MAX (1u << 20) /* bytes; a recorder needs a few thousand for a file */

void rw_private__deinit(struct rewrite *r)
{
	for (size_t i = 0; i < r->nkept; i++)
		free((void *)r->kept[i].data);
	free(r->kept);
	rw_experiment__deinit(r);
}

static bool is_about_file(uint64_t kind)
{
	return kind == PRIVATE_META || kind == PRIVATE_TABLE || kind == PRIVATE_ALIGNMENT;
}

/* The writer writes what the version of the output lacks. */
static bool is_writers(uint64_t kind)
{
	return kind == PRIVATE_SNAPSHOT || kind == PRIVATE_STARTS;
}

/* rewrite_kernel.c writes those that are in the part. */
static bool is_kernel_kind(uint64_t kind)
{
	return kind == PRIVATE_THREADS || kind == PRIVATE_KERNEL || kind == PRIVATE_MACHINE ||
	       kind == PRIVATE_WAITS;
}

int rw_private__use(struct rewrite *r, const struct dictionary *from)
{
	struct private_record record;
	struct private_reader in;
	int err;

	r->tables.from = from;
	r->tables.ticks = (struct private_ticks){};
	private_reader__init(&in, from);
	while ((err = private_reader__next(&in, &record)) > 0)
		if (record.kind == PRIVATE_TICKS &&
		    !private_read__ticks(&record.data, &r->tables.ticks))
			r->tables.ticks = (struct private_ticks){};
	private_reader__deinit(&in);
	return err;
}

int rw_private__copy(struct rewrite *r, bool whole)
{
	const struct private_ticks *t = &r->tables.ticks;
	const struct trace_string *s;
	uint64_t kind;
	int err = 0;

	if (t->tick_ns) /* the output's tick is always 1 ns */
		err = private__ticks(r->writer, 1, t->start_ns, t->wall_ns);
	err = err ?: rw_experiment__copy(r, whole);
	if (!err && r->opts.names)
		return rw_records__write(r) ?: rw_kernel__write(r);
	for (size_t i = 0; !err && i < dictionary__nstrings(r->tables.from); i++) {
		s = &r->tables.from->strings[i];
		kind = private_read__kind(s);
		if (kind && kind != PRIVATE_TICKS && !is_kernel_kind(kind) && !is_writers(kind) &&
		    (whole || !is_about_file(kind)) && (kind != PRIVATE_PARKED || !r->inside))
			err = writer__private(r->writer, s->data, s->len);
	}
	return err ?: rw_kernel__write(r);
}

int rewrite__keep_private(struct rewrite *r, const struct dictionary *from)
{
	const struct trace_string *s;
	size_t bytes = 0;
	uint64_t kind;
	char *copy;

	if (rw_experiment__keep(r, from))
		return -ENOMEM;
	/* The caller may have passed them before the first generation's events. */
	if (r->nkept || r->opts.names)
		return 0;
	for (size_t i = 0; i < dictionary__nstrings(from); i++) {
		s = &from->strings[i];
		kind = private_read__kind(s);
		/* A plugin is in the generation in which it was loaded, and in the first one of each file. */
		if ((!is_about_file(kind) && kind != PRIVATE_PLUGIN) || bytes + s->len > KEPT_MAX)
			continue;
		if (array__grow(&r->kept, r->nkept, &r->kept_cap, sizeof(*r->kept)))
			return -ENOMEM;
		copy = malloc(s->len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, s->data, s->len);
		r->kept[r->nkept++] = (struct trace_string){ copy, s->len };
		bytes += s->len;
	}
	return 0;
}

int rw_private__write_kept(struct rewrite *r)
{
	int err = rw_experiment__write_kept(r);

	for (size_t i = 0; !err && i < r->nkept; i++)
		err = writer__private(r->writer, r->kept[i].data, r->kept[i].len);
	return err;
}
