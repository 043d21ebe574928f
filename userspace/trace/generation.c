// SPDX-License-Identifier: GPL-2.0
/*
 * One generation of a trace: opened, filled with events, closed into a file.
 *
 * Before it in an event's way: sequence/state.c (legal transitions, numbered). It finds the
 * event's thread (threads.c) and appends the event to that thread's batches (encode.c). Closing
 * puts sync, tables (tables.c) and statuses (prologue.c) in front and hands all to file.c at once,
 * so that what a full disk keeps is whole generations.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/encode.h"
#include "trace/file.h"
#include "trace/generation.h"
#include "trace/prologue.h"
#include "trace/tables.h"
#include "trace/threads.h"

#define NS_PER_SEC UINT64_C(1000000000)

struct event_info { /* spec.c, as the hot path wants it */
	bool allowed;
	bool witnessed;
	uint8_t nargs;		 /* dt not included */
	uint8_t strings, stacks; /* bit i: args[i] is the id of one */
};

struct writer {
	struct trace_file *file;
	struct writer_opts opts;
	unsigned int shift; /* ns to ticks */
	bool started;	    /* the file has its header */
	bool open;
	uint32_t gen;	/* number of the open one, or of the next */
	uint64_t start; /* ticks */
	struct {
		uint64_t time; /* ticks */
		uint64_t mono, sec, nsec;
	} clock;
	struct event_info info[EV_END];
	struct chunk_pool pool;
	struct threads threads;
	struct tables tables;
	struct prologue prologue;
	struct stream samples;
	struct witness witness;
	uint64_t size;		   /* of the open generation, statuses not counted */
	uint64_t by_type[EV_END];  /* the same, statuses counted */
	struct writer_stats stats; /* of those written */
};

static void fill_info(struct writer *w)
{
	const struct ev_spec *spec;
	struct event_info *info;
	unsigned int type, i;

	for (type = 0; type < EV_END; type++) {
		spec = spec__event(type);
		info = &w->info[type];
		/* The clock snapshot is timed, but has its place in the sync batch only. */
		if (!spec || !spec->timed || type == EV_CLOCK_SNAPSHOT ||
		    !spec__in_version(spec, w->opts.version))
			continue;
		info->allowed = true;
		info->witnessed = witness__follows(type);
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
	threads__init(&w->threads, &w->pool);
	tables__init(&w->tables, in);
	prologue__init(&w->prologue, &w->pool);
	stream__init(&w->samples, &w->pool, TRACE_NO_M, EV_CPU_SAMPLES);
	fill_info(w);
	return w;
}

void writer__destroy(struct writer *w)
{
	if (!w)
		return;
	threads__deinit(&w->threads);
	tables__deinit(&w->tables);
	prologue__deinit(&w->prologue);
	stream__deinit(&w->samples);
	chunk_pool__deinit(&w->pool);
	free(w);
}

/*
 * Readers take a batch's time for a double, so one that is not to change has 53 bits at most: from
 * 2^53 ns (104 days) on, it is put earlier by a nanosecond or a few, which the first event makes up
 * for.
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
	witness__open(&w->witness);
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

void writer__use(struct writer *w, struct intern *in)
{
	w->tables.in = in;
}

/* The thread's first batch of this generation, or its next one. *ticks is raised as need be. */
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

/* Strings and stacks among the arguments get the ids that they have in this generation. */
static int name_args(struct writer *w, const struct event_info *info, uint64_t *args)
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
			err = err ?: tables__name_stack(&w->tables, &args[i]);
	}
	for (bits = info->strings; bits; bits &= bits - 1) {
		i = __builtin_ctz(bits);
		local = id_map__get(&w->tables.strings, args[i]);
		if (local)
			args[i] = local;
		else
			err = err ?: tables__name_string(&w->tables, &args[i]);
	}
	return err;
}

int writer__event(struct writer *w, uint64_t m, uint64_t time, enum ev type, const uint64_t *args,
		  unsigned int nargs)
{
	const struct event_info *info = &w->info[(unsigned int)type < EV_END ? type : EV_NONE];
	uint64_t ticks = time >> w->shift, named[EV_ARGS_MAX - 1], dt;
	struct stream *s;
	uint8_t *from;
	int err;

	if (!w->open || !info->allowed || nargs != info->nargs)
		return -EINVAL;
	if (info->strings | info->stacks) {
		memcpy(named, args, nargs * sizeof(*args));
		args = named;
		err = name_args(w, info, named);
		if (err)
			return err;
	}
	s = threads__get(&w->threads, m);
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
	if (info->witnessed)
		witness__event(&w->witness, m, type, args);
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
	witness__status(&w->witness, m, p, status);
	w->by_type[EV_PROC_STATUS]++;
	return 0;
}

int writer__go_status(struct writer *w, uint64_t m, uint64_t g, enum trace_go_status status,
		      uint32_t stack)
{
	uint64_t named = w->info[EV_GO_STATUS_STACK].allowed ? stack : 0;
	int err;

	if (!w->open || status < GO_RUNNABLE || status > GO_WAITING)
		return -EINVAL;
	err = tables__name_stack(&w->tables, &named);
	err = err ?: prologue__add_go(&w->prologue, m, g, status, named);
	if (!err)
		w->by_type[named ? EV_GO_STATUS_STACK : EV_GO_STATUS]++;
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
	err = tables__name_stack(&w->tables, &args[4]);
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

/* A generation without any is refused by readers of 1.22 to 1.24, whatever samples it has. */
static bool has_timed(const struct writer *w)
{
	return count_all(w) > w->by_type[EV_CPU_SAMPLE];
}

/* A stream of this generation that belongs to no thread and starts with it. */
static void init_table(struct writer *w, struct stream *s, enum ev kind)
{
	stream__init(s, &w->pool, TRACE_NO_M, kind);
	s->gen = w->gen;
	s->time = w->start;
}

/*
 * The clocks, read together: `mono` and the wall clock in ns and s whatever a tick is. Before 1.25
 * a Frequency event alone is the batch, its number being the batch's kind.
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

/* Everything in the order in which it stands in the file, in one append. */
static int append_all(struct writer *w, const struct stream tables[TABLES])
{
	static const uint8_t end_mark = EV_END_OF_GENERATION;
	const struct prologue *p = &w->prologue;
	struct iovec *iov, *at;
	char header[17];
	size_t n = 2 + w->samples.chunks + p->nobody.chunks + p->threads.chunks;
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
	snprintf(header, sizeof(header), "go 1.%u trace%c%c%c", w->opts.version, 0, 0, 0);
	if (!w->started)
		*at++ = (struct iovec){ header, 16 };
	for (i = 0; i < TABLES; i++)
		at = stream__iovecs(&tables[i], at);
	at = stream__iovecs(&w->samples, at);
	at = stream__iovecs(&p->nobody, at);
	at = stream__iovecs(&p->threads, at);
	for (i = 0; i < w->threads.count; i++)
		at = stream__iovecs(w->threads.streams[i], at);
	if (w->opts.version >= 26)
		*at++ = (struct iovec){ (void *)&end_mark, 1 };
	err = trace_file__appendv(w->file, iov, at - iov);
	free(iov);
	return err;
}

static int write_generation(struct writer *w)
{
	struct stream tables[TABLES];
	int err, i;

	init_table(w, &tables[STRINGS], EV_STRINGS);
	init_table(w, &tables[STACKS], EV_STACKS);
	err = write_sync(w, &tables[SYNC]);
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
	w->stats.bytes = trace_file__size(w->file);
	for (i = 0; i < EV_END; i++)
		w->stats.by_type[i] += w->by_type[i];
}

/* A generation without even a P to repeat is not written; what is private waits for the next. */
static void leave_out(struct writer *w)
{
	size_t private_len = w->tables.private_len;

	tables__reset(&w->tables);
	w->tables.private_len = private_len;
	stream__deinit(&w->samples);
}

int writer__close(struct writer *w)
{
	const struct witness *wi = &w->witness;
	int err = 0;

	if (!w->open)
		return -EINVAL;
	w->open = false;
	if (!has_timed(w)) {
		if (!wi->known) {
			leave_out(w);
			return 0;
		}
		err = prologue__add_proc(&w->prologue, wi->m, wi->p, wi->status);
		w->by_type[EV_PROC_STATUS] = !err;
	}
	err = err ?: write_generation(w);
	if (!err)
		account(w);
	threads__reset(&w->threads);
	tables__reset(&w->tables);
	stream__deinit(&w->samples);
	prologue__open(&w->prologue, 0, 0); /* gives its memory back now, not at the next open */
	return err;
}
