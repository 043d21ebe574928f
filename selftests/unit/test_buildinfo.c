// SPDX-License-Identifier: GPL-2.0
/* Which Go release built a program: versions as they are written, and programs without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "target/buildinfo.h"

#include "programs.h"

static void versions(void **state)
{
	static const struct {
		const char *text;
		unsigned int minor, patch;
	} good[] = {
		{ "go1.26.8", 26, 8 }, { "go1.22", 22, 0 }, { "go1.27rc1", 27, 0 },
		{ "devel go1.27-abc123 Thu Jan 1", 27, 0 },
		{ "go1.24.9 X:nocoverageredesign", 24, 9 }, { "go1.25.3-custom", 25, 3 },
	};
	static const char *const bad[] = { "", "go", "go1", "1.26.8", "devel +abc", "gopher go" };
	struct go_version v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(go_version__parse(good[i].text, &v));
		assert_int_equal(v.major, 1);
		assert_int_equal(v.minor, good[i].minor);
		assert_int_equal(v.patch, good[i].patch);
		assert_string_equal(v.text, good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(go_version__parse(bad[i], &v));
	assert_true(go_version__parse("go1.24.9", &v));
	assert_true(go_version__since(&v, 24));
	assert_false(go_version__since(&v, 25));
}

static void c_programs_are_no_go_programs(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct error err = { "" };
	struct go_buildinfo info;
	struct elf_image *elf;

	assert_int_equal(elf_image__open(&elf, fd, "test", NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, &err), -ENOENT);
	assert_non_null(strstr(err.text, "not a Go program"));
	elf_image__destroy(elf);
	close(fd);
}

static void read_program(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct go_buildinfo info;
	struct elf_image *elf;

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	assert_int_equal(info.version.major, 1);
	assert_in_range(info.version.minor, 19, 30);
	assert_int_equal(strncmp(info.version.text, "go1.", 4), 0);
	assert_true(info.path[0]);
	elf_image__destroy(elf);
	close(fd);
}

static void programs_are_read(void **state)
{
	for_each_program(read_program);
}

/* Every length and flag that damage can make: an answer or a reason, never more. */
static void damaged(const char *path)
{
	unsigned char blob[128], bytes[128];
	struct elf_section sec;
	struct elf_image *elf;
	uint64_t rng = 11;
	int fd = program__copy(path);

	assert_int_equal(elf_image__open(&elf, fd, path, NULL), 0);
	if (!elf_image__section(elf, ".go.buildinfo", &sec))
		assert_true(elf_image__section(elf, ".data", &sec));
	assert_int_equal(pread(fd, blob, sizeof(blob), (off_t)sec.offset), sizeof(blob));
	for (int i = 0; i < 2000; i++) {
		struct error err = { "" };
		struct go_buildinfo info;

		memcpy(bytes, blob, sizeof(bytes));
		for (int k = 0; k < 3; k++)
			bytes[14 + rng__next(&rng) % 60] = (unsigned char)rng__next(&rng);
		assert_int_equal(pwrite(fd, bytes, sizeof(bytes), (off_t)sec.offset),
				 sizeof(bytes));
		if (buildinfo__read(elf, &info, &err))
			assert_true(err.text[0]);
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
		cmocka_unit_test(versions),
		cmocka_unit_test(c_programs_are_no_go_programs),
		cmocka_unit_test(programs_are_read),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
