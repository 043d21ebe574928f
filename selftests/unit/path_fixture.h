/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-made events and items for the unit tests of the critical path, and the path as text: one
 * line per segment. Goroutine N has start function N; thread N begins on CPU N - 1, with P N - 1.
 */
#ifndef SELFTESTS_PATH_FIXTURE_H
#define SELFTESTS_PATH_FIXTURE_H

#include "unit/scratch.h"
#include "unit/tracker_fixture.h"
#include "analysis/path_impl.h"
#include "analysis/waits.h"

enum { NONE, MAIN, WORKER, HOLDER, CHAN, SLEEP, NETWORK, ASSIST_STACK, STW, EVICT, STRINGS };
static const char *const strings[STRINGS] = {
	[NONE] = "",
	[MAIN] = "main.main",
	[WORKER] = "main.worker",
	[HOLDER] = "main.holder",
	[CHAN] = "chan receive",
	[SLEEP] = "sleep",
	[NETWORK] = "network",
	[ASSIST_STACK] = "f",
	[STW] = "GC sweep termination",
	[EVICT] = "internal/poll.(*pollDesc).evict",
};

enum { READ = 0, FSYNC = 74, FUTEX = 202 };
enum {
	STRESS = 900,
	PEER = 901
}; /* threads of other processes; the id of their process is larger by 10 */

static struct path_history history;
static struct path_fold fold;
static struct waits *waits; /* gets the events, too, if not NULL */
static struct kernel_threads threads;

static inline void end(void)
{
	waits__destroy(waits);
	path_fold__deinit(&fold);
	path_history__deinit(&history);
	kernel_threads__deinit(&threads);
	dictionary__deinit(&dictionary);
	waits = NULL;
	memset(&fold, 0, sizeof(fold));
	memset(&history, 0, sizeof(history));
	memset(&dictionary, 0, sizeof(dictionary));
	threads = (struct kernel_threads){};
}

static inline void begin_limited(size_t limit)
{
	struct trace_frame evict = { .pc = 0x2000, .func = EVICT };

	end();
	add_strings(strings, STRINGS);
	add_start_functions(MAIN, HOLDER, CHAN);
	assert_int_equal(dictionary__add_stack(&dictionary, EVICT, &evict, 1), 0);
	assert_int_equal(path_history__init(&history, limit), 0);
	path_fold__init(&fold, &history);
	on_m = on_p = on_g = UINT64_MAX;
}

static inline void begin(void)
{
	begin_limited(SIZE_MAX);
}

FIXTURE(begin, end)

/* Thread m with P m - 1 runs goroutine g; 0: none. */
static inline void on(uint64_t m, uint64_t g)
{
	on_m = m;
	on_p = m ? m - 1 : TRACE_NO_P;
	on_g = g ? g : TRACE_NO_G;
}

static inline void event(int64_t time, unsigned int type, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);

	path_fold__reread_threads(&fold);
	assert_int_equal(path_fold__event(&fold, &ev, &threads, (uint64_t)time), 0);
	if (waits)
		assert_int_equal(waits__event(waits, &ev), 0);
}

static inline void item(int64_t time, uint32_t tid, uint8_t kind, struct kernel_item more)
{
	more.time = (uint64_t)time;
	more.tid = tid;
	more.kind = kind;
	assert_int_equal(kernel_threads__apply(&threads, &more), 0);
	assert_int_equal(path_fold__item(&fold, &more, &threads), 0);
}

static inline struct trace_string name_of(uint32_t tid)
{
	const char *name = tid == STRESS ? "stress" : tid == PEER ? "peer" : "";

	return (struct trace_string){ .data = name, .len = (uint32_t)strlen(name) };
}

static inline uint32_t process_of(uint32_t tid)
{
	return tid < STRESS ? 1 : tid + 10;
}

static inline void core(int64_t time, uint32_t tid, uint16_t cpu)
{
	item(time, tid, KERNEL_ON, (struct kernel_item){ .cpu = cpu });
}

static inline void off(int64_t time, uint32_t tid, uint8_t why, uint32_t other, uint16_t cpu)
{
	item(time, tid, KERNEL_OFF,
	     (struct kernel_item){ .why = why,
				   .other = other,
				   .other_pid = other ? process_of(other) : 0,
				   .name = name_of(other),
				   .cpu = cpu });
}

static inline void wake(int64_t time, uint32_t tid, uint32_t waker)
{
	item(time, tid, KERNEL_WAKING,
	     (struct kernel_item){ .other = waker, .other_pid = process_of(waker) });
}

static inline void interrupt(int64_t time, uint32_t tid)
{
	item(time, tid, KERNEL_WAKING, (struct kernel_item){ .other = PEER, .interrupt = true });
}

static inline void call(int64_t time, uint32_t tid, uint32_t number)
{
	item(time, tid, KERNEL_SYS_ENTER, (struct kernel_item){ .number = number });
}

static inline void machine(int64_t time, uint16_t cpu, uint32_t tid)
{
	item(time, tid, KERNEL_CPU,
	     (struct kernel_item){
		     .cpu = cpu, .other_pid = tid ? process_of(tid) : 0, .name = name_of(tid) });
}

/* Each goroutine runs on its own thread and P from time 0: g1 on thread 1, ... */
static inline void all_run(uint64_t n)
{
	on(0, 0);
	event(0, EV_SYNC, 0, 0, 0);
	for (uint64_t g = 1; g <= n; g++) {
		on(g, 0);
		event(0, EV_GO_STATUS, g, g, GO_RUNNING);
		on(g, g);
	}
}

static inline void block(int64_t time, uint64_t g, uint64_t reason)
{
	on(g, g);
	event(time, EV_GO_BLOCK, reason, g <= HOLDER ? g : 0, 0);
}

/* By goroutine `by` on its thread; 0: by none, on thread 9. */
static inline void unblock(int64_t time, uint64_t g, uint64_t by)
{
	on(by ? by : 9, by);
	event(time, EV_GO_UNBLOCK, g, 1, 0);
}

/* The same, by a function of that number. */
static inline void unblock_in(int64_t time, uint64_t g, uint64_t by, uint64_t function)
{
	on(by, by);
	event(time, EV_GO_UNBLOCK, g, 1, function);
}

static inline void start(int64_t time, uint64_t g)
{
	on(g, 0);
	event(time, EV_GO_START, g, 1, 0);
}

/* ---- what came of it ---- */

static inline void put_who(FILE *f, const char *what, uint32_t g)
{
	if (g != PATH_NONE)
		fprintf(f, " %s%" PRIu64, what, path_goroutine(&history, g)->id);
}

static inline void put_word(FILE *f, const char *what, uint32_t id)
{
	size_t len = 0;
	const char *text = intern__string_at(history.texts, id, &len);

	if (id && text)
		fprintf(f, " %s%.*s", what, (int)len, text);
}

static inline void put_segment(FILE *f, const struct path_segment *s)
{
	static const char *const kinds[PATH_KINDS] = { "unknown",   "oncpu",	 "running",
						       "syscall",   "gorun",	 "kernrun",
						       "throttled", "kernblock", "sysblock",
						       "goblock" };
	static const char *const causes[PATH_CAUSES] = { "",	    " goroutine", " process",
							 " thread", " interrupt", " idle",
							 " timer",  " netpoll",	  " scheduler",
							 " cgroup", " pending" };

	fprintf(f, "%" PRId64 "-%" PRId64 " %s", s->from, s->to, kinds[s->kind]);
	put_who(f, "g", s->goroutine);
	if (s->thread != PATH_NONE)
		fprintf(f, " m%" PRIu64, path_thread(&history, s->thread)->id);
	put_word(f, "", s->reason);
	if (s->call != KERNEL_NO_CALL)
		fprintf(f, " call=%u", s->call);
	if (s->fault)
		fprintf(f, " fault");
	if (s->got_first)
		fprintf(f, " first");
	fputs(causes[s->cause], f);
	put_who(f, "by=g", s->by);
	if (s->other)
		fprintf(f, " by=%u", s->other);
	put_word(f, "by=", s->other_name);
	for (unsigned int i = 0; i < PATH_HOLDERS; i++)
		put_who(f, "held=g", s->holders[i]);
	if (s->notes & PATH_NOTE_ASSIST)
		fputs(" assist", f);
	if (s->notes & PATH_NOTE_STOPPED)
		fputs(" stopped", f);
	fputc('\n', f);
}

/* Any path covers the window without gaps or overlaps, and the summary adds up to the window. */
static inline void expect_whole(const struct path *p, int64_t from, int64_t to)
{
	struct path_cause_total *all;
	int64_t at = from;
	uint64_t sum = 0, count = 0;
	size_t n;

	assert_true(p->from == from && p->to == to);
	for (size_t i = 0; i < p->n; i++) {
		assert_int_equal(p->segments[i].from, at);
		assert_true(p->segments[i].to > at);
		at = p->segments[i].to;
	}
	assert_int_equal(at, to);
	assert_int_equal(path__summary(p, &all, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || all[i - 1].ns >= all[i].ns);
		sum += all[i].ns;
		count += all[i].count;
	}
	assert_int_equal(sum, (uint64_t)to - (uint64_t)from);
	assert_int_equal(count, p->n);
	free(all);
}

/* The path of goroutine g. */
static inline void expect(uint64_t g, int64_t from, int64_t to, const char *want)
{
	uint32_t index = path_history__find_goroutine(&history, g);
	struct path p;
	FILE *f = capture();

	assert_int_not_equal(index, PATH_NONE);
	assert_int_equal(path__walk(&history, index, from, to, &p), 0);
	for (size_t i = 0; i < p.n; i++)
		put_segment(f, &p.segments[i]);
	expect_captured(want);
	expect_whole(&p, from, to);
	path__deinit(&p);
}

#endif
