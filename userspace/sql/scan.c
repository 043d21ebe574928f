// SPDX-License-Identifier: GPL-2.0
/*
 * Table functions of the SQL engine that read traces: see scan.h.
 *
 * A use of a table in a query has a `use`, shared by its threads; each thread has a `scan`, which
 * reads one trace after the other. The engine calls scan__fill() for up to 2048 rows at a time, and
 * has copied what it keeps of them when it calls again.
 */
#include "sql/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "sql/source.h"
#include "sql/vectors.h"

/* A table of these traces; what the engine passes to the callbacks. */
struct function {
	struct scans *scans;
	const struct table *table;
};

struct use {
	struct function function;
	size_t next; /* the first trace that no thread reads yet */
};

struct scan {
	struct use *use;
	size_t number; /* of the trace, once there is a reader */
	struct reader *reader;
	struct timeline *timeline;
	void *producer;
	bool noted, ended; /* there was an event; there are no more */
	struct source source;
	struct rows rows;
	size_t delivered; /* of them */
	struct duckdb_text constants[COMMON_COLUMNS];
	/* of the vectors of a chunk: which column; beyond the last one: the engine wants none */
	uint64_t *columns;
	uint64_t ncolumns;
};

/* ---- one trace ---- */

static void close_trace(struct scan *s)
{
	if (s->producer)
		s->use->function.table->ops->destroy(s->producer);
	timeline__destroy(s->timeline);
	reader__destroy(s->reader);
	source__deinit(&s->source);
	s->producer = NULL;
	s->timeline = NULL;
	s->reader = NULL;
}

static int open_trace(struct scan *s, struct error *error)
{
	const struct scans *scans = s->use->function.scans;
	const char *path = scans->path[s->number];
	struct input *in;
	int err;

	s->noted = s->ended = false;
	rows__clear(&s->rows);
	arena__reset(&s->rows.kept);
	s->delivered = 0;
	if (source__init(&s->source, path, scans->host, scans->service))
		return producer__out_of_memory(error);
	err = input__open(&in, path, error);
	err = err ?: reader__open(&s->reader, in, &scans->reader, error);
	if (err)
		return err;
	if (timeline__create(&s->timeline, s->reader))
		return producer__out_of_memory(error);
	s->producer = s->use->function.table->ops->create(&s->rows, &s->source, s->reader);
	return s->producer ? 0 : producer__out_of_memory(error);
}

static struct duckdb_text constant(struct rows *r, const char *text)
{
	return text ? rows__keep(r, (struct trace_string){ text, (uint32_t)strlen(text) }) :
		      text__null();
}

/* The first event of a trace dates it. */
static int note_start(struct scan *s, const struct timeline_step *step, struct error *error)
{
	if (s->noted || !step->event)
		return 0;
	s->noted = true;
	if (source__note(&s->source, step->event))
		return producer__out_of_memory(error);
	s->constants[COMMON_FILE] = constant(&s->rows, s->source.file);
	s->constants[COMMON_HOST] = constant(&s->rows, s->source.host);
	s->constants[COMMON_SERVICE] = constant(&s->rows, s->source.service);
	return 0;
}

static void report_left_out(struct scan *s)
{
	struct scans *scans = s->use->function.scans;
	const char *why = reader__left_out(s->reader);
	bool reported;

	if (!why)
		return;
	pthread_mutex_lock(&scans->lock);
	reported = scans->reported[s->number];
	scans->reported[s->number] = true;
	pthread_mutex_unlock(&scans->lock);
	if (!reported)
		log__msg("%s: the rest was left out: %s", s->source.path, why);
}

/* Reads until there is a chunk of rows, or the trace ends. */
static int read_rows(struct scan *s, struct error *error)
{
	const struct producer_ops *ops = s->use->function.table->ops;
	struct timeline_step step;
	int more, err = 0;

	while (!err && s->rows.n < DUCKDB_ROWS && !s->ended) {
		more = timeline__next(s->timeline, &step, error);
		if (more < 0)
			return more;
		if (!more) {
			s->ended = true;
			report_left_out(s);
			err = ops->finish ? ops->finish(s->producer, error) : 0;
		} else {
			err = note_start(s, &step, error);
			err = err ?: ops->step(s->producer, s->timeline, &step, error);
		}
	}
	if (!err && s->rows.failed)
		err = producer__out_of_memory(error);
	return err;
}

/* Makes rows available; without an error, there are none only at the end of the last trace. */
static int next_rows(struct scan *s, struct error *error)
{
	struct use *use = s->use;
	int err = 0;

	while (!err && s->delivered == s->rows.n) {
		rows__clear(&s->rows);
		s->delivered = 0;
		if (s->reader && s->ended)
			close_trace(s);
		if (!s->reader) {
			s->number = __atomic_fetch_add(&use->next, 1, __ATOMIC_RELAXED);
			if (s->number >= use->function.scans->n)
				return 0;
			err = open_trace(s, error);
		}
		err = err ?: read_rows(s, error);
	}
	return err;
}

/* ---- vectors ---- */

static void put_constant(struct scan *s, duckdb_handle vector, enum common_column column, size_t n)
{
	struct duckdb_text text = s->constants[column], *texts;
	bool is_text = column != COMMON_DATE && column != COMMON_HOUR;
	void *data = duckdb.vector_get_data(vector);
	int64_t day = 0, hour = 0;
	bool known = is_text ? text.length != TEXT_NULL : source__hour(&s->source, &day, &hour);

	texts = data;
	for (size_t i = 0; i < n; i++) {
		if (is_text)
			texts[i] = known ? text : (struct duckdb_text){};
		else if (column == COMMON_HOUR)
			((int64_t *)data)[i] = hour;
		else
			((int32_t *)data)[i] = (int32_t)day;
	}
	if (!known)
		vector__put_nulls(vector, n);
}

static void put_column(struct scan *s, duckdb_handle chunk, uint64_t i, size_t n)
{
	const struct table *t = s->use->function.table;
	uint64_t column = s->columns[i];
	duckdb_handle vector = duckdb.data_chunk_get_vector(chunk, i);

	if (column >= t->ncolumns + COMMON_COLUMNS)
		return;
	if (column >= t->ncolumns)
		put_constant(s, vector, (enum common_column)(column - t->ncolumns), n);
	else if (s->rows.is_text[column])
		vector__put_texts(vector, s->rows.texts[column] + s->delivered, n);
	else
		vector__put_numbers(vector, s->rows.numbers[column] + s->delivered, n);
}

/* ---- callbacks of the engine ---- */

static void fail(duckdb_handle info, struct scan *s, int err, struct error *why)
{
	struct scans *scans = s->use->function.scans;
	const char *path = scans->path[s->number];

	pthread_mutex_lock(&scans->lock);
	error__about(&scans->error, err, path, why);
	pthread_mutex_unlock(&scans->lock);
	duckdb.function_set_error(info, why->text);
}

static void scan__fill(duckdb_handle info, duckdb_handle chunk)
{
	struct scan *s = duckdb.function_get_local_init_data(info);
	struct error error = {};
	size_t n;
	int err = next_rows(s, &error);

	if (err) {
		fail(info, s, err, &error);
		return;
	}
	n = s->rows.n - s->delivered;
	n = n < DUCKDB_ROWS ? n : DUCKDB_ROWS;
	for (uint64_t i = 0; n && i < s->ncolumns; i++)
		put_column(s, chunk, i, n);
	s->delivered += n;
	duckdb.data_chunk_set_size(chunk, n);
}

static void scan__destroy(void *scan)
{
	struct scan *s = scan;

	close_trace(s);
	rows__deinit(&s->rows);
	free(s->columns);
	free(s);
}

static void want_columns(struct scan *s, duckdb_handle info)
{
	const struct table *t = s->use->function.table;
	struct rows *r = &s->rows;

	r->ncolumns = t->ncolumns;
	for (unsigned int i = 0; i < t->ncolumns; i++)
		r->is_text[i] = column__is_text(&t->columns[i]);
	for (uint64_t i = 0; i < s->ncolumns; i++) {
		s->columns[i] = duckdb.init_get_column_index(info, i);
		if (s->columns[i] < t->ncolumns)
			r->wanted[s->columns[i]] = true;
	}
}

static void begin_thread(duckdb_handle info)
{
	struct use *use = duckdb.init_get_bind_data(info);
	struct scan *s = calloc(1, sizeof(*s));

	if (s) {
		rows__init(&s->rows);
		s->ncolumns = duckdb.init_get_column_count(info);
		s->columns = calloc(s->ncolumns + 1, sizeof(*s->columns));
	}
	if (!s || !s->columns) {
		free(s);
		duckdb.init_set_error(info, "out of memory");
		return;
	}
	s->use = use;
	for (unsigned int i = 0; i < COMMON_COLUMNS; i++)
		s->constants[i] = text__null();
	want_columns(s, info);
	duckdb.init_set_init_data(info, s, scan__destroy);
}

static void begin_use(duckdb_handle info)
{
	struct use *use = duckdb.init_get_bind_data(info);

	use->next = 0;
	duckdb.init_set_max_threads(info, use->function.scans->n ?: 1);
}

static void bind_use(duckdb_handle info)
{
	const struct function *function = duckdb.bind_get_extra_info(info);
	struct use *use = calloc(1, sizeof(*use));
	const struct column *column;

	if (!use) {
		duckdb.bind_set_error(info, "out of memory");
		return;
	}
	use->function = *function;
	for (unsigned int i = 0; (column = table__column(function->table, i)); i++)
		vector__bind(info, column);
	duckdb.bind_set_bind_data(info, use, free);
}

/* ---- registration ---- */

static int add_function(struct engine *e, struct scans *scans, const struct table *table,
			struct error *error)
{
	struct function *function = malloc(sizeof(*function));
	char name[64];
	int err;

	if (!function)
		return producer__out_of_memory(error);
	*function = (struct function){ scans, table };
	snprintf(name, sizeof(name), "gotrace_%s", table->name);
	err = engine__add_function(e, &(struct engine_function){
					      .name = name,
					      .extra = function,
					      .destroy = free,
					      .bind = bind_use,
					      .begin = begin_use,
					      .begin_thread = begin_thread,
					      .fill = scan__fill,
					      .projects = true,
				      });
	return err ? error__set(error, err, "the SQL engine rejected the table %s", table->name) :
		     0;
}

int scans__init(struct scans *s, struct engine *e, struct error *error)
{
	char text[256];
	int err = 0;

	pthread_mutex_init(&s->lock, NULL);
	s->reported = calloc(s->n + 1, sizeof(*s->reported));
	if (!s->reported)
		return producer__out_of_memory(error);
	for (size_t i = 0; !err && i < TABLES; i++) {
		snprintf(text, sizeof(text), "CREATE VIEW %s AS SELECT * FROM gotrace_%s()",
			 tables[i]->name, tables[i]->name);
		err = add_function(e, s, tables[i], error);
		err = err ?: engine__run(e, text, error);
	}
	return err;
}

void scans__deinit(struct scans *s)
{
	free(s->reported);
	s->reported = NULL;
}
