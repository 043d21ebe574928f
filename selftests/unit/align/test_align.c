// SPDX-License-Identifier: GPL-2.0
/*
 * The whole way of `gotrace align`: a trace and a perf.data file made by hand, and what the generations of
 * the joined trace have. The trace has no kernel events, so that those of its threads come from perf too.
 */
#include <sys/stat.h>

#include "unit/test.h"
#include "align/alignment.h"
#include "align/write.h"
#include "format/private_read.h"
#include "perfdata/made.h"
#include "unit/rewrite_fixture.h"
#include "writer/private_write.h"

/* Thread 10 runs on a P in both generations, thread 11 shows in the second one. */
static const char *made_trace(unsigned int version)
{
	const char *path = scratch("before");

	start_at(path, version, 1);
	ok(writer__open(x.w, 1000, 5000000001000));
	ok(private__ticks(x.w, 1, 1000, 5000000001000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	put(10, 1900, EV_HEAP_ALLOC, 1, 0, 0);
	ok(writer__close(x.w));
	ok(writer__open(x.w, 2000, 5000000002000));
	ok(private__ticks(x.w, 1, 2000, 5000000002000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(writer__proc_status(x.w, 11, 1, PROC_RUNNING));
	put(11, 2100, EV_HEAP_ALLOC, 2, 0, 0);
	put(10, 3000, EV_HEAP_ALLOC, 3, 0, 0);
	ok(writer__close(x.w));
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
	return path;
}

enum {
	NO_P = 900,
	STRANGER = 901
}; /* a thread of the program that the trace has not; another program's */

static struct perf_data *opened(struct made_perf *m)
{
	struct made *b = made_file(m);
	struct perf_data *d;
	struct error err = {};
	struct input *in;

	ok(input__open_memory(&in, b->data, b->len, &err));
	ok(perf_data__open(&d, in, &err));
	free(b);
	free(m);
	return d;
}

static struct perf_data *made_perf_data(void)
{
	struct made_perf *m = made_perf();

	made_switch(m, 400, 0, 0, 0, 10); /* before the trace: 10 gets CPU 0, loses it, gets it */
	made_switch(m, 450, 0, 10, 1, 0);
	made_switch(m, 500, 0, 0, 0, 10);
	made_switch(m, 1500, 0, 10, 0, NO_P);
	made_switch(m, 1600, 0, NO_P, 1, 10);
	made_switch(m, 1700, 0, 10, 0, STRANGER);
	made_switch(m, 1800, 0, 0, 0, 10);
	made_lost_at(m, 4, 2200, 1);
	made_switch(m, 2400, 1, 11, 1, 0);
	made_switch(m, 2500, 0, 10, 1, NO_P);
	return opened(m);
}

static char text_of_items[4096];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	size_t n = strlen(text_of_items);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text_of_items + n, sizeof(text_of_items) - n, format, ap);
	va_end(ap);
}

static void say_generation(const struct dictionary *dictionary)
{
	struct private_reader r;
	struct private_record record;
	struct kernel_reader *kernel;
	struct kernel_thread thread;
	struct kernel_item item;
	struct private_loss loss;
	struct private_pair pair;

	private_reader__init(&r, dictionary);
	while (private_reader__next(&r, &record) > 0) {
		while (record.kind == PRIVATE_LOSSES && private_read__loss(&record.data, &loss))
			say("lost %u from %" PRIu64 " to %" PRIu64 "\n", (unsigned int)loss.count,
			    loss.from, loss.to);
		while (record.kind == PRIVATE_ALIGNMENT && private_read__pair(&record.data, &pair))
			say("%.*s: %.*s\n", (int)pair.name.len, pair.name.data, (int)pair.value.len,
			    pair.value.data);
	}
	private_reader__deinit(&r);
	if (kernel_reader__open(&kernel, dictionary) <= 0)
		return;
	while (kernel_reader__thread(kernel, &thread))
		say("thread %u %s\n", thread.tid, run_name(thread.run));
	while (kernel_reader__item(kernel, &item))
		say("%" PRIu64 " %s %u cpu%u other=%u %s %.*s\n", item.time,
		    kernel__item(item.kind), item.tid, item.cpu, item.other,
		    item.kind == KERNEL_OFF ? kernel__why(item.why) : "-", (int)item.name.len,
		    item.name.data ? item.name.data : "");
	kernel_reader__close(kernel);
}

static void say_trace(const char *path)
{
	struct reader *r = open_path(path);
	struct error err = {};
	struct trace_event ev;
	int code;

	text_of_items[0] = 0;
	while ((code = reader__next(r, &ev, &err)) > 0) {
		if (ev.type == EV_SYNC && ev.dictionary) {
			say("generation\n");
			say_generation(ev.dictionary);
		}
	}
	if (code)
		fail_msg("%s", err.text);
	reader__destroy(r);
}

static void make_alignment(struct alignment *a, const char *from, struct perf_data *perf)
{
	struct reader *r = open_path(from);
	struct error err = {};
	struct side side;

	ok(side__read(&side, r, &err));
	reader__destroy(r);
	if (alignment__make(a, &side, perf, &err))
		fail_msg("%s", err.text);
}

/* Says what the joined trace has. */
static void write_joined(struct alignment *a, const char *from, struct align_added *ret)
{
	static const struct align_pair pair = { "made by", "a test" };
	const char *to = scratch("after");
	struct align_job job = { .alignment = a, .pairs = &pair, .npairs = 1 };
	struct trace_file *file;
	struct error err = {};
	struct input *in;

	ok(input__open(&in, from, &err));
	job.trace = in;
	ok(trace_file__open(&file, to, FILE_ANY));
	ok(align__write(&job, file, to, ret, &err));
	ok(trace_file__commit(file));
	trace_file__destroy(file);
	input__destroy(in);
	say_trace(to);
}

static off_t size_of(const char *path)
{
	struct stat st;

	ok(stat(path, &st));
	return st.st_size;
}

TEST(joined)
{
	static const char expected[] = "generation\n"
				       "made by: a test\n"
				       "thread 10 running\n"
				       "1500 named 10 cpu0 other=0 - worker\n"
				       "1500 off_cpu 10 cpu0 other=900 preempted a name of 15 by\n"
				       "1500 named 900 cpu0 other=0 - a name of 15 by\n"
				       "1500 on_cpu 900 cpu0 other=10 - \n"
				       "1600 named 900 cpu0 other=0 - worker\n"
				       "1600 off_cpu 900 cpu0 other=10 sleeping a name of 15 by\n"
				       "1600 named 10 cpu0 other=0 - a name of 15 by\n"
				       "1600 on_cpu 10 cpu0 other=900 - \n"
				       "1700 named 10 cpu0 other=0 - worker\n"
				       "1700 off_cpu 10 cpu0 other=901 preempted a name of 15 by\n"
				       "1700 cpu 4294967295 cpu0 other=0 - \n"
				       "1800 named 10 cpu0 other=0 - a name of 15 by\n"
				       "1800 on_cpu 10 cpu0 other=0 - \n"
				       "generation\n"
				       "lost 4 from 2200 to 2200\n"
				       "lost 0 from 2500 to 2501\n"
				       "thread 10 running\n"
				       "thread 900 sleeping\n"
				       "2400 named 11 cpu1 other=0 - worker\n"
				       "2400 off_cpu 11 cpu1 other=0 sleeping \n"
				       "2400 cpu 0 cpu1 other=0 - \n"
				       "2500 named 10 cpu0 other=0 - worker\n"
				       "2500 off_cpu 10 cpu0 other=900 sleeping a name of 15 by\n"
				       "2500 named 900 cpu0 other=0 - a name of 15 by\n"
				       "2500 on_cpu 900 cpu0 other=10 - \n"
				       "2501 cpu 4294967295 cpu0 other=0 - \n"
				       "2501 cpu 4294967295 cpu1 other=0 - \n";
	struct align_added added;
	struct alignment a;
	const char *from;
	uint64_t all;

	for (unsigned int version = 25; version <= 26; version++) {
		from = made_trace(version);
		make_alignment(&a, from, made_perf_data());
		assert_false(a.fitted);
		assert_string_equal(alignment__clock(&a), "CLOCK_MONOTONIC");
		assert_int_equal(alignment__covered(&a, &all), 2500 - 1000);
		assert_int_equal(all, a.side.to - 1000);
		write_joined(&a, from, &added);
		assert_string_equal(text_of_items, expected);
		assert_int_equal(added.switches, 9);
		assert_int_equal(added.wakings, 0);
		assert_int_equal(added.threads, 9);
		assert_int_equal(added.cpus, 1); /* CPU 0 was idle before the next switch */
		assert_int_equal(added.bytes, size_of(scratch("after")) - size_of(from));
		alignment__deinit(&a);
	}
}

/* Of a perf.data that ends before the trace begins, the last event is what threads start from. */
TEST(perf_ended_before)
{
	static const char expected[] = "generation\n"
				       "made by: a test\n"
				       "lost 0 from 400 to 401\n"
				       "thread 10 running\n"
				       "generation\n"
				       "thread 10 unknown\n";
	const char *from = made_trace(25);
	struct align_added added;
	struct alignment a;

	make_alignment(&a, from, made_perf_data());
	a.join.n = 1; /* the others are no part of it, and are not read */
	write_joined(&a, from, &added);
	assert_string_equal(text_of_items, expected);
	assert_int_equal(added.switches, 0);
	alignment__deinit(&a);
}

/* Thread 10 was preempted, and this is in the trace; thread 12 slept. */
static const char *made_trace_with_kernel(void)
{
	static const struct kernel_item items[] = {
		{ .time = 1100, .kind = KERNEL_ON, .tid = 10 },
		{ .time = 1200, .kind = KERNEL_OFF, .tid = 12, .why = GT_OFF_SLEEPING, .cpu = 1 },
		{ .time = 1500,
		  .kind = KERNEL_OFF,
		  .tid = 10,
		  .why = GT_OFF_PREEMPTED,
		  .other = STRANGER },
		{ .time = 1700, .kind = KERNEL_ON, .tid = 10, .other = STRANGER + 1 },
	};
	struct kernel_writer *kernel = kernel_writer__create();
	const char *path = scratch("own");

	start_at(path, 25, 1);
	ok(writer__open(x.w, 1000, 5000000001000));
	ok(private__ticks(x.w, 1, 1000, 5000000001000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(kernel_writer__begin(kernel, 1000, NULL));
	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
		ok(kernel_writer__add(kernel, &items[i]));
	put(10, 3000, EV_HEAP_ALLOC, 3, 0, 0);
	ok(private__kernel(x.w, kernel));
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	kernel_writer__destroy(kernel);
	stop(NULL);
	return path;
}

/* To a trace that has kernel events only who held the CPUs meanwhile is added. */
TEST(joined_to_kernel_events)
{
	static const char expected[] = "generation\n"
				       "made by: a test\n"
				       "500 cpu 901 cpu0 other=0 - a name of 15 by\n"
				       "1100 on_cpu 10 cpu0 other=0 - \n"
				       "1200 off_cpu 12 cpu1 other=0 sleeping \n"
				       "1200 cpu 903 cpu1 other=0 - a name of 15 by\n"
				       "1500 off_cpu 10 cpu0 other=901 preempted \n"
				       "1500 cpu 901 cpu0 other=0 - a name of 15 by\n"
				       "1600 cpu 902 cpu0 other=0 - a name of 15 by\n"
				       "1700 on_cpu 10 cpu0 other=902 - \n"
				       "1800 cpu 901 cpu0 other=0 - a name of 15 by\n"
				       "1801 cpu 4294967295 cpu0 other=0 - \n"
				       "1801 cpu 4294967295 cpu1 other=0 - \n";
	const char *from = made_trace_with_kernel();
	struct made_perf *m = made_perf();
	struct align_added added;
	struct alignment a;

	made_switch(m, 500, 0, 0, 0, STRANGER);
	made_switch(m, 1100, 0, STRANGER, 0, 10);
	made_switch(m, 1200, 1, 12, 1, STRANGER + 2);
	made_switch(m, 1500, 0, 10, 0, STRANGER);
	made_switch(m, 1600, 0, STRANGER, 0, STRANGER + 1);
	made_switch(m, 1700, 0, STRANGER + 1, 0, 10);
	made_switch(m, 1800, 0, 10, 0, STRANGER);
	make_alignment(&a, from, opened(m));
	assert_int_equal(a.target.n, 2);
	write_joined(&a, from, &added);
	assert_string_equal(text_of_items, expected);
	assert_int_equal(added.switches, 0);
	assert_int_equal(added.threads, 0);
	assert_int_equal(added.cpus, 5);
	alignment__deinit(&a);
}
