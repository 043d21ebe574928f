// SPDX-License-Identifier: GPL-2.0
/*
 * Raw files: what was given in comes out again, in order; a cut or broken file does no harm.
 *
 * This file's sequencer functions note their calls instead of sequencing. With the real one,
 * selftests/check/replay.sh compares the traces and has those of broken files read.
 */
#include "unit/test.h"
#include "rawfile/rawfile.h"
#include "sequence/sequencer.h"

#include "unit/fake_sequencer.h"

/* ---- a recording ---- */

static const char *path(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "/tmp/test_rawfile.%d", getpid());
	return text;
}

static const struct raw_header facts = {
	.t0 = 1000,
	.wall_ns = 5000,
	.bias = 0x1000,
	.flags = RAW_STACKS,
	.go_version = "go1.26.8",
	.build_id = "abcd",
	.exe = "/bin/thing",
	.command = "thing -x",
};

static int frames(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	if (pc == 0x404)
		return 0;
	frame[0] = (struct sym_frame){
		.pc = pc, .func = "main.inlined", .file = "/a/inlined.go", .line = 3, .elides = 1
	};
	frame[1] = (struct sym_frame){
		.pc = pc + 1, .func = "main.outer", .file = "/a/b.go", .line = 70000, .wrapper = 1
	};
	return pc & 1 ? 2 : 1;
}

static int start(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	*frame = (struct sym_frame){ .pc = pc, .func = "main.start", .file = "", .line = 1 };
	return 1;
}

static const struct symbolizer symbolizer = { .frames = frames, .start = start };

struct full_record {
	struct gt_record rec;
	uint64_t payload[24];
};

static int give(struct rawfile *raw, unsigned int ring, unsigned int kind, uint64_t a, uint64_t b,
		uint64_t c)
{
	struct full_record full = { { .time = 1, .tid = 7, .kind = kind }, { a, b, c } };
	size_t size = sizeof(full.rec) + (size_t)gt_payload_size(kind);

	if (kind == GT_STACK) {
		full.payload[0] = 3;
		full.payload[1] = 0;
		memcpy(&full.payload[2], (uint64_t[]){ a, b, c }, 24);
		size += 24;
	}
	sequencer__record(NULL, ring, &full.rec, size);
	return rawfile__record(raw, ring, &full.rec, size);
}

/* Writes the raw file, and notes the calls that a replay of it must make. */
static void record(bool with_second)
{
	struct snapshot_g g[2] = { { .addr = 1, .goid = 17, .startpc = 0x9000 },
				   { .goid = 0xabc } };
	struct snapshot_p p[1] = { { .addr = 3 } };
	struct snapshot snap = {
		.time = 5, .time_end = 6, .procs = 2, .g = g, .p = p, .ng = 2, .np = 1
	};
	struct snapshot *second = with_second ? &snap : NULL;
	struct private_host_clock clock = { 5, true, 1u << 31, 17, -3 };
	struct private_cpu_samples taken = { 10101010, 2, 1ull << 40 };
	struct rawfile *raw = NULL;
	unsigned int i;

	memset(&notes, 0, sizeof(notes));
	assert_int_equal(rawfile__create(&raw, path(), &(struct error){}), 0);
	assert_int_equal(rawfile__start(raw, &facts), 0);
	sequencer__start(NULL, facts.t0, facts.wall_ns);
	give(raw, 0, GT_STACK, 0x401, 0x402, 0x404);
	give(raw, 0, GT_CREATE, 5, 0x8000, 1);
	for (i = 0; i < 100; i++)
		give(raw, i / 10 % 3, i % 2 ? GT_EXECUTE : GT_STW_END, i, 0, 0);
	assert_int_equal(rawfile__watermark(raw, 2000), 0);
	sequencer__watermark(NULL, 2000);
	assert_int_equal(rawfile__snapshot(raw, &snap, second), 0);
	sequencer__take_snapshots(NULL, &snap, second);
	assert_int_equal(rawfile__lost(raw, GT_PARK, 12), 0);
	sequencer__lost(NULL, GT_PARK, 12);
	assert_int_equal(rawfile__clock_error(raw, 77), 0);
	sequencer__clock_error(NULL, 77);
	assert_int_equal(rawfile__host_clock(raw, &clock), 0);
	sequencer__host_clock(NULL, &clock);
	assert_int_equal(rawfile__cpu_samples(raw, &taken), 0);
	sequencer__cpu_samples(NULL, &taken);
	for (unsigned int i = 0; i < 2; i++) { /* as often as there are losses */
		assert_int_equal(rawfile__resnapshot(raw, &snap, &snap), 0);
		sequencer__take_resnapshots(NULL, &snap, &snap);
	}
	give(raw, 2, GT_SWITCH, 1, 2, 3);
	assert_int_equal(rawfile__finish(raw, 3000, &symbolizer), 0);
	sequencer__finish(NULL, 3000);
	rawfile__destroy(raw);
}

static int play(struct error *err)
{
	struct replay *r = NULL;
	int code = replay__open(&r, path(), err);

	memset(&notes, 0, sizeof(notes));
	if (!code)
		code = replay__run(r, NULL);
	replay__destroy(r);
	return code;
}

static void replay_makes_these_calls(void)
{
	struct error err = {};
	static char want[NCALLS_MAX][96];
	unsigned int n = notes.n;

	memcpy(want, notes.call, sizeof(want));
	assert_int_equal(play(&err), 0);
	assert_int_equal(notes.n, n);
	for (unsigned int i = 0; i < n; i++)
		assert_string_equal(notes.call[i], want[i]);
}

TEST(replays_what_was_recorded)
{
	record(true);
	replay_makes_these_calls();
	record(false);
	replay_makes_these_calls();
}

static struct rawfile *begin(void)
{
	struct rawfile *raw = NULL;

	memset(&notes, 0, sizeof(notes));
	assert_int_equal(rawfile__create(&raw, path(), &(struct error){}), 0);
	assert_int_equal(rawfile__start(raw, &facts), 0);
	sequencer__start(NULL, facts.t0, facts.wall_ns);
	return raw;
}

static void end(struct rawfile *raw)
{
	assert_int_equal(rawfile__finish(raw, 3000, &symbolizer), 0);
	sequencer__finish(NULL, 3000);
	rawfile__destroy(raw);
}

/* More records of one ring than a chunk holds, the largest that there are. */
TEST(replays_many_records)
{
	static struct {
		struct gt_record rec;
		uint64_t stack[2 + GT_STACK_MAX];
	} full = { { .tid = 1, .kind = GT_STACK }, { GT_STACK_MAX } };
	struct rawfile *raw = begin();

	for (unsigned int i = 0; i < 600; i++) {
		full.rec.time = i;
		full.stack[2 + i % GT_STACK_MAX] = i;
		sequencer__record(NULL, 3, &full.rec, sizeof(full));
		assert_int_equal(rawfile__record(raw, 3, &full.rec, sizeof(full)), 0);
	}
	end(raw);
	replay_makes_these_calls();
}

/* A record that has another size than its kind. It lies in just that much memory. */
static void give_broken(struct rawfile *raw, unsigned int kind, uint32_t depth, size_t size)
{
	struct full_record full = { { .time = 1, .tid = 7, .kind = kind }, { depth } };
	unsigned char *rec = calloc(1, size);

	assert_non_null(rec);
	memcpy(rec, &full, size < sizeof(full) ? size : sizeof(full));
	assert_int_equal(rawfile__record(raw, 0, (void *)rec, size), 0);
	note("broken record");
	free(rec);
}

/* No probe sends these. They stay broken, and do not take the next record along. */
TEST(broken_records_stay_alone)
{
	static const struct {
		unsigned int kind;
		uint32_t depth;
		size_t size;
	} broken[] = {
		{ GT_PARK, 0, 1 },	  { GT_PARK, 0, 13 },	 { GT_PARK, 0, 31 },
		{ GT_PARK, 0, 32 },	  { GT_PARK, 0, 48 },	 { GT_CREATE, 0, 40 },
		{ GT_CREATE, 0, 300000 }, { GT_STW_END, 0, 33 }, { GT_STACK, 0, 32 },
		{ GT_STACK, 0, 40 },	  { GT_STACK, 1, 48 },	 { GT_STACK, UINT32_MAX, 4096 },
		{ GT_STACK, 129, 1080 },  { GT_STACK, 2, 72 },	 { 0, 0, 64 },
		{ GT_KIND_END, 0, 32 },	  { 65535, 0, 300000 },
	};
	struct rawfile *raw = begin();

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		give(raw, 0, GT_EXECUTE, i, 0, 0);
		give_broken(raw, broken[i].kind, broken[i].depth, broken[i].size);
		give(raw, 0, GT_CREATE, i, 1, 2);
	}
	end(raw);
	replay_makes_these_calls();
}

/* The recording failed: what there is, up to the last watermark. */
TEST(replays_what_was_kept)
{
	struct rawfile *raw = begin();
	struct error err = {};
	struct replay *r = NULL;

	give(raw, 1, GT_EXECUTE, 1, 0, 0);
	assert_int_equal(rawfile__watermark(raw, 2500), 0);
	sequencer__watermark(NULL, 2500);
	give(raw, 1, GT_EXECUTE, 2, 0, 0);
	assert_int_equal(rawfile__keep(raw), 0);
	sequencer__finish(NULL, 2500);
	rawfile__destroy(raw);
	replay_makes_these_calls();

	assert_int_equal(replay__open(&r, path(), &err), 0);
	assert_int_equal(replay__run(r, NULL), 0);
	assert_false(replay__ended(r));
	replay__destroy(r);
}

TEST(leaves_nothing_unfinished)
{
	unlink(path());
	rawfile__destroy(begin());
	assert_int_equal(access(path(), F_OK), -1);
	rawfile__destroy(NULL);
}

TEST(carries_the_symbols)
{
	struct sym_frame frame[SYM_INLINE_MAX];
	struct symbolizer sym;
	struct error err = {};
	struct replay *r;

	record(true);
	assert_int_equal(replay__open(&r, path(), &err), 0);
	assert_string_equal(replay__header(r)->command, "thing -x");
	assert_string_equal(replay__header(r)->go_version, "go1.26.8");
	replay__symbolizer(r, &sym);
	assert_int_equal(sym.frames(sym.ctx, 0x401, frame), 2);
	assert_string_equal(frame[0].func, "main.inlined");
	assert_string_equal(frame[1].file, "/a/b.go");
	assert_int_equal(frame[1].line, 70000);
	assert_true(frame[0].elides && !frame[0].wrapper && frame[1].wrapper && !frame[1].elides);
	assert_int_equal(frame[1].pc, 0x402);
	assert_int_equal(sym.frames(sym.ctx, 0x402, frame), 1);
	assert_int_equal(sym.frames(sym.ctx, 0x404, frame), 0);
	assert_int_equal(sym.start(sym.ctx, 0x8000, frame), 1);
	assert_string_equal(frame[0].func, "main.start");
	assert_string_equal(frame[0].file, "");
	assert_int_equal(sym.start(sym.ctx, 0x9000, frame), 1);
	assert_int_equal(sym.start(sym.ctx, 0x401, frame), 0);
	replay__destroy(r);
}

/* ---- broken files ---- */

static unsigned char *load(size_t *len)
{
	FILE *f = fopen(path(), "r");
	unsigned char *data = malloc(1 << 20);

	assert_non_null(f);
	*len = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

static void store(const void *data, size_t len)
{
	FILE *f = fopen(path(), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void is_refused(const void *data, size_t len)
{
	struct error err = {};

	store(data, len);
	assert_int_equal(play(&err), -EINVAL);
	assert_true(err.text[0]);
}

TEST(refuses_other_files)
{
	unsigned char *data;
	size_t len;

	record(true);
	data = load(&len);
	is_refused("", 0);
	is_refused("#!/bin/sh\n", 10);
	is_refused(data, sizeof(struct raw_header) - 1);
	data[8] ^= 77; /* the version */
	is_refused(data, len);
	data[8] ^= 77;
	data[12] ^= 8; /* the header's size */
	is_refused(data, len);
	free(data);
}

/* Texts of the header end, even when they have no NUL. */
TEST(ends_its_texts)
{
	struct error err = {};
	struct replay *r = NULL;
	struct raw_header header;
	unsigned char *data;
	size_t len;

	record(true);
	data = load(&len);
	memset(data + offsetof(struct raw_header, go_version), 'x',
	       sizeof(header) - offsetof(struct raw_header, go_version));
	store(data, len);
	assert_int_equal(replay__open(&r, path(), &err), 0);
	header = *replay__header(r);
	assert_int_equal(strnlen(header.go_version, 64), 63);
	assert_int_equal(strnlen(header.build_id, 128), 127);
	assert_int_equal(strnlen(header.exe, 512), 511);
	assert_int_equal(strnlen(header.command, 1024), 1023);
	replay__destroy(r);
	free(data);
}

/* Every cut gives a beginning of the calls, then the finish. */
TEST(cut_anywhere)
{
	static char want[NCALLS_MAX][96];
	unsigned char *data;
	size_t len, cut;

	record(true);
	memcpy(want, notes.call, sizeof(want));
	data = load(&len);
	for (cut = sizeof(struct raw_header); cut < len; cut++) {
		struct error err = {};

		store(data, cut);
		assert_int_equal(play(&err), 0);
		assert_true(notes.n >= 2);
		for (unsigned int i = 0; i + 1 < notes.n; i++)
			assert_string_equal(notes.call[i], want[i]);
		assert_memory_equal(notes.call[notes.n - 1], "finish", 6);
	}
	free(data);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Thousands of files with a few bytes changed: no crash, no hang (the sanitizers watch). */
TEST(broken_anywhere)
{
	uint64_t seed = 3;
	unsigned char *data, *copy;
	size_t len;

	record(true);
	data = load(&len);
	copy = malloc(len);
	for (unsigned int i = 0; i < 3000; i++) {
		struct error err = {};
		unsigned int changes = 1 + (unsigned int)(next_random(&seed) % 4);

		memcpy(copy, data, len);
		while (changes--)
			copy[next_random(&seed) % len] = (unsigned char)next_random(&seed);
		store(copy, len);
		play(&err);
	}
	free(copy);
	free(data);
}

static void clean(void)
{
	unlink(path());
}

GROUP(NULL, clean)

static int code_at_1(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	(*(uint64_t *)ctx)++;
	*frame = (struct sym_frame){ .pc = pc, .func = "main.f", .file = "f.go", .line = 1 };
	return pc == 1;
}

/* Values of C code in place of a PC are not remembered for ever. */
TEST(forgets_what_is_no_code)
{
	const uint64_t many = (1u << 20) + 2;
	uint64_t asked = 0, pc;
	struct symbolizer symbolizer = { &asked, code_at_1, code_at_1 };
	struct rawfile *raw;
	int round;

	assert_int_equal(rawfile__create_in_memory(&raw), 0);
	for (round = 0; round < 2; round++) {
		for (pc = 1; pc <= many; pc++)
			assert_int_equal(rawfile__want(raw, pc, false), 0);
		assert_int_equal(rawfile__frames(raw, &symbolizer), 0);
		assert_int_equal(asked, round ? 2 * many - 1 : many);
	}
	rawfile__destroy(raw);
}
