// SPDX-License-Identifier: GPL-2.0
/*
 * Descendants of a process: which processes are followed from the start, those that have ended,
 * what comes of each exec, and the reason when the programs cannot be loaded. libbpf is this
 * file's.
 */
#include <sys/wait.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "unit/test.h"
#include "capture/pid_ns.h"
#include "capture/tracker.h"

#include "unit/fake_skeleton.h"
#include "follow.skel.h"

#define TREE   31
#define EXECS  32
#define RING   33
#define NAMES  34
#define CGROUP 35

static struct {
	int no_pid_ns, attach_error, ring_error, update_error;
	uint32_t tree[4];
	uint8_t how[4]; /* enum gt_followed */
	size_t n;
	char name[2][GT_WATCHED_NAME_SIZE];
	size_t names;
	int cgroup; /* 0: none */
	ring_buffer_sample_fn on_exec;
	void *ctx;
	unsigned int freed, destroyed, execs;
	const void *exec; /* the next one */
	size_t exec_size;
	struct gt_followed_exec got;
	struct tracker *tracker;
	struct error err;
} t;

/* ---- what tracker.c calls ---- */

int pid_ns__find(struct gt_pid_ns *ret, struct error *err)
{
	*ret = (struct gt_pid_ns){};
	return t.no_pid_ns ? error__set(err, t.no_pid_ns, "no namespace") : 0;
}

int bpf_object__attach_skeleton(struct bpf_object_skeleton *s)
{
	return t.attach_error;
}

int bpf_map__fd(const struct bpf_map *map)
{
	static const char *const name[] = { "tree", "execs", "", "names", "cgroup" };

	for (int i = 0; i < 5; i++)
		if (!strcmp(map->name, name[i]))
			return TREE + i;
	return -1;
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn fn, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	assert_int_equal(fd, EXECS);
	t.on_exec = fn;
	t.ctx = ctx;
	errno = t.ring_error;
	return t.ring_error ? NULL : (struct ring_buffer *)&t;
}

void ring_buffer__free(struct ring_buffer *ring)
{
	t.freed += ring != NULL;
}

int ring_buffer__epoll_fd(const struct ring_buffer *ring)
{
	assert_ptr_equal(ring, &t);
	return RING;
}

int ring_buffer__consume(struct ring_buffer *ring)
{
	assert_ptr_equal(ring, &t);
	return t.on_exec(t.ctx, (void *)t.exec, t.exec_size);
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	errno = t.update_error;
	if (t.update_error)
		return -1;
	if (fd == NAMES) {
		memcpy(t.name[t.names++], key, GT_WATCHED_NAME_SIZE);
		return 0;
	}
	if (fd == CGROUP) {
		assert_int_equal(*(const uint32_t *)key, 0);
		t.cgroup = *(const int *)value;
		return 0;
	}
	assert_int_equal(fd, TREE);
	t.how[t.n] = *(const uint8_t *)value;
	t.tree[t.n++] = *(const uint32_t *)key;
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	if (fd == CGROUP) {
		errno = ENOENT;
		if (!t.cgroup)
			return -1;
		t.cgroup = 0;
		return 0;
	}
	assert_int_equal(fd, TREE);
	assert_true(t.n && t.tree[t.n - 1] == *(const uint32_t *)key);
	t.n--;
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	assert_int_equal(fd, TREE);
	assert_null(key);
	if (!t.n)
		return -ENOENT;
	*(uint32_t *)next = t.tree[0];
	return 0;
}

/* ---- */

static void on_exec(void *ctx, const struct gt_followed_exec *exec)
{
	assert_ptr_equal(ctx, &t.got);
	t.got = *exec;
	t.execs++;
}

static int create(void)
{
	t.err = (struct error){};
	return tracker__create(&t.tracker, on_exec, &t.got, &t.err);
}

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	memset(&fake, 0, sizeof(fake));
	return 0;
}

static int tear_down(void **state)
{
	tracker__destroy(t.tracker);
	return 0;
}

FIXTURE(set_up, tear_down)

TEST(execs_are_handed_over)
{
	static const struct gt_followed_exec exec = { .time = 5, .pid = 77, .comm = "server" };

	assert_int_equal(create(), 0);
	assert_int_equal(tracker__fd(t.tracker), RING);
	t.exec = &exec;
	t.exec_size = sizeof(exec) - 1;
	tracker__read(t.tracker);
	assert_int_equal(t.execs, 0);
	t.exec_size = sizeof(exec);
	tracker__read(t.tracker);
	assert_int_equal(t.execs, 1);
	assert_memory_equal(&t.got, &exec, sizeof(exec));
	t.exec_size = sizeof(exec) + 8; /* rounded up, perhaps */
	tracker__read(t.tracker);
	assert_int_equal(t.execs, 2);
	tracker__destroy(t.tracker);
	t.tracker = NULL;
	assert_int_equal(t.freed, 1);
}

TEST(followed_processes)
{
	struct follow_bpf__bss *bss = (void *)&fake.rodata;
	pid_t self = getpid();

	assert_int_equal(create(), 0);
	assert_true(tracker__is_empty(t.tracker));
	assert_int_equal(tracker__add(t.tracker, self), 0);
	assert_int_equal(t.tree[0], self);
	assert_int_equal(t.how[0], GT_FOLLOWED);
	assert_int_equal(bss->launcher, 0);
	assert_false(tracker__is_empty(t.tracker));
	assert_int_equal(tracker__add_launcher(t.tracker, getppid()), 0);
	assert_int_equal(bss->launcher, getppid());
	assert_int_equal(t.tree[1], getppid());
	assert_int_equal(tracker__overflows(t.tracker), 0);
	bss->overflows = 3;
	assert_int_equal(tracker__overflows(t.tracker), 3);
}

TEST(processes_alone)
{
	assert_int_equal(create(), 0);
	assert_int_equal(tracker__add_alone(t.tracker, getpid()), 0);
	assert_int_equal(t.how[0], GT_FOLLOWED_ALONE);
	assert_false(tracker__is_empty(t.tracker));
	tracker__remove(t.tracker, getpid());
	assert_true(tracker__is_empty(t.tracker));
}

TEST(watched_names)
{
	static const char zeros[GT_WATCHED_NAME_SIZE];
	struct follow_bpf__bss *bss = (void *)&fake.rodata;

	assert_int_equal(create(), 0);
	assert_int_equal(bss->watches_names, 0);
	assert_int_equal(tracker__watch_name(t.tracker, "server"), 0);
	assert_int_equal(bss->watches_names, 1);
	assert_string_equal(t.name[0], "server");
	assert_memory_equal(t.name[0] + 6, zeros, sizeof(zeros) - 6); /* the kernel compares all */
	t.update_error = E2BIG;
	assert_int_equal(tracker__watch_name(t.tracker, "other"), -E2BIG);
}

TEST(watched_cgroup)
{
	struct follow_bpf__bss *bss = (void *)&fake.rodata;

	assert_int_equal(create(), 0);
	assert_int_equal(tracker__watch_cgroup(t.tracker, -1), 0); /* it will exist later */
	assert_int_equal(bss->watches_cgroup, 1);
	assert_int_equal(tracker__watch_cgroup(t.tracker, 77), 0);
	assert_int_equal(t.cgroup, 77);
	assert_int_equal(tracker__watch_cgroup(t.tracker, -1), 0);
	assert_int_equal(t.cgroup, 0);
	t.update_error = EBADF;
	assert_int_equal(tracker__watch_cgroup(t.tracker, 78), -EBADF);
}

/* A process that has ended, be it as a zombie, is not followed: nothing would say that it ended. */
TEST(ended_processes)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(create(), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(tracker__add(t.tracker, pid), -ESRCH);
	assert_true(tracker__is_empty(t.tracker));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(tracker__add(t.tracker, pid), -ESRCH);
	assert_true(tracker__is_empty(t.tracker));
	t.update_error = E2BIG; /* too many */
	assert_int_equal(tracker__add(t.tracker, getpid()), -E2BIG);
}

TEST(refused)
{
	fake.open_error = -EPERM;
	assert_int_equal(create(), -EPERM);
	assert_non_null(strstr(t.err.text, "not permitted; run as root, or with CAP_BPF"));
	fake.open_error = 0;
	fake.load_error = -EINVAL;
	assert_int_equal(create(), -EINVAL);
	assert_string_equal(t.err.text, "cannot follow processes: Invalid argument"
					" (--verbose shows the kernel's log)");
	fake.load_error = 0;
	t.attach_error = -EPERM;
	assert_int_equal(create(), -EPERM);
	assert_non_null(strstr(t.err.text, "not permitted"));
	t.attach_error = 0;
	t.ring_error = EMFILE;
	assert_int_equal(create(), -EMFILE);
	assert_non_null(strstr(t.err.text, "Too many open files"));
	t.no_pid_ns = -EPERM;
	assert_int_equal(create(), -EPERM);
	assert_string_equal(t.err.text, "no namespace");
	assert_null(t.tracker);
	assert_int_equal(t.freed, 0);
}
