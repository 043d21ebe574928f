// SPDX-License-Identifier: GPL-2.0
/* Compares functions, lines and inlining with the symbol table and the runtime's sources. */
#include <elf.h>

#include "unit/test.h"
#include "target/elf/elf.h"
#include "target/infer/buildinfo.h"
#include "target/symbols/pclntab_impl.h"

#include "unit/programs.h"

struct program {
	int fd; /* closed behind the image, which keeps one of its own: -1 */
	struct elf_image *elf;
	struct go_buildinfo info;
	struct pclntab *pt;
};

static void open_program(struct program *p, const char *path)
{
	struct error err = { "" };

	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image__open(&p->elf, p->fd, path, NULL), 0);
	assert_int_equal(buildinfo__read(p->elf, &p->info, NULL), 0);
	close(p->fd);
	p->fd = -1;
	if (pclntab__open(&p->pt, p->elf, &p->info.version, &err))
		fail_msg("%s", err.text);
}

static void close_program(struct program *p)
{
	pclntab__destroy(p->pt);
	elf_image__destroy(p->elf);
}

/*
 * Names that stand for one function only. Of assembly functions the symbol table knows two,
 * NAME.abi0 and its wrapper NAME, which have the same name here.
 */
static bool is_plain(const struct program *p, const struct go_func *f)
{
	struct go_func first;
	char abi0[256];

	snprintf(abi0, sizeof(abi0), "%s.abi0", f->name);
	return !elf_image__symbol(p->elf, abi0) && pclntab__named(p->pt, f->name, &first) &&
	       first.entry == f->entry;
}

static void against_symbols(const char *path)
{
	struct program p;
	struct go_func f, g;
	uint64_t last = 0;
	size_t same = 0, differ = 0;

	open_program(&p, path);
	assert_in_range(p.pt->nfunc, 1000, 1000000);
	for (size_t i = 0; i < p.pt->nfunc; i++) {
		uint64_t symbol;

		assert_true(pclntab__func(p.pt, i, &f));
		assert_true(f.entry >= last && f.end >= f.entry);
		last = f.end;
		if (f.end > f.entry) {
			assert_true(pclntab__find(p.pt, f.end - 1, &g));
			assert_int_equal(g.index, i);
		}
		symbol = i % 8 || !is_plain(&p, &f) ? 0 : elf_image__symbol(p.elf, f.name);
		same += symbol == f.entry;
		differ += symbol && symbol != f.entry;
	}
	assert_int_equal(differ, 0);
	assert_true(same > p.pt->nfunc / 10);
	assert_false(pclntab__func(p.pt, p.pt->nfunc, &f));
	assert_false(pclntab__find(p.pt, 0, &f));
	assert_false(pclntab__find(p.pt, last + 0x1000, &f));
	assert_false(pclntab__named(p.pt, "runtime.no such", &f));
	assert_true(pclntab__named(p.pt, "runtime.execute", &f));
	assert_int_equal(f.entry, elf_image__symbol(p.elf, "runtime.execute"));
	close_program(&p);
}

TEST(functions_are_the_symbols)
{
	for_each_program(against_symbols);
}

/* Inlined functions, their callers, and their files. */
struct inlining {
	const char *callee, *callee_file, *caller, *caller_file;
};

struct inlined {
	const struct inlining *expected;
	const struct pclntab *pt;
	uint64_t at;
	size_t n;
};

/* The first PC of an inlined body of `name`; 0: none. */
static uint64_t first_pc(const struct pclntab *pt, const char *name, const struct go_func *into)
{
	const char *chain[SYM_INLINE_MAX];

	for (uint64_t pc = into->entry; pc < into->end; pc++) {
		size_t n = pclntab__inlined_at(pt, pc, chain, SYM_INLINE_MAX);

		while (n-- > 0) {
			if (!strcmp(chain[n], name))
				return pc;
		}
	}
	return 0;
}

static void note(void *ctx, const char *name, const struct go_func *into)
{
	struct inlined *in = ctx;
	uint64_t at = first_pc(in->pt, name, into);

	assert_string_equal(name, in->expected->callee);
	assert_in_range(at, into->entry, into->end);
	in->n++;
	if (!strcmp(into->name, in->expected->caller))
		in->at = at;
}

/* runtime.send ends with goready(gp, skip+1), which the compiler inlines since 1.21. */
static void one_in_the_other(const char *path)
{
	static const struct inlining all[] = {
		{ "runtime.goready", "runtime/proc.go", "runtime.send", "runtime/chan.go" },
		{ "runtime.fastrand", "runtime/stubs.go", "runtime.f32hash", "runtime/alg.go" },
	};
	struct sym_frame frames[SYM_INLINE_MAX];
	struct inlined in = { 0 };
	struct symbolizer s;
	struct program p;
	int n;

	open_program(&p, path);
	in.expected = &all[p.info.version.minor < 21];
	in.pt = p.pt;
	assert_int_equal(pclntab__inlined(p.pt, &in.expected->callee, 1, note, &in), 0);
	assert_true(in.n >= 3);
	assert_true(in.at);
	pclntab__symbolizer(p.pt, 0x1000, &s);
	n = s.frames(s.ctx, in.at + 0x1001, frames);
	assert_true(n >= 2);
	assert_string_equal(frames[n - 2].func, in.expected->callee);
	assert_non_null(strstr(frames[n - 2].file, in.expected->callee_file));
	assert_string_equal(frames[n - 1].func, in.expected->caller);
	assert_non_null(strstr(frames[n - 1].file, in.expected->caller_file));
	assert_int_equal(frames[0].pc, in.at + 0x1000);
	assert_true(frames[n - 1].pc != frames[n - 2].pc && frames[n - 1].line > 10);
	assert_false(frames[n - 1].wrapper || frames[n - 1].elides);
	assert_int_equal(s.frames(s.ctx, 0x1001, frames), 0);
	close_program(&p);
}

TEST(inlined_calls_are_frames)
{
	for_each_program(one_in_the_other);
}

static void special_functions(const char *path)
{
	struct sym_frame frames[SYM_INLINE_MAX], frame;
	size_t wrappers = 0, unwrapped = 0;
	struct symbolizer s;
	struct program p;
	struct go_func f;

	open_program(&p, path);
	pclntab__symbolizer(p.pt, 0, &s);
	assert_true(pclntab__named(p.pt, "runtime.gopanic", &f));
	assert_int_equal(s.frames(s.ctx, f.entry + 1, frames), 1);
	assert_true(frames[0].elides);
	/* stopped by a signal at its first instruction: not in the function before it */
	assert_int_equal(s.frames(s.ctx, f.entry, frames), 1);
	assert_string_equal(frames[0].func, "runtime.gopanic");
	assert_int_equal(frames[0].pc, f.entry);
	for (size_t i = 0; i < p.pt->nfunc; i++) {
		struct func_info info;
		bool wraps;

		pclntab__func(p.pt, i, &f);
		wraps = pclntab__info(p.pt, i, &info) &&
			pclntab__funcdata(p.pt, &info, FUNCDATA_WRAP_INFO);
		if (!wraps)
			continue;
		assert_int_equal(s.start(s.ctx, f.entry, &frame), 1);
		assert_true(frame.line && frame.file[0]);
		wrappers++;
		unwrapped += strcmp(frame.func, f.name) != 0;
	}
	assert_true(wrappers && unwrapped);
	assert_true(pclntab__named(p.pt, "runtime.main", &f));
	assert_int_equal(s.start(s.ctx, f.entry, &frame), 1);
	assert_string_equal(frame.func,
			    "main.main"); /* as the runtime's tracer names the goroutine */
	assert_true(pclntab__named(p.pt, "main.main", &f));
	assert_int_equal(frame.pc, f.entry);
	assert_int_equal(s.start(s.ctx, 5, &frame), 0);
	close_program(&p);
}

TEST(wrappers_are_known)
{
	for_each_program(special_functions);
}

/* Other linkers put the table among other data: without its section it is searched. */
static void searched(const char *path)
{
	Elf64_Shdr sh[64], *table = NULL, *data = NULL;
	int fd = program__copy(path);
	struct program p;
	struct pclntab *found;
	struct elf_image *elf;
	struct error err = { "" };
	char names[1024];
	Elf64_Ehdr eh;

	open_program(&p, path);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	assert_in_range(eh.e_shnum, 1, 64);
	assert_true(pread(fd, sh, eh.e_shnum * sizeof(sh[0]), (off_t)eh.e_shoff) > 0);
	assert_true(pread(fd, names, sizeof(names), (off_t)sh[eh.e_shstrndx].sh_offset) > 0);
	for (size_t i = 1; i < eh.e_shnum; i++) {
		if (!strcmp(names + sh[i].sh_name, ".gopclntab"))
			table = &sh[i];
		else if (!strcmp(names + sh[i].sh_name, ".rodata"))
			data = &sh[i];
	}
	assert_true(table && data);
	table->sh_name = data->sh_name;
	data->sh_name = 0;
	/* 8 bytes of what precedes the table are in its section, too */
	table->sh_addr -= 8;
	table->sh_offset -= 8;
	table->sh_size += 8;
	assert_true(pwrite(fd, sh, eh.e_shnum * sizeof(sh[0]), (off_t)eh.e_shoff) > 0);
	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	if (pclntab__open(&found, elf, &p.info.version, &err))
		fail_msg("%s", err.text);
	assert_int_equal(found->addr, p.pt->addr);
	assert_int_equal(found->nfunc, p.pt->nfunc);
	pclntab__destroy(found);
	elf_image__destroy(elf);
	close(fd);
	close_program(&p);
}

TEST(a_table_without_a_name)
{
	for_each_program(searched);
}

/* A word of the program's data, and no byte more. */
static void a_word(const char *path)
{
	struct {
		uint32_t word;
		unsigned char after[4];
	} got = { 0, "abc" };
	unsigned char want[4];
	struct program p;

	open_program(&p, path);
	memcpy(want, p.pt->tab.start + 8, 4);
	assert_true(pclntab__data_u32(p.pt, p.pt->addr + 8, &got.word));
	assert_memory_equal(&got.word, want, 4);
	assert_memory_equal(got.after, "abc", 4);
	assert_false(pclntab__data_u32(p.pt, 8, &got.word));
	close_program(&p);
}

TEST(words)
{
	for_each_program(a_word);
}

static void ignore(void *ctx, const char *name, const struct go_func *into)
{
}

static void use_all(struct pclntab *pt)
{
	static const char *const names[] = { "runtime.goready" };
	struct sym_frame frames[SYM_INLINE_MAX];
	struct symbolizer s;
	struct go_func f;

	pclntab__symbolizer(pt, 0, &s);
	for (size_t i = 0; i < pt->nfunc; i += 97) {
		if (pclntab__func(pt, i, &f)) {
			s.frames(s.ctx, f.entry + 5, frames);
			s.start(s.ctx, f.entry, frames);
		}
	}
	pclntab__inlined(pt, names, 1, ignore, NULL);
	pclntab__named(pt, "runtime.execute", &f);
}

/* As garble's linker does it: another magic, and in each _func an entry that is encrypted. */
static void obfuscated(const char *path)
{
	const uint32_t magic = 0x12345678;
	struct sym_frame before[SYM_INLINE_MAX], after[SYM_INLINE_MAX];
	struct elf_section sec;
	struct symbolizer s, t;
	struct program p, q;
	struct func_info info;
	struct go_func f;

	open_program(&p, path);
	q = p;
	q.fd = program__copy(path);
	assert_int_equal(elf_image__open(&q.elf, q.fd, path, NULL), 0);
	if (!elf_image__section(q.elf, ".gopclntab", &sec))
		assert_true(elf_image__section(q.elf, ".data.rel.ro.gopclntab", &sec));
	assert_int_equal(pwrite(q.fd, &magic, 4, (off_t)sec.offset), 4);
	for (size_t i = 0; i < p.pt->nfunc; i++) {
		assert_true(pclntab__info(p.pt, i, &info));
		assert_int_equal(pwrite(q.fd, &i, 4, (off_t)(sec.offset + info.record)), 4);
	}
	if (p.info.version.minor < 20) { /* another format: not read without its magic */
		assert_int_equal(pclntab__open(&q.pt, q.elf, &q.info.version, NULL), -EBADMSG);
		elf_image__destroy(q.elf);
		close(q.fd);
		close_program(&p);
		return;
	}
	assert_int_equal(pclntab__open(&q.pt, q.elf, &q.info.version, NULL), 0);
	pclntab__symbolizer(p.pt, 0, &s);
	pclntab__symbolizer(q.pt, 0, &t);
	for (size_t i = 0; i < p.pt->nfunc; i += 7) {
		int n;

		assert_true(pclntab__func(p.pt, i, &f));
		n = s.frames(s.ctx, f.entry + 9, before);
		assert_int_equal(t.frames(t.ctx, f.entry + 9, after), n);
		for (int k = 0; k < n; k++) {
			assert_string_equal(before[k].func, after[k].func);
			assert_int_equal(before[k].line, after[k].line);
		}
	}
	close_program(&q);
	close_program(&p);
}

TEST(obfuscated_tables_are_read)
{
	for_each_program(obfuscated);
}

/* Bytes changed in the table's header, or anywhere in it: refused or read, within its bounds. */
static void damaged(const char *path)
{
	struct elf_section sec;
	struct program p;
	uint64_t rng = 3;
	size_t opened = 0;

	open_program(&p, path);
	close_program(&p);
	p.fd = program__copy(path);
	assert_int_equal(elf_image__open(&p.elf, p.fd, path, NULL), 0);
	if (!elf_image__section(p.elf, ".gopclntab", &sec))
		assert_true(elf_image__section(p.elf, ".data.rel.ro.gopclntab", &sec));
	for (int i = 0; i < 60; i++) {
		uint64_t range = i % 2 ? sec.size : 72;
		unsigned char old[64], new;
		off_t at[64];
		int n = i % 2 ? 64 : 1;
		struct error err = { "" };

		for (int k = 0; k < n; k++) {
			at[k] = (off_t)(sec.offset + rng__next(&rng) % range);
			new = (unsigned char)rng__next(&rng);
			assert_int_equal(pread(p.fd, &old[k], 1, at[k]), 1);
			assert_int_equal(pwrite(p.fd, &new, 1, at[k]), 1);
		}
		if (!pclntab__open(&p.pt, p.elf, &p.info.version, &err)) {
			opened++;
			use_all(p.pt);
			pclntab__destroy(p.pt);
		} else {
			assert_true(err.text[0]);
		}
		while (n-- > 0)
			assert_int_equal(pwrite(p.fd, &old[n], 1, at[n]), 1);
	}
	assert_true(opened > 5);
	elf_image__destroy(p.elf);
	close(p.fd);
}

TEST(damage_is_survived)
{
	for_each_program(damaged);
}

/* A prologue pushes the frame pointer (after making room, up to 1.20); then there is a frame. */
static void prologue_of(const char *path)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	unsigned int seen = 0, last = 0;
	struct symbolizer symbolizer;
	struct program p;
	struct go_func f;

	open_program(&p, path);
	pclntab__symbolizer(p.pt, 0x10000, &symbolizer);
	assert_true(pclntab__named(p.pt, "runtime.gcStart", &f));
	for (uint64_t pc = f.entry; pc < f.entry + 48; pc++) {
		assert_true(symbolizer.frames(symbolizer.ctx, 0x10000 + pc + 1, frames) >= 1);
		last = frames[0].pushed;
		assert_true(last <= SYM_PUSHED_WORD);
		if (pc == f.entry)
			assert_int_equal(last, SYM_PUSHED_NOTHING);
		else if (last == SYM_PUSHED_NOTHING)
			assert_int_equal(seen, 1u << SYM_PUSHED_NOTHING);
		seen |= 1u << last;
	}
	assert_int_equal(last, SYM_PUSHED_FRAME);
	assert_int_equal(seen >> SYM_PUSHED_WORD & 1, p.info.version.minor >= 21);
	close_program(&p);
}

TEST(prologues)
{
	for_each_program(prologue_of);
}

/*
 * A goroutine may be stopped at the first instruction of a function that follows a wrapper. Go's
 * tracer leaves it out like a wrapper, but not that of 1.19 and 1.20.
 */
static void entries_after_wrappers(const char *path)
{
	static const struct go_version old = { .major = 1, .minor = 20, .text = "go1.20" };
	struct sym_frame frames[SYM_INLINE_MAX];
	struct go_func before, f;
	struct symbolizer s, t;
	struct pclntab *older;
	struct program p;
	size_t seen = 0;

	open_program(&p, path);
	assert_int_equal(pclntab__open(&older, p.elf, &old, NULL), 0);
	pclntab__symbolizer(p.pt, 0, &s);
	pclntab__symbolizer(older, 0, &t);
	for (size_t i = 1; pclntab__func(p.pt, i, &f) && seen < 20; i++) {
		pclntab__func(p.pt, i - 1, &before);
		if (s.frames(s.ctx, before.end, frames) < 1 || !frames[0].wrapper ||
		    before.end != f.entry || f.func_id == before.func_id)
			continue;
		seen++;
		assert_true(t.frames(t.ctx, f.entry, frames) >= 1);
		assert_false(frames[0].wrapper);
		assert_int_equal(frames[0].pc, f.entry);
	}
	assert_true(seen);
	pclntab__destroy(older);
	close_program(&p);
}

TEST(entries_are_no_wrappers)
{
	for_each_program(entries_after_wrappers);
}
