// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a trace once for all tables: see pass.h.
 */
#include "sql/pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

struct pass {
	struct rows *const *rows;
	void *producer[TABLES];
};

void pass__init_rows(struct rows *r, const struct table *t)
{
	rows__init(r);
	r->ncolumns = t->ncolumns;
	for (unsigned int i = 0; i < t->ncolumns; i++) {
		r->wanted[i] = true;
		r->is_text[i] = column__is_text(&t->columns[i]);
	}
}

static void *producer_of(const struct pass *p, const struct table *t)
{
	size_t i = 0;

	while (tables[i] != t)
		i++;
	return p->producer[i];
}

static int begin(struct pass *p, const struct source *source, const struct reader *reader,
		 struct error *error)
{
	for (size_t i = 0; i < TABLES; i++) {
		p->producer[i] = tables[i]->ops->create(p->rows[i], source, reader);
		if (!p->producer[i])
			return producer__out_of_memory(error);
	}
	slices__share(producer_of(p, &slices_table), producer_of(p, &goroutines_table),
		      producer_of(p, &requests_table));
	return 0;
}

static int step_all(struct pass *p, const struct timeline *t, const struct timeline_step *step,
		    struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++)
		err = tables[i]->ops->step(p->producer[i], t, step, error);
	return err;
}

static int finish_all(struct pass *p, struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++)
		if (tables[i]->ops->finish)
			err = tables[i]->ops->finish(p->producer[i], error);
	for (size_t i = 0; !err && i < TABLES; i++)
		if (p->rows[i]->failed)
			err = producer__out_of_memory(error);
	return err;
}

static int read_steps(struct pass *p, struct timeline *t, struct error *error)
{
	struct timeline_step step;
	int more, err = 0;

	while (!err && (more = timeline__next(t, &step, error)) > 0)
		err = step_all(p, t, &step, error);
	return err ?: more ?: finish_all(p, error);
}

static int read_trace(struct pass *p, const struct source *source, const struct reader_opts *opts,
		      struct error *error)
{
	struct timeline *timeline = NULL;
	struct reader *reader = NULL;
	struct input *in;
	int err = input__open(&in, source->path, error);

	err = err ?: reader__open(&reader, in, opts, error);
	if (!err && timeline__create(&timeline, reader))
		err = producer__out_of_memory(error);
	err = err ?: begin(p, source, reader, error);
	err = err ?: read_steps(p, timeline, error);
	if (!err && reader__left_out(reader))
		log__msg("%s: the rest was left out: %s", source->path, reader__left_out(reader));
	for (size_t i = 0; i < TABLES; i++)
		if (p->producer[i])
			tables[i]->ops->destroy(p->producer[i]);
	timeline__destroy(timeline);
	reader__destroy(reader);
	return err;
}

int pass__read(struct rows *const rows[TABLES], const struct source *source,
	       const struct reader_opts *reader, struct error *error)
{
	struct pass p = { .rows = rows };
	struct error why = {};
	int err = read_trace(&p, source, reader, &why);

	return err ? error__about(error, err, source->path, &why) : 0;
}
