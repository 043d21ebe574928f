// SPDX-License-Identifier: GPL-2.0
/* What `gotrace stat` counts, of a small trace that our own writer made. */
#include "unit/test.h"
#include "unit/writer_fixture.h"

#include "analysis/statistics.h"
#include "format/kernel.h"
#include "reader/reader.h"
#include "writer/private_write.h"

FIXTURE(NULL, stop)

static const struct private_loss losses[] = {
	{ GT_PARK, 3, 1200, 1300 },
	{ GT_PARK, 2, 1100, 1250 },
	{ 999, 1, 5, 6 }, /* of a later version */
};

static void write_first_generation(void)
{
	static const struct private_meta meta = { .tool = "gotrace-bpf 0.1",
						  .command = "a\0b",
						  .command_len = 3 };
	static const uint8_t cut[] = { 1, 1 };

	ok(writer__open(x.w, 1000, 5000000000001));
	ok(private__meta(x.w, &meta));
	ok(private__ticks(x.w, 1, 1000, 5000000000001));
	ok(private__host_clock(x.w, &(struct private_host_clock){ 990, true, 500, 40, 8 }));
	ok(private__losses(x.w, losses, 2));
	ok(private__correction(x.w, &(struct private_correction){ 1400, 1500, 3, 1, 7 }));
	ok(private__cpu_samples(x.w, &(struct private_cpu_samples){ 10101010, 1, 7 }));
	ok(private__record(x.w, PRIVATE_LOSSES, cut, sizeof(cut)));
	ok(private__plugin(x.w, &(struct private_plugin){ 1200, 1300, true, "/p/a.so", 0 }));
	ok(private__plugin(x.w, &(struct private_plugin){ 1400, 0, false, "/p/b.so\nno", 0 }));
	ok(private__record(x.w, PRIVATE_KIND_END, "", 0));
	ok(writer__proc_status(x.w, 7, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, NOM, 1, GO_WAITING, 0));
	ok(event(7, 1010, EV_GO_CREATE, 2, 0, 0, 3));
	ok(event(7, 1020, EV_GO_CREATE, 3, 0, 0, 3));
	ok(event(7, 1030, EV_GO_START, 2, 1, 0, 2));
	ok(event(7, 1040, EV_PROCS_CHANGE, 4, 0, 0, 2));
	ok(event(7, 1050, EV_GO_DESTROY, 0, 0, 0, 0));
	ok(writer__close(x.w));
}

static void write_second_generation(void)
{
	ok(writer__open(x.w, 2000, 5000000001001));
	ok(private__losses(x.w, losses + 2, 1));
	ok(private__correction(x.w, &(struct private_correction){ 2100, 2101, 1, 0, 2 }));
	ok(private__plugin(x.w, &(struct private_plugin){ 1400, 0, false, "/p/b.so\nno", 0 }));
	ok(private__number(x.w, PRIVATE_CLOCK, 1200));
	ok(private__host_clock(x.w, &(struct private_host_clock){ 1990, true, 700, 30, -9 }));
	ok(private__record(x.w, PRIVATE_HOST_CLOCK, "\1\2\3\4\5", 5)); /* state 2 */
	ok(private__cpu_samples(x.w, &(struct private_cpu_samples){ 10101010, 2, 500 }));
	ok(writer__go_status(x.w, NOM, 1, GO_WAITING, 0));
	ok(writer__go_status(x.w, NOM, 3, GO_RUNNABLE, 0));
	ok(event(9, 2010, EV_GO_UNBLOCK, 1, 1, 0, 3));
	ok(event(7, 2020, EV_GO_START, 3, 1, 0, 2));
	ok(writer__close(x.w));
}

static void count(struct statistics *s, const char *path)
{
	struct trace_event ev = {};
	struct error err = {};
	struct reader *r;
	struct input *in;

	statistics__init(s);
	ok(input__open(&in, path, &err));
	ok(reader__open(&r, in, NULL, &err));
	while (reader__next(r, &ev, &err) > 0)
		ok(statistics__event(s, &ev));
	assert_string_equal(err.text, "");
	reader__destroy(r);
	ok(input__open(&in, path, &err));
	ok(statistics__raw(s, in, false, &err));
	input__destroy(in);
}

static void check_figures(const struct statistics *s)
{
	assert_int_equal(s->start, 1000);
	assert_int_equal(s->cpu_samples.period_ns, 10101010);
	assert_int_equal(s->cpu_samples.throttles, 2 + 1);
	assert_int_equal(s->cpu_samples.throttled_ns, 500 + 7);
	assert_int_equal(s->plugins, 2); /* although one is in both generations */
	assert_true(s->plugin[0].recorded && s->plugin[0].from == 1200 && s->plugin[0].to == 1300);
	assert_string_equal(s->plugin[0].file, "/p/a.so");
	assert_string_equal(s->plugin[0].why, "");
	assert_false(s->plugin[1].recorded);
	assert_string_equal(s->plugin[1].file, "/p/b.so");
	assert_string_equal(s->plugin[1].why, "no");
	assert_int_equal(s->clock_error, 1200);
	assert_int_equal(s->host_clock.generations, 2);
	assert_true(s->host_clock.worst.synchronized);
	assert_int_equal(s->host_clock.worst.time, 1990);
	assert_int_equal(s->host_clock.worst.max_error, 700);
	assert_int_equal(s->host_clock.worst.error, 40);
	assert_int_equal(s->host_clock.worst.shift, -9);
	assert_int_equal(s->events, 7 + 4); /* without three syncs */
	assert_int_equal(s->present, 1);
	assert_int_equal(s->created, 2);
	assert_int_equal(s->ended, 1);
	assert_int_equal(s->alive, 2);
	assert_int_equal(s->most_alive, 3);
	assert_int_equal(s->threads.n, 2);
	assert_int_equal(s->ps.n, 1);
	assert_int_equal(s->gomaxprocs, 4);
	assert_int_equal(s->type[EV_GO_CREATE].events, 2);
	assert_int_equal(s->type[EV_GO_START].events, 2);
	assert_int_equal(s->type[EV_GO_STATUS].events + s->type[EV_GO_STATUS_STACK].events, 3);
	assert_int_equal(s->type[EV_SYNC].events, 2);
	assert_int_equal(s->type[EV_GO_DESTROY].bytes, 2);
	assert_int_equal(s->type[EV_NONE].bytes, 16);
}

static void check_generations(const struct statistics *s)
{
	const struct statistics_generation *g = s->generation;
	uint64_t by_type = 0;

	assert_int_equal(s->generations, 2);
	assert_true(g[0].number == 1 && g[0].events == 7 && g[0].start == 1000);
	assert_true(g[1].number == 2 && g[1].events == 4 && g[1].start == 2000);
	assert_int_equal(g[0].strings + g[1].strings, s->strings);
	assert_int_equal(g[0].clock.mono, 1000);
	assert_int_equal(g[0].clock.sec, 5000);
	assert_int_equal(g[0].clock.nsec, 1);

	for (unsigned int type = 0; type < EV_END; type++)
		by_type += s->type[type].bytes;
	assert_int_equal(by_type, x.bytes.len);
	assert_int_equal(s->bytes, x.bytes.len);
	assert_int_equal(16 + g[0].bytes + g[1].bytes, x.bytes.len);
	assert_int_equal(g[1].offset, 16 + g[0].bytes);
}

static void check_private(const struct statistics *s)
{
	struct buf data = buf__make(s->meta, s->meta_len);
	struct private_pair pair;

	assert_true(private_read__pair(&data, &pair));
	assert_memory_equal(pair.name.data, "tool", 4);
	assert_true(private_read__pair(&data, &pair));
	assert_int_equal(pair.value.len, 3);
	assert_int_equal(s->ticks.tick_ns, 1);
	assert_int_equal(s->lost, 6);
	assert_int_equal(s->loss[GT_PARK].count, 5);
	assert_int_equal(s->loss[GT_PARK].from, 1100);
	assert_int_equal(s->loss[GT_PARK].to, 1300);
	assert_int_equal(s->loss[0].count, 1);
	assert_int_equal(s->gaps, 2);
	assert_int_equal(s->gap[0].count, 5);
	assert_int_equal(s->gap[0].from, 1100);
	assert_int_equal(s->gap[0].to, 1300);
	assert_int_equal(s->corrections, 2);
	assert_int_equal(s->corrected.from, 1400);
	assert_int_equal(s->corrected.to, 2101);
	assert_int_equal(s->corrected.goroutines, 4);
	assert_int_equal(s->corrected.events, 9);
	assert_int_equal(s->private_bad, 2);
	assert_int_equal(s->private_unknown, 1);
}

TEST(a_trace)
{
	struct statistics s;

	start(25, 1);
	write_first_generation();
	write_second_generation();
	finish(25);
	count(&s, x.path);
	check_figures(&s);
	check_generations(&s);
	check_private(&s);
	statistics__deinit(&s);
}

/* What the first pass did not see the second one does not count; a cut end is let be if asked. */
TEST(a_part)
{
	struct error err = {};
	struct statistics s;
	struct input *in;
	uint64_t first;

	start(25, 1);
	write_first_generation();
	write_second_generation();
	finish(25);
	count(&s, x.path);
	first = s.generation[1].offset;

	s.generations = 1;
	s.bytes = s.generation[0].bytes = 0;
	ok(input__open_memory(&in, x.bytes.data, x.bytes.len, &err));
	ok(statistics__raw(&s, in, false, &err));
	input__destroy(in);
	assert_int_equal(s.bytes, first);
	assert_int_equal(s.type[EV_SYNC].events, 1);

	ok(input__open_memory(&in, x.bytes.data, first - 3, &err));
	assert_int_equal(statistics__raw(&s, in, false, &err), -EBADMSG);
	input__destroy(in);
	err.text[0] = '\0';
	ok(input__open_memory(&in, x.bytes.data, first - 3, &err));
	ok(statistics__raw(&s, in, true, &err));
	input__destroy(in);
	assert_string_equal(err.text, "");
	statistics__deinit(&s);
}

/* The kernel's items are counted by kind, and as threads of the target those that are not of a core. */
TEST(of_the_kernel)
{
	static const struct kernel_item items[] = {
		{ .time = 1010, .kind = KERNEL_ON, .tid = 7 },
		{ .time = 1020, .kind = KERNEL_CPU, .tid = 99 },
		{ .time = 1030, .kind = KERNEL_OFF, .tid = 7 },
		{ .time = 1040, .kind = KERNEL_ON, .tid = 8 },
	};
	const struct kernel_thread idle = { .tid = 6,
					    .run = KERNEL_SLEEPING,
					    .call = KERNEL_NO_CALL };
	struct kernel_writer *k = kernel_writer__create();
	struct kernel_threads threads = {};
	struct statistics s;

	assert_non_null(k);
	ok(kernel_threads__set(&threads, &idle));
	start(25, 1);
	ok(writer__open(x.w, 1000, 5000000000001));
	ok(writer__proc_status(x.w, 7, 0, PROC_IDLE));
	ok(kernel_writer__begin(k, 1000, &threads));
	for (size_t i = 0; i < 4; i++)
		ok(kernel_writer__add(k, &items[i]));
	ok(private__kernel(x.w, k));
	ok(writer__close(x.w));
	finish(25);
	count(&s, x.path);
	assert_int_equal(s.kernel.items, 4);
	assert_int_equal(s.kernel.item[KERNEL_ON], 2);
	assert_int_equal(s.kernel.item[KERNEL_OFF], 1);
	assert_int_equal(s.kernel.item[KERNEL_CPU], 1);
	assert_int_equal(s.kernel.threads.n, 3);
	assert_null(map__get(&s.kernel.threads, 99));
	assert_true(s.kernel.bytes > 4 && s.kernel.bytes < 100);
	assert_int_equal(s.private_bad, 0);
	statistics__deinit(&s);
	kernel_threads__deinit(&threads);
	kernel_writer__destroy(k);
}
