// SPDX-License-Identifier: GPL-2.0
/*
 * The causes of waits: the occupants of a CPU, the holders of Ps, what woke the scheduler.
 * path_walk.c calls it once per segment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path_impl.h"
#include "reader/parking.h"

#define PROCS_MAX  1024	      /* Ps that are looked at; only a trace made by hand has more */
#define SLEEPS_MAX 4	      /* steps from a sleep to what the thread does after it */
#define RUNS_MAX   4096	      /* that a sleep which signals cut short is followed through */
#define STEPS_MAX  (1u << 26) /* of this kind in a walk, which only a trace made by hand needs; */
#define RUNS_FEW   256	      /* from then on */
#define RETRY_MAX  50000      /* ns on a CPU, from a signal to the system call again */

void path_walk__process(const struct path_history *h, uint32_t tid, uint32_t pid, uint32_t name,
			struct path_segment *seg)
{
	seg->other = tid;
	seg->other_pid = pid;
	seg->other_name = name ? name : (uint32_t)(uintptr_t)map__get(&h->names, tid);
}

/* The thread `tid` had the CPU. */
static void blame_thread(const struct walk *w, uint32_t tid, uint32_t pid, uint32_t name,
			 struct path_segment *seg)
{
	uint32_t thread = path_history__find_thread(w->h, tid);

	if (tid == KERNEL_NO_THREAD)
		return;
	seg->other = tid;
	if (!tid) {
		seg->cause = PATH_CAUSE_IDLE;
	} else if (thread == PATH_NONE) {
		seg->cause = PATH_CAUSE_PROCESS;
		path_walk__process(w->h, tid, pid, name, seg);
	} else {
		seg->by = path_list__on_before(&path_thread(w->h, thread)->on, w->time);
		if (seg->by == w->at.goroutine) /* it has just come from there */
			seg->by = PATH_NONE;
		seg->cause = seg->by == PATH_NONE ? PATH_CAUSE_THREAD : PATH_CAUSE_GOROUTINE;
	}
}

/*
 * Whether the trace has all occupants of CPUs since then. perf may have begun later, or ended
 * before.
 */
static bool covers_cpus(const struct path_history *h, int64_t since)
{
	return h->machine && since >= h->machine_from && since <= h->machine_to;
}

/*
 * The CPU that a runnable thread waits for just before the position's time, and since when. A preempted
 * thread waits for the CPU that it had, a woken one for the CPU that it gets, which the kernel chose
 * then, unless the trace shows that it was moved. False: the trace ends before it gets one.
 */
static bool waited_cpu(const struct walk *w, const struct path_thread *thread,
		       const struct path_run *run, const struct path_run *next, int64_t *since,
		       uint16_t *ret)
{
	const struct path_move *moves = thread->moves.at;
	uint32_t n = path_list__before(&thread->moves, sizeof(*moves), w->time);

	if (n && moves[n - 1].time >= run->time) {
		*since = moves[n - 1].time > *since ? moves[n - 1].time : *since;
		*ret = moves[n - 1].to;
		return true;
	}
	if (n < thread->moves.n && (!next || moves[n].time <= next->time)) {
		*ret = moves[n].from;
		return true;
	}
	*ret = run->woken && next && next->run == KERNEL_RUNNING ? next->cpu : run->cpu;
	return !run->woken || (next && next->run == KERNEL_RUNNING);
}

/*
 * In a trace without perf's events, and without the occupants of CPUs that threads wait for, only the
 * target's threads are seen to come and go: of another thread it is known that it got a CPU from one of
 * them, but not for how long it had it.
 */
int64_t path_walk__cpu(const struct walk *w, const struct path_thread *thread,
		       const struct path_run *run, const struct path_run *next, int64_t since,
		       struct path_segment *seg)
{
	uint16_t cpu;
	bool found = waited_cpu(w, thread, run, next, &since, &cpu);
	bool known = covers_cpus(w->h, run->time) || (w->h->waits && found);
	const struct path_list *list = path_history__cpu(w->h, cpu);
	uint32_t n = list ? path_list__before(list, sizeof(struct path_occupant), w->time) : 0;
	const struct path_occupant *occupant;

	if (!known && w->h->waits)
		return since;
	if (!known && !run->woken) {
		blame_thread(w, run->other, run->other_pid, run->name, seg);
		seg->got_first = seg->cause == PATH_CAUSE_PROCESS;
		return since;
	}
	if (!n)
		return since;
	occupant = (const struct path_occupant *)list->at + n - 1;
	if (known || occupant->time >= run->time ||
	    path_history__find_thread(w->h, occupant->tid) != PATH_NONE) {
		blame_thread(w, occupant->tid, occupant->pid, occupant->name, seg);
		seg->got_first = !known && seg->cause == PATH_CAUSE_PROCESS;
	}
	if (occupant->before && n == 1)
		return since;
	if (occupant->before) /* since the one before it had it no more, which is unknown */
		occupant--;
	return occupant->time > since ? occupant->time : since;
}

/*
 * The time that each had a P is added up; then, once more through the same, the longest are taken
 * out.
 */
static void add_holders(struct walk *w, const struct path_list *list, int64_t from)
{
	const struct path_on *on = list->at;
	uint32_t i = path_list__before(list, sizeof(*on), w->time);
	int64_t end = w->time, begin;

	for (w->taken++; i-- && end > from; w->taken++) {
		begin = on[i].time > from ? on[i].time : from;
		if (on[i].goroutine != PATH_NONE && on[i].goroutine != w->at.goroutine)
			w->held[on[i].goroutine] += (uint64_t)end - (uint64_t)begin;
		end = on[i].time;
		w->path->work++;
	}
}

struct holder {
	uint32_t goroutine;
	uint64_t id, ns;
};

/* Of two that had it for as long, the one with the smaller number. */
static void take_holder(const struct walk *w, uint32_t goroutine, struct holder *all)
{
	struct holder next = { .goroutine = goroutine,
			       .id = path_goroutine(w->h, goroutine)->id,
			       .ns = w->held[goroutine] };
	struct holder swap;

	w->held[goroutine] = 0;
	for (unsigned int i = 0; i <= PATH_HOLDERS && next.ns; i++) {
		if (next.ns < all[i].ns || (next.ns == all[i].ns && next.id > all[i].id))
			continue;
		swap = all[i];
		all[i] = next;
		next = swap;
	}
}

static void take_holders(const struct walk *w, const struct path_list *list, int64_t from,
			 struct holder *all)
{
	const struct path_on *on = list->at;
	uint32_t i = path_list__before(list, sizeof(*on), w->time);
	int64_t end = w->time;

	for (; i-- && end > from; end = on[i].time)
		if (on[i].goroutine != PATH_NONE)
			take_holder(w, on[i].goroutine, all);
}

void path_walk__holders(struct walk *w)
{
	struct runnable *r = &w->runnable;
	struct holder all[PATH_HOLDERS + 1] = {};
	uint32_t procs = w->h->procs.n < PROCS_MAX ? w->h->procs.n : PROCS_MAX;

	for (uint32_t i = 0; i < procs; i++)
		add_holders(w, &path_proc(w->h, i)->on, r->begin);
	for (uint32_t i = 0; i < procs; i++)
		take_holders(w, &path_proc(w->h, i)->on, r->begin, all);
	for (uint32_t i = 0; i < PATH_HOLDERS; i++)
		r->holders[i] = all[i].ns ? all[i].goroutine : PATH_NONE;
	r->more = all[PATH_HOLDERS].ns;
}

/*
 * Whether the thread could not run, because it had no CPU: then what occupied that, or its cgroup, is the
 * cause. Returns since when.
 */
static int64_t blame_cpu(const struct walk *w, uint32_t thread, int64_t since,
			 struct path_segment *seg)
{
	const struct path_list *runs = &path_thread(w->h, thread)->runs;
	uint32_t n = path_list__before(runs, sizeof(struct path_run), w->time);
	const struct path_run *run;

	if (!n)
		return since;
	run = (const struct path_run *)runs->at + n - 1;
	if (run->time > since)
		since = run->time;
	if (run->run == KERNEL_THROTTLED)
		seg->cause = PATH_CAUSE_CGROUP;
	else if (run->run == KERNEL_RUNNABLE)
		since = path_walk__cpu(w, path_thread(w->h, thread), run,
				       n < runs->n ? run + 1 : NULL, since, seg);
	return since;
}

/* The thread on which a goroutine was just before the position's time. */
static uint32_t thread_of(const struct walk *w, uint32_t goroutine)
{
	const struct path_list *states = &path_goroutine(w->h, goroutine)->states;
	uint32_t n = path_list__before(states, sizeof(struct path_state), w->time);
	const struct path_state *st;

	if (!n)
		return PATH_NONE;
	st = (const struct path_state *)states->at + n - 1;
	return st->state == GO_STATE_RUNNING || st->state == GO_STATE_SYSCALL ? st->thread :
										PATH_NONE;
}

/*
 * The goroutine that had the P just before the position's time, or what kept that goroutine's thread
 * from a CPU. Returns since when.
 */
static int64_t blame_holder(const struct walk *w, const struct path_list *list, int64_t since,
			    struct path_segment *seg)
{
	const struct path_on *on = list->at;
	uint32_t n = path_list__before(list, sizeof(*on), w->time), thread;

	seg->cause = PATH_CAUSE_IDLE;
	if (!n)
		return since;
	if (on[n - 1].time > since)
		since = on[n - 1].time;
	if (on[n - 1].goroutine == PATH_NONE)
		return since;
	seg->cause = PATH_CAUSE_GOROUTINE;
	seg->by = on[n - 1].goroutine;
	thread = thread_of(w, seg->by);
	if (thread != PATH_NONE)
		since = blame_cpu(w, thread, since, seg);
	if (seg->cause == PATH_CAUSE_IDLE) /* of the CPU, not of the P */
		seg->cause = PATH_CAUSE_GOROUTINE;
	else if (seg->cause != PATH_CAUSE_GOROUTINE)
		seg->by = PATH_NONE;
	return since;
}

int64_t path_walk__proc(const struct walk *w, const struct path_state *st,
			const struct path_state *next, int64_t since, struct path_segment *seg)
{
	if (!st->over) {
		seg->cause = PATH_CAUSE_PENDING;
		return since;
	}
	if (st->got != PATH_NONE)
		since = blame_holder(w, &path_proc(w->h, st->got)->on, since, seg);
	if (seg->cause == PATH_CAUSE_IDLE && next && next->state == GO_STATE_RUNNING &&
	    next->thread != PATH_NONE)
		since = blame_cpu(w, next->thread, since, seg);
	return since;
}

enum path_cause path_cause__without_goroutine(struct trace_string reason)
{
	/* Of waitReasonStrings in the sources of Go 1.21 to 1.27. */
	static const struct {
		const char *reason;
		enum path_cause cause;
	} causes[] = {
		{ "network", PATH_CAUSE_NETPOLL },
		{ "sleep", PATH_CAUSE_TIMER },
		{ "chan receive", PATH_CAUSE_TIMER }, /* the channel is a timer's, as in a select */
		{ "select", PATH_CAUSE_TIMER },
	};

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (parking__is(reason, causes[i].reason))
			return causes[i].cause;
	return PATH_CAUSE_SCHEDULER;
}

const struct path_run *path_walk__last_sleep(const struct path_history *h, uint32_t thread,
					     int64_t time, int64_t *ret_woken)
{
	const struct path_list *runs, *list;
	const struct path_run *run;
	const struct path_on *on;
	uint32_t n, m;

	if (thread == PATH_NONE)
		return NULL;
	runs = &path_thread(h, thread)->runs;
	list = &path_thread(h, thread)->on;
	n = path_list__before(runs, sizeof(*run), time);
	m = path_list__before(list, sizeof(*on), time);
	on = m ? (const struct path_on *)list->at + m - 1 : NULL;
	for (unsigned int i = 0; i < SLEEPS_MAX && n > 1; i++, n--) {
		run = (const struct path_run *)runs->at + n - 2;
		if (!run->over)
			continue;
		if (on && (on->goroutine != PATH_NONE || on->time > run[1].time))
			return NULL;
		*ret_woken = run[1].time;
		return run;
	}
	return NULL;
}

int64_t path_walk__call(const struct walk *w, uint32_t thread, int64_t since, uint32_t *ret_number)
{
	const struct path_list *list = &path_thread(w->h, thread)->calls;
	const struct path_call *calls = list->at;
	uint32_t n = path_list__before(list, sizeof(*calls), w->time);

	*ret_number = KERNEL_NO_CALL;
	if (!n || calls[n - 1].to <= since)
		return INT64_MIN;
	*ret_number = calls[n - 1].number;
	return n > 1 && calls[n - 2].to > since ? calls[n - 1].time : INT64_MIN;
}

uint32_t path_walk__waker(const struct path_history *h, const struct path_list *runs,
			  const struct path_run *sleep)
{
	const struct path_run *end = (const struct path_run *)runs->at + runs->n;
	uint32_t waker = path_history__find_thread(h, sleep->other);

	if (waker == PATH_NONE || sleep + 1 == end)
		return PATH_NONE;
	return path_list__on_before(&path_thread(h, waker)->on, sleep[1].time);
}

/* A thread of the target did it, which ran no goroutine: maybe by a signal. */
static bool may_be_signal(const struct path_history *h, const struct path_list *runs,
			  const struct path_run *sleep)
{
	return sleep->over && !sleep->interrupt && !sleep->done &&
	       path_history__find_thread(h, sleep->other) != PATH_NONE &&
	       path_walk__waker(h, runs, sleep) == PATH_NONE;
}

/*
 * From one sleep of a thread to the next in either direction: is it the same system call, which was
 * cut short and goes on at once?
 */
struct retry {
	const struct path_run *first;
	uint64_t ran;
};

enum retry_is { RETRY_NO, RETRY_MAYBE, RETRY_YES };

static enum retry_is retry__step(struct retry *r, const struct path_run *run, int64_t until)
{
	if (run->run == KERNEL_RUNNING) {
		r->ran += (uint64_t)until - (uint64_t)run->time;
		return r->ran < RETRY_MAX ? RETRY_MAYBE : RETRY_NO;
	}
	if (run->run == KERNEL_RUNNABLE)
		return RETRY_MAYBE;
	if (run->run != r->first->run || run->call != r->first->call)
		return RETRY_NO;
	r->ran = 0;
	return RETRY_YES;
}

/* How many runs may be followed from here. */
static uint32_t runs_limit(const struct walk *w, uint32_t n)
{
	uint32_t limit = w->steps < STEPS_MAX ? RUNS_MAX : RUNS_FEW;

	return n < limit ? n : limit;
}

const struct path_run *path_walk__sleep_end(struct walk *w, const struct path_list *runs,
					    uint32_t n)
{
	const struct path_run *run = (const struct path_run *)runs->at + n;
	const struct path_run *end = run + runs_limit(w, runs->n - n);
	struct retry retry = { .first = run };
	enum retry_is is = RETRY_MAYBE;

	if (run->call == KERNEL_NO_CALL || !may_be_signal(w->h, runs, run))
		return run;
	for (; ++run < end && is != RETRY_NO; w->steps++) {
		is = retry__step(&retry, run, run + 1 < end ? run[1].time : run->time);
		if (is == RETRY_YES && !may_be_signal(w->h, runs, run))
			return run->over ? run : retry.first;
	}
	return retry.first;
}

int64_t path_walk__sleep_begin(struct walk *w, const struct path_list *runs, uint32_t n,
			       int64_t since)
{
	const struct path_run *run = (const struct path_run *)runs->at + n;
	const struct path_run *end = run + 1 - runs_limit(w, n + 1);
	struct retry retry = { .first = run };
	int64_t begin = run->time;
	enum retry_is is = RETRY_MAYBE;

	for (; run-- > end && run->time < begin && begin > since && is != RETRY_NO &&
	       retry.first->call != KERNEL_NO_CALL;
	     w->steps++) {
		is = retry__step(&retry, run, run[1].time);
		if (is != RETRY_YES)
			continue;
		if (!may_be_signal(w->h, runs, run))
			break;
		begin = run->time;
	}
	return begin > since ? begin : since;
}

/*
 * Whether the thread's last sleep may go on within the next 50 us: a signal may have cut its system
 * call short.
 */
static bool may_retry(const struct path_history *h, uint32_t thread, int64_t now)
{
	const struct path_list *runs = &path_thread(h, thread)->runs;
	const struct path_run *run = (const struct path_run *)runs->at + runs->n;
	uint32_t left = runs->n < RETRY_STEPS ? runs->n : RETRY_STEPS;
	int64_t until = now;
	uint64_t ran = 0;

	while (left--) {
		run--;
		if (path_run__is_asleep(run->run))
			return run->call != KERNEL_NO_CALL && may_be_signal(h, runs, run);
		if (run->run == KERNEL_RUNNING)
			ran += until > run->time ? (uint64_t)until - (uint64_t)run->time : 0;
		else if (run->run != KERNEL_RUNNABLE)
			return false;
		if (ran >= RETRY_MAX)
			return false;
		until = run->time;
	}
	return false;
}

bool path_history__is_pending(const struct path_history *h, uint64_t id, int64_t now)
{
	uint32_t g = path_history__find_goroutine(h, id);
	const struct path_state *st = g == PATH_NONE ? NULL : path_history__last_state(h, g);
	const struct path_run *run;

	if (!st || st->state == GO_STATE_NOT_EXIST)
		return false;
	if (st->state == GO_STATE_WAITING || st->state == GO_STATE_RUNNABLE)
		return true;
	run = st->thread == PATH_NONE ? NULL : path_history__last_run(h, st->thread);
	if (!run)
		return false;
	return (run->run > KERNEL_RUNNING && run->run < KERNEL_GONE) ||
	       may_retry(h, st->thread, now);
}

bool path_history__is_queued(const struct path_history *h, uint32_t thread, int64_t time)
{
	const struct path_run *run = path_history__last_run(h, thread);

	return run && run->run == KERNEL_RUNNABLE && run->woken && run->time < time;
}
