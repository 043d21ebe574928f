// SPDX-License-Identifier: GPL-2.0
/*
 * The contents of a trace, counted: see statistics.h.
 *
 * Downstream of reader/reader.c and text/raw.c. A trace is untrusted: sums may wrap, without
 * further consequences.
 */
#include "analysis/statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "text/raw.h"

void statistics__init(struct statistics *s)
{
	*s = (struct statistics){ .last_m = TRACE_NO_M, .last_p = TRACE_NO_P };
}

void statistics__deinit(struct statistics *s)
{
	map__deinit(&s->threads);
	map__deinit(&s->ps);
	map__deinit(&s->kernel.threads);
	free(s->generation);
	free(s->meta);
	free(s->gap);
	free(s->recorded);
	free(s->plugin);
	free(s->procs_change);
	statistics__init(s);
}

static int note_id(const struct statistics *s, struct map *ids, uint64_t id)
{
	static char there;

	return s->endless || map__get(ids, id) ? 0 : map__put(ids, id, &there);
}

static int note_context(struct statistics *s, const struct trace_event *ev)
{
	int err = 0;

	if (ev->m != TRACE_NO_M && ev->m != s->last_m) {
		s->last_m = ev->m;
		err = note_id(s, &s->threads, ev->m);
	}
	if (!err && ev->p != TRACE_NO_P && ev->p != s->last_p) {
		s->last_p = ev->p;
		err = note_id(s, &s->ps, ev->p);
	}
	return err;
}

static void add_goroutine(struct statistics *s, uint64_t *how)
{
	(*how)++;
	if (++s->alive > s->most_alive)
		s->most_alive = s->alive;
}

/* Each generation has an event with the current value. */
static int note_procs(struct statistics *s, const struct trace_event *ev)
{
	bool same = s->gomaxprocs == ev->arg[0];

	s->gomaxprocs = ev->arg[0];
	if (same || s->endless)
		return 0;
	if (array__grow(&s->procs_change, s->procs_changes, &s->procs_changes_cap,
			sizeof(*s->procs_change)))
		return -ENOMEM;
	s->procs_change[s->procs_changes++] = (struct statistics_procs){ ev->time, ev->arg[0] };
	return 0;
}

static int note_event(struct statistics *s, const struct trace_event *ev)
{
	switch (ev->type) {
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
	case EV_GO_CREATE_SYSCALL:
		add_goroutine(s, &s->created);
		return 0;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		if (ev->old == GO_STATE_UNDETERMINED)
			add_goroutine(s, &s->present);
		return 0;
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
		s->ended++;
		s->alive--;
		return 0;
	case EV_PROC_STATUS:
	case EV_PROC_START:
		return note_id(s, &s->ps, ev->arg[0]);
	case EV_PROCS_CHANGE:
		return note_procs(s, ev);
	default:
		return 0;
	}
}

/* Losses of one report, of a kind each, are one gap; so are those that meet. */
static int add_gap(struct statistics *s, const struct private_loss *loss)
{
	struct statistics_gap *last = s->gaps ? &s->gap[s->gaps - 1] : NULL;

	if (last && loss->from <= last->to && loss->to >= last->from) {
		if (loss->from < last->from)
			last->from = loss->from;
		if (loss->to > last->to)
			last->to = loss->to;
		last->count += loss->count;
		return 0;
	}
	if (s->endless)
		return 0;
	if (array__grow(&s->gap, s->gaps, &s->gaps_cap, sizeof(*s->gap)))
		return -ENOMEM;
	s->gap[s->gaps++] = (struct statistics_gap){ loss->from, loss->to, loss->count };
	return 0;
}

static int add_losses(struct statistics *s, struct buf data)
{
	struct statistics_loss *sum;
	struct private_loss loss;

	while (private_read__loss(&data, &loss)) {
		sum = &s->loss[loss.kind < GT_KIND_END ? loss.kind : 0];
		if (!sum->count || loss.from < sum->from)
			sum->from = loss.from;
		if (!sum->count || loss.to > sum->to)
			sum->to = loss.to;
		sum->count += loss.count;
		s->lost += loss.count;
		if (add_gap(s, &loss))
			return -ENOMEM;
	}
	s->private_bad += data.bad;
	return 0;
}

static void add_correction(struct statistics *s, struct buf data)
{
	struct private_correction *sum = &s->corrected, c;

	if (!private_read__correction(&data, &c)) {
		s->private_bad++;
		return;
	}
	if (!s->corrections++ || c.from < sum->from)
		sum->from = c.from;
	if (c.to > sum->to)
		sum->to = c.to;
	sum->goroutines += c.goroutines;
	sum->threads += c.threads;
	sum->events += c.events;
}

static int keep_meta(struct statistics *s, const struct buf *data)
{
	size_t len = buf__left(data);

	if (s->meta || !len)
		return 0;
	s->meta = malloc(len);
	if (!s->meta)
		return -ENOMEM;
	memcpy(s->meta, data->pos, len);
	s->meta_len = len;
	return 0;
}

/* The window may contain causes of earlier snapshots: the last one is that of this file. */
static void keep_cause(struct statistics *s, struct buf data)
{
	struct statistics_cause *cause = &s->cause[s->causes % STATISTICS_CAUSES];
	uint64_t time;
	size_t len;

	if (!private_read__number(&data, &time)) {
		s->private_bad++;
		return;
	}
	len = buf__left(&data);
	len = len < PRIVATE_CAUSE_MAX ? len : PRIVATE_CAUSE_MAX;
	memcpy(cause->text, data.pos, len);
	cause->text[len] = '\0';
	cause->time = time;
	s->causes++;
}

static int add_change(struct statistics *s, struct buf data)
{
	if (array__grow(&s->recorded, s->changes, &s->changes_cap, sizeof(*s->recorded)))
		return -ENOMEM;
	if (private_read__recorded(&data, &s->recorded[s->changes]))
		s->changes++;
	else
		s->private_bad++;
	return 0;
}

/* The text is the name of the file and, after a line break, the reason. */
static int add_plugin(struct statistics *s, struct buf data)
{
	struct statistics_plugin plugin = {};
	struct private_plugin read;
	const char *why;
	size_t len;

	if (!private_read__plugin(&data, &read)) {
		s->private_bad++;
		return 0;
	}
	plugin.from = read.from;
	plugin.to = read.to;
	plugin.recorded = read.recorded;
	why = memchr(read.text, '\n', read.text_len);
	len = why ? (size_t)(why - read.text) : read.text_len;
	memcpy(plugin.file, read.text, len);
	if (why)
		memcpy(plugin.why, why + 1, read.text_len - len - 1);
	for (size_t i = 0; i < s->plugins; i++)
		if (s->plugin[i].from == plugin.from && s->plugin[i].to == plugin.to &&
		    !strcmp(s->plugin[i].file, plugin.file))
			return 0;
	if (s->plugins == STATISTICS_PLUGINS)
		return 0;
	if (array__grow(&s->plugin, s->plugins, &s->plugins_cap, sizeof(*s->plugin)))
		return -ENOMEM;
	s->plugin[s->plugins++] = plugin;
	return 0;
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static void add_host_clock(struct statistics *s, struct buf data)
{
	struct private_host_clock *worst = &s->host_clock.worst, clock;

	if (!private_read__host_clock(&data, &clock)) {
		s->private_bad++;
		return;
	}
	if (!s->host_clock.generations++) {
		*worst = clock;
		return;
	}
	worst->time = clock.time;
	worst->synchronized &= clock.synchronized;
	if (clock.max_error > worst->max_error)
		worst->max_error = clock.max_error;
	if (clock.error > worst->error)
		worst->error = clock.error;
	if (magnitude(clock.shift) > magnitude(worst->shift))
		worst->shift = clock.shift;
}

static int note_record(struct statistics *s, struct private_record *record)
{
	switch (record->kind) {
	case PRIVATE_META:
		return keep_meta(s, &record->data);
	case PRIVATE_LOSSES:
		return add_losses(s, record->data);
	case PRIVATE_CORRECTION:
		add_correction(s, record->data);
		return 0;
	case PRIVATE_SAMPLED:
		if (!s->heap_sampled && !private_read__number(&record->data, &s->heap_sampled))
			s->private_bad++;
		return 0;
	case PRIVATE_CLOCK:
		if (!private_read__number(&record->data, &s->clock_error))
			s->private_bad++;
		return 0;
	case PRIVATE_CAUSE:
		keep_cause(s, record->data);
		return 0;
	case PRIVATE_HOST_CLOCK:
		add_host_clock(s, record->data);
		return 0;
	case PRIVATE_SHORT:
		if (!private_read__add_short(&record->data, &s->shorts))
			s->private_bad++;
		return 0;
	case PRIVATE_CPU_SAMPLES:
		if (!private_read__add_cpu_samples(&record->data, &s->cpu_samples))
			s->private_bad++;
		return 0;
	case PRIVATE_RECORDED:
		return add_change(s, record->data);
	case PRIVATE_PLUGIN:
		return add_plugin(s, record->data);
	case PRIVATE_TICKS:
		if (!s->ticks.tick_ns && !private_read__ticks(&record->data, &s->ticks))
			s->private_bad++;
		return 0;
	case PRIVATE_SNAPSHOT: /* of the sync, see reader/decode_private.c */
		if (!private_read__snapshot(&record->data, &(struct trace_clock){}))
			s->private_bad++;
		return 0;
	case PRIVATE_STARTS:
		while (private_read__start(&record->data, &(struct private_start){}))
			;
		s->private_bad += record->data.bad;
		return 0;
	case PRIVATE_GAPS:
		while (private_read__gap(&record->data, &(struct private_gap){}))
			;
		s->private_bad += record->data.bad;
		return 0;
	case PRIVATE_TABLE:
		s->describes = true;
		return 0;
	default:
		return 0;
	}
}

static int note_private(struct statistics *s, const struct dictionary *dictionary)
{
	struct private_record record;
	struct private_reader r;
	int code, err = 0;

	private_reader__init(&r, dictionary);
	while (!err && (code = private_reader__next(&r, &record)))
		err = code < 0 ? code : note_record(s, &record);
	s->private_records += r.records;
	s->private_bad += r.bad;
	s->private_unknown += r.unknown;
	private_reader__deinit(&r);
	return err;
}

static int note_kernel(struct statistics *s, const struct dictionary *dictionary)
{
	struct statistics_kernel *sum = &s->kernel;
	struct kernel_reader *r = NULL;
	struct kernel_thread thread;
	struct kernel_item item;
	int err = kernel_reader__open(&r, dictionary);

	if (err <= 0)
		return err;
	err = 0;
	while (!err && kernel_reader__thread(r, &thread))
		err = note_id(s, &sum->threads, thread.tid);
	while (!err && kernel_reader__item(r, &item)) {
		sum->items++;
		sum->item[item.kind]++;
		if (!kernel_item__is_of_cpu(&item))
			err = note_id(s, &sum->threads, item.tid);
	}
	sum->bytes += kernel_reader__bytes(r);
	sum->waits |= kernel_reader__has_waits(r);
	s->private_bad += kernel_reader__bad(r);
	kernel_reader__close(r);
	return err;
}

static int add_generation(struct statistics *s, const struct trace_event *ev)
{
	if (s->endless)
		s->generations = 0;
	if (array__grow(&s->generation, s->generations, &s->generations_cap,
			sizeof(*s->generation)))
		return -ENOMEM;
	s->generation[s->generations++] = (struct statistics_generation){
		.number = ev->sync->generation,
		.offset = ev->offset,
		.strings = dictionary__nstrings(ev->dictionary),
		.stacks = ev->dictionary->stack_ids.count,
		.start = ev->time,
		.end = ev->time,
		.clock = ev->sync->clock,
	};
	return note_private(s, ev->dictionary) ?: s->endless ? 0 : note_kernel(s, ev->dictionary);
}

static int note_sync(struct statistics *s, const struct trace_event *ev)
{
	if (!ev->dictionary)
		return 0; /* the trace's end */
	s->strings += dictionary__nstrings(ev->dictionary);
	s->stacks += ev->dictionary->stack_ids.count;
	return ev->sync->generation ? add_generation(s, ev) : 0;
}

int statistics__event(struct statistics *s, const struct trace_event *ev)
{
	struct statistics_generation *last;
	int err;

	if (!s->any)
		s->start = ev->time;
	s->any = true;
	s->end = ev->time;
	if (ev->type == EV_SYNC)
		return note_sync(s, ev);
	s->events += trace_event__is_of_file(ev);
	if (s->generations) {
		last = &s->generation[s->generations - 1];
		last->events += trace_event__is_of_file(ev);
		last->end = ev->time;
	}
	s->type[ev->type].events++;
	err = note_context(s, ev);
	return err ? err : note_event(s, ev);
}

/* The second pass: how far it is, and the event whose end is where the next one begins. */
struct pass {
	struct statistics *s;
	size_t generations;
	uint64_t number; /* of the generation */
	bool open;	 /* it has not ended */
	uint64_t from;	 /* offset: of the event before */
	unsigned int type;
};

/* The event before ends where this one begins. */
static void pass__end_event(struct pass *p, uint64_t offset)
{
	uint64_t bytes = offset - p->from;

	p->s->type[p->type].bytes += bytes;
	p->s->bytes += bytes;
	if (p->generations)
		p->s->generation[p->generations - 1].bytes += bytes;
	p->from = offset;
}

/* False: the batch is of a generation that the first pass did not see. */
static bool pass__batch(struct pass *p, uint64_t number)
{
	if (p->open && p->number == number)
		return true;
	if (p->generations == p->s->generations)
		return false;
	p->generations++;
	p->number = number;
	p->open = true;
	return true;
}

/* ExperimentalBatch has one argument more: which experiment it is. */
static bool pass__event(struct pass *p, const struct raw_event *ev, uint64_t offset)
{
	bool batch = ev->type == EV_EVENT_BATCH || ev->type == EV_EXPERIMENTAL_BATCH;

	pass__end_event(p, offset);
	if (batch && !pass__batch(p, ev->arg[ev->type == EV_EXPERIMENTAL_BATCH]))
		return false;
	if (ev->type == EV_END_OF_GENERATION)
		p->open = false;
	p->type = ev->type;
	p->s->type[ev->type].events++;
	return true;
}

static int skip_frames(struct raw_reader *r, uint64_t n, struct error *error)
{
	uint64_t frame[RAW_FRAME];
	int err = 0;

	while (n-- && !err)
		err = raw_reader__frame(r, frame, error);
	return err;
}

static int count_raw(struct pass *p, struct raw_reader *r, struct error *error)
{
	struct raw_event ev;
	int err;

	while ((err = raw_reader__next(r, &ev, error)) > 0) {
		if (!pass__event(p, &ev, r->event))
			return 0;
		err = skip_frames(r, ev.frames, error);
		if (err)
			return err;
	}
	if (!err) /* the last one ends with the trace */
		pass__end_event(p, r->offset + (uint64_t)(r->window.pos - r->window.start));
	return err;
}

int statistics__raw(struct statistics *s, struct input *in, bool lenient, struct error *error)
{
	struct pass p = { .s = s, .type = EV_NONE };
	struct error why = {};
	struct raw_reader r;
	int err = raw_reader__init(&r, in, error);

	memset(s->type, 0, sizeof(s->type));
	/* What a reader delivers it delivers of any version. */
	for (unsigned int type = 0; type < EV_END && !err; type++)
		r.types.spec[type] = spec__event(type);
	if (!err) {
		err = count_raw(&p, &r, &why);
		if (err == -EBADMSG && lenient)
			err = 0;
		else if (err)
			error__set(error, err, "%s", why.text);
	}
	raw_reader__deinit(&r);
	return err;
}

const struct statistics_cause *statistics__cause(const struct statistics *s, uint64_t i)
{
	if (i >= s->causes || i >= STATISTICS_CAUSES)
		return NULL;
	return &s->cause[(s->causes - 1 - i) % STATISTICS_CAUSES];
}
