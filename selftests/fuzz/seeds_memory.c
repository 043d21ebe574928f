// SPDX-License-Identifier: GPL-2.0
/*
 * Seeds of the fuzz targets whose input the memory of a traced process supplies: rings, clocks, what a recording has
 * left, snapshots, labels and texts.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/inline.h"
#include "gotrace/record.h"
#include "inline/trampoline.h"
#include "memory_input.h"
#include "parked.h"
#include "runtime.h"
#include "seed_file.h"

static void put_operation(struct bytes *b, unsigned int kind, unsigned int ring, uint16_t i,
			  uint64_t value)
{
	put(b, (uint8_t[]){ (uint8_t)kind, (uint8_t)ring }, 2);
	put_u16(b, i);
	put(b, &value, sizeof(value));
}

/* Records of each kind and a stack, in two rings, with a drain in between: fuzz_rings.c. */
static void save_rings(void)
{
	enum { WORD = 3, RECORD = 5, STACK = 6, DRAIN = 7 };
	static struct bytes b;

	for (uint16_t kind = 1; kind < GT_KIND_END; kind++)
		put_operation(&b, RECORD, kind % 2, kind, 1ull << 32 | kind);
	put_operation(&b, STACK, 1, 20, 1ull << 32);
	put_operation(&b, DRAIN, 0, 0, 1000000);
	put_operation(&b, STACK, 0, 1, 2ull << 32);
	put_operation(&b, WORD, 0, 40, 0);
	put_operation(&b, DRAIN, 0, 0, 2000000000);
	save("rings", "own", &b);

	/* Two slots are rejected, whose counters of losses skip 2^30 numbers each. */
	b.len = 0;
	put_operation(&b, WORD, 0, 0, 0x4000000000000001);
	put_operation(&b, WORD, 0, 1, 0x8000000000000002);
	put_operation(&b, 0, 0, 0, 2);
	put_operation(&b, RECORD, 0, GT_EXECUTE, 1ull << 32);
	put_operation(&b, DRAIN, 0, 0, 1000000);
	save("rings", "gaps", &b);
}

/* A call and a conditional jump that an inline probe has replaced: fuzz_leftover.c. */
static void save_leftover(const char *name, const char *file, uint8_t opcode)
{
	const uint64_t code = 0x7f0000000000, addr = code + 0x100000;
	int32_t distance = (int32_t)(TRAMPOLINE_AT + 64 - 0x100000 - 5);
	struct gt_inline left = { .magic = { GT_INLINE_MAGIC0, GT_INLINE_MAGIC1 },
				  .code = code,
				  .flag = code + GT_INLINE_CODE,
				  .code_bytes = GT_INLINE_CODE,
				  .rings = code + 0x100000000,
				  .ring_bytes = 4096,
				  .slots = 64,
				  .nsites = 3 };
	struct bytes b = {};

	for (unsigned int i = 0; i < left.nsites;
	     i++) /* only the first one's jump leads into the area */
		left.site[i].addr = addr - i * 0x40000000;
	put(&b, &addr, sizeof(addr));
	put(&b, file, GT_INLINE_JUMP);
	put(&b, &opcode, 1);
	put(&b, &distance, sizeof(distance));
	put(&b, file + GT_INLINE_CALL, 1);
	put(&b, "", 1);
	put(&b, &left, sizeof(left));
	save("leftover", name, &b);
}

/* Pairs far apart and many close ones, and readings before, between and behind them: fuzz_clocks.c. */
static void save_clocks(void)
{
	static const struct {
		uint8_t kind;
		uint64_t value[2];
	} op[] = {
		{ 0, { 1000000, 400000 } },
		{ 3, { 0, 500000 } },
		{ 1, { 5000000, 2000000 } },
		{ 4, { 0, 100 } },
		{ 4, { 2, 1ull << 62 } },
		{ 252, { 3000, 1000 } },
		{ 252, { 2000, 1000 } },
		{ 3, { 1, UINT64_MAX } },
		{ 4, { 255, 1 } },
		{ 0, { 1ull << 63, 1ull << 62 } },
		{ 3, { 1ull << 40, 1ull << 63 } },
	};
	struct bytes b = {};

	for (size_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		put(&b, &op[i].kind, 1);
		put(&b, op[i].value, sizeof(op[i].value));
	}
	save("clocks", "pairs", &b);
}

struct snapshot_seed {
	struct memory_input in;
	struct fuzz_runtime rt;
	uint64_t gs[4], ps[2];
	struct fuzz_g g[4], g0;
	struct fuzz_m m, idle;
	struct fuzz_p p[2];
};

#define IN_MEMORY(member)                                                                          \
	(MEMORY + offsetof(struct snapshot_seed, member) - sizeof(struct memory_input))

/* A goroutine that runs, two that wait and one that has ended; fuzz_snapshot.c. */
static struct snapshot_seed runtime_seed(void)
{
	struct snapshot_seed s = {
		.rt = { .allglen = 4,
			.allgptr = IN_MEMORY(gs),
			.allp = { IN_MEMORY(ps), 2, 2 },
			.allm = IN_MEMORY(m),
			.gomaxprocs = 2 },
		.g0 = { .stack_lo = 0x1000, .stack_hi = 0x2000, .m = IN_MEMORY(m) },
		.m = { .g0 = IN_MEMORY(g0),
		       .procid = FUZZ_PID,
		       .curg = IN_MEMORY(g[0]),
		       .p = IN_MEMORY(p[0]),
		       .oldp = IN_MEMORY(p[1]),
		       .alllink = IN_MEMORY(idle) },
		.p = { { .m = IN_MEMORY(m), .status = 1 }, { .id = 1 } },
	};

	for (unsigned int i = 0; i < 4; i++) {
		s.gs[i] = IN_MEMORY(g[0]) + i * sizeof(s.g[0]);
		s.g[i] = (struct fuzz_g){ .stack_lo = 0x10000 * (i + 1),
					  .stack_hi = 0x10000 * (i + 2),
					  .goid = i + 1,
					  .startpc = 0x400000 + i,
					  .parent = i,
					  .sp = 0x10000 * (i + 1) + 256,
					  .bp = 0x10000 * (i + 1) + 512,
					  .status = (uint32_t[]){ 2, 4, 4, 6 }[i],
					  .wait_reason = 9 };
	}
	for (unsigned int i = 0; i < 2; i++)
		s.ps[i] = IN_MEMORY(p[0]) + i * sizeof(s.p[0]);
	s.g[0].m = IN_MEMORY(m);
	return s;
}

static void save_snapshot(const char *name, const struct snapshot_seed *s)
{
	struct bytes b = {};

	put(&b, s, sizeof(*s));
	save("snapshot", name, &b);
}

static void save_snapshots(void)
{
	struct snapshot_seed s = runtime_seed();

	save_snapshot("runtime", &s);
	s.in.after = 20;
	s.in.at = IN_MEMORY(m.curg) - MEMORY;
	save_snapshot("changes", &s);
	s.in.after = 0;
	s.in.reads = 15;
	save_snapshot("ends", &s);

	/* Thousands of Ps, whose m is the last one of thousands. */
	s = runtime_seed();
	s.in.ms = s.in.ps = LIST_MAX - 1;
	s.in.p = IN_MEMORY(p[0]);
	s.rt.allp[0] = LIST_PS;
	s.rt.allp[1] = s.rt.allp[2] = LIST_MAX - 1;
	s.rt.gomaxprocs = 1;
	s.m.p = s.m.oldp = 0;
	s.m.alllink = LIST_MS;
	s.p[0].m = LIST_MS + (LIST_MAX - 2) * LIST_BLOCK;
	save_snapshot("lists", &s);
}

struct parked_seed {
	struct memory_input in;
	struct parked_g g[PARKED_GS];
	uint64_t stack[128];
	uint8_t depth;
} __attribute__((packed));

#define IN_STACK(word)                                                                             \
	(MEMORY + offsetof(struct parked_seed, stack) - offsetof(struct parked_seed, g) +          \
	 (word) * 8)

/* Goroutines that share a stack of five frames, the first at word 16; fuzz_parked.c. */
static void save_parked_in_memory(const char *name, uint64_t last, uint64_t pc, uint16_t after)
{
	struct parked_seed s = { .in = { .after = after, .at = 5 * 8 }, .depth = 127 };
	struct bytes b = {};

	for (unsigned int i = 0; i < PARKED_GS; i++)
		s.g[i] = (struct parked_g){ .lo = IN_STACK(0),
					    .hi = IN_STACK(128),
					    .goid = i + 1,
					    .sp = IN_STACK(i % 16),
					    .pc = 0x400000 + i,
					    .bp = IN_STACK(16 + i % 5 * 20),
					    .status = 4,
					    .reason = (uint8_t)i };
	for (unsigned int i = 0; i < 5; i++) {
		s.stack[16 + i * 20] = i < 4 ? IN_STACK(36 + i * 20) : last;
		s.stack[17 + i * 20] = 0x500000 + i;
	}
	s.stack[77] = pc;
	put(&b, &s, sizeof(s));
	save("parked", name, &b);
}

static void save_parked(void)
{
	save_parked_in_memory("frames", 0, 0x600000, 0);
	save_parked_in_memory("cycle", IN_STACK(16), 0x600000, 0);
	save_parked_in_memory("unmapped", 0x700000, 0x600000, 0);
	save_parked_in_memory("kernel", 0, 0xffffffff81000000, 0);
	save_parked_in_memory("changes", 0, 0x600000, 18);
}

struct labels_seed {
	uint8_t kind, n;
	struct memory_input in;
	uint64_t g[16][2]; /* the labels are the second word of each */
	struct {
		uint64_t at, len;
	} list, label[2][2];
	struct {
		uint64_t at, count;
		uint8_t flags, log2, pad[6];
		uint64_t buckets, older;
	} map;
	struct {
		uint8_t tops[8];
		uint64_t key[8][2], value[8][2], overflow;
	} bucket[2];
	char text[32];
} __attribute__((packed));

#define IN_LABELS(member)                                                                          \
	(MEMORY + offsetof(struct labels_seed, member) - offsetof(struct labels_seed, g))

/* Some goroutines have the labels, others have none: fuzz_labels.c. */
static void save_labels_in_memory(const char *name, bool are_lists, uint16_t after, unsigned int n)
{
	struct labels_seed s = {
		.kind = are_lists,
		.n = (uint8_t)n,
		.in = { .after = after, .at = 8 },
		.list = { IN_LABELS(label), 2 },
		.label = { { { IN_LABELS(text), 4 }, { IN_LABELS(text) + 4, 9 } },
			   { { IN_LABELS(text) + 2, 3 }, { 0, 0 } } },
		.map = { .at = IN_LABELS(map.count),
			 .count = 3,
			 .log2 = 1,
			 .buckets = IN_LABELS(bucket),
			 .older = IN_LABELS(bucket[1]) },
		.text = "user\"a b\xff\n1\x1b",
	};
	struct bytes b = {};

	for (unsigned int i = 0; i < 16; i += 3)
		s.g[i][1] = are_lists ? IN_LABELS(list) : IN_LABELS(map);
	for (unsigned int i = 0; i < 2; i++) {
		s.bucket[i].tops[3 * i] = 9;
		s.bucket[i].key[3 * i][0] = s.bucket[i].value[3 * i][0] = IN_LABELS(text) + i;
		s.bucket[i].key[3 * i][1] = s.bucket[i].value[3 * i][1] = 5;
	}
	s.bucket[0].overflow = IN_LABELS(bucket[1]);
	put(&b, &s, sizeof(s));
	save("labels", name, &b);
}

static void put_op(struct bytes *b, const uint8_t op[4], uint16_t first, uint16_t second,
		   const char *text)
{
	put(b, op, 4);
	put_u16(b, first);
	put_u16(b, second);
	put(b, text, strlen(text));
}

/* Sets of labels by records, and messages with the labels from before: fuzz_labels.c. */
static void save_labels_of_records(void)
{
	enum { TEXT, LABEL, PRESENT, RUN, CHANGED, INHERIT, FILE_BEGINS, END, EXPIRE };
	struct bytes b = {};

	put(&b, "\2", 1);
	put_op(&b, (uint8_t[]){ TEXT, 0, 5, 0 }, 4, 0, "user");
	put_op(&b, (uint8_t[]){ TEXT, 0, 0x81, 0 }, 3, 1, "a\xc3\xa4");
	put_op(&b, (uint8_t[]){ TEXT, 0, 0x82, 0 }, 6, 0, "k=\"v\"\n");
	put_op(&b, (uint8_t[]){ TEXT, 0, 0x83, 0 }, 5, 0, "k=\"v\"");
	put_op(&b, (uint8_t[]){ LABEL, 1, 5, 0x81 }, 0, 2, "");
	put_op(&b, (uint8_t[]){ LABEL, 1, 0x82, 5 }, 1, 2, "");
	put_op(&b, (uint8_t[]){ PRESENT, 0, 0x83, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ CHANGED, 2, 0, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ RUN, 0, 0, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ INHERIT, 1, 1, 2 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ FILE_BEGINS, 0, 0, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ RUN, 1, 0, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ LABEL, 1, 0, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ END, 2, 0, 0 }, 0, 0, "");
	put_op(&b, (uint8_t[]){ EXPIRE, 0, 0, 0 }, 30000, 0, "");
	save("labels", "records", &b);
}

static void save_name(const char *name, uint8_t preset, const char *first, const char *second,
		      const char *better)
{
	struct bytes b = {};

	put(&b, &preset, 1);
	put_u16(&b, strlen(first));
	put_u16(&b, strlen(second));
	put(&b, first, strlen(first));
	put(&b, second, strlen(second));
	put(&b, better, strlen(better));
	save("texts", name, &b);
}

/* Names of requests, and texts that are displaced, held and consumed: fuzz_texts.c. */
static void save_texts(void)
{
	enum { ADD, SETTLE, NAME, MESSAGE, HOLD, RELEASE, EXPIRE, GENERATION };
	static const uint8_t op[][6] = {
		{ ADD, 0x21, 1, 0, 3, 0 },
		{ 'a', 'b', 0xc3 },
		{ HOLD, 0x21, 1 },
		{ NAME, 0x21 },
		{ ADD, 0x22, 0, 0, 1 },
		{ 'x' },
		{ ADD, 0x81, 0, 0, 2 },
		{ 'y', 'z' },
		{ SETTLE, 0x81 },
		{ ADD, 0x82, 0, 0, 2 },
		{ 'y', 'z' },
		{ MESSAGE, 0x82 },
		{ ADD, 0x41, 0, 0, 2 },
		{ 'y', 'z' },
		{ NAME, 0x41 },
		{ GENERATION },
		{ RELEASE, 0, 1 },
		{ EXPIRE, 0, 0, 0, 0xff, 0xff },
	};
	static const uint8_t len[] = { 6, 3, 6, 6, 6, 1, 6, 2, 6, 6, 2, 6, 6, 2, 6, 6, 6, 6 };
	struct bytes b = {};

	save_name("http", 0, "GET", "/users/4711/files/3f2a9c7e11;jsessionid=1?q=2",
		  "GET example.org/users/{id}/");
	save_name("path", 0, "POST", "/u/a@b.c/0a1B2c3D4e5F6g7H/x", "");
	save_name("sql", 1, "select \"a\", 'it''s', $1, $t$x$t$ from `t` where a in (1, 2, 3) -- c",
		  "", "");
	save_name("sql-brackets", 1, "update t /* c */ set a = [b'] # 'x\n where x = -1.5e+3", "",
		  "");
	save_name("client", 2, "", "example.org:80", "");
	save_name("dns", 3, "10.0.0.1", "", "");
	save_name("grpc", 5, "/package.Service/Method\x1b[1m", "", "");
	put(&b, "\6", 1);
	for (size_t i = 0; i < sizeof(len); i++)
		put(&b, op[i], len[i]);
	save("texts", "records", &b);
}

void save_memory(void)
{
	save_rings();
	save_clocks();
	save_snapshots();
	save_parked();
	save_labels_in_memory("list", true, 0, 15);
	save_labels_in_memory("list-changes", true, 5, 15);
	save_labels_in_memory("map", false, 0, 15);
	save_labels_in_memory("many", false, 0, 255);
	save_labels_of_records();
	save_texts();
	save_leftover("call", "\xe8\1\2\3\4\x90", 0xe8);
	save_leftover("jump", "\x0f\x86\1\2\3\4", 0xe9);
}
