// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of a trace with kernel events: their items, and the state of threads at their start.
 */
#include "unit/test.h"
#include "format/kernel.h"
#include "rewrite/rewrite.h"
#include "writer/private_write.h"

#include "unit/rewrite_fixture.h"

#define T 1000000

static struct kernel_writer *kernel;
static struct kernel_threads threads;

static void item(uint64_t time, uint8_t kind, uint32_t tid, uint8_t why)
{
	const struct kernel_item it = {
		.time = time, .kind = kind, .tid = tid, .why = why, .cpu = 1
	};

	ok(kernel_writer__add(kernel, &it));
	ok(kernel_threads__apply(&threads, &it));
}

static void begin(uint64_t time)
{
	ok(writer__open(x.w, time, 5000000000000 + time));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(kernel_writer__begin(kernel, time, &threads));
}

static void end(void)
{
	ok(private__kernel(x.w, kernel));
	ok(writer__close(x.w));
	kernel_threads__forget_gone(&threads);
}

/* Two generations of threads 10 to 12; 11 ends in the first, 12 begins in the second. */
static const char *made_trace(void)
{
	static const struct kernel_thread idle = { .tid = 11,
						   .run = KERNEL_SLEEPING,
						   .call = KERNEL_NO_CALL };
	static char path[256]; /* the result of scratch() does not last that long */

	snprintf(path, sizeof(path), "%s", scratch("whole"));
	start_at(path, 25, 1);
	kernel = kernel_writer__create();
	assert_non_null(kernel);
	ok(kernel_threads__set(&threads, &idle));
	begin(T);
	item(T + 100, KERNEL_ON, 10, 0);
	put(10, T + 150, EV_HEAP_ALLOC, 1, 0, 0);
	item(T + 200, KERNEL_OFF, 10, GT_OFF_SLEEPING);
	item(T + 300, KERNEL_WAKING, 10, 0);
	item(T + 310, KERNEL_ENDED, 11, 0);
	item(T + 400, KERNEL_ON, 10, 0);
	put(10, T + 450, EV_HEAP_ALLOC, 2, 0, 0);
	end();
	begin(T + 500);
	item(T + 600, KERNEL_OFF, 10, GT_OFF_PREEMPTED);
	item(T + 650, KERNEL_CREATED, 12, 0);
	put(10, T + 700, EV_HEAP_ALLOC, 3, 0, 0);
	end();
	kernel_threads__deinit(&threads);
	kernel_writer__destroy(kernel);
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
	return path;
}

/* Expects these kernel events: one line per generation, thread and item, with times after T. */
static void expect(const char *path, const char *want)
{
	struct reader *r = open_path(path);
	struct error err = {};
	struct trace_string call;
	struct kernel_reader *k;
	struct kernel_thread t;
	struct kernel_item it;
	struct trace_event ev;
	char text[2048];
	FILE *f = fmemopen(text, sizeof(text), "w");

	while (reader__next(r, &ev, &err) > 0) {
		if (ev.type != EV_SYNC || !ev.dictionary)
			continue;
		fputs("generation\n", f);
		if (kernel_reader__open(&k, ev.dictionary) <= 0)
			continue;
		while (kernel_reader__thread(k, &t)) {
			fprintf(f, "thread %u %s since %ld", t.tid, run_name(t.run),
				t.since ? (long)t.since - T : -1);
			call = kernel_reader__call(k);
			fprintf(f, "%s%.*s\n", call.len ? " in " : "", (int)call.len, call.data);
		}
		while (kernel_reader__item(k, &it))
			fprintf(f, "%ld %s %u\n", (long)it.time - T, kernel__item(it.kind), it.tid);
		assert_int_equal(kernel_reader__bad(k), 0);
		kernel_reader__close(k);
	}
	fclose(f);
	assert_string_equal(err.text, "");
	assert_string_equal(text, want);
	reader__destroy(r);
}

#define FIRST                                                                                      \
	"generation\nthread 11 sleeping since -1\n100 on_cpu 10\n200 off_cpu 10\n300 waking 10\n"  \
	"310 ended 11\n400 on_cpu 10\n"
#define SECOND "generation\nthread 10 running since 400\n600 off_cpu 10\n650 created 12\n"

TEST(whole_trace)
{
	const char *path = made_trace();

	expect(path, FIRST SECOND);
	expect(part(path, 25, INT64_MIN, 0), FIRST SECOND);
}

/* An item at the start belongs to the part, one at the end does not. */
TEST(items_of_parts)
{
	const char *path = made_trace();

	expect(part(path, 25, T + 300, 0), "generation\nthread 10 sleeping since 200\n"
					   "thread 11 sleeping since -1\n"
					   "300 waking 10\n310 ended 11\n400 on_cpu 10\n" SECOND);
	expect(part(path, 25, T + 301, T + 400), "generation\nthread 10 runnable since 300\n"
						 "thread 11 sleeping since -1\n310 ended 11\n");
	expect(part(path, 25, T + 120, T + 401), "generation\nthread 10 running since 100\n"
						 "thread 11 sleeping since -1\n200 off_cpu 10\n"
						 "300 waking 10\n310 ended 11\n400 on_cpu 10\n");
	expect(part(path, 25, T + 650, 0),
	       "generation\nthread 10 runnable since 600\n650 created 12\n");
	/*
	 * no items in the part: the state of threads is that of the start, not of the generation's
	 * end
	 */
	expect(part(path, 25, T + 220, T + 230), "generation\nthread 10 sleeping since 200\n"
						 "thread 11 sleeping since -1\n");
	expect(part(path, 25, T + 311, T + 312), "generation\nthread 10 runnable since 300\n");
	expect(part(path, 25, T + 410, T + 420), "generation\nthread 10 running since 400\n");
	expect(part(path, 25, T + 900, 0), "generation\nthread 10 runnable since 600\n"
					   "thread 12 runnable since 650\n");
}

/* A system call that this build has no name for keeps the one in the file. */
TEST(names_of_system_calls)
{
	const struct kernel_item enter = { .time = T + 100,
					   .kind = KERNEL_SYS_ENTER,
					   .tid = 10,
					   .number = 9999,
					   .name = { "newest", 6 } };
	char path[256];

	snprintf(path, sizeof(path), "%s", scratch("whole"));
	start_at(path, 25, 1);
	kernel = kernel_writer__create();
	assert_non_null(kernel);
	begin(T);
	ok(kernel_writer__add(kernel, &enter));
	ok(kernel_threads__apply(&threads, &enter));
	put(10, T + 150, EV_HEAP_ALLOC, 1, 0, 0);
	end();
	begin(T + 500);
	put(10, T + 700, EV_HEAP_ALLOC, 2, 0, 0);
	end();
	kernel_threads__deinit(&threads);
	kernel_writer__destroy(kernel);
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
#define IN_CALL "generation\nthread 10 running since 100 in newest\n"
	expect(path, "generation\n100 sys_enter 10\n" IN_CALL);
	expect(part(path, 25, INT64_MIN, 0), "generation\n100 sys_enter 10\n" IN_CALL);
	expect(part(path, 25, T + 120, 0), IN_CALL IN_CALL);
	expect(part(path, 25, T + 600, 0), IN_CALL);
}

/* Without a generation there is nothing to write, and no start time. */
TEST(no_generation)
{
	const struct rewrite_opts opts = { .version = 25, .from = INT64_MIN };
	const struct trace_event early = { .time = -1, .type = EV_HEAP_ALLOC };
	const struct trace_event late = { .time = INT64_MAX, .type = EV_HEAP_ALLOC };
	struct trace_file *file;
	struct rewrite *rw;

	ok(trace_file__open(&file, scratch("nothing"), FILE_ANY));
	ok(rewrite__create(&rw, file, &opts));
	assert_int_equal(rewrite__event(rw, &early), -ERANGE);
	assert_int_equal(rewrite__event(rw, &late), -ERANGE);
	ok(rewrite__end(rw));
	assert_int_equal(rewrite__stats(rw)->events, 0);
	rewrite__destroy(rw);
	trace_file__destroy(file);
}
