// SPDX-License-Identifier: GPL-2.0
/* Tests of target/symbols/ with synthetic function tables of each release. */
#include "unit/test.h"
#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"

/* Three functions of 32 bytes; the first begins 16 bytes behind the text's begin. */
asm(MADE_TEXT ".skip 16, 0xcc; f_a: .skip 32, 0x90; f_b: .skip 32, 0x90; "
	      "f_c: .skip 32, 0x90; " MADE_TEXT_END);

extern const unsigned char made_text[], made_text_end[], f_a[], f_b[], f_c[];

/*
 * In the middle one there are copies of main.inner (bytes 8 to 11), which was inlined into a copy
 * of main.outer[int] (8 to 15), and of main.other (20 to 23).
 */
#define MIDDLE                                                                                     \
	{                                                                                          \
		.name = "main.b", .code = f_b, .args = 24,                                         \
		.tree = { { "main.outer[int]", 2, 9 },                                             \
			  { "main.inner", 12, 5 },                                                 \
			  { "main.other", 3, 0 } },                                                \
		.inlined = { { 8, -1 }, { 12, 1 }, { 16, 0 }, { 20, -1 }, { 24, 2 }, { 32, -1 } }, \
		.lines = { { 8, 100 }, { 12, 7 }, { 32, 90 } }, .pushed = {                        \
			{ 4, 0 },                                                                  \
			{ 8, 8 },                                                                  \
			{ 32, 64 }                                                                 \
		}                                                                                  \
	}

static const struct made_func funcs[] = {
	{ .name = "main.a", .code = f_a, .func_id = 1, .args = -1 },
	MIDDLE,
	{ .name = "main.c[go.shape.int,[]x].func1", .code = f_c, .func_id = 2 },
};

static const struct made_program program = { made_text, 112, funcs, 3 };

static struct go_made p;

TEST(functions)
{
	const uint64_t text = MADE_TEXT_ADDR;
	struct go_func f;

	go_made__open(&p, "go1.25.0", &program);
	assert_true(pclntab__func(p.pt, 1, &f));
	assert_string_equal(f.name, "main.b");
	assert_int_equal(f.entry, text + 48);
	assert_int_equal(f.end, text + 80);
	assert_int_equal(f.index, 1);
	assert_int_equal(f.args, 24);
	assert_int_equal(f.func_id, 0);
	assert_true(pclntab__func(p.pt, 0, &f));
	assert_int_equal(f.args, -1);
	assert_int_equal(f.func_id, 1);
	assert_true(pclntab__func(p.pt, 2, &f));
	assert_int_equal(f.end, text + 112);
	assert_false(pclntab__func(p.pt, 3, &f));
	assert_false(pclntab__func(p.pt, SIZE_MAX, &f));

	assert_false(pclntab__find(p.pt, text - 1, &f));
	assert_false(pclntab__find(p.pt, text + 15, &f));
	assert_true(pclntab__find(p.pt, text + 16, &f));
	assert_int_equal(f.index, 0);
	assert_true(pclntab__find(p.pt, text + 47, &f));
	assert_int_equal(f.index, 0);
	assert_true(pclntab__find(p.pt, text + 48, &f));
	assert_int_equal(f.index, 1);
	assert_true(pclntab__find(p.pt, text + 111, &f));
	assert_int_equal(f.index, 2);
	assert_false(pclntab__find(p.pt, text + 112, &f));

	assert_true(pclntab__named(p.pt, "main.b", &f));
	assert_int_equal(f.index, 1);
	assert_false(pclntab__named(p.pt, "main.", &f));
	assert_false(pclntab__named(p.pt, "main.bb", &f));
	assert_false(pclntab__named(p.pt, "main.inner", &f)); /* a name, but of no function */
	assert_string_equal(pclntab__name(p.pt, -1), "");
	assert_string_equal(pclntab__name(p.pt, 1), "main.a");
	assert_string_equal(pclntab__name(p.pt, INT32_MAX), "");
}

/* Of functions of one name the one that is no wrapper. */
TEST(wrappers_of_one_name)
{
	static const struct {
		const char *release;
		uint8_t wrapper;
	} of[] = { { "go1.19.1", 21 }, { "go1.21.0", 21 }, { "go1.22.0", 22 },
		   { "go1.24.0", 22 }, { "go1.25.0", 23 }, { "go1.27.0", 23 } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct made_func all[3];
		struct made_program twice = { made_text, 112, all, 3 };
		struct go_func f;

		memcpy(all, funcs, sizeof(all));
		all[0].name = all[2].name = "main.twice";
		all[0].func_id = of[i].wrapper;
		go_made__open(&p, of[i].release, &twice);
		assert_true(pclntab__named(p.pt, "main.twice", &f));
		assert_int_equal(f.index, 2);
		all[0].func_id--; /* two functions: the first */
		go_made__open(&p, of[i].release, &twice);
		assert_true(pclntab__named(p.pt, "main.twice", &f));
		assert_int_equal(f.index, 0);
		all[2].func_id = of[i].wrapper; /* a wrapper alone is better than none */
		all[0].name = "main.once";
		go_made__open(&p, of[i].release, &twice);
		assert_true(pclntab__named(p.pt, "main.twice", &f));
		assert_int_equal(f.index, 2);
	}
}

/* Go leaves these out of a stack that a panic unwinds. */
TEST(special_functions)
{
	static const struct {
		const char *release;
		uint8_t gopanic, panicwrap, sigpanic, wrapper;
	} of[] = { { "go1.19.1", 9, 14, 18, 21 },
		   { "go1.21.0", 9, 14, 18, 21 },
		   { "go1.22.0", 10, 15, 19, 22 },
		   { "go1.24.0", 10, 15, 19, 22 },
		   { "go1.25.0", 10, 15, 20, 23 } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		for (unsigned int id = 0; id < 30; id++) {
			struct sym_frame frames[SYM_INLINE_MAX];
			struct made_func all[3];
			struct made_program changed = { made_text, 112, all, 3 };
			struct symbolizer s;

			memcpy(all, funcs, sizeof(all));
			all[0].func_id = (uint8_t)id;
			go_made__open(&p, of[i].release, &changed);
			pclntab__symbolizer(p.pt, 0, &s);
			assert_int_equal(s.frames(s.ctx, MADE_TEXT_ADDR + 20, frames), 1);
			assert_int_equal(frames[0].elides, id == of[i].gopanic ||
								   id == of[i].panicwrap ||
								   id == of[i].sigpanic);
			assert_int_equal(frames[0].wrapper, id == of[i].wrapper);
		}
	}
}

static void expect_frame(const struct sym_frame *f, uint64_t at, const char *func, uint32_t line)
{
	assert_int_equal(f->pc, 0x1000 + MADE_ADDR_OF(f_b) + at);
	assert_string_equal(f->func, func);
	assert_string_equal(f->file, "made.go");
	assert_int_equal(f->line, line);
}

/* A return address is that of the call and one; what was inlined there has frames of its own. */
static void inlined_frames(const char *release, bool apart)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	const uint64_t b = 0x1000 + MADE_ADDR_OF(f_b);
	struct symbolizer s;

	go_made__init(&p, release, &program);
	p.apart = apart;
	go_made__image(&p, &program);
	assert_int_equal(pclntab__open(&p.pt, p.elf, &p.version, NULL), 0);
	pclntab__symbolizer(p.pt, 0x1000, &s);
	assert_int_equal(s.frames(s.ctx, b + 8, frames), 1);
	expect_frame(&frames[0], 7, "main.b", 100);
	assert_int_equal(s.frames(s.ctx, b + 9, frames), 3);
	expect_frame(&frames[0], 8, "main.inner", 7);
	expect_frame(&frames[1], 12, "main.outer[...]", 90);
	expect_frame(&frames[2], 2, "main.b", 100);
	assert_int_equal(s.frames(s.ctx, b + 13, frames), 2);
	expect_frame(&frames[0], 12, "main.outer[...]", 90);
	expect_frame(&frames[1], 2, "main.b", 100);
	assert_int_equal(s.frames(s.ctx, b + 24, frames), 2);
	assert_string_equal(frames[0].func, "main.other");
	assert_int_equal(s.frames(s.ctx, b + 25, frames), 1);
	assert_int_equal(s.frames(s.ctx, b + 63, frames), 1);
	assert_string_equal(frames[0].func, "main.c[...].func1");
	assert_string_equal(frames[0].file, "?");
	assert_int_equal(frames[0].line, 0);
	assert_int_equal(s.frames(s.ctx, b + 65, frames), 0);
	/* how much the function has pushed there */
	assert_int_equal(s.frames(s.ctx, b + 4, frames), 1);
	assert_int_equal(frames[0].pushed, SYM_PUSHED_NOTHING);
	s.frames(s.ctx, b + 5, frames);
	assert_int_equal(frames[0].pushed, SYM_PUSHED_WORD);
	s.frames(s.ctx, b + 9, frames);
	assert_int_equal(frames[0].pushed, SYM_PUSHED_FRAME);
}

TEST(inlining)
{
	inlined_frames("go1.25.0", false);
	inlined_frames("go1.25.0", true);
	inlined_frames("go1.20.0", true);
	inlined_frames("go1.19.0", false);
	inlined_frames("go1.19.0", true);
}

struct found {
	const char *name[8];
	size_t n;
};

static void note(void *ctx, const char *name, const struct go_func *into)
{
	struct found *f = ctx;

	assert_true(f->n < 8);
	assert_string_equal(into->name, "main.b");
	f->name[f->n++] = name;
}

static void who_was_inlined(bool apart)
{
	static const char *const names[] = { "main.none", "main.outer[int]", "main.inner" };
	const char *chain[4] = { NULL };
	struct found found = { .n = 0 };
	const uint64_t b = MADE_ADDR_OF(f_b);

	go_made__init(&p, "go1.25.0", &program);
	p.apart = apart;
	go_made__image(&p, &program);
	assert_int_equal(pclntab__open(&p.pt, p.elf, &p.version, NULL), 0);
	assert_int_equal(pclntab__inlined(p.pt, names, 3, note, &found), 0);
	assert_int_equal(found.n, 2);
	/* The innermost body is part of the outer one, too. */
	assert_ptr_equal(found.name[0], names[1]);
	assert_ptr_equal(found.name[1], names[2]);
	assert_int_equal(pclntab__inlined_at(p.pt, b + 7, chain, 4), 0);
	assert_int_equal(pclntab__inlined_at(p.pt, b + 8, chain, 4), 2);
	assert_int_equal(pclntab__inlined_at(p.pt, b + 9, chain, 4), 2);
	assert_string_equal(chain[0], "main.inner");
	assert_string_equal(chain[1], "main.outer[int]");
	chain[1] = NULL;
	assert_int_equal(pclntab__inlined_at(p.pt, b + 9, chain, 1), 1);
	assert_null(chain[1]);
	assert_int_equal(pclntab__inlined_at(p.pt, b + 15, chain, 4), 1);
	assert_string_equal(chain[0], "main.outer[int]");
	assert_int_equal(pclntab__inlined_at(p.pt, b + 16, chain, 4), 0);
	assert_int_equal(pclntab__inlined_at(p.pt, b - 1, chain, 4), 0);
}

TEST(callers_of_inlined)
{
	who_was_inlined(false);
	who_was_inlined(true);
}

/* An entry that is its own parent does not cause an endless loop. */
TEST(endless_chain)
{
	static const char *const names[] = { "main.outer[int]", "main.inner" };
	struct made_func all[3];
	struct made_program changed = { made_text, 112, all, 3 };
	struct sym_frame frames[SYM_INLINE_MAX];
	struct found found = { .n = 0 };
	const char *chain[4] = { NULL };
	struct symbolizer s;

	memcpy(all, funcs, sizeof(all));
	all[1].tree[1].parent_pc = 9;
	go_made__open(&p, "go1.25.0", &changed);
	pclntab__symbolizer(p.pt, 0, &s);
	assert_int_equal(s.frames(s.ctx, MADE_ADDR_OF(f_b) + 9, frames), SYM_INLINE_MAX);
	assert_int_equal(pclntab__inlined(p.pt, names, 2, note, &found), 0);
	assert_int_equal(found.n, 2);
	assert_int_equal(pclntab__inlined_at(p.pt, MADE_ADDR_OF(f_b) + 8, chain, 4), 4);
	for (int i = 0; i < 4; i++)
		assert_string_equal(chain[i], names[1]);
	assert_int_equal(pclntab__inlined_at(p.pt, MADE_ADDR_OF(f_b) + 12, chain, 4), 1);
	assert_string_equal(chain[0], names[0]);
}

static void count(void *ctx, const char *name, const struct go_func *into)
{
	++*(size_t *)ctx;
}

/* 1500 functions with the same table of 800 steps: too much work. */
TEST(endless_work)
{
	static const char *const names[] = { "main.outer[int]" };
	const size_t nfunc = 1500, record = 15000;
	uint32_t first;
	size_t n = 0;

	go_made__init(&p, "go1.25.0", &program);
	memcpy(p.tab + record, p.tab + MADE_FUNCS + 32 + 88, 88); /* of main.b */
	memcpy(&first, p.tab + MADE_FUNCS, sizeof(first));
	for (size_t i = 0; i <= nfunc; i++) {
		go_made__u32(&p, MADE_FUNCS + 8 * i, first + 16 * (uint32_t)i);
		go_made__u32(&p, MADE_FUNCS + 8 * i + 4, record - MADE_FUNCS);
	}
	go_made__u64(p.tab + 8, nfunc);
	go_made__u64(p.module + 136, nfunc + 1);
	p.pcs = MADE_PCS + 512;
	for (int i = 0; i < 800; i++) {
		go_made__uleb(&p, i % 2 ? 1 : 2);
		go_made__uleb(&p, 1);
	}
	go_made__u32(&p, record + 44 + 4 * PCDATA_INL_TREE, 512);
	go_made__image(&p, &program);
	assert_int_equal(pclntab__open(&p.pt, p.elf, &p.version, NULL), 0);
	assert_int_equal(pclntab__inlined(p.pt, names, 1, count, &n), -EBADMSG);
	assert_in_range(n, 2, nfunc - 1);
}

/* The names of generic functions are made once each, however many there are. */
TEST(printed_names)
{
	static struct made_func many[100];
	static char name[100][32];
	struct made_program generic = { made_text, 112, many, 100 };
	const char *first[100];
	struct sym_frame frames[SYM_INLINE_MAX];
	struct symbolizer s;

	for (int i = 0; i < 100; i++) {
		snprintf(name[i], sizeof(name[i]), "main.f%d[int]", i);
		many[i] = (struct made_func){ .name = name[i], .code = made_text + i };
	}
	many[0] = funcs[1];
	many[0].code = made_text;
	go_made__open(&p, "go1.25.0", &generic);
	pclntab__symbolizer(p.pt, 0, &s);
	for (int round = 0; round < 2; round++) {
		for (int i = 1; i < 100; i++) {
			char want[32];

			snprintf(want, sizeof(want), "main.f%d[...]", i);
			s.frames(s.ctx, MADE_TEXT_ADDR + (uint64_t)i, frames);
			assert_int_equal(s.start(s.ctx, MADE_TEXT_ADDR + (uint64_t)i, frames), 1);
			assert_string_equal(frames[0].func, want);
			if (round)
				assert_ptr_equal(frames[0].func, first[i]);
			first[i] = frames[0].func;
		}
	}
	assert_int_equal(p.pt->nprinted, 99);
}

/* A generic method of a generic type, which 1.27 has, and brackets within brackets. NULL: as it is. */
TEST(shown_names)
{
	static const struct {
		const char *name, *since, *before;
	} rows[] = {
		{ "main.f[go.shape.[]int]", "main.f[...]", "main.f[...]" },
		{ "main.f[main.box[go.shape.int]].func1", "main.f[...].func1",
		  "main.f[...].func1" },
		{ "main.(*box[go.shape.int]).g[go.shape.[]string]", "main.(*box[...]).g[...]",
		  "main.(*box[...]" },
		{ "main.(*box[a[b]]).g[c].func1", "main.(*box[...]).g[...].func1",
		  "main.(*box[...].func1" },
		{ "main.f[a].g[b].h[c]", "main.f[...].g[...]", "main.f[...]" },
		{ "main.f[a]b]", "main.f[...]", "main.f[...]" },
		{ "main.f[a]b][c]", NULL, "main.f[...]" },
		{ "main.f[a[b]", NULL, "main.f[...]" },
		{ "main.f]a[", NULL, NULL },
		{ "main.f", NULL, NULL },
	};
	char *shown;

	for (int before = 0; before < 2; before++) {
		go_made__open(&p, before ? "go1.26.11" : "go1.27.0", &program);
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			const char *want = before ? rows[i].before : rows[i].since;

			shown = pclntab__shown(p.pt, rows[i].name);
			assert_int_equal(!shown, !want);
			if (want)
				assert_string_equal(shown, want);
			free(shown);
		}
		if (!before)
			go_made__close(&p);
	}
}

/* A goroutine that a `go` statement's wrapper starts is shown as what it wraps. */
TEST(starts)
{
	struct made_func all[3];
	struct made_program changed = { made_text, 112, all, 3 };
	struct sym_frame frame;
	struct symbolizer s;

	memcpy(all, funcs, sizeof(all));
	all[0].wraps = f_c;
	for (int apart = 0; apart < 2; apart++) {
		go_made__init(&p, "go1.25.0", &changed);
		p.apart = apart;
		go_made__image(&p, &changed);
		assert_int_equal(pclntab__open(&p.pt, p.elf, &p.version, NULL), 0);
		pclntab__symbolizer(p.pt, 0x1000, &s);
		assert_int_equal(s.start(s.ctx, 0x1000 + MADE_ADDR_OF(f_a), &frame), 1);
		assert_string_equal(frame.func, "main.c[...].func1");
		assert_int_equal(frame.pc, 0x1000 + MADE_ADDR_OF(f_c));
		assert_int_equal(s.start(s.ctx, 0x1000 + MADE_ADDR_OF(f_b), &frame), 1);
		assert_string_equal(frame.func, "main.b");
		assert_int_equal(s.start(s.ctx, MADE_ADDR_OF(f_b), &frame), 0);
	}
}

/* Stopped at a function's first instruction: that is another function than one byte back. */
TEST(first_instructions)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct made_func all[3];
	struct made_program changed = { made_text, 112, all, 3 };
	struct symbolizer s;

	memcpy(all, funcs, sizeof(all));
	all[0].func_id = 23;	   /* a wrapper */
	all[1].inlined[0].end = 0; /* and what follows it begins with inlined code */
	all[1].inlined[0] = (struct made_range){ 12, 1 };
	all[1].inlined[1] = (struct made_range){ 32, -1 };
	all[1].inlined[2] = (struct made_range){ 0, 0 };
	all[1].tree[1].parent_pc = 20;
	go_made__open(&p, "go1.25.0", &changed);
	pclntab__symbolizer(p.pt, 0, &s);
	assert_int_equal(s.frames(s.ctx, MADE_ADDR_OF(f_b), frames), 1);
	assert_string_equal(frames[0].func, "main.inner");
	assert_int_equal(frames[0].pc, MADE_ADDR_OF(f_b));
	assert_true(frames[0].wrapper);
	/* with nothing before it */
	assert_int_equal(s.frames(s.ctx, MADE_ADDR_OF(f_a), frames), 1);
	assert_string_equal(frames[0].func, "main.a");
	assert_int_equal(s.frames(s.ctx, MADE_ADDR_OF(f_a) - 1, frames), 0);
	go_made__open(&p, "go1.20.0", &changed); /* up to 1.20 all that is there */
	pclntab__symbolizer(p.pt, 0, &s);
	assert_int_equal(s.frames(s.ctx, MADE_ADDR_OF(f_b), frames), 2);
	assert_string_equal(frames[0].func, "main.inner");
	assert_string_equal(frames[1].func, "main.b");
	assert_false(frames[0].wrapper);
}

/* A number in the read-only data, up to the end of what the file has. */
TEST(numbers)
{
	const uint64_t end = MADE_DATA_ADDR + MADE_TAB_SIZE;
	uint32_t v = 0;

	go_made__init(&p, "go1.25.0", &program);
	go_made__u32(&p, MADE_TAB_SIZE - 4, 0x1234567);
	p.apart = true;
	go_made__image(&p, &program);
	assert_int_equal(pclntab__open(&p.pt, p.elf, &p.version, NULL), 0);
	assert_true(pclntab__data_u32(p.pt, end - 4, &v));
	assert_int_equal(v, 0x1234567);
	assert_false(pclntab__data_u32(p.pt, end - 3, &v));
	assert_false(pclntab__data_u32(p.pt, end, &v));
	assert_true(pclntab__data_u32(p.pt, end - 8, &v)); /* before the window */
	assert_int_equal(v, 0);
	assert_true(pclntab__data_u32(p.pt, end - 4, &v));
	assert_int_equal(v, 0x1234567);
}
