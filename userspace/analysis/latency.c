// SPDX-License-Identifier: GPL-2.0
/*
 * Each goroutine's time in parts: which goroutine is on which thread, and what events change.
 *
 * Upstream: goroutine_tracker.c and kernel events of reader/timeline.c. Whenever the state of a
 * goroutine or of its thread changes, the time since the last change is added to the part that it
 * was in (latency_part.c), so that the parts add up by construction. Downstream: opts.done().
 */
#include "analysis/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/latency_impl.h"
#include "reader/timeline.h"

static const struct goroutine_client client;

struct latency *latency__create(const struct latency_opts *opts)
{
	struct latency *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->opts = *opts;
	l->preemptors = intern__create();
	if (naming__init(&l->naming) || (opts->places && place_table__init(&l->places)) ||
	    !l->preemptors || cpu_tasks__init(l)) {
		latency__destroy(l);
		return NULL;
	}
	goroutine_tracker__init(&l->tracker, &client, l, l->naming.names);
	if (opts->select && goroutine_tracker__set_labels(&l->tracker, opts->select)) {
		latency__destroy(l);
		return NULL;
	}
	return l;
}

void latency__destroy(struct latency *l)
{
	if (!l)
		return;
	goroutine_tracker__deinit(&l->tracker);
	map__deinit(&l->on_thread);
	map__deinit(&l->waits);
	naming__deinit(&l->naming);
	place_table__deinit(&l->places);
	intern__destroy(l->preemptors);
	cpu_tasks__deinit(l);
	durations__deinit(&l->worker_wall);
	durations__deinit(&l->worker_oncpu);
	free(l);
}

void latency__set_window(struct latency *l, int64_t from, int64_t to)
{
	l->opts.from = from;
	l->opts.to = to;
}

static bool needs_thread(uint8_t state)
{
	return state == GO_STATE_RUNNING || state == GO_STATE_SYSCALL;
}

static void leave_thread(struct latency *l, struct live *g)
{
	if (needs_thread(g->go.state) && g->m != TRACE_NO_M && map__get(&l->on_thread, g->m) == g)
		map__remove(&l->on_thread, g->m);
	g->m = TRACE_NO_M;
}

static void goroutine__deinit(void *context, void *goroutine)
{
	struct live *g = goroutine;

	leave_thread(context, g);
	live__free_stats(g);
}

/* A goroutine that is still on that thread according to earlier events is on an unknown one. */
static int enter_thread(struct latency *l, struct live *g, uint64_t m)
{
	struct live *other = m == TRACE_NO_M ? NULL : map__get(&l->on_thread, m);
	int err;

	g->m = m;
	g->has_cpu = false;
	if (m == TRACE_NO_M || other == g)
		return 0;
	if (other) {
		err = part__add(l, other);
		other->m = TRACE_NO_M;
		if (!err)
			err = part__guess(l, other);
		if (err)
			return err;
	}
	return map__put(&l->on_thread, m, g);
}

/* Reports its stats, all of which are added up to now. */
static int goroutine__report(const struct latency *l, const struct live *g,
			     int (*done)(void *context, const struct latency_goroutine *g),
			     void *done_context)
{
	int64_t from = latest(g->go.created, l->opts.from), to = earliest(l->now, l->opts.to);
	bool whole = l->opts.from == INT64_MIN && l->opts.to == INT64_MAX;
	struct brief_stats brief;
	struct latency_goroutine report = {
		.id = g->go.id,
		.pc = g->go.pc,
		.created = g->go.created,
		.ended = l->now,
		.name = g->go.name,
		.again = g->go.again && g->go.created > l->opts.from,
		.state = g->go.state,
		.labels = g->go.labels,
	};

	if (!whole && to <= from)
		return 0;
	report.stats = *live__stats(g, &brief);
	report.stats.total = time_sub(to, from);
	report.stats.lost = g->lost;
	return done(done_context, &report);
}

static int goroutine__end(void *context, void *goroutine)
{
	struct latency *l = context;
	struct live *g = goroutine;
	int err = part__end(l, g);

	return err ? err : goroutine__report(l, g, l->opts.done, l->opts.context);
}

static int goroutine__appear(void *context, void *goroutine, const struct trace_event *ev,
			     const struct semantics *m)
{
	struct latency *l = context;
	struct live *g = goroutine;
	int err = 0;

	(void)ev;
	g->since = g->go.created;
	g->m = TRACE_NO_M;
	if (m->from == GO_STATE_UNDETERMINED) {
		g->generation = l->tracker.generations;
		g->part = m->to == GO_STATE_WAITING ? PART_GO_BLOCKED : PART_GO_RUNNABLE;
		err = needs_thread(m->to) ? part__guess(l, g) :
					    naming__kind(&l->naming, m, &g->kind);
	}
	return err ? err : part__add(l, g);
}

static inline int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
				   const struct semantics *m)
{
	struct latency *l = context;
	struct live *g = goroutine;
	int err = part__add(l, g);

	if (m->from == GO_STATE_WAITING && ev->g != g->go.id)
		g->slice.by = ev->g;
	if (!needs_thread(m->to) || g->m != transition__thread(ev))
		leave_thread(l, g);
	return err;
}

static inline int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
				   const struct semantics *m)
{
	struct latency *l = context;
	struct live *g = goroutine;
	int err = 0;

	g->label = 0;
	if (l->opts.places && (m->to == GO_STATE_WAITING || m->to == GO_STATE_SYSCALL))
		err = place_table__of(&l->places, ev->dictionary, m->transition_stack, &g->place);
	if (err)
		return err;
	if (needs_thread(m->to) && g->m == TRACE_NO_M)
		err = enter_thread(l, g, transition__thread(ev));
	else if (m->to == GO_STATE_WAITING)
		err = naming__kind(&l->naming, m, &g->go_kind);
	else if (m->to == GO_STATE_RUNNABLE)
		g->go_kind = KIND_EMPTY;
	return err ? err : part__choose(l, g, NULL);
}

/* A mark assist goes on that the trace does not contain: it has done so since the generation began. */
static int continue_assist(struct latency *l, struct live *g)
{
	struct brief_stats brief;
	const struct latency_stats *stats = live__stats(g, &brief);
	int64_t ns = time_sub(stats->part[PART_ONCPU], stats->gc_assist);

	g->assist_place = PLACE_UNKNOWN;
	if (g->generation != l->tracker.generations || !ns)
		return 0;
	if (live__expand(g))
		return -ENOMEM;
	g->stats->gc_assist = g->stats->part[PART_ONCPU];
	return part__add_place(l, g, (uint32_t)PART_ONCPU << 16, PLACE_UNKNOWN, ns);
}

static int range__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct latency *l = context;
	struct live *g;
	int err;

	if (!range__is_mark_assist(ev))
		return 0;
	g = goroutine_tracker__find(&l->tracker, m->id);
	err = g ? part__add(l, g) : 0;
	if (err || !g)
		return err;
	if (m->kind == SEMANTICS_RANGE_ACTIVE && !g->in_assist)
		err = continue_assist(l, g);
	else if (m->kind == SEMANTICS_RANGE_BEGIN && l->opts.places)
		err = place_table__of(&l->places, ev->dictionary, m->stack, &g->assist_place);
	g->in_assist = m->kind != SEMANTICS_RANGE_END;
	return err;
}

/* The runtime labels mark workers whenever they start to run. */
static int other__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct latency *l = context;
	struct live *g;
	int err;

	(void)ev;
	if (m->kind == SEMANTICS_SYNC)
		place_table__forget_stacks(&l->places);
	if (m->kind != SEMANTICS_LABEL)
		return 0;
	g = goroutine_tracker__find(&l->tracker, m->id);
	if (!g || (!g->label && !semantics__is_worker_label(m)))
		return 0;
	err = part__add(l, g);
	g->label = 0;
	if (!err && semantics__is_worker_label(m))
		err = naming__kind(&l->naming, m, &g->label);
	return err;
}

static const struct goroutine_client client = {
	.size = sizeof(struct live),
	.splits = true,
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.end = goroutine__end,
	.deinit = goroutine__deinit,
	.range = range__event,
	.other = other__event,
};

static int report(int err, struct error *error)
{
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}

/* The lost time of its present state, as far as that has been added to its parts already. */
static int64_t lost_so_far(const struct latency *l, const struct live *g)
{
	return gaps__lost(&l->tracker.gaps, TRACE_NO_G, g->go.record,
			  latest(g->go.since, l->opts.from), earliest(g->since, l->opts.to));
}

static void note_lost(struct latency *l, int64_t sign)
{
	struct live *g;
	void *value;

	for (size_t i = 0; l->tracker.gaps.n && map__next(&l->tracker.goroutines, &i, &value);) {
		g = value;
		g->lost = time_add(g->lost, sign * lost_so_far(l, g));
	}
}

/*
 * A generation may have gaps that began in an earlier one, whose time has been added to a part. This
 * is lost besides: the part may be wrong by that.
 */
static int begin_generation(struct latency *l, const struct trace_event *ev)
{
	int err;

	note_lost(l, -1);
	err = goroutine_tracker__event(&l->tracker, &client, ev, l->now);
	note_lost(l, 1);
	return err;
}

int latency__event(struct latency *l, const struct trace_event *ev,
		   const struct kernel_threads *threads, struct error *error)
{
	l->now = l->tracker.started ? latest(l->now, ev->time) : ev->time;
	l->moved = false;
	l->threads = threads;
	if (ev->type == EV_SYNC)
		return report(begin_generation(l, ev), error);
	return report(goroutine_tracker__event(&l->tracker, &client, ev, l->now), error);
}

static int thread__changed(struct latency *l, struct live *g, const struct kernel_item *item)
{
	int err = cpu_tasks__is_pending(l, g) ? 0 : part__add(l, g);

	return err ? err : part__choose(l, g, item);
}

/* The goroutine on a thread whose state has changed. */
static int choose_again(struct latency *l, uint32_t tid, const struct kernel_item *item)
{
	struct live *g = map__get(&l->on_thread, tid);

	return g ? thread__changed(l, g, item) : 0;
}

int latency__item(struct latency *l, const struct kernel_item *item, int64_t time, int64_t until,
		  const struct kernel_threads *threads, struct error *error)
{
	uint32_t waker = kernel_item__waker(item);
	int err;

	l->threads = threads;
	err = cpu_tasks__item(l, item, latest(l->now, earliest(time, until)));
	if (kernel_item__is_of_cpu(item) || err)
		return report(err, error);
	err = part__note_wait(l, item);
	if (!l->tracker.started || err)
		return report(err, error);
	l->now = latest(l->now, earliest(time, until));
	l->moved = l->now != time;
	err = waker ? choose_again(l, waker, NULL) : 0;
	if (!err && item->kind == KERNEL_MOVED)
		return report(cpu_tasks__moved(l, map__get(&l->on_thread, item->tid), item), error);
	return report(err ?: choose_again(l, item->tid, item), error);
}

int latency__forget(struct latency *l, const struct kernel_threads *threads, bool in_loss,
		    struct error *error)
{
	struct map_slot *g;
	size_t n;
	int err = 0;

	l->in_loss = in_loss;
	l->threads = threads;
	/* By thread: reasons and workers get their order here, and the map's varies by run. */
	g = map__sorted(&l->on_thread, &n);
	if (!g)
		return report(-ENOMEM, error);
	for (size_t i = 0; !err && i < n; i++)
		err = thread__changed(l, g[i].value, NULL);
	free(g);
	return report(err, error);
}

/* A table of threads describes the state at the sync that it came with. */
void latency__pass(struct latency *l, int64_t time)
{
	l->now = latest(l->now, time);
}

int latency__step(struct latency *l, const struct timeline *t, const struct timeline_step *step,
		  struct error *error)
{
	static const struct kernel_threads unknown;
	const struct kernel_threads *threads = timeline__threads(t);
	int err = 0;

	/* The item has changed its thread already: until its time, the state of that is unknown, too. */
	if (step->loss && step->item) {
		latency__pass(l, earliest(timeline__lost_from(t), timeline__until(t)));
		err = latency__forget(l, &unknown, true, error);
		l->in_loss = timeline__in_loss(t);
	} else if (step->loss) {
		err = latency__forget(l, threads, timeline__in_loss(t), error);
	}
	if (err)
		return err;
	if (step->item)
		return latency__item(l, step->item, timeline__time(t, step->item->time),
				     timeline__until(t), threads, error);
	err = latency__event(l, step->event, threads, error);
	if (!err && step->table)
		err = latency__forget(l, threads, timeline__in_loss(t), error);
	return err;
}

int latency__so_far(struct latency *l, uint64_t goroutine, struct latency_stats *ret)
{
	const struct live *g = goroutine_tracker__find(&l->tracker, goroutine);
	struct latency_stats stats;
	struct brief_stats brief;

	if (!g)
		return 0;
	if (latency_stats__copy(&stats, live__stats(g, &brief)))
		return -ENOMEM;
	stats.lost = g->lost;
	if (part__add_to(l, g, &stats)) {
		latency_stats__deinit(&stats);
		return -ENOMEM;
	}
	stats.total = stats.lost;
	for (unsigned int i = 0; i < LATENCY_PARTS; i++)
		stats.total = time_add(stats.total, stats.part[i]);
	*ret = stats;
	return 1;
}

int latency__data_ready(struct latency *l, uint64_t goroutine)
{
	struct live *g = goroutine_tracker__find(&l->tracker, goroutine);
	int err;

	if (!g || g->go.state != GO_STATE_WAITING ||
	    !trace_string__equals(latency__reason(l, g->kind), "network"))
		return 0;
	err = part__add(l, g);
	if (!err)
		err = naming__text_kind(&l->naming, LATENCY_DATA_READY, strlen(LATENCY_DATA_READY),
					&g->go_kind);
	g->kind = g->go_kind;
	return err;
}

bool latency__has_gaps(const struct latency *l)
{
	return goroutine_tracker__has_gaps(&l->tracker);
}

int64_t latency__now(const struct latency *l)
{
	return l->now;
}

int latency__flush(struct latency *l, uint64_t goroutine)
{
	struct live *g = goroutine_tracker__find(&l->tracker, goroutine);
	int err = g ? part__add(l, g) : 0;

	return err || !g ? err : part__end_slice(l, g);
}

int latency__finish(struct latency *l, struct error *error)
{
	return report(goroutine_tracker__finish(&l->tracker), error);
}

int latency__each(struct latency *l, int (*each)(void *context, const struct latency_goroutine *g),
		  void *context)
{
	struct map_slot *g;
	size_t n;
	int err = 0;

	g = map__sorted(&l->tracker.goroutines, &n);
	if (!g)
		return -ENOMEM;
	for (size_t i = 0; !err && i < n; i++) {
		err = part__add(l, g[i].value);
		if (!err)
			err = goroutine__report(l, g[i].value, each, context);
	}
	free(g);
	return err;
}

struct trace_string latency__name(const struct latency *l, uint32_t name)
{
	return naming__name_at(&l->naming, name);
}

struct trace_string latency__reason(const struct latency *l, uint32_t kind)
{
	return naming__kind_at(&l->naming, kind & UINT16_MAX);
}

struct latency_place latency__place(const struct latency *l, uint32_t kind)
{
	struct place at = place_table__at(&l->places, kind);

	return (struct latency_place){
		.part = latency_reason__part(at.reason),
		.kind = at.reason,
		.reason = latency__reason(l, at.reason),
		.frame = place_table__frame(&l->places, at.place),
		.others = at.place == PLACE_OTHERS,
	};
}

struct trace_string latency__task(const struct latency *l, uint32_t kind)
{
	return intern__text_at(l->tasks, kind);
}

bool latency__is_aligned(const struct latency *l)
{
	return l->machine;
}

bool latency__has_tasks(const struct latency *l)
{
	return l->machine || l->occupants;
}

bool latency__worker(const struct latency *l, size_t i, struct latency_worker *ret)
{
	if (i >= l->worker_wall.n)
		return false;
	*ret = (struct latency_worker){
		.label = naming__kind_at(&l->naming, l->worker_wall.at[i].kind),
		.wall = l->worker_wall.at[i].ns,
		.oncpu = l->worker_oncpu.at[i].ns,
	};
	return true;
}
