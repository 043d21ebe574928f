// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a trace, made: see index.h.
 *
 * Before it: trace/reader.h, which reads the whole trace. After it: trace/file.h. States are
 * written as they come, but only so many that the index stays a sixteenth of what was read: with
 * very many goroutines a reader finds one every few generations and goes on from there. The first
 * generation has one always, which is empty.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/encode.h"
#include "trace/index_impl.h"
#include "trace/order_save.h"
#include "trace/output.h"

#define SHARE 16   /* the index is to be no more than this part of the trace, */
#define BASE  4096 /* and this */

struct builder {
	struct reader *reader;
	struct outbuf out; /* to the file */
	uint64_t written;  /* bytes */
	struct outbuf state;
	struct outbuf directory;
	struct origins origins;
	struct index_generation current;
	uint64_t count[EV_END];
	int64_t start;
	struct index_totals totals;
};

static int no_memory(struct error *err)
{
	return error__set(err, -ENOMEM, "no memory");
}

static int emit (struct builder *b, const void *data, size_t len, struct error * err)
{
	b->written += len;
	return outbuf__put(&b->out, data, len, err);
}

static int save_word(struct outbuf *out, const struct intern *in, uint32_t id)
{
	size_t len = 0;
	const char *text = intern__string_at(in, id, &len);

	return save__bytes(out, text ? text : "", len);
}

static int save_function(struct outbuf *out, const struct intern *in, uint32_t id)
{
	size_t n;
	const struct intern_frame *f = intern__stack_at(in, id, &n);
	int err = save__number(out, f->pc);

	err = err ?: save__number(out, f->line);
	err = err ?: save_word(out, in, f->func);
	return err ?: save_word(out, in, f->file);
}

static int save_origins(struct outbuf *out, const struct origins *o)
{
	uint64_t *keys = save__keys(&o->g), last = 0;
	int err = keys ? save__number(out, intern__stacks(o->in)) : -ENOMEM;

	for (uint32_t id = 1; !err && id <= intern__stacks(o->in); id++)
		err = save_function(out, o->in, id);
	err = err ?: save__number(out, o->g.n);
	for (size_t i = 0; !err && i < o->g.n; i++) {
		err = save__number(out, keys[i] - last);
		err = err ?: save__number(out, origins__of(o, keys[i]));
		last = keys[i];
	}
	free(keys);
	return err;
}

/* The state that the current generation starts from, if there is room for it. */
static int write_state(struct builder *b, struct error *err)
{
	struct index_generation *g = &b->current;
	uint64_t size;

	b->state.len = 0;
	if (order__save(reader__order(b->reader), &b->state) ||
	    save_origins(&b->state, &b->origins))
		return no_memory(err);
	size = b->written + b->directory.len + b->state.len;
	if (b->totals.generations && size > BASE + g->place.offset / SHARE)
		return 0;
	g->state_offset = b->written;
	g->state_len = b->state.len;
	g->state_sum = index__sum(0, b->state.data, b->state.len);
	b->totals.states++;
	return emit (b, b->state.data, b->state.len, err);
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

/* The current generation is over. */
static int end_generation(struct builder *b, struct error *err)
{
	const struct index_generation *g = &b->current;
	const uint64_t head[] = {
		g->place.offset,   g->place.generation,
		g->place.syncs,	   (uint64_t)g->place.last_time,
		(uint64_t)g->sync, (uint64_t)g->first,
		(uint64_t)g->last, g->events,
	};
	const uint64_t state[] = { g->state_offset, g->state_len, g->state_sum };
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(head) / sizeof(*head); i++)
		code = save__number(&b->directory, head[i]);
	code = code ?: save_counts(b);
	for (size_t i = 0; !code && i < sizeof(state) / sizeof(*state); i++)
		code = save__number(&b->directory, state[i]);
	b->totals.generations++;
	b->totals.events += g->events;
	return code ? no_memory(err) : 0;
}

static int begin_generation(struct builder *b, const struct trace_event *ev, struct error *err)
{
	b->current = (struct index_generation){ .sync = ev->time };
	memset(b->count, 0, sizeof(b->count));
	reader__place(b->reader, &b->current.place);
	return write_state(b, err);
}

static int take_sync(struct builder *b, const struct trace_event *ev, struct error *err)
{
	int code = 0;

	if (ev->sync->n == 1)
		b->start = ev->time;
	else
		code = end_generation(b, err);
	return !code && ev->words ? begin_generation(b, ev, err) : code;
}

static int take_event(struct builder *b, const struct trace_event *ev, struct error *err)
{
	struct index_generation *g = &b->current;

	if (ev->type == EV_SYNC)
		return take_sync(b, ev, err);
	if (!g->first)
		g->first = ev->time;
	g->last = ev->time;
	g->events += trace_event__is_of_file(ev);
	b->count[ev->type] += trace_event__is_of_file(ev);
	return origins__event(&b->origins, ev) ? no_memory(err) : 0;
}

static int read_all(struct builder *b, struct error *err)
{
	struct trace_event ev;
	int code;

	if (!reader__order(b->reader))
		return error__set(err, -EPROTONOSUPPORT,
				  "a trace of Go 1.%u has no generations that an index could name",
				  reader__version(b->reader));
	while ((code = reader__next(b->reader, &ev, err)) > 0) {
		code = take_event(b, &ev, err);
		if (code)
			return code;
	}
	if (!code && !b->totals.generations)
		code = error__set(err, -ENODATA, "it has no events");
	return code;
}

static void put_u64(uint8_t **p, uint64_t v)
{
	memcpy(*p, &v, sizeof(v));
	*p += sizeof(v);
}

/* The directory, and the end that tells where it is. */
static int write_directory(struct builder *b, const struct index_trace *trace, struct error *err)
{
	uint8_t end[INDEX_END_LEN], *p = end, head[2 * LEB_MAX], *h = head;
	uint64_t offset = b->written;
	uint32_t sum;
	int code;

	h = leb__put(h, (uint64_t)b->start);
	h = leb__put(h, b->totals.generations);
	sum = index__sum(0, head, (size_t)(h - head));
	sum = index__sum(sum, b->directory.data, b->directory.len);
	code = emit (b, head, (size_t)(h - head), err);
	code = code ?: emit (b, b->directory.data, b->directory.len, err);
	put_u64(&p, offset);
	put_u64(&p, b->written - offset);
	put_u64(&p, sum);
	put_u64(&p, trace->size);
	put_u64(&p, (uint64_t)trace->mtime);
	put_u64(&p, trace->sum);
	sum = index__sum(0, end, INDEX_END_SUM);
	memcpy(p, &sum, sizeof(sum));
	code = code ?: emit (b, end, sizeof(end), err);
	return code ?: outbuf__flush(&b->out, err);
}

static int open_plain(struct reader **ret, const char *path, struct error *err)
{
	struct input *in;
	int code = input__open(&in, path, err);

	if (code)
		return code;
	if (!input__seekable(in)) {
		input__destroy(in);
		return error__set(err, -ESPIPE,
				  "%s is no plain file, or it is compressed: where its "
				  "generations lie is of no use then",
				  path);
	}
	return reader__open(ret, in, &(struct reader_opts){ .described = true }, err);
}

static int build(struct builder *b, const char *path, struct error *err)
{
	struct index_trace before, after;
	struct error reason = {};
	int code = index_trace__look(&before, path, err);

	code = code ?: open_plain(&b->reader, path, err);
	code = code ?: emit (b, INDEX_MAGIC, INDEX_MAGIC_LEN, err);
	if (code)
		return code;
	code = read_all(b, &reason);
	if (code)
		return error__about(err, code, path, &reason);
	code = index_trace__look(&after, path, err);
	if (!code && !index_trace__same(&before, &after))
		code = error__set(err, -ESTALE, "%s changed while it was read", path);
	b->totals.trace_bytes = before.size;
	return code ?: write_directory(b, &before, err);
}

static int write_file(struct builder *b, const char *path, const char *index_path,
		      struct error *err)
{
	struct trace_file *file;
	int code = output__open(&file, index_path, FILE_INDEX, err);

	if (code)
		return code;
	outbuf__init(&b->out, file, index_path);
	code = build(b, path, err);
	if (!code) {
		code = trace_file__commit(file);
		if (code)
			error__set(err, code, "cannot write %s: %s", index_path, strerror(-code));
	}
	outbuf__deinit(&b->out);
	trace_file__destroy(file);
	return code;
}

int index__write(const char *path, const char *index_path, struct index_totals *ret,
		 struct error *err)
{
	struct builder b = {};
	int code;

	if (origins__init(&b.origins))
		return no_memory(err);
	code = write_file(&b, path, index_path, err);
	if (!code) {
		b.totals.bytes = b.written;
		*ret = b.totals;
	}
	reader__destroy(b.reader);
	outbuf__deinit(&b.state);
	outbuf__deinit(&b.directory);
	origins__deinit(&b.origins);
	return code;
}
