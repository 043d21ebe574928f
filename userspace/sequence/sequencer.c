// SPDX-License-Identifier: GPL-2.0
/*
 * Implements sequencer.h: takes records and watermarks, drives merge, hold-back and boundaries.
 *
 * sequencer__record() queues; sequencer__watermark() is the main loop: it takes the records up to
 * the watermark from the merge, applies each (handle_record), and then handles losses.
 */
#include "sequence/boundary.h"
#include "sequence/initial.h"
#include "sequence/sequencer.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "sequence/ahead.h"
#include "sequence/derived.h"
#include "sequence/sequencer_impl.h"
#include "writer/private_write.h"

#define GOROUTINES_BLOCK (48u << 10)

int sequencer__create(struct sequencer **ret, const struct sequencer_opts *opts)
{
	struct sequencer *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	s->model.goroutines_max = MODEL_GOROUTINES_MAX;
	s->requests.max = REQUEST_NAMES_DEFAULT;
	s->shorts.sum.min_ns = opts->min_call_ns;
	arena__init(&s->model.pool, GOROUTINES_BLOCK);
	s->merge = merge__create();
	s->stacks = stacks__create(opts->intern, &opts->symbolizer,
				   opts->layout && opts->layout->config.systemstack_frameless);
	s->texts = texts__create(opts->intern);
	s->kernel.writer = kernel_writer__create();
	if (!s->merge || !s->stacks || !s->texts || !s->kernel.writer) {
		sequencer__destroy(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void sequencer__destroy(struct sequencer *s)
{
	if (!s)
		return;
	snapshot__deinit(&s->start.first);
	snapshot__deinit(&s->start.second);
	snapshot__deinit(&s->resync.pair[0]);
	snapshot__deinit(&s->resync.pair[1]);
	map__deinit(&s->resync.strays);
	model__deinit(s);
	open_requests__deinit(&s->requests);
	stacks__destroy(s->stacks);
	texts__destroy(s->texts);
	kernel_writer__destroy(s->kernel.writer);
	kernel_threads__deinit(&s->kernel.threads);
	once__deinit(&s->samples.pcs);
	short_calls__deinit(s);
	shedding__deinit(s);
	merge__destroy(s->merge);
	free(s);
}

void sequencer__no_kernel(struct sequencer *s)
{
	s->kernel.off = true;
}

void sequencer__calls_only(struct sequencer *s)
{
	s->calls_only = true;
}

void sequencer__max_names(struct sequencer *s, uint32_t max)
{
	s->requests.max = max ? max : REQUEST_NAMES_DEFAULT;
}

void sequencer__clock_error(struct sequencer *s, uint64_t ns)
{
	s->clock_error = ns;
}

void sequencer__may_hold(struct sequencer *s, uint64_t bytes)
{
	merge__may_hold(s->merge, bytes);
	texts__may_hold(s->texts, bytes);
}

void sequencer__host_clock(struct sequencer *s, const struct private_host_clock *clock)
{
	s->host_clock = *clock;
}

int sequencer__start(struct sequencer *s, uint64_t t0, uint64_t wall_ns)
{
	if (s->started)
		return -EALREADY;
	s->started = true;
	s->t0 = s->now = s->watermark = s->losses.counted_from = t0;
	s->wall0 = wall_ns;
	return 0;
}

/* The merge takes records of fixed sizes: the PCs of a sample are stored apart, by number. */
static int sample__put(struct sequencer *s, unsigned int ring, const struct gt_record *rec)
{
	const struct gt_stack *stack = (const void *)(rec + 1);
	struct {
		struct gt_record rec;
		struct gt_stack stack;
	} head = { *rec, *stack };
	int err;

	head.rec.object = (uint64_t)ring << 32 | rec->seq;
	err = once__put(&s->samples.pcs, head.rec.object, rec->time, stack->pc,
			stack->depth * sizeof(stack->pc[0]));
	return err ? err : merge__put(s->merge, ring, &head.rec, sizeof(head));
}

int sequencer__record(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		      size_t size)
{
	int err;

	if (!gt_record_is_whole(rec, size) || !rec->tid || ring >= GT_RINGS_ALL) {
		s->stats.bad_records++;
		return -EBADMSG;
	}
	/* Stacks and texts are sent once, maybe before the window, and must precede their use. */
	if (rec->kind == GT_STACK || rec->kind == GT_TEXT) {
		s->stats.records++;
		merge__count(s->merge, ring, rec);
		return rec->kind == GT_STACK ? stacks__add(s->stacks, rec) :
					       texts__add(s->texts, rec);
	}
	if (rec->kind == GT_LABELS_PRESENT) {
		merge__count(s->merge, ring, rec);
		return labels__note_present(s, rec);
	}
	if (rec->kind == GT_SAMPLE)
		err = sample__put(s, ring, rec);
	else if (derived__is(rec))
		err = derived__put(s, ring, rec);
	else
		err = merge__put(s->merge, ring, rec, size);
	if (err != -ENOBUFS)
		return err;
	/*
	 * Handled like a full ring: the watermark is held back, and the merge is at its limit. The
	 * number is not noted, so that the next record of the ring shows a gap.
	 */
	s->losses.overflow[rec->kind]++;
	losses__counted(s, rec->kind, s->stats.lost_by_kind[rec->kind] + 1, rec->time);
	return 0;
}

/* ---- one record ---- */

static void handle_record(struct sequencer *s, const struct gt_record *rec)
{
	struct thread *t;
	int err;

	if (rec->time < s->t0 || (s->t1 && rec->time > s->t1))
		return;
	s->stats.records++;
	err = boundary__roll(s, rec->time, true);
	s->now = rec->time;
	if (err) {
		s->error = err;
		return;
	}
	if (rec->kind == GT_RECORDED) {
		shedding__apply(s, rec);
		return;
	}
	if (gt_kind_is_plugins(rec->kind)) {
		shedding__plugin(s, rec);
		return;
	}
	if (shedding__hides(s, rec))
		return;
	if (rec->kind == GT_CPU_OFF || rec->kind == GT_CPU_ON)
		state__switched(s, rec);
	if (rec->kind == GT_SOCKET) {
		open_requests__socket(s, rec);
		return;
	}
	if (gt_kind_is_kernels(rec->kind)) {
		s->error = s->kernel.off ? 0 : kernel_events__record(s, rec, true);
		return;
	}
	t = model__thread(s, rec->tid);
	if (!t)
		return;
	t->heard = rec->time;
	t->searched = 0;
	if (t->head || state__apply(s, t, rec, false) == WAIT)
		hold__add(s, t, rec);
	if (s->hold.threads)
		hold__step(s, rec->time);
}

/* ---- watermarks ---- */

/* All records up to `time`, taken from the merge; valid until its next put or trim. */
static const struct gt_record **take_all(struct sequencer *s, uint64_t time, size_t *ret_n)
{
	const struct gt_record **rec = NULL, *r;
	size_t n = 0, cap = 0;

	while ((r = merge__next(s->merge, time))) {
		if (r->time < s->t0) {
			if (gt_kind_is_kernels(r->kind) && !s->kernel.off &&
			    kernel_events__record(s, r, false))
				s->error = -ENOMEM;
			continue;
		}
		if (array__grow(&rec, n, &cap, sizeof(struct gt_record *))) {
			free(rec);
			return NULL;
		}
		rec[n++] = r;
	}
	*ret_n = n;
	return rec ? rec : calloc(1, sizeof(*rec));
}

/* Finds the state at the window's start. Kernel events do not contribute to it. */
static int resolve(struct sequencer *s, const struct gt_record **rec, size_t n)
{
	const struct gt_record **go = malloc(n * sizeof(*go) + 1);
	uint64_t mapped = 0; /* a plugin without probes: what follows is incomplete */
	size_t ngo = 0;
	int err;

	if (!go || s->error) {
		free(go);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		if (rec[i]->kind == GT_PLUGIN_MAPPED)
			mapped = rec[i]->time;
		else if (rec[i]->kind == GT_PLUGINS_PROBED && rec[i]->object >= mapped)
			mapped = 0;
		else if (!mapped && !gt_kind_is_kernels(rec[i]->kind) &&
			 rec[i]->kind != GT_RECORDED && rec[i]->kind != GT_PLUGIN &&
			 rec[i]->kind != GT_SOCKET)
			go[ngo++] = rec[i];
	}
	err = initial__resolve(s, go, ngo);
	free(go);
	return err;
}

static int begin_window(struct sequencer *s, uint64_t time)
{
	size_t n;
	const struct gt_record **rec = take_all(s, time, &n);
	int err;

	if (!rec)
		return -ENOMEM;
	err = resolve(s, rec, n);
	labels__forget_changed(s, rec, n);
	s->ready = !err;
	s->stats.at_start = s->model.by_id.n;
	snapshot__deinit(&s->start.first);
	snapshot__deinit(&s->start.second);
	free(rec);
	merge__rewind(s->merge);
	return err;
}

/* Reports gaps of the rings before the watermark; UINT64_MAX: all. */
static void handle_gaps(struct sequencer *s, uint64_t time)
{
	struct merge_gap gap;

	while (merge__gap(s->merge, time, &gap)) {
		s->stats.gaps++;
		losses__located(s, gap.count, gap.from, gap.to);
	}
}

/* Forces held records first: they wait for lost ones, and the snapshots have newer information. */
static void handle_pair(struct sequencer *s, uint64_t time)
{
	hold__retry(s, time);
	if (!s->error)
		resync__apply(s, resync__due(s));
	snapshot__deinit(&s->resync.pair[0]);
	snapshot__deinit(&s->resync.pair[1]);
	s->resync.has_pair = false;
}

/* Applies the records up to `time`. Returns up to when: earlier if the stream stalls (ahead.h). */
static uint64_t run(struct sequencer *s, uint64_t time)
{
	const struct gt_record *rec;
	bool stalls;

	s->limit = time;
	s->search_left = AHEAD_SEARCH_MAX;
	if (s->hold.threads)
		hold__retry(s, s->now);
	while (!(stalls = s->hold.threads && !s->t1 && hold__stalls(s)) && !s->error &&
	       (rec = merge__next(s->merge, time))) {
		if (s->resync.has_pair && rec->time > resync__due(s))
			handle_pair(s, rec->time);
		handle_record(s, rec);
	}
	if (stalls)
		return s->now > s->watermark ? s->now : s->watermark;
	if (!s->error && s->hold.threads)
		hold__retry(s, time);
	return time;
}

static int advance(struct sequencer *s, uint64_t time)
{
	if (s->error)
		return s->error;
	if (!s->started || time <= s->watermark)
		return 0;
	if (!s->ready) {
		if (!s->start.given || (s->start.has_second && time < s->start.second.time_end))
			return 0;
		s->error = begin_window(s, time);
	}
	time = run(s, time);
	if (!s->error && s->resync.has_pair && time > resync__due(s))
		handle_pair(s, time);
	handle_gaps(s, time);
	if (!s->error)
		losses__report(s, time, false);
	merge__trim(s->merge);
	if (s->ready) {
		texts__expire(s->texts, time);
		stacks__expire(s->stacks, time);
		once__expire(&s->samples.pcs, time);
	}
	s->watermark = time;
	if (!s->error && s->ready &&
	    !s->t1) /* there may be no record that would end the generation */
		s->error = boundary__roll(s, time, false);
	return s->error;
}

/* A derived record may come with a time that much before the watermark. */
int sequencer__watermark(struct sequencer *s, uint64_t time)
{
	return advance(s, time > s->put_back ? time - s->put_back : time);
}

int sequencer__lost(struct sequencer *s, unsigned int kind, uint64_t count)
{
	if (kind >= GT_KIND_END)
		return -EINVAL;
	count += s->losses.overflow[kind];
	if (count < s->stats.lost_by_kind[kind])
		return -EINVAL;
	losses__counted(s, kind, count, 0);
	return 0;
}

uint64_t sequencer__losses(const struct sequencer *s)
{
	return s->losses.seen;
}

uint64_t sequencer__go_losses(const struct sequencer *s)
{
	return s->losses.wrong;
}

int sequencer__end_generation(struct sequencer *s)
{
	if (!s->error && s->ready)
		s->error = boundary__end(s, s->watermark);
	return s->error;
}

bool sequencer__in_pause(const struct sequencer *s)
{
	return s->runtime.stw;
}

int sequencer__finish(struct sequencer *s, uint64_t t1)
{
	int err;

	if (!s->started)
		return -EINVAL;
	s->t1 = t1;
	s->stats.window_ns = t1 - s->t0;
	s->start.given = true;
	if (s->start.has_second && s->start.second.time_end > t1)
		s->start.second.time_end = t1;
	err = advance(s, t1);
	if (!err && !s->ready) {
		err = begin_window(s, t1);
		run(s, t1);
	}
	if (err)
		return err;
	hold__retry(s, UINT64_MAX);
	state__settle_exits(s, t1, true);
	handle_gaps(s, UINT64_MAX);
	if (!s->error)
		losses__report(s, t1, true);
	s->stats.holes = merge__holes(s->merge);
	s->stats.stack_displaced = stacks__displaced(s->stacks);
	shedding__end_generation(s, t1);
	open_requests__resolve_all(s);
	if (!s->error)
		s->error = short_calls__end_generation(s);
	if (!s->error && s->clock_error)
		s->error = private__number(s->opts.writer, PRIVATE_CLOCK, s->clock_error);
	return s->error ? s->error : boundary__close(s, t1);
}

uint64_t sequencer__applied(const struct sequencer *s)
{
	return s->watermark;
}

size_t sequencer__goroutines(const struct sequencer *s)
{
	return s->model.by_id.n;
}

uint64_t sequencer__left_call(const struct sequencer *s, uint32_t tid)
{
	const struct thread *t = map__get(&s->model.threads, tid);

	return t ? t->exit_time : 0;
}

const struct kernel_thread *sequencer__thread(const struct sequencer *s, uint32_t tid)
{
	return kernel_threads__find(&s->kernel.threads, tid);
}

struct trace_string sequencer__start_function(const struct sequencer *s, uint64_t goid,
					      bool *ret_is_runtime)
{
	const struct goroutine *g = map__get(&s->model.by_id, goid);
	uint32_t start = g ? g->start : 0;

	*ret_is_runtime = start && stacks__start_is_runtime(s->stacks, start);
	return intern__text_at(s->opts.intern, start ? stacks__start_name(s->stacks, start) : 0);
}

bool sequencer__is_ready(const struct sequencer *s)
{
	return s->ready;
}

const struct sequencer_stats *sequencer__stats(const struct sequencer *s)
{
	return &s->stats;
}
