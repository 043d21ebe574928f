// SPDX-License-Identifier: GPL-2.0
/*
 * A recovered flight recorder buffer as a trace: its records through the sequencer and the writer,
 * and all of that read back. test_blackbox.c tests the raw file, this file the trace that is made
 * of it.
 */
#include "unit/test.h"
#include "blackbox/blackbox.h"
#include "blackbox/image.h"
#include "reader/timeline.h"
#include "sequence/sequencer.h"
#include "target/layout/layout.h"
#include "unit/timeline_fixture.h"

#define CREATED 1000000000000ull
#define SUBBUF	512u
#define SUBBUFS 4u

#define G(n)	(0xc000000000ull + (n) * 0x400)
#define P(n)	(0xc800000000ull + (n) * 0x2000)
#define M(n)	(0xcc00000000ull + (n) * 0x800)

static struct image im;
static struct blackbox_image image;
static struct blackbox_facts facts;
static struct sequencer_stats stats;

/* ---- making one ---- */

static void create(unsigned int rings)
{
	assert_true(image__create(&im, rings, SUBBUF, SUBBUFS, 128, CREATED));
	image = (struct blackbox_image){ .memory = im.memory, .bytes = im.bytes };
}

/* A record at so many ns after the beginning. */
static void give(unsigned int ring, uint64_t at, uint32_t tid, uint16_t kind, uint64_t object,
		 const void *payload)
{
	struct {
		struct gt_record rec;
		unsigned char payload[24];
	} r = { .rec = { .time = CREATED + at, .tid = tid, .kind = kind, .object = object } };
	size_t size = (size_t)gt_payload_size(kind);

	if (size)
		memcpy(r.payload, payload, size);
	assert_true(image__emit(&im, ring, &r.rec, sizeof(r.rec) + size, NULL));
}

/* Thread 7 and its goroutine 1 in and out of system calls, from one time to the other. */
static void fill(unsigned int ring, uint64_t from, uint64_t to)
{
	for (; from < to; from += 20) {
		give(ring, from, 7, GT_SYSCALL_ENTER, G(1), NULL);
		give(ring, from + 10, 7, GT_SYSCALL_EXIT, G(1), NULL);
	}
}

static int one_frame(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	*frame = (struct sym_frame){ .pc = pc, .func = "main.f", .file = "f.go", .line = 1 };
	return 1;
}

/* Goroutine 1 runs on thread 7, 2 on thread 9, 3 waits. */
static void checkpoint(uint64_t at)
{
	const struct symbolizer symbolizer = { NULL, one_frame, one_frame };
	const struct raw_header header = { .t0 = CREATED + 1,
					   .flags = RAW_STACKS,
					   .go_version = "go1.25.3" };
	struct snapshot_g g[] = {
		{ .addr = G(1), .goid = 1, .m = M(7), .startpc = 0x401, .status = GS_RUNNING },
		{ .addr = G(2), .goid = 2, .m = M(9), .startpc = 0x402, .status = GS_RUNNING },
		{ .addr = G(3), .goid = 3, .startpc = 0x403, .status = GS_WAITING },
	};
	struct snapshot_m m[] = { { .addr = M(7), .curg = G(1), .p = P(0), .tid = 7 },
				  { .addr = M(9), .curg = G(2), .p = P(1), .tid = 9 } };
	struct snapshot_p p[] = { { .addr = P(0), .m = M(7), .id = 0, .status = 1 },
				  { .addr = P(1), .m = M(9), .id = 1, .status = 1 } };
	struct snapshot snap = { .time = CREATED + at,
				 .time_end = CREATED + at + 1,
				 .procs = 2,
				 .g = g,
				 .ng = 3,
				 .m = m,
				 .nm = 2,
				 .p = p,
				 .np = 2 };
	struct blackbox_writer *w;
	const void *data;
	void *copy;
	size_t size;

	ok(blackbox_writer__create(&w, &header, &symbolizer));
	ok(blackbox_writer__make(w, im.memory, im.bytes, &snap, &snap, &data, &size));
	copy = malloc(size);
	assert_non_null(copy);
	image.checkpoint[0].data = memcpy(copy, data, size);
	image.checkpoint[0].bytes = size;
	blackbox_writer__destroy(w);
}

/* ---- reading what came out ---- */

static void run_sequencer(struct rawfile *raw)
{
	struct sequencer_opts opts = { .version = 25, .tick_ns = 1 };
	struct go_version release;
	struct sequencer *seq;
	struct error err = {};
	struct layout layout;
	struct replay *r;
	const void *data;
	size_t size;

	assert_true(go_version__parse("go1.25.3", &release));
	ok(layout__for_version(&release, &layout, &err));
	data = rawfile__bytes(raw, &size);
	ok(replay__open_memory(&r, data, size, "it", &err));
	start(25, 1);
	opts.layout = &layout;
	opts.writer = x.w;
	opts.intern = x.in;
	replay__symbolizer(r, &opts.symbolizer);
	ok(sequencer__create(&seq, &opts));
	ok(replay__run(r, seq));
	stats = *sequencer__stats(seq);
	sequencer__destroy(seq);
	replay__destroy(r);
	ok(trace_file__commit(x.file));
}

/* The trace of what was made until `end`. */
static struct timeline *recover(uint64_t end, struct reader **ret)
{
	struct error err = {};
	struct rawfile *raw;

	im.page->frozen = CREATED + end;
	ok(blackbox__read(&image, NULL, &raw, &facts, &err));
	run_sequencer(raw);
	rawfile__destroy(raw);
	return open_timeline(ret);
}

/* It has to read well to its end. */
static void end(struct timeline *t, struct reader *r)
{
	close_timeline(t, r);
	stop(NULL);
	free((void *)image.checkpoint[0].data);
	image__destroy(&im);
}

/* The status that the trace begins with: enum trace_go_status; 0: it is not there. */
static uint64_t status_of(struct timeline *t, uint64_t goid)
{
	struct timeline_step step;
	struct error err = {};

	while (timeline__next(t, &step, &err) > 0) {
		const struct trace_event *ev = step.event;

		if (ev && (ev->type == EV_GO_STATUS || ev->type == EV_GO_STATUS_STACK) &&
		    ev->arg[0] == goid)
			return ev->arg[2];
	}
	return 0;
}

/* How a thread begins: enum kernel_run; 0xff: nothing is known of it. */
static unsigned int thread_at_start(struct timeline *t, uint32_t tid)
{
	const struct kernel_thread *thread;
	struct timeline_step step;
	struct error err = {};

	do
		assert_int_equal(timeline__next(t, &step, &err), 1);
	while (!step.event || step.event->type != EV_SYNC);
	thread = kernel_threads__find(timeline__threads(t), tid);
	return thread ? thread->run : 0xff;
}

/* ---- tests ---- */

/* Goroutine 2 ran when the checkpoint was made; its first record is late in the window. */
static void fill_and_start_late(void)
{
	fill(0, 100, 3000);
	give(0, 3000, 9, GT_P_START, P(1), &(struct gt_proc){ .id = 1 });
	give(0, 3010, 9, GT_EXECUTE, G(2), &(struct gt_execute){ 2 });
	fill(0, 3020, 3100);
}

TEST(an_old_pair_waits_for_all_records)
{
	struct timeline *t;
	struct reader *r;

	create(1);
	checkpoint(50);
	fill_and_start_late();
	t = recover(3200, &r);
	assert_true(facts.stale);
	assert_int_equal(status_of(t, 2), GO_RUNNABLE);
	end(t, r);
	assert_int_equal(stats.repairs, 0);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.at_start, 3);
}

TEST(so_does_none)
{
	struct timeline *t;
	struct reader *r;

	create(1);
	fill_and_start_late();
	t = recover(3200, &r);
	assert_int_equal(facts.snapshots, 0);
	assert_int_equal(status_of(t, 2), GO_RUNNABLE);
	end(t, r);
}

static void sleep_then_wake(unsigned int sleeper, unsigned int waker)
{
	struct gt_thread present = { .what = GT_THREAD_PRESENT,
				     .why = GT_OFF_SLEEPING,
				     .comm = "sleeper" };

	give(sleeper, 10, 20, GT_THREAD, 0, &present);
	give(sleeper, 20, 20, GT_CPU_OFF, 0, &(struct gt_off_cpu){ .why = GT_OFF_SLEEPING });
	give(waker, 30, 20, GT_CPU_ON, 0, NULL);
	fill(1, 100, 3000);
}

/* It went to sleep on a CPU that was idle since; its wake-up on a busy one is overwritten. */
TEST(older_records_of_an_idle_cpu)
{
	struct timeline *t;
	struct reader *r;

	create(2);
	sleep_then_wake(0, 1);
	give(0, 3010, 20, GT_SYS_ENTER, 1, NULL); /* still running */
	t = recover(3200, &r);
	assert_true(facts.overwritten);
	assert_true(facts.t0 > CREATED + 30);
	assert_int_equal(thread_at_start(t, 20), KERNEL_UNKNOWN);
	assert_string_equal(kernel_threads__find(timeline__threads(t), 20)->name, "sleeper");
	end(t, r);
	assert_int_equal(stats.gaps, 0);
	assert_int_equal(stats.lost, 0);
}

/*
 * Numbers that others took: of some the ring shows where they are missing, the last ones came to
 * nothing.
 */
TEST(losses_are_counted_once)
{
	struct timeline *t;
	struct reader *r;

	create(1);
	checkpoint(150);
	fill(0, 100, 180);
	image__control(&im, 0)->seq += 10;
	fill(0, 180, 300);
	image__control(&im, 0)->seq += 3;
	t = recover(400, &r);
	end(t, r);
	assert_int_equal(stats.gaps, 1);
	assert_int_equal(stats.lost, 13);
	assert_int_equal(facts.lost, 13);
	assert_int_equal(facts.records, 20);
}

/* ---- nonsense ---- */

/* Whatever stands there, what comes of it reads well to its end. */
static void must_read_well(void)
{
	struct trace_event ev;
	struct error err = {};
	struct rawfile *raw;
	struct reader *r;
	struct input *in;

	if (blackbox__read(&image, NULL, &raw, &facts, &err)) {
		assert_string_not_equal(err.text, "");
		return;
	}
	run_sequencer(raw);
	rawfile__destroy(raw);
	ok(input__open(&in, x.path, &err));
	ok(reader__open(&r, in, NULL, &err));
	while (reader__next(r, &ev, &err) > 0)
		;
	assert_string_equal(err.text, "");
	reader__destroy(r);
	stop(NULL);
}

static void break_and_read(unsigned char *bytes, size_t size, unsigned int times)
{
	for (; times; times--) {
		unsigned char *at = bytes + (size_t)rand() % size, was = *at;

		*at ^= (unsigned char)(1 << rand() % 8);
		must_read_well();
		*at = was;
	}
}

TEST(broken_checkpoints_and_stacks)
{
	uint64_t pcs[2] = { 0x410, 0x420 };
	struct gt_record rec = {
		.time = CREATED + 110, .tid = 7, .kind = GT_SYSCALL_ENTER, .object = G(1)
	};
	uint64_t table;
	size_t size;

	create(1);
	table = im.page->index_offset;
	for (; pcs[0] < 0x418; pcs[0]++, rec.time += 10) {
		rec.stack = image__stack(&im, pcs, 2, false);
		rec.kind = pcs[0] % 2 ? GT_SYSCALL_EXIT : GT_SYSCALL_ENTER;
		assert_true(image__emit(&im, 0, &rec, sizeof(rec), NULL));
	}
	checkpoint(130);
	fill(0, 300, 400);
	im.page->frozen = CREATED + 500;
	must_read_well();
	assert_int_equal(facts.stacks, 8);
	srand(2);
	break_and_read((unsigned char *)image.checkpoint[0].data, image.checkpoint[0].bytes, 300);
	break_and_read(im.memory + table, im.bytes - table, 150);
	for (size = image.checkpoint[0].bytes; size; size -= size < 61 ? size : 61) {
		image.checkpoint[0].bytes = size;
		must_read_well();
	}
	free((void *)image.checkpoint[0].data);
	image__destroy(&im);
}

static void read_window(void)
{
	struct error err = {};
	struct rawfile *raw;

	ok(blackbox__read(&image, NULL, &raw, &facts, &err));
	rawfile__destroy(raw);
	image__destroy(&im);
}

/*
 * Of a copy of a memory that was never frozen the window ends with the latest record, or with an
 * exec.
 */
TEST(memory_that_was_not_frozen)
{
	create(2);
	fill(0, 100, 200);
	give(1, 195, 7, GT_SYSCALL_ENTER, G(1), NULL);
	give(1, 120, 7, GT_SYSCALL_EXIT, G(1), NULL); /* a thread that was slow to write it */
	read_window();
	assert_int_equal(facts.t0, CREATED);
	assert_int_equal(facts.t1, CREATED + 195);
	assert_int_equal(facts.records, 12);

	create(1);
	fill(0, 100, 200);
	give(0, 150, 7, GT_EXEC, 0, NULL);
	read_window();
	assert_int_equal(facts.t1, CREATED + 150);

	create(1);
	read_window();
	assert_int_equal(facts.t1, CREATED);

	create(1);
	im.page->frozen = CREATED + 500;
	fill(0, 100, 200);
	read_window();
	assert_int_equal(facts.t1, CREATED + 500);
}

static int read_page(void)
{
	struct error err = {};
	struct rawfile *raw;
	int code = blackbox__read(&image, NULL, &raw, &facts, &err);

	if (!code)
		rawfile__destroy(raw);
	return code;
}

/* Each number of the first page from both sides of what is taken. */
TEST(invalid_pages)
{
	struct gt_session_page good;

#define REFUSED(member, value)                                                                     \
	do {                                                                                       \
		im.page->member = value;                                                           \
		assert_int_equal(read_page(), -EBADMSG);                                           \
		*im.page = good;                                                                   \
	} while (0)

	create(2);
	fill(0, 0, 100);
	good = *im.page;
	assert_int_equal(read_page(), 0);
	REFUSED(magic, good.magic + 1);
	REFUSED(version, good.version + 1);
	REFUSED(rings, 0);
	REFUSED(rings, GT_RINGS_MAX);
	REFUSED(subbuf_size, 0);
	REFUSED(subbuf_size, SUBBUF - 8);
	REFUSED(subbuf_size, sizeof(struct gt_subbuf));
	REFUSED(subbufs, 0);
	REFUSED(subbufs, SUBBUFS - 1);
	REFUSED(ring_stride, im.bytes / 2 + 1);
	REFUSED(control_stride, im.bytes / 2 + 1);
	REFUSED(ring_stride, UINT64_MAX);
	REFUSED(control_stride, UINT64_MAX);
	image.bytes = sizeof(good) - 1;
	assert_int_equal(read_page(), -EBADMSG);
	image__destroy(&im);
}
