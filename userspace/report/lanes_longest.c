// SPDX-License-Identifier: GPL-2.0
/*
 * The longest single waits of the program's goroutines, by what they waited for: see lanes.h.
 *
 * lanes.c calls this for each span of a lane, before short ones are merged, and for lanes that it
 * removes. A goroutine's start function may become known after its wait, and only that shows
 * whether it is one of the runtime's: so each lane keeps its own longest waits until then.
 */
#include <string.h>

#include "analysis/summary.h"
#include "report/lanes_impl.h"

/* Locks and wait groups: the reason is the text before " in " (lanes_slice.c). */
static bool is_lock(const struct report_lanes *l, uint64_t detail)
{
	static const char lock[] = "sync";
	struct trace_string text = intern__text_at(l->strings->in, (uint32_t)detail);

	return text.len >= strlen(lock) && !memcmp(text.data, lock, strlen(lock)) &&
	       (text.len == strlen(lock) || text.data[strlen(lock)] == ' ');
}

static enum report_wait wait_of(const struct report_lanes *l, const struct lane_track *track)
{
	switch (track->state) {
	case STATE_RUNNABLE:
		return REPORT_WAIT_P;
	case STATE_CPU_WAIT:
		return REPORT_WAIT_CPU;
	case STATE_SYSCALL:
		return REPORT_WAIT_SYSCALL;
	case STATE_WAITING:
		return is_lock(l, track->detail) ? REPORT_WAIT_LOCK : REPORT_WAITS;
	default:
		return REPORT_WAITS;
	}
}

void report_lanes__note_wait(struct report_lanes *l, struct report_lane *lane,
			     const struct lane_track *track, uint64_t from, uint64_t to)
{
	enum report_wait kind;

	if (lane->group != EXPORT_GOROUTINES)
		return;
	kind = wait_of(l, track);
	if (kind == REPORT_WAITS || to - from <= lane->longest[kind].len)
		return;
	lane->longest[kind] = (struct lane_wait){ from, to - from };
}

/* Its longest system call or wait for a lock would be that it has nothing to do. */
static bool is_idle(const struct report_lane *lane)
{
	uint64_t time[SPAN_SLOTS] = {}, sum = 0;

	spans__total(&lane->track.spans, time);
	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		sum += time[i];
	return time[STATE_RUNNING] + time[STATE_RUNNABLE] <= sum / REPORT_IDLE;
}

/*
 * Of equally long ones the earlier one, then that of the smaller ID: whether *b is to be replaced.
 */
static bool is_longer(const struct report_longest *a, const struct report_longest *b)
{
	uint64_t len = a->to - a->from, other = b->to - b->from;

	if (len != other)
		return len > other;
	return a->from != b->from ? a->from < b->from : a->goroutine < b->goroutine;
}

static void apply(const struct report_lanes *l, const struct report_lane *lane,
		  enum report_wait kind, struct report_longest *longest)
{
	const struct lane_wait *wait = &lane->longest[kind];
	struct report_longest next = { wait->from, wait->from + wait->len, lane->id,
				       intern__text_at(l->strings->in, lane->name) };

	if (wait->len && is_longer(&next, longest) && !summary__is_system(next.function) &&
	    (kind == REPORT_WAIT_P || kind == REPORT_WAIT_CPU || !is_idle(lane)))
		*longest = next;
}

void report_lanes__keep_waits(struct report_lanes *l, const struct report_lane *lane)
{
	if (lane->group == EXPORT_GOROUTINES)
		for (unsigned int i = 0; i < REPORT_WAITS; i++)
			apply(l, lane, i, &l->longest[i]);
}

bool report_lanes__longest(const struct report_lanes *l, enum report_wait kind,
			   struct report_longest *ret)
{
	void *lane;

	*ret = l->longest[kind];
	for (size_t i = 0; map__next(&l->lanes, &i, &lane);)
		if (((struct report_lane *)lane)->group == EXPORT_GOROUTINES)
			apply(l, lane, kind, ret);
	return ret->to > ret->from;
}
