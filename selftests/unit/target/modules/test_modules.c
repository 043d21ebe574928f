// SPDX-License-Identifier: GPL-2.0
/* Tests of the runtime's list of modules, in memory of this program that the tests make. */
#include <errno.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/modules/modules.h"

#define NEXT	584 /* of 1.26 */
#define MODULES (MODULES_MAX + 2)

struct moduledata {
	uint64_t word[NEXT / 8 + 1];
};

static struct {
	struct moduledata data[MODULES];
	struct process process;
	struct layout layout;
	struct go_modules modules;
	struct error err;
	bool can_load, is_large;
	struct stat st;
	int opened; /* files */
} t;

#define ADDR(x) ((uint64_t)(uintptr_t)&(x))

/* The program itself is loaded 0x1000 above its link-time address. */
struct pclntab_module pclntab__module(const struct pclntab *pt)
{
	return (struct pclntab_module){ .data = ADDR(t.data[0]) - 0x1000 };
}

int process__read(const struct process *proc, uint64_t addr, void *buf, size_t len)
{
	if (addr < ADDR(t.data) || addr + len > ADDR(t.data) + sizeof(t.data))
		return -EFAULT;
	memcpy(buf, (const void *)(uintptr_t)addr, len);
	return 0;
}

int elf_image__open(struct elf_image **ret, int fd, const char *name, struct error *error)
{
	t.opened++;
	if (t.is_large)
		return 0;
	return error__set(error, -ENOEXEC, "not a plugin");
}

STUB_VOID(elf_image__destroy, (struct elf_image *))
STUB(bool, elf_image__text_segment, (const struct elf_image *, uint64_t *, uint64_t *), t.is_large)
STUB(const struct stat *, elf_image__stat, (const struct elf_image *), &t.st)
STUB(int, buildinfo__read, (const struct elf_image *, struct go_buildinfo *, struct error *), 0)
STUB(int, pclntab__open,
     (struct pclntab **, const struct elf_image *, const struct go_version *, struct error *),
     -ENOENT)
STUB_VOID(pclntab__destroy, (struct pclntab *))
STUB_VOID(pclntab__symbolizer, (struct pclntab *, uint64_t, struct symbolizer *))
STUB(int, site_list__find_in_plugin,
     (struct site_list *, const struct elf_image *, const struct pclntab *, const struct layout *,
      uint64_t, struct error *),
     0)
STUB_VOID(site_list__deinit, (struct site_list *))

static void append(unsigned int from, unsigned int to)
{
	t.data[from].word[NEXT / 8] = ADDR(t.data[to]);
}

/* The modules from 0 on, the first being the program, each with code that is mapped from no file. */
static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.process.pid = getpid();
	t.process.bias = 0x1000;
	t.can_load = true;
	t.layout.version.minor = 26;
	for (unsigned int i = 0; i < MODULES; i++) {
		t.data[i].word[22] = 0x10000 + 0x1000 * i;
		t.data[i].word[23] = 0x10100 + 0x1000 * i;
	}
	return 0;
}

static int tear_down(void **state)
{
	modules__deinit(&t.modules);
	return 0;
}

FIXTURE(set_up, tear_down)

static int read_all(void)
{
	const struct site_list sites = { .has[GT_PROBE_PLUGIN_MAPPED] = t.can_load };
	const struct go_program program = { &t.process, NULL, &t.layout, &sites };

	t.err.text[0] = '\0';
	return modules__read(&t.modules, &program, &t.err);
}

static void assert_invalid(void)
{
	assert_int_equal(read_all(), -EPROTO);
	assert_non_null(strstr(t.err.text, "the runtime's list of modules is invalid"));
	assert_int_equal(t.modules.n, 0);
}

TEST(none)
{
	assert_int_equal(read_all(), 0);
	append(0, 1);
	t.can_load = false;
	assert_int_equal(read_all(), 0);
}

TEST(code_in_no_file)
{
	append(0, 1);
	append(1, 2);
	assert_int_equal(read_all(), 2);
	assert_int_equal(t.modules.module[1]->data, ADDR(t.data[2]));
	assert_false(t.modules.module[1]->has_sites);
	assert_string_equal(t.modules.module[1]->why.text, "its code is not that of a mapped file");
	assert_int_equal(t.opened, 0);
	assert_int_equal(read_all(), 0);
	append(2, 3);
	assert_int_equal(read_all(), 1);
	assert_int_equal(t.modules.n, 3);
}

/* This function is in a file, but it is no plugin. */
TEST(code_in_a_file)
{
	append(0, 1);
	t.data[1].word[22] = (uint64_t)(uintptr_t)&set_up;
	t.data[1].word[23] = t.data[1].word[22] + 1;
	assert_int_equal(read_all(), 1);
	assert_int_equal(t.opened, 1);
	assert_string_equal(t.modules.module[0]->why.text, "not a plugin");
	assert_string_equal(go_module__name(t.modules.module[0]), "test_modules");
}

TEST(large_files)
{
	t.is_large = true;
	t.st.st_size = 600 << 20;
	append(0, 1);
	append(1, 2);
	for (unsigned int i = 1; i <= 2; i++) {
		t.data[i].word[22] = (uint64_t)(uintptr_t)&set_up;
		t.data[i].word[23] = t.data[i].word[22] + 1;
	}
	assert_int_equal(read_all(), 2);
	assert_int_equal(t.modules.bytes, 600 << 20);
	assert_null(strstr(t.modules.module[0]->why.text, "MiB"));
	assert_string_equal(t.modules.module[1]->why.text,
			    "the files of the plugins have more than 1024 MiB");
}

/* The code may not begin in the file and end behind it. */
TEST(code_beyond_a_file)
{
	append(0, 1);
	t.data[1].word[22] = (uint64_t)(uintptr_t)&set_up;
	t.data[1].word[23] = t.data[1].word[22] + (1 << 30);
	assert_int_equal(read_all(), 1);
	assert_int_equal(t.opened, 0);
}

TEST(cycles)
{
	append(0, 0);
	assert_invalid();
	append(0, 1);
	append(1, 1);
	assert_invalid();
	append(1, 2);
	append(2, 1);
	assert_invalid();
	append(2, 0);
	assert_invalid();
}

TEST(endless)
{
	for (unsigned int i = 0; i + 1 < MODULES; i++)
		append(i, i + 1);
	assert_invalid();
	t.data[MODULES_MAX].word[NEXT / 8] = 0;
	assert_int_equal(read_all(), MODULES_MAX);
}

TEST(invalid_entries)
{
	append(0, 1);
	t.data[1].word[23] = t.data[1].word[22];
	assert_invalid();
	t.data[1].word[23] = ~0ull;
	assert_invalid();
	t.data[0].word[NEXT / 8] = ADDR(t.data[2]) + 4;
	assert_invalid();
	t.data[0].word[NEXT / 8] = 0x5000;
	assert_int_equal(read_all(), -EFAULT);
	assert_int_equal(t.modules.n, 0);
}

static int frames(void *ctx, uint64_t pc, struct sym_frame *ret)
{
	ret->func = ctx;
	return 1;
}

TEST(names)
{
	const struct symbolizer program = { "program", frames, frames };
	struct modules_symbols *symbols;
	struct symbolizer all;
	struct sym_frame f;

	append(0, 1);
	read_all();
	t.modules.module[0]->pclntab = (struct pclntab *)&t;
	t.modules.module[0]->symbolizer = (struct symbolizer){ "plugin", frames, frames };
	symbols = modules__symbolizer(&t.modules, &program, &all);
	all.frames(all.ctx, 0x11001, &f);
	assert_string_equal(f.func, "plugin");
	all.frames(all.ctx, 0x11100, &f); /* behind its last instruction */
	assert_string_equal(f.func, "plugin");
	all.frames(all.ctx, 0x11101, &f);
	assert_string_equal(f.func, "program");
	all.start(all.ctx, 0x11000, &f);
	assert_string_equal(f.func, "plugin");
	all.start(all.ctx, 0x11100, &f);
	assert_string_equal(f.func, "program");
	free(symbols);
}
