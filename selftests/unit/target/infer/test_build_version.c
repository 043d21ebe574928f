// SPDX-License-Identifier: GPL-2.0
/* The release of programs without .go.buildinfo, and programs of other Go compilers. */
#include <elf.h>

#include "unit/test.h"
#include "target/infer/build_version.h"
#include "target/infer/buildinfo.h"

#include "unit/programs.h"

/* A copy of a program that a test changes, seen as bytes and as an ELF image. */
struct changed {
	int fd;
	unsigned char *data;
	size_t size;
	struct elf_image *elf;
};

static struct changed changed__make(const char *path)
{
	struct changed c = { .fd = program__copy(path) };
	struct stat st;

	assert_int_equal(fstat(c.fd, &st), 0);
	c.size = (size_t)st.st_size;
	c.data = mmap(NULL, c.size, PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
	assert_true(c.data != MAP_FAILED);
	return c;
}

static void changed__free(struct changed *c)
{
	elf_image__destroy(c->elf);
	munmap(c->data, c->size);
	close(c->fd);
}

static int read_release(struct changed *c, struct go_buildinfo *info, struct error *err)
{
	err->text[0] = 0;
	elf_image__destroy(c->elf);
	assert_int_equal(elf_image__open(&c->elf, c->fd, "program", NULL), 0);
	return buildinfo__read(c->elf, info, err);
}

/* Gives a section another name, no longer than its own. */
static void rename_section(struct changed *c, const char *from, const char *to)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)c->data;
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(c->data + eh->e_shoff);
	char *names = (char *)c->data + sh[eh->e_shstrndx].sh_offset;

	for (unsigned int i = 0; i < eh->e_shnum; i++) {
		if (!strcmp(names + sh[i].sh_name, from)) {
			strcpy(names + sh[i].sh_name, to);
			return;
		}
	}
	fail_msg("no section %s", from);
}

static void remove_all(struct changed *c, const char *bytes, size_t len)
{
	unsigned char *p = c->data;

	while ((p = memmem(p, c->size - (size_t)(p - c->data), bytes, len)))
		memset(p, 'x', len);
}

/* The program after `objcopy --remove-section .go.buildinfo` or similar. */
static void remove_build_info(struct changed *c)
{
	struct elf_section sec;

	assert_int_equal(elf_image__open(&c->elf, c->fd, "program", NULL), 0);
	if (elf_image__section(c->elf, ".go.buildinfo", &sec))
		rename_section(c, ".go.buildinfo", ".removed");
	remove_all(c, "\xff Go buildinf:", 14);
}

/* The variable's symbol suffices: no code is analyzed. */
static void release_is_a_symbol(const char *path)
{
	static const char user[] = "runtime.schedinit";
	struct changed c = changed__make(path);
	struct go_buildinfo want, info;
	struct error err;

	assert_int_equal(read_release(&c, &want, &err), 0);
	elf_image__destroy(c.elf);
	remove_build_info(&c);
	remove_all(&c, user, sizeof(user));
	if (read_release(&c, &info, &err))
		fail_msg("%s", err.text);
	assert_string_equal(info.version.text, want.version.text);
	rename_section(&c, ".symtab", ".gone");
	assert_int_equal(read_release(&c, &info, &err), -ENOENT);
	assert_non_null(strstr(err.text, user));
	changed__free(&c);
}

TEST(symbols_tell_the_release)
{
	for_each_program(release_is_a_symbol);
}

static void release_is_found(const char *path)
{
	struct changed c = changed__make(path);
	struct go_buildinfo want, info;
	struct error err;

	assert_int_equal(read_release(&c, &want, &err), 0);
	elf_image__destroy(c.elf);
	remove_build_info(&c);
	if (read_release(&c, &info, &err))
		fail_msg("%s", err.text);
	assert_string_equal(info.version.text, want.version.text);
	assert_int_equal(info.version.patch, want.version.patch);
	assert_string_equal(info.path, "");
	assert_true(!info.cgo && !info.race && !info.pgo);

	/* Stripped: only from the code of runtime.schedinit. */
	rename_section(&c, ".symtab", ".gone");
	if (read_release(&c, &info, &err))
		fail_msg("%s", err.text);
	assert_string_equal(info.version.text, want.version.text);
	changed__free(&c);
}

TEST(programs_without_build_info)
{
	for_each_program(release_is_found);
}

/* schedinit leads to no release: a reason, no guess. */
static void release_is_not_guessed(const char *path)
{
	struct changed c = changed__make(path);
	struct go_buildinfo info;
	char text[80];
	struct error err;

	assert_int_equal(read_release(&c, &info, &err), 0);
	elf_image__destroy(c.elf);
	remove_build_info(&c);
	snprintf(text, sizeof(text), "%.64s", info.version.text);
	remove_all(&c, text, strlen(text));
	assert_int_equal(read_release(&c, &info, &err), -ENOENT);
	assert_non_null(
		strstr(err.text, "cannot determine the Go release: it is neither in build"));
	assert_null(strstr(err.text, "not a Go program"));

	rename_section(&c, ".gopclntab", ".gone");
	assert_int_equal(read_release(&c, &info, &err), -ENOENT);
	assert_string_equal(err.text, "not a Go program: it has no Go build information and no Go "
				      "function table");
	changed__free(&c);
}

TEST(programs_without_a_release)
{
	for_each_program(release_is_not_guessed);
}

static void check_refused(struct changed *c, const char *compiler)
{
	struct go_buildinfo info;
	char want[64];
	struct error err;

	snprintf(want, sizeof(want), "programs built with %s are not supported:", compiler);
	assert_int_equal(read_release(c, &info, &err), -ENOTSUP);
	if (strncmp(err.text, want, strlen(want)))
		fail_msg("%s", err.text);
}

/* Inserts the marks of these compilers into a program, stripped or not. */
static void other_compilers(const char *path)
{
	static const char symbol[] = "\0runtime.schedinit";
	struct changed c = changed__make(path);
	struct elf_section sec;
	unsigned char *p;

	remove_build_info(&c);
	assert_true(elf_image__section(c.elf, ".strtab", &sec));
	p = memmem(c.data + sec.offset, sec.size, symbol, sizeof(symbol));
	assert_non_null(p);
	memcpy(p + 1, "tinygo_startTask", sizeof("tinygo_startTask"));
	check_refused(&c, "TinyGo");
	memcpy(p + 1, "runtime_schedini", sizeof("runtime_schedini"));
	rename_section(&c, ".gopclntab", ".go_export");
	check_refused(&c, "gccgo");
	changed__free(&c);
}

TEST(programs_of_other_compilers)
{
	for_each_program(other_compilers);
}
