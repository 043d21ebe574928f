// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the index of a trace: see index.h.
 *
 * Upstream: reader/reader.h, which reads the whole trace. Downstream: writer/output.h. The size of
 * the states is limited to a sixteenth of the trace read so far; with very many goroutines only
 * some generations have one, and a reader begins at the last before its target. The first
 * generation always has a state, which is empty.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "reader/index_impl.h"
#include "reader/order_save.h"
#include "writer/output.h"

#define SHARE 16   /* states may take this part of the trace, */
#define BASE  4096 /* and this many bytes */

struct builder {
	struct reader *reader;
	struct outbuf out; /* buffer of the file */
	uint64_t written;  /* bytes */
	struct outbuf state;
	struct outbuf directory;
	struct start_functions functions;
	struct index_generation current;
	uint64_t count[EV_END];
	int64_t start;
	struct index_totals totals;
};

static int no_memory(struct error *error)
{
	return error__set(error, -ENOMEM, "out of memory");
}

static int write_bytes(struct builder *b, const void *data, size_t len, struct error *error)
{
	b->written += len;
	return outbuf__put(&b->out, data, len, error);
}

static int save_string(struct outbuf *out, const struct intern *in, uint32_t id)
{
	struct trace_string s = intern__text_at(in, id);

	return leb__append_bytes(out, s.data, s.len, NULL);
}

static int save_function(struct outbuf *out, const struct intern *in, uint32_t id)
{
	size_t n;
	const struct intern_frame *f = intern__stack_at(in, id, &n);
	int err = save__number(out, f->pc);

	err = err ?: save__number(out, f->line);
	err = err ?: save_string(out, in, f->func);
	return err ?: save_string(out, in, f->file);
}

static int save_start_functions(struct outbuf *out, const struct start_functions *o)
{
	size_t n;
	struct map_slot *g = map__sorted(&o->g, &n);
	int err = g ? save__number(out, intern__stacks(o->in)) : -ENOMEM;
	uint64_t last = 0;

	for (uint32_t id = 1; !err && id <= intern__stacks(o->in); id++)
		err = save_function(out, o->in, id);
	err = err ?: save__number(out, n);
	for (size_t i = 0; !err && i < n; i++) {
		err = save__number(out, g[i].key - last);
		err = err ?: save__number(out, (uint32_t)(uintptr_t)g[i].value);
		last = g[i].key;
	}
	free(g);
	return err;
}

/* Writes the initial state of the current generation unless the states would become too large. */
static int write_state(struct builder *b, struct error *error)
{
	struct index_generation *g = &b->current;
	uint64_t size;

	b->state.len = 0;
	if (order__save(reader__order(b->reader), &b->state) ||
	    save_start_functions(&b->state, &b->functions))
		return no_memory(error);
	size = b->written + b->directory.len + b->state.len;
	if (b->totals.generations && size > BASE + g->place.offset / SHARE)
		return 0;
	g->state_offset = b->written;
	g->state_len = b->state.len;
	g->state_sum = index__sum(0, b->state.data, b->state.len);
	b->totals.states++;
	return write_bytes(b, b->state.data, b->state.len, error);
}

static int save_counts(struct builder *b)
{
	unsigned int n = 0, type;
	int err;

	for (type = 0; type < EV_END; type++)
		n += b->count[type] > 0;
	err = save__number(&b->directory, n);
	for (type = 0; !err && type < EV_END; type++) {
		if (!b->count[type])
			continue;
		err = save__number(&b->directory, type);
		err = err ?: save__number(&b->directory, b->count[type]);
	}
	return err;
}

/* Appends the current generation to the directory. */
static int end_generation(struct builder *b, struct error *error)
{
	const struct index_generation *g = &b->current;
	const uint64_t head[] = {
		g->place.offset,   g->place.generation,
		g->place.syncs,	   (uint64_t)g->place.last_time,
		(uint64_t)g->sync, (uint64_t)g->first,
		(uint64_t)g->last, g->events,
	};
	const uint64_t state[] = { g->state_offset, g->state_len, g->state_sum };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(head) / sizeof(*head); i++)
		err = save__number(&b->directory, head[i]);
	err = err ?: save_counts(b);
	for (size_t i = 0; !err && i < sizeof(state) / sizeof(*state); i++)
		err = save__number(&b->directory, state[i]);
	b->totals.generations++;
	b->totals.events += g->events;
	return err ? no_memory(error) : 0;
}

static int begin_generation(struct builder *b, const struct trace_event *ev, struct error *error)
{
	b->current = (struct index_generation){ .sync = ev->time };
	memset(b->count, 0, sizeof(b->count));
	reader__place(b->reader, &b->current.place);
	return write_state(b, error);
}

static int take_sync(struct builder *b, const struct trace_event *ev, struct error *error)
{
	int err = 0;

	if (ev->sync->n == 1)
		b->start = ev->time;
	else
		err = end_generation(b, error);
	return !err && ev->dictionary ? begin_generation(b, ev, error) : err;
}

static int take_event(struct builder *b, const struct trace_event *ev, struct error *error)
{
	struct index_generation *g = &b->current;

	if (ev->type == EV_SYNC)
		return take_sync(b, ev, error);
	if (!g->first)
		g->first = ev->time;
	g->last = ev->time;
	g->events += trace_event__is_of_file(ev);
	b->count[ev->type] += trace_event__is_of_file(ev);
	return start_functions__event(&b->functions, ev) ? no_memory(error) : 0;
}

static int read_all(struct builder *b, struct error *error)
{
	struct trace_event ev;
	int err;

	if (!reader__order(b->reader))
		return error__set(error, -EPROTONOSUPPORT,
				  "traces of Go 1.%u have no generations and cannot be indexed",
				  reader__version(b->reader));
	while ((err = reader__next(b->reader, &ev, error)) > 0) {
		err = take_event(b, &ev, error);
		if (err)
			return err;
	}
	if (!err && !b->totals.generations)
		err = error__set(error, -ENODATA, "the trace has no events");
	return err;
}

static void put_u64(uint8_t **p, uint64_t v)
{
	memcpy(*p, &v, sizeof(v));
	*p += sizeof(v);
}

/* Writes the directory, and the end, which contains its position. */
static int write_directory(struct builder *b, const struct index_trace *trace, struct error *error)
{
	uint8_t end[INDEX_END_LEN], *p = end, head[2 * LEB_MAX], *h = head;
	uint64_t offset = b->written;
	uint32_t sum;
	int err;

	h = leb__put(h, (uint64_t)b->start);
	h = leb__put(h, b->totals.generations);
	sum = index__sum(0, head, (size_t)(h - head));
	sum = index__sum(sum, b->directory.data, b->directory.len);
	err = write_bytes(b, head, (size_t)(h - head), error);
	err = err ?: write_bytes(b, b->directory.data, b->directory.len, error);
	put_u64(&p, offset);
	put_u64(&p, b->written - offset);
	put_u64(&p, sum);
	put_u64(&p, trace->size);
	put_u64(&p, (uint64_t)trace->mtime);
	put_u64(&p, trace->sum);
	sum = index__sum(0, end, INDEX_END_SUM);
	memcpy(p, &sum, sizeof(sum));
	err = err ?: write_bytes(b, end, sizeof(end), error);
	return err ?: outbuf__flush(&b->out, error);
}

static int open_plain(struct reader **ret, const char *path, struct error *error)
{
	struct input *in;
	int err = input__open(&in, path, error);

	if (err)
		return err;
	if (!input__seekable(in)) {
		input__destroy(in);
		return error__set(error, -ESPIPE,
				  "%s: cannot be indexed: it is compressed, or not a regular file",
				  path);
	}
	return reader__open(ret, in, &(struct reader_opts){ .described = true }, error);
}

static int build(struct builder *b, const char *path, struct error *error)
{
	struct index_trace before, after;
	struct error reason = {};
	int err = index_trace__read(&before, path, error);

	err = err ?: open_plain(&b->reader, path, error);
	err = err ?: write_bytes(b, INDEX_MAGIC, INDEX_MAGIC_LEN, error);
	if (err)
		return err;
	err = read_all(b, &reason);
	if (err)
		return error__about(error, err, path, &reason);
	err = index_trace__read(&after, path, error);
	if (!err && !index_trace__same(&before, &after))
		err = error__set(error, -ESTALE, "%s: the trace changed while it was read", path);
	b->totals.trace_bytes = before.size;
	return err ?: write_directory(b, &before, error);
}

static int write_file(struct builder *b, const char *path, const char *index_path,
		      struct error *error)
{
	struct trace_file *file;
	int err = output__open(&file, index_path, FILE_INDEX, error);

	if (err)
		return err;
	output__buffer(&b->out, file, index_path);
	err = build(b, path, error);
	if (!err) {
		err = trace_file__commit(file);
		if (err)
			error__set(error, err, "cannot write %s: %s", index_path, strerror(-err));
	}
	outbuf__deinit(&b->out);
	trace_file__destroy(file);
	return err;
}

int index__write(const char *path, const char *index_path, struct index_totals *ret,
		 struct error *error)
{
	struct builder b = {};
	int err;

	if (start_functions__init(&b.functions))
		return no_memory(error);
	err = write_file(&b, path, index_path, error);
	if (!err) {
		b.totals.bytes = b.written;
		*ret = b.totals;
	}
	reader__destroy(b.reader);
	outbuf__deinit(&b.state);
	outbuf__deinit(&b.directory);
	start_functions__deinit(&b.functions);
	return err;
}
