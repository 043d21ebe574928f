// SPDX-License-Identifier: GPL-2.0
/*
 * How many rings there are and how large, by the number of CPUs; what is left when one cannot be
 * made.
 */
#include <fcntl.h>
#include <pthread.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "unit/test.h"
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
	/* reset: slots are keys 1, 3, 5 ...; bytes that were set to zero in the other maps */
	unsigned int slots, deleted;
	uint32_t latest;
	bool resets;
	int zero_fd[3], delete_error;
	unsigned int zeroes;
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

static size_t size_of_map(int fd)
{
	return fd == t.r.numbers  ? sizeof(gt_u32[GT_RINGS_MAX][16]) :
	       fd == t.r.seen	  ? sizeof(gt_u64[GT_STACK_SEEN]) :
	       fd == t.r.counters ? 4 * sizeof(struct gt_counters) :
				    0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	uint32_t at = key ? *(const uint32_t *)key + 2 : 1;

	assert_int_equal(fd, t.r.slots);
	assert_true(!key || *(const uint32_t *)key > t.latest); /* it is still there */
	*(uint32_t *)next = at;
	return at < 2 * t.slots ? 0 : -ENOENT;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	assert_int_equal(fd, t.r.slots);
	t.latest = *(const uint32_t *)key;
	t.deleted++;
	return t.delete_error;
}

static int reset_elem(int fd, const void *key, const char *value)
{
	size_t size = size_of_map(fd);

	assert_int_equal(*(const uint32_t *)key, 0);
	assert_true(size > 0);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(value[i], 0);
	t.zero_fd[t.zeroes++ % 3] = fd;
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	if (t.resets)
		return reset_elem(fd, key, value);
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

FIXTURE(set_up, tear_down)

/* One for eight CPUs and four at least; 16 to 48 MiB together, each a power of two. */
TEST(sizes)
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

TEST(without_rings)
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

TEST(no_threads)
{
	t.no_threads = true;
	assert_int_equal(rings__start(&t.r, 0), 0);
	assert_int_equal(t.put, 4);
	assert_int_equal(rings__finish(&t.r), 0);
}

TEST(cannot_be_made)
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

/* Each map once, and every slot; one that has just gone is no failure. */
TEST(reset)
{
	assert_int_equal(rings__start(&t.r, 0), 0);
	assert_int_equal(rings__finish(&t.r), 0);
	t.resets = true;
	t.slots = 1000;
	assert_int_equal(rings__reset(&t.r), 0);
	assert_int_equal(t.zeroes, 3);
	assert_int_equal(t.zero_fd[0], t.r.numbers);
	assert_int_equal(t.zero_fd[1], t.r.seen);
	assert_int_equal(t.zero_fd[2], t.r.counters);
	assert_int_equal(t.deleted, 1000);
	t.slots = t.deleted = t.latest = 0;
	assert_int_equal(rings__reset(&t.r), 0);
	assert_int_equal(t.deleted, 0);
	t.slots = 5;
	t.delete_error = -EPERM;
	assert_int_equal(rings__reset(&t.r), -EPERM);
	assert_int_equal(t.deleted, 1);
}
