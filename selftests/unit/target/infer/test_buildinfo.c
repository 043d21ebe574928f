// SPDX-License-Identifier: GPL-2.0
/* Tests of target/infer/buildinfo.c: forms of versions, and programs without one. */
#include "unit/test.h"
#include "target/infer/build_version.h"
#include "target/infer/buildinfo.h"

#include "unit/programs.h"

#include "unit/elf_made.h"

TEST(versions)
{
	static const struct {
		const char *text;
		unsigned int minor, patch;
	} good[] = {
		{ "go1.26.8", 26, 8 },
		{ "go1.22", 22, 0 },
		{ "go1.27rc1", 27, 0 },
		{ "devel go1.27-abc123 Thu Jan 1", 27, 0 },
		{ "go1.24.9 X:nocoverageredesign", 24, 9 },
		{ "go1.25.3-custom", 25, 3 },
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

TEST(c_programs_are_no_go_programs)
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

/* gccgo's programs have its runtime linked in, or as a shared library; TinyGo's its producer. */
TEST(other_compilers)
{
	static const struct {
		const char *section, *bytes;
		size_t len;
		const char *name;
	} of[] = {
		{ ".go_export", "v3;", 3, "gccgo" },
		{ ".dynstr", "\0libc.so.6\0libgo.so.22\0", 23, "gccgo" },
		{ ".dynstr", "\0libgopher.so.1\0", 16, NULL },
		{ ".strtab", "\0main\0tinygo_startTask\0", 23, "TinyGo" },
		{ ".strtab", "\0my_tinygo_\0", 12, NULL },
		{ ".debug_str", "\0TinyGo\0", 8, "TinyGo" },
		{ ".debug_str", "\0TinyGopher\0", 12, NULL },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const struct made_section sec = { .name = of[i].section,
						  .data = of[i].bytes,
						  .len = of[i].len };
		struct elf_image *elf;
		int fd = elf_made(&sec, 1);
		const char *name;

		assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
		name = build_version__other_compiler(elf);
		assert_int_equal(!name, !of[i].name);
		if (name)
			assert_string_equal(name, of[i].name);
		elf_image__destroy(elf);
		close(fd);
	}
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

/* A program of `size` bytes whose only section contains the blob as written since Go 1.18. */
static struct elf_image *open_made(const char *section, const char *settings, size_t size,
				   int *ret_fd)
{
	static const char frame[] = "0123456789abcdef";
	unsigned char blob[512] = "\xff Go buildinf:\x08\x02";
	char mod[256];
	int len = snprintf(mod, sizeof(mod), "%spath\tx.org/y\n%s%s", frame, settings, frame);
	struct made_section sec = { section, blob, sizeof(blob), size, 0 };
	struct elf_image *elf;

	blob[32] = 8;
	memcpy(blob + 33, "go1.25.3", 8);
	blob[41] = (unsigned char)(len % 128 + 128);
	blob[42] = (unsigned char)(len / 128);
	memcpy(blob + 43, mod, (size_t)len);
	*ret_fd = elf_made(&sec, 1);
	assert_int_equal(elf_image__open(&elf, *ret_fd, "made", NULL), 0);
	return elf;
}

static int read_made(const char *section, const char *settings, size_t size,
		     struct go_buildinfo *ret)
{
	int fd, code;
	struct elf_image *elf = open_made(section, settings, size, &fd);

	code = buildinfo__read(elf, ret, NULL);
	elf_image__destroy(elf);
	close(fd);
	return code;
}

/* At most 64 MiB of the section are searched. */
TEST(sections_with_it)
{
	const size_t most = 64 << 20;
	struct go_buildinfo info;

	assert_int_equal(read_made(".go.buildinfo", "", 0, &info), 0);
	assert_int_equal(info.version.minor, 25);
	assert_string_equal(info.path, "x.org/y");
	assert_int_equal(read_made(".data", "", 0, &info), 0);
	assert_int_equal(read_made(".other", "", 0, &info), -ENOENT);
	assert_int_equal(read_made(".data", "", most, &info), 0);
	assert_int_equal(read_made(".data", "", most + 1, &info), -ENOENT);
}

/* Up to Go 1.17 it points to the headers of its strings. */
TEST(pointers)
{
	struct {
		char magic[14];
		uint8_t ptr_size, flags;
		uint64_t version, mod;
		struct {
			uint64_t text, len;
		} string[2];
		char text[16];
	} blob = { .magic = "\xff Go buildinf:", .ptr_size = 8, .text = "go1.17.5go1.16" };
	struct made_section sec = { ".data", &blob, sizeof(blob), 0, 0 };
	struct go_buildinfo info;
	struct elf_section found;
	struct elf_image *elf;
	uint64_t addr;
	int fd = elf_made(&sec, 1);

	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	assert_true(elf_image__section(elf, ".data", &found));
	addr = MADE_ADDR + found.offset;
	blob.version = addr + offsetof(__typeof__(blob), string[0]);
	blob.mod = addr + offsetof(__typeof__(blob), string[1]);
	blob.string[0].text = addr + offsetof(__typeof__(blob), text);
	blob.string[0].len = 8;
	assert_int_equal(pwrite(fd, &blob, sizeof(blob), (off_t)found.offset), sizeof(blob));
	assert_int_equal(buildinfo__read(elf, &info, NULL), 0);
	assert_string_equal(info.version.text, "go1.17.5");
	blob.string[0].text = 8; /* not of the program */
	assert_int_equal(pwrite(fd, &blob, sizeof(blob), (off_t)found.offset), sizeof(blob));
	assert_int_equal(buildinfo__read(elf, &info, NULL), -ENOENT);
	elf_image__destroy(elf);
	close(fd);
}

TEST(settings)
{
	struct go_buildinfo info;

	assert_int_equal(read_made(".data", "", 0, &info), 0);
	assert_false(info.cgo || info.race || info.trimpath || info.unoptimized || info.plugin ||
		     info.pgo);
	assert_int_equal(read_made(".data", "build\tCGO_ENABLED=1\nbuild\t-race=true\n", 0, &info),
			 0);
	assert_true(info.cgo && info.race);
	assert_int_equal(read_made(".data", "build\tCGO_ENABLED=0\nbuild\t-race=false\n", 0, &info),
			 0);
	assert_false(info.cgo || info.race);
	assert_int_equal(read_made(".data", "build\t-trimpath=true\nbuild\t-pgo=a.pgo\n", 0, &info),
			 0);
	assert_true(info.trimpath && info.pgo);
	assert_int_equal(read_made(".data", "build\t-trimpath=false\nbuild\t-pgo=off\n", 0, &info),
			 0);
	assert_false(info.trimpath || info.pgo);
	assert_int_equal(read_made(".data", "build\t-trimpath=true\nbuild\t-pgo=\n", 0, &info), 0);
	assert_true(info.trimpath && !info.pgo);
	assert_int_equal(read_made(".data", "build\t-gcflags=all=-N -l\nbuild\t-buildmode=plugin\n",
				   0, &info),
			 0);
	assert_true(info.unoptimized && info.plugin);
	assert_int_equal(
		read_made(".data", "build\t-gcflags=-Nx\nbuild\t-buildmode=exe\n", 0, &info), 0);
	assert_false(info.unoptimized || info.plugin);
}

/* `want`: a part of the reason why the version is not known; NULL: it is. */
static void has_module(const char *lines, const char *want)
{
	struct error error = { "" };
	struct go_version version = {};
	int fd, code;
	struct elf_image *elf = open_made(".go.buildinfo", lines, 0, &fd);

	code = buildinfo__module_release(elf, "a.org/b", &version, &error);
	assert_int_equal(code, want ? (strstr(want, "no version") ? -ENOENT : -ENOTSUP) : 0);
	if (want)
		assert_non_null(strstr(error.text, want));
	else
		assert_true(version.major == 1 && version.minor == 85 && version.patch == 2);
	elf_image__destroy(elf);
	close(fd);
}

TEST(modules)
{
	static const char absent[] = "no version of a.org/b", other[] = "is not a release",
			  replaced[] = "was replaced";

	has_module("", absent);
	has_module("dep\ta.org/b\tv1.85.2\th1:x\nbuild\ta=b\n", NULL);
	has_module("dep\ta.org/bc\tv1.1.1\th1:x\ndep\ta.org/b\tv1.85.2\n", NULL);
	has_module("dep\ta.org/a\tv1.1.1\n=>\ta.org/c\tv1.0.0\ndep\ta.org/b\tv1.85.2\th1:x\n",
		   NULL);
	has_module("dep\ta.org/b", absent);
	has_module("mod\ta.org/b\t(devel)\n", absent);
	has_module("dep\ta.org/b\t(devel)\n", other);
	has_module("dep\ta.org/b\t\n", other);
	has_module("dep\ta.org/b\tv1.85\n", other);
	has_module("dep\ta.org/b\tv1.85.2-dev\n", other);
	has_module("dep\ta.org/b\tv99999999999.1.2\n", other);
	has_module("dep\ta.org/b\tv1.85.2\n=>\t./b\t(devel)\n", replaced);
	has_module("dep\ta.org/b\tv1.85.2\th1:x\n=>\tc.org/b\tv1.85.2\th1:x\n", replaced);
}

TEST(programs_are_read)
{
	for_each_program(read_program);
}

/* All damaged lengths and flags: a result or a reason, no crash. */
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

TEST(damage_is_survived)
{
	for_each_program(damaged);
}
