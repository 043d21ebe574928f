/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small simulated machine for tests of the sequencer: records by name, 1 us apart, and the
 * resulting events.
 *
 *	start(25, "go1.25.3", 7);		Ps 0 to 3 idle, goroutines 1 to 7 runnable
 *	p_start(1, 0);				on thread 1
 *	execute(1, 7);
 *	expect("m1 ProcStart p0 #1\n"		all since the last expect
 *	       "m1 GoStart g7 #1\n");
 *	expect_no_repair();
 *
 * The g of goroutine N is at address G(N), P N at P(N). Another start(), or the end of the test,
 * destroys the sequencer.
 */
#ifndef UNIT_MACHINE_H
#define UNIT_MACHINE_H

#include "unit/test.h"
#include "sequence/sequencer.h"
#include "copied_snapshots.h"
#include "unit/fake_writer.h"

#define UNUSED	__attribute__((unused))
#define G(n)	(0xc000000000ull + (n) * 0x400)
#define P(n)	(0xc800000000ull + (n) * 0x2000)
#define M(n)	(0xcc00000000ull + (n) * 0x800)
#define STEP_NS 1000

struct machine {
	struct writer writer;
	struct sequencer *seq;
	struct intern *intern;
	struct layout layout;
	uint64_t now; /* time of the next record */
	uint32_t ring_seq;
	struct snapshot snap;
	struct snapshot_g snap_g[16];
	struct snapshot_m snap_m[16];
	struct snapshot_p snap_p[4];
};

static struct machine m; /* of the current test */

/* PC n is in function fn for n < 64; higher ones have the same names but push different values. */
static int machine_frames(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	static char names[64][8];
	char *name = names[pc % 64];

	snprintf(name, sizeof(names[0]), "f%" PRIu64, pc % 64);
	*frame = (struct sym_frame){
		.pc = pc,
		.func = name,
		.file = "x.go",
		.line = pc % 64,
		.pushed = pc < 192 ? pc / 64 : SYM_PUSHED_FRAME,
	};
	return 1;
}

static int machine_start_frame(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	return machine_frames(ctx, pc, frame);
}

static void machine_give(uint32_t tid, unsigned int kind, uint64_t object, uint32_t stack,
			 const void *payload)
{
	struct {
		struct gt_record rec;
		unsigned char payload[GT_PAYLOAD_MAX];
	} r = {
		.rec = { .time = m.now,
			 .tid = tid,
			 .kind = kind,
			 .object = object,
			 .stack = stack,
			 .seq = m.ring_seq++ },
	};
	size_t size = gt_payload_size(kind);

	if (size) /* the payload of others may be NULL */
		memcpy(r.payload, payload, size);
	m.now += STEP_NS;
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, sizeof(r.rec) + size), 0);
}

/* Stack 5: f20 called by f21. */
UNUSED static void send_stack(uint64_t time)
{
	struct {
		struct gt_record rec;
		struct gt_stack stack;
		uint64_t pc[2];
	} sent = { .rec = { .time = time, .tid = 1, .kind = GT_STACK, .object = 5, .stack = 5 },
		   .stack = { .depth = 2, .placed = 1 },
		   .pc = { 20, 21 } };

	sent.rec.seq = m.ring_seq++;
	assert_int_equal(sequencer__record(m.seq, 0, &sent.rec, sizeof(sent)), 0);
}

/* All records so far are applied, or wait. */
UNUSED static void flush(void)
{
	assert_int_equal(sequencer__watermark(m.seq, m.now - 1), 0);
}

static void forget(void)
{
	m.writer.len = 0;
	m.writer.text[0] = 0;
}

/* Applies the records so far, and does not compare what they have led to. */
UNUSED static void flush_and_forget(void)
{
	flush();
	forget();
}

UNUSED static void expect(const char *text)
{
	flush();
	assert_string_equal(m.writer.text, text);
	forget();
}

static const struct sequencer_stats *stats(void)
{
	return sequencer__stats(m.seq);
}

UNUSED static void expect_no_repair(void)
{
	assert_int_equal(stats()->repairs, 0);
	assert_int_equal(stats()->dropped, 0);
}

static void stop(void)
{
	sequencer__destroy(m.seq);
	intern__destroy(m.intern);
	memset(&m, 0, sizeof(m));
}

/* Before the start; the window begins at machine_t0. */
static void machine_init(unsigned int version, const char *go)
{
	struct sequencer_opts opts = {
		.writer = &m.writer,
		.layout = &m.layout,
		.version = version,
		.tick_ns = 1,
		.symbolizer = { .frames = machine_frames, .start = machine_start_frame },
	};
	struct go_version release;
	struct error error = {};

	stop();
	assert_true(go_version__parse(go, &release));
	assert_int_equal(layout__for_version(&release, &m.layout, &error), 0);
	m.intern = intern__create();
	m.writer.in = opts.intern = m.intern;
	assert_int_equal(sequencer__create(&m.seq, &opts), 0);
	assert_int_equal(sequencer__start(m.seq, machine_t0, 1), 0);
	m.now = machine_t0 + STEP_NS;
	m.snap = (struct snapshot){ .g = m.snap_g, .m = m.snap_m, .p = m.snap_p };
	for (unsigned int i = 0; i < 4; i++)
		m.snap_p[m.snap.np++] = (struct snapshot_p){ .addr = P(i), .id = i };
}

/* Adds to a snapshot a goroutine in a state (enum go_status), on thread tid unless 0. */
UNUSED static void snap_g(unsigned int g, unsigned int status, unsigned int tid)
{
	m.snap_g[m.snap.ng++] = (struct snapshot_g){
		.addr = G(g),
		.goid = g,
		.m = tid ? M(tid) : 0,
		.startpc = g,
		.status = status,
	};
}

/* ... and a thread, with a P unless -1. */
UNUSED static void snap_m(unsigned int tid, int p)
{
	m.snap_m[m.snap.nm++] = (struct snapshot_m){
		.addr = M(tid),
		.tid = tid,
		.p = p < 0 ? 0 : P(p),
	};
}

/* Both snapshots contain what was added, and are read now. */
static void snap_give(void)
{
	m.snap.time = m.now;
	m.snap.time_end = m.now + 1;
	m.now += STEP_NS;
	assert_int_equal(sequencer__snapshot(m.seq, &m.snap, &m.snap), 0);
	assert_int_equal(sequencer__watermark(m.seq, m.now - 1), 0);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The statuses in alphabetical order, because a prologue has none. Then the events after them. */
UNUSED static void expect_statuses(const char *statuses, const char *events)
{
	static char sorted[sizeof(m.writer.text)], rest[sizeof(m.writer.text)];
	char *lines[100], *line, *save;
	size_t n = 0;

	flush();
	sorted[0] = rest[0] = 0;
	for (line = strtok_r(m.writer.text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "status", 6))
			lines[n++] = line;
		else
			strcat(strcat(rest, line), "\n");
	}
	qsort(lines, n, sizeof(lines[0]), compare_lines);
	for (size_t i = 0; i < n; i++)
		strcat(strcat(sorted, lines[i] + 7), "\n");
	assert_string_equal(sorted, statuses);
	assert_string_equal(rest, events);
	forget();
}

/* Four idle Ps and goroutines 1 to n, all runnable; nothing else. */
UNUSED static void start(unsigned int version, const char *go, unsigned int n)
{
	machine_init(version, go);
	for (unsigned int g = 1; g <= n; g++)
		snap_g(g, GS_RUNNABLE, 0);
	snap_give();
	forget();
}

UNUSED static void text(uint64_t number, const char *bytes, size_t len, bool cut)
{
	struct {
		struct gt_record rec;
		struct gt_text text;
		char bytes[GT_TEXT_MAX];
	} r = {
		.rec = { .time = m.now, .tid = 1, .kind = GT_TEXT, .object = number },
		.text = { .len = len, .cut = cut },
	};

	r.rec.seq = m.ring_seq++;
	memcpy(r.bytes, bytes, len);
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec,
					   sizeof(r.rec) + sizeof(r.text) + (len + 7) / 8 * 8),
			 0);
}

/* A complete text, for records that refer to its number. */
UNUSED static void say(uint64_t number, const char *string)
{
	text(number, string, strlen(string), false);
}

#define RECORD(name, ...) UNUSED static void name(uint32_t tid __VA_ARGS__)

RECORD(execute, , unsigned int g)
{
	machine_give(tid, GT_EXECUTE, G(g), 0, &(struct gt_execute){ g });
}

RECORD(park, , unsigned int g, unsigned int reason)
{
	machine_give(tid, GT_PARK, G(g), 0, &(struct gt_park){ .block_reason = reason });
}

RECORD(ready, , unsigned int g)
{
	machine_give(tid, GT_READY, G(g), 0, &(struct gt_ready){ .via = GT_VIA_READY });
}

RECORD(yield, , unsigned int g, unsigned int why)
{
	machine_give(tid, GT_YIELD, G(g), 0, &(struct gt_yield){ why });
}

RECORD(create, , unsigned int g)
{
	machine_give(tid, GT_CREATE, G(g), 0, &(struct gt_create){ g, 10 + g % 40, 1 });
}

RECORD(create_blocked, , unsigned int g)
{
	machine_give(tid, GT_CREATE_BLOCKED, G(g), 0, &(struct gt_create){ g, 10 + g % 40, 1 });
}

RECORD(destroy, , unsigned int g)
{
	machine_give(tid, GT_DESTROY, G(g), 0, &(struct gt_destroy){ g });
}

RECORD(coswitch, , unsigned int g, unsigned int next, bool exits)
{
	machine_give(tid, GT_SWITCH, G(g), 0, &(struct gt_switch){ G(next), next, exits });
}

RECORD(on_g, , unsigned int kind, unsigned int g) /* a kind without payload */
{
	machine_give(tid, kind, G(g), 0, "");
}

RECORD(lost, )
{
	machine_give(tid, GT_SYSCALL_LOST, 0, 0, "");
}

RECORD(p_start, , unsigned int p)
{
	machine_give(tid, GT_P_START, P(p), 0, &(struct gt_proc){ p });
}

RECORD(p_stop, , unsigned int p)
{
	machine_give(tid, GT_P_STOP, P(p), 0, &(struct gt_proc){ p });
}

RECORD(p_handoff, , unsigned int p)
{
	machine_give(tid, GT_P_HANDOFF, P(p), 0, &(struct gt_proc){ p });
}

RECORD(plain, , unsigned int kind, uint64_t value) /* GC, STW, procs */
{
	machine_give(tid, kind, 0, 0, &(struct gt_value){ value });
}

/* Goroutine 1 runs on thread 1 with P 0; `n` goroutines in all. */
UNUSED static void running(unsigned int version, const char *go, unsigned int n)
{
	start(version, go, n);
	p_start(1, 0);
	execute(1, 1);
	expect("m1 ProcStart p0 #1\nm1 GoStart g1 #1\n");
}

/* Goroutine 1 runs on thread 1 with P 0, 2 on 2 with 1; 3 and 4 are runnable. */
UNUSED static void two_running(const char *go)
{
	start(25, go, 4);
	p_start(1, 0);
	execute(1, 1);
	p_start(2, 1);
	execute(2, 2);
	flush_and_forget();
}

FIXTURE(NULL, stop)

#endif
