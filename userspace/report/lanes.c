// SPDX-License-Identifier: GPL-2.0
/*
 * Collects the lanes, arrows and curves of a report: see lanes.h.
 *
 * A sink of export/export.c, which interprets the trace: its tracks become lanes, its slices spans.
 * What a viewer shows below a goroutine while its thread has no CPU, and the states of a thread,
 * become the kernel states of the lane. Whenever there are too many spans, the threshold below which
 * they are merged doubles; and of goroutines that have ended, only those that existed longest
 * keep a lane. lanes_slice.c finds the state that a slice means, lanes_print.c encodes the result.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "report/lanes_impl.h"

static void lane__destroy(struct report_lanes *l, struct report_lane *lane)
{
	spans__deinit(&lane->track.spans);
	spans__deinit(&lane->kernel.spans);
	store__remove(l, &lane->track);
	store__remove(l, &lane->kernel);
	free(lane);
}

/* ---- level of detail ---- */

static int merge_track(struct report_lanes *l, struct lane_track *track)
{
	int err = spans__merge(&track->spans, l->threshold);

	l->spans += track->spans.n;
	return err;
}

int report_lanes__shrink(struct report_lanes *l)
{
	void *lane;

	while (l->spans > l->opts.spans && l->threshold < SPANS_THRESHOLD_MAX) {
		l->threshold = l->threshold ? 2 * l->threshold : SPANS_FIRST_THRESHOLD;
		l->spans = 0;
		for (size_t i = 0; map__next(&l->lanes, &i, &lane);) {
			struct report_lane *x = lane;

			if (merge_track(l, &x->track) || merge_track(l, &x->kernel))
				return -ENOMEM;
		}
	}
	return 0;
}

int report_lanes__put(struct report_lanes *l, struct lane_track *track, const struct span *span,
		      const struct span_sum *sum)
{
	size_t before = track->spans.n;

	if (spans__add_sum(&track->spans, span, sum, l->threshold))
		return -ENOMEM;
	l->spans += track->spans.n - before;
	return l->spans > 2 * l->opts.spans ? report_lanes__shrink(l) : 0;
}

static int add_span(struct report_lanes *l, struct report_lane *lane, struct lane_track *track,
		    uint64_t to)
{
	uint64_t end = l->opts.to && l->opts.to < to ? l->opts.to : to;
	uint64_t start = track->since > l->opts.from ? track->since : l->opts.from;
	struct span span = { start, end - start, track->detail, 0, track->state };

	if (end < start || (end == start && l->opts.from && start == l->opts.from))
		return 0;
	if (!lane->used || start < lane->from)
		lane->from = start;
	if (!lane->used || end > lane->to)
		lane->to = end;
	lane->used = true;
	report_lanes__note_wait(l, lane, track, start, end);
	return l->opts.store ? store__add(l, track, &span) :
			       report_lanes__put(l, track, &span, NULL);
}

/* A goroutine enters a state, or (`step` -1) leaves it: not a counter of the export, which is sampled. */
static void count_state(struct report_lanes *l, const struct report_lane *lane,
			const struct lane_track *track, int step)
{
	if (lane->group != EXPORT_GOROUTINES || track != &lane->track)
		return;
	if (track->state == STATE_UNKNOWN)
		l->unknown += (uint64_t)(int64_t)step;
	else if (track->state >= STATES_OF_GOROUTINES)
		return;
	else
		l->in_state[track->state] += (uint64_t)(int64_t)step;
	l->states_changed = true;
}

static void open_track(struct report_lanes *l, const struct report_lane *lane,
		       struct lane_track *track, const struct export_event *ev)
{
	lane__open(l, lane, track, ev);
	count_state(l, lane, track, 1);
}

static void close_track(struct report_lanes *l, struct report_lane *lane, struct lane_track *track,
			uint64_t time)
{
	if (track->state == STATES)
		return;
	report_lanes__fail(l, add_span(l, lane, track, time));
	count_state(l, lane, track, -1);
	track->state = STATES;
}

/* ---- lanes of goroutines that ended ---- */

static int compare_lengths(const void *a, const void *b)
{
	const struct report_lane *x = *(struct report_lane *const *)a,
				 *y = *(struct report_lane *const *)b;

	if (x->to - x->from != y->to - y->from)
		return x->to - x->from > y->to - y->from ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void remove_lane(struct report_lanes *l, struct report_lane *lane)
{
	report_lanes__keep_waits(l, lane);
	l->spans -= lane->track.spans.n + lane->kernel.spans.n;
	map__remove(&l->lanes, lane->number);
	lane__destroy(l, lane);
	l->goroutines--;
	l->goroutines_omitted++;
}

/* Keeps those that exist, and as many others as there is room for. 0 or -ENOMEM. */
static int omit_goroutines(struct report_lanes *l, bool at_end)
{
	struct report_lane **ended = calloc(l->goroutines + 1, sizeof(*ended));
	size_t n = 0, keep;
	void *value;

	if (!ended)
		return -ENOMEM;
	for (size_t i = 0; map__next(&l->lanes, &i, &value);) {
		struct report_lane *lane = value;

		if (lane->group == EXPORT_GOROUTINES && (at_end || lane->track.state == STATES))
			ended[n++] = lane;
	}
	keep = l->opts.goroutines > l->goroutines - n ? l->opts.goroutines - (l->goroutines - n) :
							0;
	array__sort(ended, n, sizeof(struct report_lane *), compare_lengths);
	for (size_t i = keep; i < n; i++)
		remove_lane(l, ended[i]);
	free(ended);
	l->goroutines_limit = l->goroutines + l->opts.goroutines;
	return 0;
}

/* ---- tracks ---- */

/* The name behind "G ID " of a goroutine, or that of a thread. 0 or -ENOMEM. */
static int name_lane(struct report_lanes *l, struct report_lane *lane,
		     const struct export_track *track)
{
	struct trace_string name = track->name;
	int prefix;

	if (lane->group == EXPORT_GOROUTINES) {
		prefix = snprintf(NULL, 0, "G %" PRIu64 " ", lane->id);
		name.data += name.len > (uint32_t)prefix ? (uint32_t)prefix : name.len;
		name.len -= name.len > (uint32_t)prefix ? (uint32_t)prefix : name.len;
	} else if (lane->group != EXPORT_THREADS) {
		return 0;
	}
	return report_strings__get(l->strings, name, &lane->name);
}

static int add_lane(struct report_lanes *l, const struct export_track *track)
{
	struct report_lane *lane;

	if (track->group == EXPORT_GOROUTINES && l->goroutines >= l->goroutines_limit &&
	    omit_goroutines(l, false))
		return -ENOMEM;
	lane = map__put_new(&l->lanes, track->id, sizeof(*lane));
	if (!lane)
		return -ENOMEM;
	lane->group = track->group;
	lane->id = track->rank;
	lane->number = track->id;
	lane->track.state = lane->kernel.state = STATES;
	if (lane->group == EXPORT_GOROUTINES)
		l->goroutines++;
	return name_lane(l, lane, track);
}

/* Those below a goroutine and below a function differ by their names: see export_annotations.c. */
static bool is_goroutine(const struct export_track *track)
{
	return track->parent && track->name.len > 2 && !memcmp(track->name.data, "G ", 2);
}

static void sink_track(struct export_sink *sink, const struct export_track *track)
{
	struct report_lanes *l = (struct report_lanes *)sink;
	struct report_lane *lane = map__get(&l->lanes, track->id);

	if (track->group == EXPORT_COUNTERS) {
		if (track->rank < EXPORT_COUNTERS_ALL)
			l->counter_track[track->rank] = track->id;
	} else if (lane) {
		report_lanes__fail(l, name_lane(l, lane, track));
	} else if (track->group == EXPORT_GOROUTINES ? is_goroutine(track) : !track->parent) {
		report_lanes__fail(l, add_lane(l, track));
	} else if (track->group == EXPORT_THREADS && track->rank == 1) {
		lane = map__get(&l->lanes, track->parent);
		if (lane)
			report_lanes__fail(l, map__put(&l->kernel, track->id, lane));
	}
}

/* ---- arrows ---- */

/* Leaves out arrows at less than the least distance, which doubles until half of the space is free. */
static void thin_out_arrows(struct report_lanes *l)
{
	size_t n = 0;

	while (l->narrows > LANES_ARROWS / 2 && l->arrow_gap < SPANS_THRESHOLD_MAX) {
		l->arrow_gap = l->arrow_gap ? 2 * l->arrow_gap : SPANS_FIRST_THRESHOLD;
		n = 0;
		for (size_t i = 0; i < l->narrows; i++)
			if (!n || l->arrows[i].time - l->arrows[n - 1].time >= l->arrow_gap)
				l->arrows[n++] = l->arrows[i];
		l->narrows = n;
	}
}

static void add_arrow(struct report_lanes *l, uint64_t to)
{
	uint64_t time = l->flow_time;

	if (time < l->opts.from || (l->opts.to && time >= l->opts.to))
		return;
	if (l->narrows && time < l->arrows[l->narrows - 1].time + l->arrow_gap)
		return;
	if (l->narrows == LANES_ARROWS)
		thin_out_arrows(l);
	if (array__grow(&l->arrows, l->narrows, &l->cap_arrows, sizeof(*l->arrows))) {
		report_lanes__fail(l, -ENOMEM);
		return;
	}
	l->arrows[l->narrows++] = (struct report_arrow){ time, l->flow_track, to, l->flow_reason };
}

/* An arrow ends where the next event of its flow is, in the same step of the trace. */
static void follow_flow(struct report_lanes *l, const struct export_event *ev, uint64_t number)
{
	if (ev->flow_from && ev->flow_from == l->flow)
		add_arrow(l, number);
	if (!ev->flow_to)
		return;
	l->flow = ev->flow_to;
	l->flow_time = report_lanes__time(l, ev->time);
	l->flow_track = number;
	l->flow_reason = (uint32_t)report_lanes__intern(l, ev->name);
}

/* ---- curves ---- */

static void add_value(struct report_lanes *l, enum report_curve curve, uint64_t time,
		      uint64_t value)
{
	if (time >= l->opts.from && (!l->opts.to || time < l->opts.to))
		report_lanes__fail(l, curve__add(&l->curves[curve], time, value));
}

/* The numbers change one by one: their sum is right when the event is complete. */
static void add_states(struct report_lanes *l)
{
	uint64_t sum = l->unknown;

	if (!l->states_changed)
		return;
	for (unsigned int i = 0; i < STATES_OF_GOROUTINES; i++) {
		add_value(l, CURVE_RUNNING + i, l->now, l->in_state[i]);
		sum += l->in_state[i];
	}
	add_value(l, CURVE_GOROUTINES, l->now, sum);
	l->states_changed = false;
}

static void set_counter(struct report_lanes *l, const struct export_event *ev)
{
	static const enum report_curve curves[EXPORT_COUNTERS_ALL] = {
		[COUNTER_THREADS] = CURVE_THREADS,
		[COUNTER_HEAP] = CURVE_HEAP,
		[COUNTER_GOAL] = CURVE_GOAL,
	};
	unsigned int i = 0;

	while (i < EXPORT_COUNTERS_ALL && l->counter_track[i] != ev->track)
		i++;
	if (i == EXPORT_COUNTERS_ALL)
		return;
	if (i > COUNTER_SYSCALL && i != COUNTER_GOMAXPROCS)
		add_value(l, curves[i], report_lanes__time(l, ev->time), ev->value);
}

/* ---- the sink ---- */

static void sink_clock(struct export_sink *sink, int64_t time, const struct trace_clock *clock)
{
	(void)sink;
	(void)time;
	(void)clock;
}

static void sink_sample(struct export_sink *sink, const struct export_sample *sample)
{
	(void)sink;
	(void)sample;
}

static void sink_event(struct export_sink *sink, const struct export_event *ev)
{
	struct report_lanes *l = (struct report_lanes *)sink;
	struct report_lane *lane = map__get(&l->lanes, ev->track);
	struct lane_track *track;

	if (l->sink.err)
		return;
	if (ev->type == EXPORT_VALUE) {
		set_counter(l, ev);
		return;
	}
	track = lane ? &lane->track : NULL;
	if (!lane) {
		lane = map__get(&l->kernel, ev->track);
		track = lane ? &lane->kernel : NULL;
	}
	if (!lane)
		return;
	follow_flow(l, ev, lane->number);
	if (lane->group == EXPORT_GOROUTINES &&
	    (ev->type == EXPORT_BEGIN ? track->state != STATES : lane->kernel.state != STATES))
		track = &lane->kernel; /* nested in the state of the goroutine */
	if (ev->type == EXPORT_END)
		close_track(l, lane, track, report_lanes__time(l, ev->time));
	else if (ev->type == EXPORT_BEGIN)
		open_track(l, lane, track, ev);
}

static void sink_finish(struct export_sink *sink)
{
	(void)sink;
}

static void sink_destroy(struct export_sink *sink)
{
	(void)sink;
}

static const struct export_sink_ops ops = {
	.clock = sink_clock,
	.track = sink_track,
	.event = sink_event,
	.sample = sink_sample,
	.finish = sink_finish,
	.destroy = sink_destroy,
};

/* ---- reading ---- */

int report_lanes__create(struct report_lanes **ret, const struct report_lanes_opts *opts,
			 struct report_strings *strings)
{
	struct report_lanes *l = calloc(1, sizeof(*l));

	*ret = l;
	if (!l)
		return -ENOMEM;
	l->sink.ops = &ops;
	l->opts = *opts;
	l->opts.spans = opts->spans ?: REPORT_SPANS;
	l->opts.goroutines = opts->goroutines ?: REPORT_GOROUTINES;
	l->goroutines_limit = 2 * l->opts.goroutines;
	l->strings = strings;
	l->start = opts->start;
	l->started = opts->has_start;
	l->export = export__create(&l->sink);
	if (l->export)
		return 0;
	report_lanes__destroy(l);
	*ret = NULL;
	return -ENOMEM;
}

void report_lanes__destroy(struct report_lanes *l)
{
	void *lane;

	if (!l)
		return;
	export__destroy(l->export);
	for (size_t i = 0; map__next(&l->lanes, &i, &lane);)
		lane__destroy(l, lane);
	map__deinit(&l->lanes);
	map__deinit(&l->kernel);
	for (unsigned int i = 0; i < REPORT_CURVES; i++)
		curve__deinit(&l->curves[i]);
	mmu__deinit(&l->mmu);
	free(l->arrows);
	free(l);
}

/* The first event. 0 or -ENOMEM. */
static int start(struct report_lanes *l, const struct trace_event *ev)
{
	l->start = ev->time;
	l->started = true;
	return ev->type == EV_SYNC ? about__sync(&l->about, ev) : 0;
}

int report_lanes__step(struct report_lanes *l, const struct timeline *t,
		       const struct timeline_step *step, struct error *error)
{
	const struct trace_event *ev = step->event;
	uint64_t time;

	if (ev) {
		if (!l->started && start(l, ev))
			return error__set(error, -ENOMEM, "out of memory");
		time = report_lanes__time(l, ev->time);
		if (time > l->now)
			add_states(l);
		l->now = time > l->now ? time : l->now;
		if (mmu__event(&l->mmu, ev, l->now))
			return error__set(error, -ENOMEM, "out of memory");
	}
	if (!l->started) /* no item has a time before the first event */
		return 0;
	l->kernel_known |= timeline__has_kernel(t);
	return export__step(l->export, t, step, error);
}

int report_lanes__finish(struct report_lanes *l, struct error *error)
{
	int err;

	add_states(l); /* before what is open ends with the trace */
	/* What is open at the end of a part lasts longer than to its last event. */
	err = export__finish(l->export,
			     l->opts.to ? (int64_t)((uint64_t)l->start + l->opts.to) : INT64_MIN,
			     error);
	if (err)
		return err;
	mmu__finish(&l->mmu, l->now);
	err = l->goroutines > l->opts.goroutines ? omit_goroutines(l, true) : 0;
	err = err ?: l->sink.err;
	if (!err && l->opts.store)
		err = store__finish(l) ?: report_lanes__take_store(l);
	err = err ?: report_lanes__shrink(l);
	return err ? error__set(error, err, "out of memory") : 0;
}

uint64_t report_lanes__end(const struct report_lanes *l)
{
	return l->now;
}

void report_lanes__print_about(const struct report_lanes *l, struct json *j)
{
	about__print(&l->about, j);
}
