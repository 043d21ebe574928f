// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of several tables, read in one pass: see collect.h.
 */
#include "sql/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHECKED_STEPS 4096 /* steps between two looks at the size of the rows */

struct pass {
	struct collected *collected;
	void *producer[TABLES]; /* NULL: not wanted */
};

/* Rows with all columns of a table. */
static void begin_rows(struct rows *r, const struct table *t)
{
	r->ncolumns = t->ncolumns;
	for (unsigned int i = 0; i < t->ncolumns; i++) {
		r->wanted[i] = true;
		r->is_text[i] = !strcmp(t->columns[i].type, "VARCHAR");
	}
}

static size_t size_of(const struct collected *c)
{
	size_t ret = 0;

	for (size_t i = 0; i < TABLES; i++)
		ret += c->rows[i].cap * c->rows[i].ncolumns * sizeof(struct duckdb_text) +
		       c->rows[i].kept.memory + c->rows[i].brief.memory;
	return ret;
}

static int begin_pass(struct pass *p, const struct source *source, const struct reader *reader,
		      const bool wanted[TABLES], struct error *error)
{
	for (size_t i = 0; i < TABLES; i++) {
		if (!wanted[i])
			continue;
		begin_rows(&p->collected->rows[i], tables[i]);
		p->producer[i] = tables[i]->ops->create(&p->collected->rows[i], source, reader);
		if (!p->producer[i])
			return producer__out_of_memory(error);
		p->collected->has[i] = true;
	}
	return 0;
}

static int step_all(struct pass *p, const struct timeline *t, const struct timeline_step *step,
		    struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++)
		if (p->producer[i])
			err = tables[i]->ops->step(p->producer[i], t, step, error);
	return err;
}

static int finish_all(struct pass *p, struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++) {
		if (p->producer[i] && tables[i]->ops->finish)
			err = tables[i]->ops->finish(p->producer[i], error);
		if (!err && p->collected->rows[i].failed)
			err = producer__out_of_memory(error);
	}
	return err;
}

/* 1, 0: the rows are too many, or a negative errno. */
static int read_steps(struct pass *p, struct timeline *t, struct error *error)
{
	struct timeline_step step;
	uint64_t n = 0;
	int more, err = 0;

	while (!err && (more = timeline__next(t, &step, error)) > 0) {
		err = step_all(p, t, &step, error);
		if (!(++n % CHECKED_STEPS) && size_of(p->collected) > COLLECTED_MAX)
			return 0;
	}
	if (!err)
		err = more ?: finish_all(p, error);
	return err ? err : size_of(p->collected) <= COLLECTED_MAX;
}

static int read_trace(struct pass *p, const struct source *source, const struct reader_opts *opts,
		      const bool wanted[TABLES], struct error *error)
{
	struct timeline *timeline = NULL;
	struct reader *reader = NULL;
	struct input *in;
	int err = input__open(&in, source->path, error);

	err = err ?: reader__open(&reader, in, opts, error);
	if (!err && timeline__create(&timeline, reader))
		err = producer__out_of_memory(error);
	err = err ?: begin_pass(p, source, reader, wanted, error);
	err = err ?: read_steps(p, timeline, error);
	for (size_t i = 0; i < TABLES; i++)
		if (p->producer[i])
			tables[i]->ops->destroy(p->producer[i]);
	timeline__destroy(timeline);
	reader__destroy(reader);
	return err;
}

int collected__read(struct collected **ret, const struct source *source,
		    const struct reader_opts *reader, const bool wanted[TABLES],
		    struct error *error)
{
	struct pass p = { .collected = calloc(1, sizeof(*p.collected)) };
	struct error why = {};
	int err;

	if (!p.collected)
		return producer__out_of_memory(error);
	for (size_t i = 0; i < TABLES; i++)
		rows__init(&p.collected->rows[i]);
	err = read_trace(&p, source, reader, wanted, &why);
	if (err > 0) {
		*ret = p.collected;
		return err;
	}
	collected__destroy(p.collected);
	return err ? error__about(error, err, source->path, &why) : 0;
}

void collected__destroy(struct collected *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < TABLES; i++)
		rows__deinit(&c->rows[i]);
	free(c);
}
