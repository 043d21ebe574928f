// SPDX-License-Identifier: GPL-2.0
/*
 * How many rings there are and how large, by the number of CPUs; what is left when one cannot be
 * made.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/rings.h"
#include "gotrace/counters.h"
#include "gotrace/window.h"

static struct {
	int cpus;
	unsigned int created, fails; /* maps; at this one, from 1 on */
	unsigned int put, put_fails;
	uint32_t size, index[GT_RINGS_MAX];
	bool no_threads;
	unsigned int threads, joins, reused;
	const char *lacks; /* the object does not have this map */
	struct rings r;
} t;

int libbpf_num_possible_cpus(void)
{
	return t.cpus;
}

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 entries,
		   const struct bpf_map_create_opts *opts)
{
	if (++t.created == t.fails) {
		errno = EMFILE;
		return -1;
	}
	if (!strcmp(name, "gotrace_ring") && t.created > 7)
		t.size = entries;
	if (type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
		assert_int_equal(entries, GT_RINGS_MAX);
	if (type == BPF_MAP_TYPE_PERCPU_ARRAY)
		assert_int_equal(value, !strcmp(name, "windows") ? sizeof(struct gt_window) :
								   sizeof(struct gt_counters));
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, t.r.map);
	t.index[t.put] = *(const uint32_t *)key;
	if (++t.put != t.put_fails)
		return 0;
	errno = E2BIG;
	return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *ctx)
{
	if (t.no_threads)
		return EAGAIN;
	t.threads++;
	fn(ctx);
	return 0;
}

int pthread_join(pthread_t thread, void **result)
{
	t.joins++;
	return 0;
}

struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *obj, const char *name)
{
	return t.lacks && !strcmp(name, t.lacks) ? NULL : (struct bpf_map *)name;
}

int bpf_map__reuse_fd(struct bpf_map *map, int fd)
{
	const char *name = (const char *)map;

	assert_int_equal(fd, !strcmp(name, "rings")	? t.r.map :
			     !strcmp(name, "counters")	? t.r.counters :
			     !strcmp(name, "slots")	? t.r.slots :
			     !strcmp(name, "windows")	? t.r.windows :
			     !strcmp(name, ".bss.seen") ? t.r.seen :
							  t.r.numbers);
	return ++t.reused == t.fails ? -ENOENT : 0;
}

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.cpus = 4;
	return 0;
}

static int tear_down(void **state)
{
	rings__destroy(&t.r);
	assert_int_equal(t.threads, t.joins);
	return 0;
}

/* One for eight CPUs and four at least; 16 to 48 MiB together, each a power of two. */
static void sizes(void **state)
{
	static const struct {
		int cpus;
		uint32_t size;
		unsigned int n, mib;
	} cases[] = {
		{ 1, 0, 1, 16 },      { 2, 0, 2, 8 },	  { 3, 0, 3, 4 },   { 4, 0, 4, 4 },
		{ 39, 0, 4, 4 },      { 40, 0, 5, 4 },	  { 96, 0, 12, 4 }, { 104, 0, 13, 2 },
		{ 512, 0, 64, 0 },    { 1000, 0, 64, 0 }, { -1, 0, 1, 16 }, { 0, 0, 1, 16 },
		{ 4, 1 << 20, 4, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		set_up(NULL);
		t.cpus = cases[i].cpus;
		assert_int_equal(rings__start(&t.r, cases[i].size), 0);
		assert_int_equal(rings__finish(&t.r), 0);
		assert_int_equal(t.r.n, cases[i].n);
		assert_int_equal(t.r.size, cases[i].mib ? cases[i].mib << 20 : 512 << 10);
		assert_int_equal(t.size, t.r.size);
		assert_int_equal(t.put, t.r.n);
		for (unsigned int k = 0; k < t.r.n; k++) {
			assert_int_equal(t.index[k], k);
			assert_true(t.r.job[k].fd >= 0);
		}
		tear_down(NULL);
		memset(&t.r, 0, sizeof(t.r));
	}
}

static void without_rings(void **state)
{
	assert_int_equal(rings__start_none(&t.r), 0);
	assert_int_equal(rings__finish(&t.r), 0);
	assert_int_equal(t.r.n, 0);
	assert_int_equal(t.r.cpus, 4);
	assert_int_equal(t.created, 7);
	assert_true(t.r.map >= 0 && t.r.counters >= 0 && t.r.numbers >= 0);
	assert_int_equal(t.put, 0);
	assert_int_equal(rings__use(&t.r, NULL), 0);
	assert_int_equal(t.reused, 6);
	t.lacks = "slots";
	assert_int_equal(rings__use(&t.r, NULL), 0);
	assert_int_equal(t.reused, 11);
	t.lacks = NULL;
	t.reused = 6;
	t.fails = 8; /* the second of them: the others are left alone */
	assert_int_equal(rings__use(&t.r, NULL), -ENOENT);
	assert_int_equal(t.reused, 8);
}

static void no_threads(void **state)
{
	t.no_threads = true;
	assert_int_equal(rings__start(&t.r, 0), 0);
	assert_int_equal(t.put, 4);
	assert_int_equal(rings__finish(&t.r), 0);
}

static void cannot_be_made(void **state)
{
	for (unsigned int fails = 1; fails <= 7; fails++) { /* one of the maps: no ring is tried */
		set_up(NULL);
		t.fails = fails;
		assert_int_equal(rings__start(&t.r, 0), -EMFILE);
		assert_int_equal(t.put, 0);
		assert_int_equal(t.created, fails);
		tear_down(NULL);
	}
	set_up(NULL);
	t.fails = 9;
	assert_int_equal(rings__start(&t.r, 0), 0);
	assert_int_equal(rings__finish(&t.r), -EMFILE);
	assert_int_equal(t.put, 3);
	tear_down(NULL);
	set_up(NULL);
	t.put_fails = 1;
	assert_int_equal(rings__start(&t.r, 0), 0);
	assert_int_equal(rings__finish(&t.r), -E2BIG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sizes),
		TEST(without_rings),
		TEST(no_threads),
		TEST(cannot_be_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
