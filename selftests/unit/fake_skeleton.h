/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libbpf's skeleton functions without a kernel, for tests of code that loads a skeleton
 * (test_kernel_probes, test_sampler, test_probes, test_tracker). The programs of a skeleton are
 * `fake.program`, in its order, its maps `fake.map`; all mapped maps are `fake.rodata`. Include it
 * after cmocka.h; clear `fake` before each case.
 */
#ifndef UNIT_FAKE_SKELETON_H
#define UNIT_FAKE_SKELETON_H

#include <bpf/libbpf.h>

#include "unit/test.h"
#include "gotrace/config.h"

struct bpf_program {
	const char *name;
	bool autoload, autoattach;
	int type; /* as expected; -1: as compiled */
};

struct bpf_map {
	const char *name;
};

static struct {
	struct bpf_program program[64];
	unsigned int programs;
	struct bpf_map map[16];
	union {
		struct gt_config config;
		unsigned char bytes[1 << 16];
	} rodata __attribute__((aligned(16)));
	int open_error, load_error;
	size_t elf_bytes; /* of the opened object */
} fake;

int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
			      const struct bpf_object_open_opts *opts)
{
	if (fake.open_error) {
		errno = -fake.open_error;
		return fake.open_error;
	}
	fake.elf_bytes = s->data_sz;
	fake.programs = (unsigned int)s->prog_cnt;
	assert_true(fake.programs < sizeof(fake.program) / sizeof(fake.program[0]));
	for (int i = 0; i < s->prog_cnt; i++) {
		fake.program[i] = (struct bpf_program){ s->progs[i].name, true, true, -1 };
		*s->progs[i].prog = &fake.program[i];
	}
	assert_true(s->map_cnt <= 16);
	for (int i = 0; i < s->map_cnt; i++) {
		fake.map[i] = (struct bpf_map){ s->maps[i].name };
		*s->maps[i].map = &fake.map[i];
		if (s->maps[i].mmaped)
			*s->maps[i].mmaped = &fake.rodata;
	}
	*s->obj = (struct bpf_object *)&fake;
	return 0;
}

int bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	return fake.load_error;
}

void bpf_object__destroy_skeleton(struct bpf_object_skeleton *s)
{
	if (!s)
		return;
	free(s->maps);
	free(s->progs);
	free(s);
}

struct bpf_program *bpf_object__next_program(const struct bpf_object *obj,
					     struct bpf_program *program)
{
	program = program ? program + 1 : fake.program;
	return program < fake.program + fake.programs ? program : NULL;
}

int bpf_program__set_autoload(struct bpf_program *program, bool on)
{
	program->autoload = on;
	return 0;
}

int bpf_map__set_autocreate(struct bpf_map *map, bool create)
{
	return 0;
}

void bpf_program__set_autoattach(struct bpf_program *program, bool on)
{
	program->autoattach = on;
}

#endif
