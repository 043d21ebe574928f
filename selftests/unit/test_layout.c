// SPDX-License-Identifier: GPL-2.0
/* Facts by release, and offsets by DWARF, held against offsets that a debugger gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "target/layout.h"

#include "programs.h"

static struct go_version version(const char *text)
{
	struct go_version v;

	assert_true(go_version__parse(text, &v));
	return v;
}

static void releases(void **state)
{
	static const char *const known[] = {
		"go1.19.2", "go1.20", "go1.21.13", "go1.22.0", "go1.23.12", "go1.24.9", "go1.25rc1", "go1.26.8", "go1.27.4",
	};
	struct layout l = { .func_id_wrapper = 7 };
	struct error err = { "" };
	struct go_version v;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		v = version(known[i]);
		assert_int_equal(layout__for_version(&v, &l, NULL), 0);
		assert_string_equal(l.version.text, known[i]);
		assert_int_equal(l.exit_is_tentative, v.minor >= 26);
		assert_int_equal(l.skips.stop, v.minor >= 25 ? 0 : 1);
	}
	v = version("go1.18.10");
	l.func_id_wrapper = 7;
	assert_int_equal(layout__for_version(&v, &l, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "too old"));
	err.text[0] = 0;
	v = version("devel go1.28-0123456789");
	assert_int_equal(layout__for_version(&v, &l, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "not known"));
	assert_int_equal(l.func_id_wrapper, 7);		/* untouched on failure */
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
static void reasons(void **state)
{
	static const struct {
		const char *version;
		unsigned int nwait, nblock, chan_receive, coroutine, suspend;
	} by_release[] = {
		{ "go1.19.13", 27, 43, 14, 0, 3 }, { "go1.20.14", 32, 43, 14, 0, 6 },
		{ "go1.21.13", 32, 43, 14, 0, 6 },
		{ "go1.22.12", 37, 15, 14, 36, 10 }, { "go1.23.12", 38, 16, 14, 36, 10 },
		{ "go1.24.9", 44, 17, 14, 37, 10 }, { "go1.25.3", 47, 17, 14, 38, 10 },
		{ "go1.26.8", 47, 17, 19, 38, 10 }, { "go1.27.4", 47, 17, 19, 38, 10 },
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

/* Before 1.22: events of the v1 format, of which the plain one is told apart by what is waited for. */
static void reasons_of_v1(void **state)
{
	struct go_version v = version("go1.21.13");
	struct layout l;

	assert_int_equal(layout__for_version(&v, &l, NULL), 0);
	assert_string_equal(layout__block_reason(&l, 23, 14), "chan receive");
	assert_string_equal(layout__block_reason(&l, 16, 9), "forever");
	assert_string_equal(layout__block_reason(&l, 42, 11), "GC mark assist wait for work");
	assert_string_equal(layout__block_reason(&l, 0, 0), "unspecified");
	assert_string_equal(layout__block_reason(&l, 21, 0), "unspecified");	/* no block */
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

/* Up to 1.20 the function that stops the world tells why. */
static void reasons_by_caller(void **state)
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
static const struct offsets {
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

static void check_offsets(const struct layout *l, const struct offsets *o)
{
	assert_int_equal(l->config.gobuf_bp, o->bp);
	assert_int_equal(l->config.g_goid, o->goid);
	assert_int_equal(l->g_atomicstatus, o->status);
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
	if (layout__read(elf, &info.version, &l, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l.config.g_m, 48);
	assert_int_equal(l.config.g_sched, 56);
	assert_int_equal(l.g_stack_lo, 0);
	assert_int_equal(l.g_stack_hi, 8);
	assert_int_equal(l.config.syscall_bp_in_cx, info.version.minor >= 23);
	assert_int_equal(l.config.g_sync_safe_point == GT_NO_OFFSET, info.version.minor < 25);
	assert_true(l.allgs && l.allglen && l.allgptr && l.allp && l.allm && l.gomaxprocs);
	for (size_t i = 0; i < sizeof(known_offsets) / sizeof(known_offsets[0]); i++) {
		if (!strcmp(known_offsets[i].version, info.version.text))
			check_offsets(&l, &known_offsets[i]);
	}
	elf_image__destroy(elf);
	close(fd);
}

static void programs_are_read(void **state)
{
	for_each_program(read_program);
}

/* The program as `-ldflags=-w` makes it, as far as this goes: its section has another name. */
static void without_dwarf(const char *path)
{
	static const char name[] = ".debug_info";
	int fd = program__copy(path);
	struct go_version v = version("go1.26.8");
	struct layout l = { .m_g0 = 77 };
	struct error err = { "" };
	struct elf_section names;
	struct elf_image *elf;
	unsigned char *data, *p;

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_true(elf_image__section(elf, ".shstrtab", &names));
	data = elf_image__load(elf, &names);
	p = memmem(data, names.size, name, sizeof(name));
	assert_non_null(p);
	assert_int_equal(pwrite(fd, ".gebug", 6, (off_t)names.offset + (p - data)), 6);
	elf_image__destroy(elf);

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_int_equal(layout__read(elf, &v, &l, &err), -ENODATA);
	assert_non_null(strstr(err.text, "no DWARF"));
	assert_int_equal(l.m_g0, 77);
	elf_image__destroy(elf);
	free(data);
	close(fd);
}

static void a_program_without_dwarf_is_refused(void **state)
{
	for_each_program(without_dwarf);
}

/* Damage to the packed sections: refused, or read within their bounds. */
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
		struct layout l;
		off_t at;

		assert_true(elf_image__section(elf, sections[i % 2], &sec));
		at = (off_t)(sec.offset + rng__next(&rng) % (i % 4 < 2 ? 26 : sec.size));
		assert_int_equal(pread(fd, &old, 1, at), 1);
		assert_int_equal(pwrite(fd, &new, 1, at), 1);
		if (layout__read(elf, &info.version, &l, &err))
			assert_true(err.text[0]);
		assert_int_equal(pwrite(fd, &old, 1, at), 1);
	}
	elf_image__destroy(elf);
	close(fd);
}

static void damage_is_survived(void **state)
{
	for_each_program(damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases),
		cmocka_unit_test(reasons),
		cmocka_unit_test(reasons_of_v1),
		cmocka_unit_test(reasons_by_caller),
		cmocka_unit_test(programs_are_read),
		cmocka_unit_test(a_program_without_dwarf_is_refused),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
