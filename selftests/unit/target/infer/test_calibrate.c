// SPDX-License-Identifier: GPL-2.0
/*
 * Compares offsets inferred from machine code with DWARF and symbol table of the same program.
 *
 * With GT_TEST_PROGRAMS any programs (selftests/check/calibrate.sh builds a matrix of them).
 * Beside a program, PROGRAM.bare (by strip) must yield the same result, and PROGRAM.stripped (by
 * Go's linker, which moves its variables) the same members and all its globals. With
 * GT_CALIBRATE_PARTIAL=1 members may be unknown, but not wrong.
 */
#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/infer/calibrate.h"
#include "target/infer/calibrate_places.h"
#include "target/layout/layout_dwarf.h"

#include "unit/programs.h"

static const struct {
	const char *type, *name, *before;
	unsigned int renamed, since;
} members[OFF_COUNT] = {
#define MEMBER(id, type, name, before, renamed, since) { type, name, before, renamed, since },
	OFFSETS(MEMBER)
#undef MEMBER
};

struct program {
	int fd;
	struct elf_image *elf;
	struct go_buildinfo info;
	struct pclntab *pt;
};

static void open_program(struct program *p, int fd, const char *path)
{
	struct error err = { "" };

	p->fd = fd;
	if (elf_image__open(&p->elf, fd, path, &err) || buildinfo__read(p->elf, &p->info, &err) ||
	    pclntab__open(&p->pt, p->elf, &p->info.version, &err))
		fail_msg("%s: %s", path, err.text);
}

static void close_program(struct program *p)
{
	pclntab__destroy(p->pt);
	elf_image__destroy(p->elf);
	close(p->fd);
}

static struct offsets calibrated(const char *path)
{
	struct error err = { "" };
	struct program p;
	struct offsets o;

	open_program(&p, open(path, O_RDONLY | O_CLOEXEC), path);
	if (calibrate__read(p.elf, p.pt, &p.info.version, &o, &err))
		fail_msg("%s", err.text);
	close_program(&p);
	return o;
}

static void check_members(const struct program *p, const struct offsets *o)
{
	struct error err = { "" };
	unsigned int wrong = 0;
	struct offsets dwarf;

	if (layout_dwarf__read_here(p->elf, &p->info.version, &dwarf, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (p->info.version.minor < members[i].since) {
			assert_int_equal(o->at[i], OFFSET_ABSENT);
			continue;
		}
		assert_int_not_equal(o->at[i], OFFSET_ABSENT);
		if (i != OFF_CORO_GP)
			assert_int_not_equal(dwarf.at[i], OFFSET_UNKNOWN);
		if (o->at[i] == OFFSET_UNKNOWN || o->at[i] == dwarf.at[i])
			continue;
		print_message("# wrong: %s.%s: %u, not %u\n", members[i].type, members[i].name,
			      o->at[i], dwarf.at[i]);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void check_globals(const struct program *p, const struct offsets *o, bool partial)
{
	const struct {
		const char *name;
		uint64_t addr;
	} globals[] = {
#define GLOBAL(name) { "runtime." #name, o->global.name },
		GLOBALS(GLOBAL)
#undef GLOBAL
	};

	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
		uint64_t addr = elf_image__symbol(p->elf, globals[i].name);

		assert_true(addr);
		if (globals[i].addr || !partial)
			assert_int_equal(globals[i].addr, addr);
	}
}

/* Only members that no code of a program without coroutines uses may be unknown. */
static void check_all_known(const struct program *p, const struct offsets *o)
{
	struct go_func func;
	bool coroutines = pclntab__named(p->pt, "runtime.coroswitch_m", &func);

	for (size_t i = 0; i < OFF_COUNT; i++) {
		if (o->at[i] == OFFSET_UNKNOWN &&
		    (coroutines || (i != OFF_G_COROARG && i != OFF_G_COROEXIT && i != OFF_CORO_GP)))
			fail_msg("%s.%s is not known", members[i].type, members[i].name);
	}
}

static void check_twin(const char *path, const char *suffix, const struct offsets *o,
		       bool same_addresses)
{
	struct offsets twin;
	char name[4096];

	snprintf(name, sizeof(name), "%s.%s", path, suffix);
	if (access(name, R_OK))
		return;
	twin = calibrated(name);
	assert_memory_equal(twin.at, o->at, sizeof(o->at));
	if (same_addresses)
		assert_memory_equal(&twin, o, sizeof(*o));
#define SAME_KNOWN(name) assert_true(!twin.global.name == !o->global.name);
	GLOBALS(SAME_KNOWN)
#undef SAME_KNOWN
	print_message("# %s has the same\n", suffix);
}

static void equals_dwarf(const char *path)
{
	const char *partial = getenv("GT_CALIBRATE_PARTIAL");
	struct error err = { "" };
	struct offsets o;
	struct program p;

	open_program(&p, open(path, O_RDONLY | O_CLOEXEC), path);
	if (calibrate__read(p.elf, p.pt, &p.info.version, &o, &err))
		fail_msg("%s", err.text);
	check_members(&p, &o);
	check_globals(&p, &o, partial);
	if (!partial)
		check_all_known(&p, &o);
	close_program(&p);

	check_twin(path, "bare", &o, true);
	check_twin(path, "stripped", &o, false);
}

TEST(what_is_known_is_right)
{
	for_each_program(equals_dwarf);
}

static void allow(struct calibration *c, bool proof, uint64_t a, uint64_t b)
{
	struct candidates set = { .n = 0 };

	candidates__add(&set, a);
	candidates__add(&set, b);
	calibration__add(c, OFF_M_P, &set, proof);
}

static bool is_known(const struct calibration *c, uint64_t v)
{
	uint64_t known = 0;

	return calibration__known(c, OFF_M_P, &known) && known == v;
}

TEST(functions_must_agree)
{
	struct calibration c = { .minor = 26 };
	struct candidates none = { .n = 0 };

	calibration__add(&c, OFF_M_P, &none, true);
	assert_int_equal(c.evidence[OFF_M_P].functions, 0);
	allow(&c, true, 208, 208);
	assert_true(is_known(&c, 208));
	allow(&c, false, 200, 208);
	assert_true(is_known(&c, 208));
	allow(&c, false, 200, 200); /* disputed from now on */
	assert_false(is_known(&c, 208) || is_known(&c, 200));
	allow(&c, true, 208, 208);
	assert_false(is_known(&c, 208));
}

TEST(two_hints_are_needed)
{
	struct calibration c = { .minor = 26 };
	struct candidates many = { .n = 0 };

	allow(&c, false, 208, 208);
	assert_false(is_known(&c, 208));
	for (uint64_t i = 0; i < 2 * CANDIDATES_MAX; i++)
		candidates__add(&many, i);
	calibration__add(&c, OFF_M_P, &many, false);
	assert_false(is_known(&c, 208));
	allow(&c, false, 8, 208);
	assert_true(is_known(&c, 208));

	c = (struct calibration){ .minor = 26 };
	allow(&c, true, 8, 208); /* proves neither of them */
	assert_false(is_known(&c, 208));
	allow(&c, false, 8, 208);
	assert_false(is_known(&c, 208));
}

/* In the analyzed functions: no crash, no endless loop, no read out of bounds. */
static void damaged(const char *path)
{
	struct program p;
	uint64_t rng = 11;

	open_program(&p, program__copy(path), path);
	for (int i = 0; i < 60; i++) {
		unsigned char old[8], new[8];
		struct error err = { "" };
		struct go_func func;
		struct offsets o;
		size_t n = 1 + rng__next(&rng) % sizeof(new);
		off_t at;

		do {
			const char *name = calibrate_rows[rng__next(&rng) % ROWS_MAX].function;

			if (!name || !pclntab__named(p.pt, name, &func))
				func.entry = 0;
		} while (!func.entry);
		at = elf_image__offset(p.elf,
				       func.entry + rng__next(&rng) % (func.end - func.entry));
		assert_true(at >= 0);
		for (size_t j = 0; j < n; j++)
			new[j] = (unsigned char)rng__next(&rng);
		assert_int_equal(pread(p.fd, old, n, at), n);
		assert_int_equal(pwrite(p.fd, new, n, at), n);
		if (calibrate__read(p.elf, p.pt, &p.info.version, &o, &err))
			assert_true(err.text[0]);
		assert_int_equal(pwrite(p.fd, old, n, at), n);
	}
	close_program(&p);
}

TEST(damage_is_survived)
{
	for_each_program(damaged);
}
