// SPDX-License-Identifier: GPL-2.0
/*
 * The slices, counters and arrows that events make, through a sink that writes each as a line, also
 * for events in an order that no program makes. check/export.sh compares exports of real traces with
 * the published schemas and other commands.
 */
#include "unit/tracker_fixture.h"
#include "export/export_impl.h"

enum { NONE, MAIN, WORKER, CHAN, STRINGS };
static const char *const strings[STRINGS] = { "", "main.main", "main.worker", "chan receive" };

static struct export *export;
static char text[4096];
static FILE *lines;

/* ---- a sink ---- */

static void sink_clock(struct export_sink *s, int64_t time, const struct trace_clock *clock)
{
}

static void sink_track(struct export_sink *s, const struct export_track *track)
{
	if (track->group != EXPORT_COUNTERS)
		fprintf(lines, "%" PRIu64 "<%" PRIu64 " %.*s\n", track->id, track->parent,
			(int)track->name.len, track->name.data);
}

static void sink_event(struct export_sink *s, const struct export_event *ev)
{
	static const char signs[] = { '[', ']', '!', '=' };

	if (ev->type == EXPORT_VALUE)
		return;
	fprintf(lines, "%" PRId64 " %c%" PRIu64 " %.*s", ev->time, signs[ev->type], ev->track,
		(int)ev->name.len, ev->name.data ?: "");
	if (ev->flow_to)
		fprintf(lines, " >%" PRIu64, ev->flow_to);
	if (ev->flow_from)
		fprintf(lines, " <%" PRIu64, ev->flow_from);
	fprintf(lines, "\n");
}

static void sink_finish(struct export_sink *s)
{
	fprintf(lines, "end\n");
}

static const struct export_sink_ops ops = {
	.clock = sink_clock,
	.track = sink_track,
	.event = sink_event,
	.finish = sink_finish,
};
static struct export_sink sink = { .ops = &ops };

/* ---- events ---- */

static int setup(void **state)
{
	const struct trace_frame frames[] = { { .pc = 1, .func = MAIN },
					      { .pc = 2, .func = WORKER } };

	add_strings(strings, STRINGS);
	dictionary__add_stack(&dictionary, MAIN, &frames[0], 1);
	dictionary__add_stack(&dictionary, WORKER, &frames[1], 1);
	export = export__create(&sink);
	memset(text, 0, sizeof(text));
	lines = fmemopen(text, sizeof(text), "w");
	on_m = on_p = on_g = UINT64_MAX;
	return !export || !lines;
}

static void teardown(void)
{
	export__destroy(export);
	fclose(lines);
	dictionary__deinit(&dictionary);
}

FIXTURE(setup, teardown)

static void event(int64_t time, unsigned int type, uint8_t old, uint64_t a, uint64_t b, uint64_t c)
{
	struct trace_event ev = made_event(time, type, a, b, c);
	static const struct kernel_threads none;

	ev.old = old;
	export->kernel = &none;
	assert_int_equal(export__event(export, &ev), 0);
}

static void expect(const char *expected)
{
	struct error error = {};

	assert_int_equal(export__finish(export, INT64_MIN, &error), 0);
	fflush(lines);
	assert_string_equal(text, expected);
}

/* Goroutine 1 of main.main runs on P 0 and thread 7, creates 5, which runs once 1 is blocked. */
TEST(arrows)
{
	on_m = 7;
	on_p = 0;
	on_g = 1;
	event(10, EV_GO_STATUS, GO_STATE_UNDETERMINED, 1, 7, GO_RUNNING);
	event(20, EV_GO_CREATE, GO_STATE_NOT_EXIST, 5, WORKER, MAIN);
	event(30, EV_GO_BLOCK, GO_STATE_RUNNING, CHAN, MAIN, 0);
	on_g = TRACE_NO_G;
	event(40, EV_GO_START, GO_STATE_RUNNABLE, 5, 1, 0);
	on_g = 5;
	event(50, EV_GO_UNBLOCK, GO_STATE_WAITING, 1, 2, WORKER);
	expect("1<0 (start function unknown)\n"
	       "2<1 G 1\n"
	       "3<0 Thread 7\n"
	       "4<0 P 0\n"
	       "10 [4 (start function unknown)\n"
	       "10 [3 (start function unknown)\n"
	       "10 [2 running\n"
	       "20 !2 create goroutine >1\n"
	       "5<0 main.worker\n"
	       "6<5 G 5 main.worker\n"
	       "20 [6 runnable <1\n"
	       "30 ]2 \n"
	       "30 ]4 \n"
	       "30 ]3 \n"
	       "2<1 G 1 main.main\n"
	       "30 [2 waiting: chan receive\n"
	       "40 ]6 \n"
	       "40 [4 main.worker\n"
	       "40 [3 main.worker\n"
	       "40 [6 running\n"
	       "50 ]2 \n"
	       "50 !6 unblock >2\n"
	       "50 [2 runnable <2\n"
	       "50 ]2 \n"
	       "50 ]6 \n"
	       "50 ]4 \n"
	       "50 ]3 \n"
	       "end\n");
}

/* An item of a CPU at a time in us. The threads 7 and 8 are the target's, `other` is the previous or next one. */
static void cpu_item(int64_t us, enum kernel_kind kind, uint32_t tid, uint32_t other)
{
	static struct kernel_threads threads;
	const struct kernel_item item = { .kind = (uint8_t)kind,
					  .tid = tid,
					  .other = other,
					  .name = { "make", kind == KERNEL_ON ? 0 : 4 } };

	if (!threads.map.n)
		for (uint32_t own = 7; own <= 8; own++)
			assert_int_equal(
				kernel_threads__set(&threads,
						    &(struct kernel_thread){ .tid = own,
									     .name = "own",
									     .name_len = 3 }),
				0);
	export->kernel = &threads;
	export->now = us * 1000;
	assert_int_equal(export__switch(export, &item), 0);
}

/* What had the CPU between two items is known only if both agree. */
TEST(cpus)
{
	cpu_item(100, KERNEL_ON, 7, 99);
	cpu_item(200, KERNEL_OFF, 7, 99);
	cpu_item(300, KERNEL_ON, 8, 99);
	cpu_item(400, KERNEL_OFF, 8, 7);
	cpu_item(400, KERNEL_ON, 7, 8);
	cpu_item(500, KERNEL_OFF, 7, 0); /* then idle, as the next item says, too */
	cpu_item(600, KERNEL_ON, 7, 0);
	cpu_item(700, KERNEL_ON, 8, 99); /* that 7 left is missing */
	cpu_item(800, KERNEL_OFF, 8, 0);
	cpu_item(900, KERNEL_ON, 8, 99); /* and that 99 came */
	expect("1<0 CPU 0\n"
	       "100000 [1 own\n200000 ]1 \n"
	       "200000 [1 make\n300000 ]1 \n"
	       "300000 [1 own\n400000 ]1 \n"
	       "400000 [1 own\n500000 ]1 \n"
	       "600000 [1 unknown\n700000 ]1 \n"
	       "700000 [1 own\n800000 ]1 \n"
	       "800000 [1 unknown\n900000 ]1 \n"
	       "end\n");
}

/* With items of `gotrace align`, which do not have the previous thread, and whose clock is 3 us off */
TEST(cpus_of_two_recordings)
{
	cpu_item(100, KERNEL_ON, 7, 0);
	cpu_item(197, KERNEL_CPU, 99, 0);
	cpu_item(200, KERNEL_OFF, 7, 99);
	cpu_item(250, KERNEL_CPU, 98, 0);
	cpu_item(300, KERNEL_ON, 7, 98);
	cpu_item(400, KERNEL_OFF, 7, 99);
	cpu_item(403, KERNEL_CPU, 99, 0);
	cpu_item(450, KERNEL_CPU, KERNEL_NO_THREAD, 0);
	cpu_item(500, KERNEL_ON, 7, 98);
	cpu_item(600, KERNEL_CPU, 99, 0); /* that 7 left is missing */
	cpu_item(700, KERNEL_CPU, 0, 0);
	expect("1<0 CPU 0\n"
	       "100000 [1 own\n197000 ]1 \n"
	       "197000 [1 make\n250000 ]1 \n"
	       "250000 [1 make\n300000 ]1 \n"
	       "300000 [1 own\n400000 ]1 \n"
	       "400000 [1 make\n450000 ]1 \n"
	       "450000 [1 unknown\n500000 ]1 \n"
	       "500000 [1 unknown\n600000 ]1 \n"
	       "600000 [1 make\n700000 ]1 \n"
	       "end\n");
}

/* An ID that is used again, and two goroutines on one P and thread: each slice ends, once. */
TEST(hostile)
{
	on_m = 7;
	on_p = 0;
	on_g = 1;
	event(10, EV_GO_STATUS, GO_STATE_UNDETERMINED, 1, 7, GO_RUNNING);
	on_g = 2;
	event(9, EV_GO_STATUS, GO_STATE_UNDETERMINED, 2, 7, GO_RUNNING);
	event(30, EV_GO_CREATE, GO_STATE_NOT_EXIST, 1, WORKER, 0);
	event(40, EV_USER_REGION_END, 0, 0, 0, 0);
	event(50, EV_GC_END, 0, 0, 0, 0);
	expect("1<0 (start function unknown)\n"
	       "2<1 G 1\n"
	       "3<0 Thread 7\n"
	       "4<0 P 0\n"
	       "10 [4 (start function unknown)\n"
	       "10 [3 (start function unknown)\n"
	       "10 [2 running\n"
	       "5<1 G 2\n"
	       "10 ]4 \n"
	       "10 ]3 \n"
	       "10 [4 (start function unknown)\n"
	       "10 [3 (start function unknown)\n"
	       "10 [5 running\n"
	       "30 ]2 \n"
	       "30 !5 create goroutine >1\n"
	       "6<0 main.worker\n"
	       "7<6 G 1 main.worker\n"
	       "30 [7 runnable <1\n"
	       "8<0 GC cycles\n"
	       "50 ]7 \n"
	       "50 ]5 \n"
	       "50 ]4 \n"
	       "50 ]3 \n"
	       "end\n");
}
