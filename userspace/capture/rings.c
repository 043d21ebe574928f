// SPDX-License-Identifier: GPL-2.0
/*
 * Rings, and the maps that belong to them: see rings.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/rings.h"
#include "gotrace/counters.h"
#include "gotrace/slot.h"
#include "gotrace/window.h"
#include "lib/power.h"

#define TOTAL	  (16u << 20) /* bytes, up to 4 CPUs */
#define TOTAL_MAX (48u << 20)
#define SMALLEST  4096

static unsigned int count_cpus(void)
{
	int cpus = libbpf_num_possible_cpus();

	return cpus > 0 ? (unsigned int)cpus : 1;
}

/* One ring per few CPUs: many producers on one ring slow each other down. */
static void choose_sizes(struct rings *r, uint32_t size)
{
	uint32_t total;

	r->n = r->cpus / 8 > 4 ? r->cpus / 8 : 4;
	if (r->n > r->cpus)
		r->n = r->cpus;
	if (r->n > GT_RINGS_MAX)
		r->n = GT_RINGS_MAX;
	total = r->n * (4u << 20);
	if (total < TOTAL)
		total = TOTAL;
	if (total > TOTAL_MAX)
		total = TOTAL_MAX;
	r->size = size ?: power_of_two_below(total / r->n);
}

/* Creates one ring and puts it into the map. */
static void *create_ring(void *argument)
{
	struct ring_job *job = argument;
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gotrace_ring", 0, 0, job->size, NULL);

	job->fd = fd;
	if (fd < 0 || bpf_map_update_elem(job->map, &job->index, &fd, 0))
		job->err = -errno;
	return NULL;
}

static int create_maps(struct rings *r)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	LIBBPF_OPTS(bpf_map_create_opts, mapped, .map_flags = BPF_F_MMAPABLE);
	int inner = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gotrace_ring", 0, 0, SMALLEST, NULL);
	int err;

	if (inner < 0)
		return -errno;
	opts.inner_map_fd = (__u32)inner;
	r->map = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(__u32), sizeof(__u32),
				GT_RINGS_MAX, &opts);
	if (r->map >= 0)
		r->counters = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "counters", sizeof(__u32),
					     sizeof(struct gt_counters), 1, NULL);
	if (r->counters >= 0)
		r->numbers = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ring_seq", sizeof(__u32),
					    sizeof(gt_u32[GT_RINGS_MAX][16]), 1, &mapped);
	if (r->numbers >= 0)
		r->seen = bpf_map_create(BPF_MAP_TYPE_ARRAY, "seen", sizeof(__u32),
					 sizeof(gt_u64[GT_STACK_SEEN]), 1, &mapped);
	if (r->seen >= 0)
		r->slots = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "slots", sizeof(__u32),
					  sizeof(struct gt_slot), GT_SLOTS, NULL);
	if (r->slots >= 0)
		r->windows = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "windows", sizeof(__u32),
					    sizeof(struct gt_window), GT_WINDOWS, NULL);
	err = r->windows < 0 ? -errno : 0;
	close(inner);
	return err;
}

int rings__start_none(struct rings *r)
{
	*r = (struct rings){
		.map = -1, .counters = -1, .numbers = -1, .seen = -1, .slots = -1, .windows = -1
	};
	r->cpus = count_cpus();
	return create_maps(r);
}

/*
 * One thread per ring: the kernel takes up to 20 ms to put a ring into the map, because it waits
 * until no program uses the previous entry. Loading the programs takes as long, and runs at the
 * same time.
 */
int rings__start(struct rings *r, uint32_t size)
{
	int err = rings__start_none(r);

	if (err)
		return err;
	choose_sizes(r, size);
	for (unsigned int i = 0; i < r->n; i++) {
		struct ring_job *job = &r->job[i];

		*job = (struct ring_job){ .map = r->map, .index = i, .size = r->size, .fd = -1 };
		job->threaded = !pthread_create(&job->thread, NULL, create_ring, job);
		if (!job->threaded)
			create_ring(job);
	}
	return 0;
}

int rings__finish(struct rings *r)
{
	int err = 0;

	for (unsigned int i = 0; i < r->n; i++) {
		struct ring_job *job = &r->job[i];

		if (job->threaded)
			pthread_join(job->thread, NULL);
		job->threaded = false;
		err = err ? err : job->err;
	}
	return err;
}

static int set_to_zero(int map, size_t size)
{
	void *zero = calloc(1, size);
	uint32_t key = 0;
	int err = zero ? bpf_map_update_elem(map, &key, zero, 0) : -ENOMEM;

	free(zero);
	return err;
}

/* Deletes a key only when the next one is known, so that the iteration can continue from there. */
int rings__forget_slots(const struct rings *r)
{
	uint32_t key, next;
	int map = r->slots, end = bpf_map_get_next_key(map, NULL, &key), err = 0;

	while (!end && !err) {
		end = bpf_map_get_next_key(map, &key, &next);
		err = bpf_map_delete_elem(map, &key);
		key = next;
	}
	return err == -ENOENT ? 0 : err;
}

int rings__reset(const struct rings *r)
{
	int err = set_to_zero(r->numbers, sizeof(gt_u32[GT_RINGS_MAX][16]));

	err = err ?: set_to_zero(r->seen, sizeof(gt_u64[GT_STACK_SEEN]));
	err = err ?: set_to_zero(r->counters, r->cpus * sizeof(struct gt_counters));
	return err ?: rings__forget_slots(r);
}

void rings__destroy(struct rings *r)
{
	const int maps[] = { r->map, r->counters, r->numbers, r->seen, r->slots, r->windows };

	if (!r->cpus)
		return;
	rings__finish(r);
	for (unsigned int i = 0; i < r->n; i++)
		if (r->job[i].fd >= 0)
			close(r->job[i].fd);
	for (unsigned int i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		if (maps[i] >= 0)
			close(maps[i]);
	r->n = r->cpus = 0;
}

int rings__use(const struct rings *r, struct bpf_object *object)
{
	const struct {
		const char *name;
		int fd;
	} map[] = {
		{ "rings", r->map },	  { "counters", r->counters }, { ".bss.rings", r->numbers },
		{ ".bss.seen", r->seen }, { "slots", r->slots },       { "windows", r->windows },
	};
	struct bpf_map *own;
	int err = 0;

	for (unsigned int i = 0; i < sizeof(map) / sizeof(*map) && !err; i++) {
		own = bpf_object__find_map_by_name(object, map[i].name);
		err = own ? bpf_map__reuse_fd(own, map[i].fd) : 0;
	}
	return err;
}
