// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a trace, one generation at a time: see writer.h.
 *
 * Upstream: sequence/state.c and rewrite/rewrite.c. An event is appended to the stream of its
 * thread (stream_map.c, format/encode.c). When the generation is closed, sync, tables (tables.c)
 * and statuses (prologue.c) are put before the events, and everything is appended to the file
 * (output_file.c) at once, so that a full disk leaves whole generations.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/encode.h"
#include "format/header.h"
#include "format/private.h"
#include "writer/output_file.h"
#include "writer/prologue.h"
#include "writer/stream_map.h"
#include "writer/tables.h"
#include "writer/writer.h"

#define NS_PER_SEC UINT64_C(1000000000)
#define STARTS_MAX (64u << 10) /* bytes of a record */

/* The parts of spec.c that each event needs. */
struct event_info {
	bool allowed;
	bool tracked;
	uint8_t nargs;		 /* without dt */
	uint8_t strings, stacks; /* bit i: args[i] is an id */
};

struct writer {
	struct trace_file *file;
	int (*append)(void *to, const struct iovec *iov, size_t n); /* NULL: to the file */
	void *to;
	struct writer_opts opts;
	unsigned int shift; /* ns to ticks */
	bool started;	    /* the header is written */
	bool open;
	uint32_t gen;	/* number of the open generation, or of the next */
	uint64_t start; /* ticks */
	struct {
		uint64_t time; /* ticks */
		uint64_t mono, sec, nsec;
	} clock;
	struct event_info info[EV_END];
	struct chunk_pool pool;
	struct stream_map threads;
	struct tables tables;
	struct prologue prologue;
	struct stream samples;
	struct outbuf experiments; /* whole batches */
	struct outbuf starts;	   /* the record PRIVATE_STARTS of the open generation */
	struct tracked_p tracked_p;
	uint64_t size;		   /* of the open generation, without statuses */
	uint64_t by_type[EV_END];  /* of the open generation, with statuses */
	struct writer_stats stats; /* of the generations written */
};

static void init_event_info(struct writer *w)
{
	const struct ev_spec *spec;
	struct event_info *info;
	unsigned int type, i;

	for (type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		info = &w->info[type];
		/* A clock snapshot is timed but may be in a sync batch only. */
		if (!spec || !spec->timed || type == EV_CLOCK_SNAPSHOT ||
		    !spec__in_version(spec, w->opts.version))
			continue;
		info->allowed = true;
		info->tracked = tracked_p__needs(type);
		info->nargs = spec->nargs - 1;
		for (i = 0; i < info->nargs; i++) {
			info->strings |= (spec->arg[i + 1].type == ARG_STRING) << i;
			info->stacks |= (spec->arg[i + 1].type == ARG_STACK) << i;
		}
	}
}

struct writer *writer__create(struct trace_file *file, struct intern *in,
			      const struct writer_opts *opts)
{
	struct writer *w;

	if (!spec__version_known(opts->version) || (opts->tick_ns != 1 && opts->tick_ns != 64)) {
		errno = EINVAL;
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->file = file;
	w->opts = *opts;
	w->shift = opts->tick_ns == 64 ? 6 : 0;
	w->gen = 1;
	stream_map__init(&w->threads, &w->pool);
	tables__init(&w->tables, in);
	prologue__init(&w->prologue, &w->pool);
	stream__init(&w->samples, &w->pool, TRACE_NO_M, EV_CPU_SAMPLES);
	init_event_info(w);
	return w;
}

void writer__destroy(struct writer *w)
{
	if (!w)
		return;
	stream_map__deinit(&w->threads);
	tables__deinit(&w->tables);
	prologue__deinit(&w->prologue);
	stream__deinit(&w->samples);
	outbuf__deinit(&w->experiments);
	outbuf__deinit(&w->starts);
	chunk_pool__deinit(&w->pool);
	free(w);
}

/*
 * Readers convert the time of a batch to a double, which holds 53 bits. Above 2^53 ns (104 days)
 * the time is rounded down by a few ns, and the dt of the first event compensates.
 */
static uint64_t batch_time(uint64_t ticks)
{
	int excess = ticks ? 64 - 53 - __builtin_clzll(ticks) : 0;

	return excess > 0 ? ticks >> excess << excess : ticks;
}

int writer__open(struct writer *w, uint64_t time, uint64_t wall_ns)
{
	if (w->open)
		return -EINVAL;
	w->open = true;
	w->start = batch_time(time >> w->shift);
	w->size = 0;
	memset(w->by_type, 0, sizeof(w->by_type));
	prologue__open(&w->prologue, w->gen, w->start);
	w->samples.gen = w->gen;
	w->samples.time = w->start;
	tracked_p__open(&w->tracked_p);
	return writer__clock(w, time, time, wall_ns / NS_PER_SEC, wall_ns % NS_PER_SEC);
}

int writer__clock(struct writer *w, uint64_t time, uint64_t mono, uint64_t sec, uint64_t nsec)
{
	if (!w->open)
		return -EINVAL;
	w->clock.time = time >> w->shift;
	w->clock.mono = mono;
	w->clock.sec = sec;
	w->clock.nsec = nsec;
	return 0;
}

void writer__use_memory(struct writer *w,
			int (*append)(void *to, const struct iovec *iov, size_t n), void *to)
{
	w->append = append;
	w->to = to;
	w->started = true;
}

void writer__use(struct writer *w, struct intern *in)
{
	w->tables.in = in;
}

/* Begins a batch of the thread. Raises *ticks to the time of the thread if it is earlier. */
static int begin_batch(struct writer *w, struct stream *s, uint64_t *ticks)
{
	int err;

	if (!s->first) {
		s->gen = w->gen;
		s->time = w->start;
	}
	if (*ticks < s->time)
		*ticks = s->time;
	s->time = batch_time(*ticks);
	err = stream__begin(s, EVENT_MAX);
	if (!err)
		w->size += s->pos - s->last->data;
	return err;
}

/* Replaces ids of strings and stacks by those of this generation. */
static int localize_args(struct writer *w, const struct event_info *info, uint64_t *args)
{
	uint32_t local;
	unsigned int i, bits;
	int err = 0;

	for (bits = info->stacks; bits; bits &= bits - 1) {
		i = __builtin_ctz(bits);
		local = id_map__get(&w->tables.stacks, args[i]);
		if (local)
			args[i] = local;
		else
			err = err ?: tables__add_stack(&w->tables, &args[i]);
	}
	for (bits = info->strings; bits; bits &= bits - 1) {
		i = __builtin_ctz(bits);
		local = id_map__get(&w->tables.strings, args[i]);
		if (local)
			args[i] = local;
		else
			err = err ?: tables__add_string(&w->tables, &args[i]);
	}
	return err;
}

int writer__event(struct writer *w, uint64_t m, uint64_t time, enum ev type, const uint64_t *args,
		  unsigned int nargs)
{
	const struct event_info *info = &w->info[(unsigned int)type < EV_END ? type : EV_NONE];
	uint64_t ticks = time >> w->shift, local[EV_ARGS_MAX - 1], dt;
	struct stream *s;
	uint8_t *from;
	int err;

	if (!w->open || !info->allowed || nargs != info->nargs)
		return -EINVAL;
	if (info->strings | info->stacks) {
		memcpy(local, args, nargs * sizeof(*args));
		args = local;
		err = localize_args(w, info, local);
		if (err)
			return err;
	}
	s = stream_map__get(&w->threads, m);
	if (!s)
		return -ENOMEM;
	if (!s->size || s->end - s->pos < EVENT_MAX) {
		err = begin_batch(w, s, &ticks);
		if (err)
			return err;
	}
	dt = ticks > s->time ? ticks - s->time : 0;
	s->time += dt;
	from = s->pos;
	stream__put_event(s, type, dt, args, nargs);
	w->size += s->pos - from;
	w->by_type[type]++;
	if (info->tracked)
		tracked_p__event(&w->tracked_p, m, type, args);
	return 0;
}

int writer__proc_status(struct writer *w, uint64_t m, uint64_t p, enum trace_proc_status status)
{
	int err;

	if (!w->open || status < PROC_RUNNING || status > PROC_ABANDONED)
		return -EINVAL;
	err = prologue__add_proc(&w->prologue, m, p, status);
	if (err)
		return err;
	tracked_p__status(&w->tracked_p, m, p, status);
	w->by_type[EV_PROC_STATUS]++;
	return 0;
}

/* ---- what a version has no event for ---- */

static int put_private(void *to, const void *part, size_t len)
{
	return tables__add_private(to, part, len);
}

static int flush_starts(struct writer *w)
{
	int err = 0;

	if (w->starts.len)
		err = private__parts(PRIVATE_STARTS, w->starts.data, w->starts.len, put_private,
				     &w->tables);
	w->starts.len = 0;
	return err;
}

int writer__start(struct writer *w, uint64_t g, uint32_t stack)
{
	uint64_t local = stack;
	int err;

	if (!w->open)
		return -EINVAL;
	if (!stack || w->info[EV_GO_STATUS_STACK].allowed)
		return 0;
	err = tables__add_stack(&w->tables, &local);
	if (!err && w->starts.len > STARTS_MAX)
		err = flush_starts(w);
	if (!err && outbuf__room(&w->starts, 2 * LEB_MAX, NULL))
		err = -ENOMEM;
	if (err)
		return err;
	leb__append(&w->starts, g);
	leb__append(&w->starts, local);
	return 0;
}

/* A snapshot without a wall-clock time contains nothing. */
static int write_snapshot(struct writer *w)
{
	uint8_t data[4 * LEB_MAX], *p = data;

	if (w->opts.version >= 25 || (!w->clock.sec && !w->clock.nsec))
		return 0;
	p = leb__put(p, w->clock.time << w->shift);
	p = leb__put(p, w->clock.mono);
	p = leb__put(p, w->clock.sec);
	p = leb__put(p, w->clock.nsec);
	return private__parts(PRIVATE_SNAPSHOT, data, (size_t)(p - data), put_private, &w->tables);
}

int writer__go_status(struct writer *w, uint64_t m, uint64_t g, enum trace_go_status status,
		      uint32_t stack)
{
	uint64_t local = w->info[EV_GO_STATUS_STACK].allowed ? stack : 0;
	int err;

	if (!w->open || status < GO_RUNNABLE || status > GO_WAITING)
		return -EINVAL;
	err = tables__add_stack(&w->tables, &local);
	err = err ?: writer__start(w, g, stack);
	err = err ?: prologue__add_go(&w->prologue, m, g, status, local);
	if (!err)
		w->by_type[local ? EV_GO_STATUS_STACK : EV_GO_STATUS]++;
	return err;
}

int writer__sample(struct writer *w, uint64_t time, uint64_t m, uint64_t p, uint64_t g,
		   uint32_t stack)
{
	uint64_t args[] = { time >> w->shift, m, p, g, stack };
	struct stream *s = &w->samples;
	unsigned int i;
	int err;

	if (!w->open)
		return -EINVAL;
	err = tables__add_stack(&w->tables, &args[4]);
	err = err ?: stream__room(s, EVENT_MAX);
	if (err)
		return err;
	*s->pos++ = EV_CPU_SAMPLE;
	for (i = 0; i < 5; i++)
		s->pos = leb__put(s->pos, args[i]);
	w->by_type[EV_CPU_SAMPLE]++;
	return 0;
}

int writer__private(struct writer *w, const void *data, size_t len)
{
	return w->open ? tables__add_private(&w->tables, data, len) : -EINVAL;
}

int writer__experiment(struct writer *w, enum ev_experiment experiment, const void *data,
		       size_t len)
{
	const size_t header = 2 + 4 * LEB_MAX;
	struct outbuf *o = &w->experiments;

	if (!w->open || len > TRACE_BATCH_MAX ||
	    !spec__in_version(spec__event(EV_EXPERIMENTAL_BATCH), w->opts.version))
		return -EINVAL;
	if (outbuf__room(o, header + len, NULL)) /* for all or nothing */
		return -ENOMEM;
	o->data[o->len++] = EV_EXPERIMENTAL_BATCH;
	o->data[o->len++] = (char)experiment;
	leb__append(o, w->gen);
	leb__append(o, TRACE_NO_M);
	leb__append(o, w->start);
	leb__append(o, len);
	return outbuf__put(o, data, len, NULL);
}

size_t writer__size(const struct writer *w)
{
	return w->size;
}

const struct writer_stats *writer__stats(const struct writer *w)
{
	return &w->stats;
}

static uint64_t count_all(const struct writer *w)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < EV_END; i++)
		n += w->by_type[i];
	return n;
}

/* Readers of 1.22 to 1.24 reject a generation without timed events, even if it has samples. */
static bool has_timed(const struct writer *w)
{
	return count_all(w) > w->by_type[EV_CPU_SAMPLE];
}

/* Initializes a stream without a thread that starts with the generation. */
static void init_table(struct writer *w, struct stream *s, enum ev kind)
{
	stream__init(s, &w->pool, TRACE_NO_M, kind);
	s->gen = w->gen;
	s->time = w->start;
}

/*
 * Writes the clocks; they are in ns and s for any tick. Before 1.25 the batch is a lone Frequency
 * event, whose type is the first byte of the batch.
 */
static int write_sync(struct writer *w, struct stream *s)
{
	uint64_t clocks[] = { w->clock.mono, w->clock.sec, w->clock.nsec };
	bool snapshot = w->opts.version >= 25;
	int err;

	init_table(w, s, snapshot ? EV_SYNC : EV_FREQUENCY);
	err = stream__begin(s, 2 * EVENT_MAX);
	if (err)
		return err;
	if (snapshot)
		*s->pos++ = EV_FREQUENCY;
	s->pos = leb__put(s->pos, NS_PER_SEC / w->opts.tick_ns);
	if (snapshot)
		stream__put_event(s, EV_CLOCK_SNAPSHOT, w->clock.time - w->start, clocks, 3);
	stream__end(s);
	return 0;
}

enum { SYNC, STRINGS, STACKS, TABLES };

/* Appends everything to the file, in its order there. */
static int append_all(struct writer *w, const struct stream tables[TABLES])
{
	static const uint8_t end_mark = EV_END_OF_GENERATION;
	const struct prologue *p = &w->prologue;
	struct iovec *iov, *at;
	char header[TRACE_HEADER_LEN];
	size_t n = 3 + w->samples.chunks + p->threadless.chunks + p->threads.chunks;
	uint32_t i;
	int err;

	for (i = 0; i < TABLES; i++)
		n += tables[i].chunks;
	for (i = 0; i < w->threads.count; i++) {
		stream__end(w->threads.streams[i]);
		n += w->threads.streams[i]->chunks;
	}
	iov = at = malloc(n * sizeof(*iov));
	if (!iov)
		return -ENOMEM;
	header__make(w->opts.version, header);
	if (!w->started)
		*at++ = (struct iovec){ header, sizeof(header) };
	for (i = 0; i < TABLES; i++)
		at = stream__iovecs(&tables[i], at);
	at = stream__iovecs(&w->samples, at);
	if (w->experiments.len)
		*at++ = (struct iovec){ w->experiments.data, w->experiments.len };
	at = stream__iovecs(&p->threadless, at);
	at = stream__iovecs(&p->threads, at);
	for (i = 0; i < w->threads.count; i++)
		at = stream__iovecs(w->threads.streams[i], at);
	if (w->opts.version >= 26)
		*at++ = (struct iovec){ (void *)&end_mark, 1 };
	n = (size_t)(at - iov);
	err = w->append ? w->append(w->to, iov, n) : trace_file__appendv(w->file, iov, n);
	for (size_t j = 0; !err && j < n; j++)
		w->stats.bytes += iov[j].iov_len;
	free(iov);
	return err;
}

static int write_generation(struct writer *w)
{
	struct stream tables[TABLES];
	int err, i;

	init_table(w, &tables[STRINGS], EV_STRINGS);
	init_table(w, &tables[STACKS], EV_STACKS);
	err = write_snapshot(w) ?: flush_starts(w);
	err = err ?: write_sync(w, &tables[SYNC]);
	err = err ?: tables__write(&w->tables, &tables[STRINGS], &tables[STACKS]);
	err = err ?: prologue__write(&w->prologue);
	stream__end(&w->samples);
	err = err ?: append_all(w, tables);
	for (i = 0; i < TABLES; i++)
		stream__deinit(&tables[i]);
	return err;
}

static void account(struct writer *w)
{
	unsigned int i;

	w->started = true;
	w->gen++;
	w->stats.generations++;
	w->stats.events += count_all(w);
	for (i = 0; i < EV_END; i++)
		w->stats.by_type[i] += w->by_type[i];
}

/* Without a known P the generation is not written. Its private data remains for the next one. */
static void discard_generation(struct writer *w)
{
	size_t private_len = w->tables.private.len;

	tables__reset(&w->tables);
	w->tables.private.len = private_len;
	stream__deinit(&w->samples);
	w->experiments.len = w->starts.len = 0;
}

int writer__end(struct writer *w, uint64_t time)
{
	const struct tracked_p *p = &w->tracked_p;
	const uint64_t args[] = { p->p, p->status };

	if (!w->open || !p->known)
		return w->open ? 0 : -EINVAL;
	return writer__event(w, p->m, time, EV_PROC_STATUS, args, 2);
}

int writer__close(struct writer *w)
{
	const struct tracked_p *p = &w->tracked_p;
	int err = 0;

	if (!w->open)
		return -EINVAL;
	w->open = false;
	if (!has_timed(w)) {
		if (!p->known) {
			discard_generation(w);
			return 0;
		}
		err = prologue__add_proc(&w->prologue, p->m, p->p, p->status);
		w->by_type[EV_PROC_STATUS] = !err;
	}
	err = err ?: write_generation(w);
	if (!err)
		account(w);
	stream_map__reset(&w->threads);
	tables__reset(&w->tables);
	stream__deinit(&w->samples);
	w->experiments.len = w->starts.len = 0;
	prologue__open(&w->prologue, 0, 0); /* free the memory now */
	return err;
}
