// SPDX-License-Identifier: GPL-2.0
/* Tests of target/layout/layout.c: facts by release; offsets compared with those of a debugger. */
#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/layout/layout.h"
#include "target/layout/layout_dwarf.h"
#include "target/layout/offsets_table.h"

#include "unit/programs.h"

static struct go_version version(const char *text)
{
	struct go_version v;

	assert_true(go_version__parse(text, &v));
	return v;
}

TEST(releases)
{
	static const char *const known[] = {
		"go1.19.2", "go1.20",	 "go1.21.13", "go1.22.0", "go1.23.12",
		"go1.24.9", "go1.25rc1", "go1.26.8",  "go1.27.4",
	};
	struct layout l = { .nwait_reasons = 7 };
	struct error err = { "" };
	struct go_version v;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		v = version(known[i]);
		assert_int_equal(layout__for_version(&v, &l, NULL), 0);
		assert_string_equal(l.version.text, known[i]);
		assert_int_equal(l.exit_is_tentative, v.minor >= 26);
		assert_int_equal(l.config.entry_at_check, v.minor <= 20);
		assert_int_equal(l.skips.stop, v.minor >= 25 ? 0 : 1);
	}
	v = version("go1.18.10");
	l.nwait_reasons = 7;
	assert_int_equal(layout__for_version(&v, &l, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "too old"));
	assert_int_equal(l.nwait_reasons, 7);	/* untouched on failure */
	v = version("devel go1.99-0123456789"); /* as the newest known one */
	assert_int_equal(layout__for_version(&v, &l, NULL), 0);
	assert_true(l.exit_is_tentative);
	assert_int_equal(l.skips.stop, 0);
}

static unsigned int wait_reason(const struct layout *l, const char *text)
{
	for (unsigned int i = 0; i < l->nwait_reasons; i++) {
		if (!strcmp(l->wait_reasons[i], text))
			return i;
	}
	fail_msg("no wait reason \"%s\"", text);
	return 0;
}

/* Numbers as in runtime2.go and traceruntime.go of each release. */
TEST(reasons)
{
	static const struct {
		const char *version;
		unsigned int nwait, nblock, chan_receive, coroutine, suspend;
	} by_release[] = {
		{ "go1.19.13", 27, 43, 14, 0, 3 },   { "go1.20.14", 32, 43, 14, 0, 6 },
		{ "go1.21.13", 32, 43, 14, 0, 6 },   { "go1.22.12", 37, 15, 14, 36, 10 },
		{ "go1.23.12", 38, 16, 14, 36, 10 }, { "go1.24.9", 44, 17, 14, 37, 10 },
		{ "go1.25.3", 47, 17, 14, 38, 10 },  { "go1.26.8", 47, 17, 19, 38, 10 },
		{ "go1.27.4", 47, 17, 19, 38, 10 },
	};
	struct layout l;

	for (size_t i = 0; i < sizeof(by_release) / sizeof(by_release[0]); i++) {
		struct go_version v = version(by_release[i].version);

		assert_int_equal(layout__for_version(&v, &l, NULL), 0);
		assert_int_equal(l.nwait_reasons, by_release[i].nwait);
		assert_int_equal(l.nblock_reasons, by_release[i].nblock);
		assert_int_equal(wait_reason(&l, "chan receive"), by_release[i].chan_receive);
		if (by_release[i].coroutine)
			assert_int_equal(wait_reason(&l, "coroutine"), by_release[i].coroutine);
		assert_int_equal(__builtin_popcountll(l.suspend_g_reasons), by_release[i].suspend);
		assert_true(l.suspend_g_reasons & 1ull << wait_reason(&l, "GC assist marking"));
		assert_false(l.suspend_g_reasons & 1ull << wait_reason(&l, "chan receive"));
	}
	assert_string_equal(layout__block_reason(&l, 0, 0), "unspecified");
	assert_string_equal(layout__block_reason(&l, 7, 0), "chan receive");
	assert_string_equal(layout__block_reason(&l, 16, 0), "synctest");
	assert_string_equal(layout__block_reason(&l, 17, 0), "unspecified");
	assert_string_equal(layout__block_reason(&l, UINT32_MAX, 0), "unspecified");
	assert_string_equal(layout__stw_reason(&l, 9), "GOMAXPROCS");
	assert_string_equal(layout__stw_reason(&l, 99), "unknown");
	assert_null(layout__gc_mode(&l, 0));
	assert_string_equal(layout__gc_mode(&l, 3), "GC (idle)");
	assert_null(layout__gc_mode(&l, 4));
}

/* Before 1.22: events of the v1 format; the wait reason distinguishes the plain one. */
TEST(reasons_of_v1)
{
	struct go_version v = version("go1.21.13");
	struct layout l;

	assert_int_equal(layout__for_version(&v, &l, NULL), 0);
	assert_string_equal(layout__block_reason(&l, 23, 14), "chan receive");
	assert_string_equal(layout__block_reason(&l, 16, 9), "forever");
	assert_string_equal(layout__block_reason(&l, 42, 11), "GC mark assist wait for work");
	assert_string_equal(layout__block_reason(&l, 0, 0), "unspecified");
	assert_string_equal(layout__block_reason(&l, 21, 0), "unspecified"); /* no block */
	assert_string_equal(layout__block_reason(&l, 43, 0), "unspecified");
	assert_string_equal(layout__block_reason(&l, 20, 0), "unspecified");
	assert_string_equal(layout__block_reason(&l, 20, 99), "unspecified");
	assert_string_equal(layout__block_reason(&l, 20, wait_reason(&l, "GC sweep wait")),
			    "GC background sweeper wait");
	assert_string_equal(layout__block_reason(&l, 20, wait_reason(&l, "wait for GC cycle")),
			    "wait until GC ends");
	assert_string_equal(layout__block_reason(&l, 20, wait_reason(&l, "finalizer wait")),
			    "system goroutine wait");
}

/* Up to 1.20 the function that stops the world determines the reason. */
TEST(reasons_by_caller)
{
	struct go_version v = version("go1.20.14");
	struct layout l;

	assert_int_equal(layout__for_version(&v, &l, NULL), 0);
	assert_true(l.stw_by_caller && l.config.systemstack_frameless);
	assert_string_equal(layout__stw_reason(&l, layout__stw_caller("runtime.gcStart")),
			    "GC sweep termination");
	assert_string_equal(layout__stw_reason(&l, layout__stw_caller("runtime.GOMAXPROCS")),
			    "GOMAXPROCS");
	assert_string_equal(layout__stw_reason(&l, layout__stw_caller("runtime.stopTheWorld")),
			    "unknown");
	v = version("go1.21.0");
	assert_int_equal(layout__for_version(&v, &l, NULL), 0);
	assert_false(l.stw_by_caller || l.config.systemstack_frameless);
}

/* By exact release: the members that moved between them. */
static const struct known {
	const char *version;
	uint32_t bp, goid, status, startpc, parent, curg, p, procid, block;
} known_offsets[] = {
	{ "go1.21.13", 48, 152, 144, 296, 272, 192, 208, 72, 648 },
	{ "go1.22.12", 48, 152, 144, 296, 272, 192, 208, 72, 936 },
	{ "go1.23.12", 48, 160, 152, 304, 280, 192, 208, 72, 760 },
	{ "go1.24.9", 48, 160, 152, 304, 280, 192, 208, 72, 760 },
	{ "go1.25.3", 40, 152, 144, 296, 272, 184, 200, 64, 752 },
	{ "go1.26.8", 40, 152, 144, 304, 280, 184, 208, 64, 784 },
};

static void check_offsets(const struct layout *l, const struct known *o)
{
	assert_int_equal(l->config.gobuf_bp, o->bp);
	assert_int_equal(l->config.g_goid, o->goid);
	assert_int_equal(l->config.g_status, o->status);
	assert_int_equal(l->config.g_startpc, o->startpc);
	assert_int_equal(l->config.g_parent_goid, o->parent);
	assert_int_equal(l->config.m_curg, o->curg);
	assert_int_equal(l->config.m_p, o->p);
	assert_int_equal(l->m_procid, o->procid);
	assert_int_equal(l->config.m_block_reason, o->block);
}

static void read_program(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error err = { "" };
	struct go_buildinfo info;
	struct elf_image *elf;
	struct layout l;

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	if (layout__read(elf, NULL, &info.version, NULL, &l, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l.config.g_m, 48);
	assert_int_equal(l.config.g_sched, 56);
	assert_int_equal(l.g_stack_lo, 0);
	assert_int_equal(l.g_stack_hi, 8);
	assert_int_equal(l.config.syscall_fp_given, info.version.minor >= 23);
	assert_int_equal(l.config.g_sync_safe_point == GT_NO_OFFSET, info.version.minor < 25);
	assert_true(l.allglen && l.allgptr && l.allp && l.allm && l.gomaxprocs);
	for (size_t i = 0; i < sizeof(known_offsets) / sizeof(known_offsets[0]); i++) {
		if (!strcmp(known_offsets[i].version, info.version.text))
			check_offsets(&l, &known_offsets[i]);
	}
	elf_image__destroy(elf);
	close(fd);
}

TEST(programs_are_read)
{
	for_each_program(read_program);
}

/* A section with another name is ignored. */
static void rename_section(int fd, const char *name)
{
	struct elf_section names;
	struct elf_image *elf;
	unsigned char *data, *p;

	assert_int_equal(elf_image__open(&elf, fd, name, NULL), 0);
	assert_true(elf_image__section(elf, ".shstrtab", &names));
	data = elf_image__load(elf, &names);
	p = memmem(data, names.size, name, strlen(name) + 1);
	assert_non_null(p);
	assert_int_equal(pwrite(fd, "-", 1, (off_t)names.offset + (p - data)), 1);
	elf_image__destroy(elf);
	free(data);
}

static int read_file(int fd, const char *release, struct layout *ret, struct error *err)
{
	struct go_buildinfo info;
	struct elf_image *elf;
	int r;

	assert_int_equal(elf_image__open(&elf, fd, "copy", NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	if (release)
		info.version = version(release);
	r = layout__read(elf, NULL, &info.version, NULL, ret, err);
	elf_image__destroy(elf);
	return r;
}

/* The program as `-ldflags=-w` makes it: a release of the table needs no DWARF. */
static void without_dwarf(const char *path)
{
	struct layout full, l = { .m_g0 = 77 };
	int fd = program__copy(path);
	struct error err = { "" };

	assert_int_equal(read_file(fd, NULL, &full, NULL), 0);
	assert_non_null(strstr(full.source, "DWARF and the table of releases agree"));
	assert_string_equal(full.warning, "");
	rename_section(fd, ".debug_info");

	assert_int_equal(read_file(fd, "go1.99.1", &l, &err), -ENODATA);
	assert_non_null(strstr(err.text, "no DWARF"));
	assert_non_null(strstr(err.text, "-ldflags=-w"));
	assert_int_equal(l.m_g0, 77);

	assert_int_equal(read_file(fd, NULL, &l, NULL), 0);
	assert_non_null(strstr(l.source, "the table of releases alone"));
	assert_memory_equal(&l.config, &full.config, sizeof(l.config));
	assert_int_equal(l.m_procid, full.m_procid);
	assert_int_equal(l.allm, full.allm);
	close(fd);
}

TEST(a_program_without_dwarf)
{
	for_each_program(without_dwarf);
}

/* As with -ldflags=-s, and machine code that reveals nothing: no globals. */
static void without_symbols(const char *path)
{
	int fd = program__copy(path);
	struct error err = { "" };
	struct layout l;

	rename_section(fd, ".symtab");
	assert_int_equal(read_file(fd, NULL, &l, &err), -ENODATA);
	assert_non_null(strstr(err.text, "no symbol table"));
	close(fd);
}

TEST(a_program_without_symbols)
{
	for_each_program(without_symbols);
}

/* Its version is wrong: the sources contradict it. */
static void another_release(const char *path)
{
	int fd = program__copy(path);
	struct error err = { "" };
	struct layout l;

	assert_int_equal(read_file(fd, "go1.22.12", &l, &err),
			 strstr(path, "go1.22.12") ? 0 : -EPROTO);
	if (err.text[0]) {
		assert_non_null(strstr(err.text, " in its DWARF, "));
		assert_non_null(strstr(err.text, " in the table of releases"));
	}
	close(fd);
}

TEST(a_program_of_another_release_is_refused)
{
	for_each_program(another_release);
}

/* A release that is too old is rejected before the program is read. */
static void too_old(const char *path)
{
	const struct go_version old = version("go1.15.3");
	struct error want = { "" }, err = { "" };
	int fd = program__copy(path);
	struct layout l;

	assert_true(layout__for_version(&old, &l, &want) < 0);
	assert_int_equal(read_file(fd, "go1.15.3", &l, &err), layout__for_version(&old, &l, NULL));
	assert_string_equal(err.text, want.text);
	close(fd);
}

TEST(an_old_release_is_refused)
{
	for_each_program(too_old);
}

static void newer_release(const char *path)
{
	int fd = program__copy(path);
	struct error err = { "" };
	struct layout l;

	if (strstr(path, "go1.26")) { /* whose members have the names that are expected */
		assert_int_equal(read_file(fd, "go1.99.1", &l, &err), 0);
		assert_non_null(strstr(l.warning, "go1.99.1 is newer than"));
		assert_non_null(strstr(l.source, "DWARF alone"));
	} else if (strstr(path, "go1.24")) {
		assert_int_equal(read_file(fd, "go1.99.1", &l, &err), -EPROTO);
		assert_non_null(strstr(err.text, "no member syncSafePoint"));
	}
	close(fd);
}

TEST(a_newer_release_is_warned_of)
{
	for_each_program(newer_release);
}

/* The table against DWARF: each member of each program. */
static void table_agrees(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct offsets_row *row;
	struct go_buildinfo info;
	struct elf_image *elf;
	struct offsets dwarf;
	bool found = false;

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	assert_int_equal(layout_dwarf__read(elf, &info.version, &dwarf, NULL), 0);
	for (size_t i = 0; (row = offsets_table__row(i)); i++) {
		if (row->minor != info.version.minor || info.version.patch < row->from ||
		    info.version.patch > row->to)
			continue;
		found = true;
		for (size_t k = 0; k < OFF_COUNT; k++) {
			/* 1.22 has the members that only later releases use. */
			if (row->at[k] != OFFSET_ABSENT && k != OFF_CORO_GP)
				assert_int_equal(dwarf.at[k], row->at[k]);
		}
	}
	assert_true(found);
	elf_image__destroy(elf);
	close(fd);
}

TEST(the_table_agrees_with_dwarf)
{
	for_each_program(table_agrees);
}

/* Damaged compressed sections: rejected, or read within bounds. */
static void damaged(const char *path)
{
	static const char *const sections[] = { ".debug_info", ".debug_abbrev" };
	struct go_buildinfo info;
	struct elf_section sec;
	struct elf_image *elf;
	uint64_t rng = 5;
	int fd = program__copy(path);

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	for (int i = 0; i < 40; i++) {
		struct error err = { "" };
		unsigned char old, new = (unsigned char)rng__next(&rng);
		struct offsets o;
		off_t at;

		assert_true(elf_image__section(elf, sections[i % 2], &sec));
		at = (off_t)(sec.offset + rng__next(&rng) % (i % 4 < 2 ? 26 : sec.size));
		assert_int_equal(pread(fd, &old, 1, at), 1);
		assert_int_equal(pwrite(fd, &new, 1, at), 1);
		if (layout_dwarf__read_here(elf, &info.version, &o, &err))
			assert_true(err.text[0]);
		assert_int_equal(pwrite(fd, &old, 1, at), 1);
	}
	elf_image__destroy(elf);
	close(fd);
}

/* An unreadable source is omitted, with a warning. */
static void unreadable_dwarf(const char *path)
{
	int fd = program__copy(path);
	struct elf_section sec;
	struct elf_image *elf;
	struct layout l;

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_true(elf_image__section(elf, ".debug_info", &sec));
	elf_image__destroy(elf);
	assert_int_equal(pwrite(fd, "damage damage damage damage", 27, (off_t)sec.offset), 27);
	assert_int_equal(read_file(fd, NULL, &l, NULL), 0);
	assert_non_null(strstr(l.warning, "DWARF cannot be read: its section .debug_info"));
	assert_non_null(strstr(l.source, "the table of releases alone"));
	close(fd);
}

TEST(damaged_dwarf_is_no_source)
{
	for_each_program(unreadable_dwarf);
}

TEST(damage_is_survived)
{
	for_each_program(damaged);
}
