// SPDX-License-Identifier: GPL-2.0
/*
 * The sequencer's door: takes records and watermarks, drives merge, hold-back and boundaries.
 *
 * A record that does not fit yet waits with its thread (a thread's later records queue behind it)
 * until others have made it fit, as a reader's WAIT rules do; after HOLD_NS of stream time it is
 * forced, with a repair. Clocks of CPUs differ by nanoseconds, so what waits longer waits for
 * something that was lost.
 */
#include "sequence/sequencer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/model.h"
#include "trace/private.h"

#define HOLD_NS 1000000ull

int sequencer__create(struct sequencer **ret, const struct sequencer_opts *opts)
{
	struct sequencer *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	s->goroutines_max = MODEL_GOROUTINES_MAX;
	s->merge = merge__create();
	s->stacks = stacks__create(opts->intern, &opts->symbolizer,
				   opts->layout && opts->layout->config.systemstack_frameless);
	s->texts = texts__create(opts->intern);
	s->kernel = kernel_writer__create();
	if (!s->merge || !s->stacks || !s->texts || !s->kernel ||
	    kernel_threads__init(&s->threads)) {
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
	snapshots__free(&s->first);
	snapshots__free(&s->second);
	snapshots__free(&s->again[0]);
	snapshots__free(&s->again[1]);
	map__deinit(&s->strays);
	model__deinit(s);
	stacks__destroy(s->stacks);
	texts__destroy(s->texts);
	kernel_writer__destroy(s->kernel);
	kernel_threads__deinit(&s->threads);
	once__deinit(&s->sampled);
	merge__destroy(s->merge);
	free(s);
}

void sequencer__no_kernel(struct sequencer *s)
{
	s->no_kernel = true;
}

void sequencer__may_hold(struct sequencer *s, uint64_t bytes)
{
	merge__may_hold(s->merge, bytes);
	texts__may_hold(s->texts, bytes);
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

static bool record_is_sound(const struct gt_record *rec, size_t size)
{
	int payload, tail;

	if (size < sizeof(*rec))
		return false;
	payload = gt_payload_size(rec->kind);
	if (payload < 0 || !rec->tid || size < sizeof(*rec) + payload)
		return false;
	tail = gt_tail_size(rec);
	return tail >= 0 && size == sizeof(*rec) + payload + tail;
}

/* Its PCs wait beside the merge, whose records are of fixed sizes, under a number of their own. */
static int sample__put(struct sequencer *s, unsigned int ring, const struct gt_record *rec)
{
	const struct gt_stack *stack = (const void *)(rec + 1);
	struct {
		struct gt_record rec;
		struct gt_stack stack;
	} head = { *rec, *stack };
	int err;

	head.rec.object = (uint64_t)ring << 32 | rec->seq;
	err = once__put(&s->sampled, head.rec.object, rec->time, stack->pc,
			stack->depth * sizeof(stack->pc[0]));
	return err ? err : merge__put(s->merge, ring, &head.rec, sizeof(head));
}

int sequencer__record(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		      size_t size)
{
	int err;

	if (!record_is_sound(rec, size) || ring >= GT_RINGS_MAX) {
		s->stats.bad_records++;
		return -EBADMSG;
	}
	/* What is sent once, maybe before the window, only has to be there before its use. */
	if (rec->kind == GT_STACK || rec->kind == GT_TEXT) {
		s->stats.records++;
		merge__count(s->merge, ring, rec);
		return rec->kind == GT_STACK ? stacks__add(s->stacks, rec) :
					       texts__add(s->texts, rec);
	}
	if (rec->kind == GT_SAMPLE)
		err = sample__put(s, ring, rec);
	else
		err = merge__put(s->merge, ring, rec, size);
	if (err != -ENOBUFS)
		return err;
	/*
	 * As if its ring had been full: the watermark is held back, and more than this can't wait.
	 * Its number was not noted, so that the ring's next record shows where it is missing.
	 */
	s->overflow[rec->kind]++;
	losses__counted(s, rec->kind, s->stats.lost_by_kind[rec->kind] + 1);
	return 0;
}

/* ---- hold-back ---- */

/*
 * Puts a thread among those with held records, by the time of its oldest one: of several that wait
 * for the same, such as a P, the first one gets it.
 */
static void thread__wait(struct sequencer *s, struct thread *t)
{
	struct thread **link = &s->held;

	while (*link && (*link)->head->rec.time <= t->head->rec.time)
		link = &(*link)->next_held;
	t->next_held = *link;
	*link = t;
}

static bool thread__hold(struct sequencer *s, struct thread *t, const struct gt_record *rec)
{
	struct held *h = s->free_held;

	if (h)
		s->free_held = h->next;
	else
		h = malloc(sizeof(*h));
	if (!h) {
		s->error = -ENOMEM;
		return false;
	}
	memcpy(&h->rec, rec, sizeof(*rec) + gt_payload_size(rec->kind));
	h->deadline = rec->time + HOLD_NS;
	h->next = NULL;
	if (t->head)
		t->tail->next = h;
	else
		t->head = h;
	t->tail = h;
	if (t->head == h)
		thread__wait(s, t);
	s->stats.held++;
	return true;
}

/* The oldest held record of the thread at *link. False: it doesn't fit. */
static bool thread__take(struct sequencer *s, struct thread **link, bool force)
{
	struct thread *t = *link;
	struct held *h = t->head;

	if (state__apply(s, t, &h->rec, force) == WAIT)
		return false;
	*link = t->next_held;
	t->head = h->next;
	h->next = s->free_held;
	s->free_held = h;
	if (t->head)
		thread__wait(s, t);
	return true;
}

/*
 * Takes what fits, as long as something does: one thread's record may be what another's waits for.
 * Then forces what is overdue, one at a time and the oldest first: the others may fit after it.
 */
static void sequencer__retry(struct sequencer *s, uint64_t now)
{
	struct thread **link = &s->held;

	while (s->held) {
		if (!*link) {
			if (s->held->head->deadline > now)
				return;
			thread__take(s, &s->held, true);
			link = &s->held;
		} else if (thread__take(s, link, false)) {
			link = &s->held;
		} else {
			link = &(*link)->next_held;
		}
	}
}

static void sequencer__feed(struct sequencer *s, const struct gt_record *rec)
{
	struct thread *t;
	int err;

	if (rec->time < s->t0 || (s->t1 && rec->time > s->t1))
		return;
	s->stats.records++;
	s->now = rec->time;
	err = checkpoint__roll(s, rec->time, false);
	if (err) {
		s->error = err;
		return;
	}
	if (gt_kind_is_kernels(rec->kind)) {
		s->error = s->no_kernel ? 0 : kernel__record(s, rec);
		return;
	}
	t = model__thread(s, rec->tid);
	if (!t)
		return;
	if (t->head || state__apply(s, t, rec, false) == WAIT)
		thread__hold(s, t, rec);
	if (s->held)
		sequencer__retry(s, rec->time);
}

/* ---- watermarks ---- */

/* All records up to now, taken out of the merge; the pointers live until its next put or trim. */
static const struct gt_record **take_all(struct sequencer *s, uint64_t time, size_t *ret_n)
{
	const struct gt_record **rec = NULL, **bigger, *r;
	size_t n = 0, cap = 0;

	while ((r = merge__next(s->merge, time))) {
		if (r->time < s->t0) {
			if (gt_kind_is_kernels(r->kind) && !s->no_kernel &&
			    kernel__record_before(s, r))
				s->error = -ENOMEM;
			continue;
		}
		if (n == cap) {
			cap = cap ? cap * 2 : 1024;
			bigger = reallocarray(rec, cap, sizeof(*rec));
			if (!bigger) {
				free(rec);
				return NULL;
			}
			rec = bigger;
		}
		rec[n++] = r;
	}
	*ret_n = n;
	return rec ? rec : calloc(1, sizeof(*rec));
}

/* The state at the window's start; of what Go does, the kernel's records say nothing. */
static int resolve(struct sequencer *s, const struct gt_record **rec, size_t n)
{
	const struct gt_record **go = malloc(n * sizeof(*go) + 1);
	size_t ngo = 0;
	int err;

	if (!go || s->error) {
		free(go);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		if (!gt_kind_is_kernels(rec[i]->kind))
			go[ngo++] = rec[i];
	err = initial__resolve(s, go, ngo);
	free(go);
	return err;
}

static int sequencer__begin(struct sequencer *s, uint64_t time)
{
	const struct gt_record **rec;
	size_t n;
	int err;

	rec = take_all(s, time, &n);
	if (!rec)
		return -ENOMEM;
	err = resolve(s, rec, n);
	s->ready = !err;
	s->stats.at_start = s->id.n;
	snapshots__free(&s->first);
	snapshots__free(&s->second);
	for (size_t i = 0; !err && i < n; i++) {
		sequencer__feed(s, rec[i]);
		err = s->error;
	}
	free(rec);
	return err;
}

/* Gaps of the rings that are behind the watermark; UINT64_MAX: all. */
static void locate_losses(struct sequencer *s, uint64_t time)
{
	struct merge_gap gap;

	while (merge__gap(s->merge, time, &gap)) {
		s->stats.gaps++;
		losses__located(s, gap.count, gap.from, gap.to);
	}
}

/* What has waited until now doesn't fit for want of a record that was lost: the snapshots know more. */
static void correct(struct sequencer *s, uint64_t time)
{
	sequencer__retry(s, time);
	if (!s->error)
		resnapshot__apply(s, resnapshot__due(s));
	snapshots__free(&s->again[0]);
	snapshots__free(&s->again[1]);
	s->has_again = false;
}

int sequencer__watermark(struct sequencer *s, uint64_t time)
{
	const struct gt_record *rec;

	if (s->error)
		return s->error;
	if (!s->started || time <= s->watermark)
		return 0;
	if (!s->ready) {
		if (!s->snapshots_given || (s->has_second && time < s->second.time_end))
			return 0;
		s->error = sequencer__begin(s, time);
	}
	while (!s->error && (rec = merge__next(s->merge, time))) {
		if (s->has_again && rec->time > resnapshot__due(s))
			correct(s, rec->time);
		sequencer__feed(s, rec);
	}
	if (!s->error && s->held)
		sequencer__retry(s, time);
	if (!s->error && s->has_again && time > resnapshot__due(s))
		correct(s, time);
	locate_losses(s, time);
	if (!s->error)
		losses__report(s, time, false);
	merge__trim(s->merge);
	if (s->ready) {
		texts__expire(s->texts, time);
		stacks__expire(s->stacks, time);
		once__expire(&s->sampled, time);
	}
	s->watermark = time;
	return s->error;
}

int sequencer__lost(struct sequencer *s, unsigned int kind, uint64_t count)
{
	if (kind >= GT_KIND_END)
		return -EINVAL;
	count += s->overflow[kind];
	if (count < s->stats.lost_by_kind[kind])
		return -EINVAL;
	losses__counted(s, kind, count);
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

int sequencer__finish(struct sequencer *s, uint64_t t1)
{
	int err;

	if (!s->started)
		return -EINVAL;
	s->t1 = t1;
	s->stats.window_ns = t1 - s->t0;
	s->snapshots_given = true;
	if (s->has_second && s->second.time_end > t1)
		s->second.time_end = t1;
	err = sequencer__watermark(s, t1);
	if (err)
		return err;
	if (!s->ready) {
		err = sequencer__begin(s, t1);
		if (err)
			return err;
	}
	sequencer__retry(s, UINT64_MAX);
	state__settle_exits(s, t1, true);
	locate_losses(s, UINT64_MAX);
	if (!s->error)
		losses__report(s, t1, true);
	s->stats.holes = merge__holes(s->merge);
	if (!s->error)
		s->error = kernel_writer__end(s->kernel, s->opts.writer);
	return s->error ? s->error : writer__close(s->opts.writer);
}

bool sequencer__is_ready(const struct sequencer *s)
{
	return s->ready;
}

const struct sequencer_stats *sequencer__stats(const struct sequencer *s)
{
	return &s->stats;
}
