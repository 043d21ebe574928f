// SPDX-License-Identifier: GPL-2.0
/*
 * Following processes: see tracker.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/pid_ns.h"
#include "capture/tracker.h"

#include "follow.skel.h"

struct tracker {
	struct follow_bpf *skel;
	struct ring_buffer *ring;
	tracker_fn fn;
	void *ctx;
};

/* Callback of libbpf. */
static int handle_exec(void *ctx, void *data, size_t size)
{
	struct tracker *t = ctx;

	if (size >= sizeof(struct gt_followed_exec))
		t->fn(t->ctx, data);
	return 0;
}

int tracker__create(struct tracker **ret, tracker_fn fn, void *ctx, struct error *error)
{
	struct gt_pid_ns pid_ns;
	struct tracker *t;
	int err = pid_ns__find(&pid_ns, error);

	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->fn = fn;
	t->ctx = ctx;
	t->skel = follow_bpf__open();
	if (t->skel)
		t->skel->rodata->pid_ns = pid_ns;
	else
		err = -errno;
	if (!err)
		err = follow_bpf__load(t->skel);
	if (!err)
		err = follow_bpf__attach(t->skel);
	if (!err) {
		t->ring = ring_buffer__new(bpf_map__fd(t->skel->maps.execs), handle_exec, t, NULL);
		err = t->ring ? 0 : -errno;
	}
	if (!err) {
		*ret = t;
		return 0;
	}
	tracker__destroy(t);
	if (err == -EPERM)
		return error__set(error, err,
				  "cannot follow processes: not permitted; run as root, "
				  "or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
	return error__set(error, err, "cannot follow processes: %s%s", strerror(-err),
			  " (--verbose shows the kernel's log)");
}

void tracker__destroy(struct tracker *t)
{
	if (!t)
		return;
	ring_buffer__free(t->ring);
	follow_bpf__destroy(t->skel);
	free(t);
}

/* True for a zombie, too: its end has been reported already, and would be awaited for ever. */
static bool has_ended(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool ended = fd < 0 ? errno == ESRCH : poll(&p, 1, 0) > 0;

	if (fd >= 0)
		close(fd);
	return ended;
}

void tracker__remove(struct tracker *t, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(t->skel->maps.tree), &key);
}

static int add(struct tracker *t, pid_t pid, uint8_t how)
{
	uint32_t key = (uint32_t)pid;

	if (bpf_map_update_elem(bpf_map__fd(t->skel->maps.tree), &key, &how, 0))
		return -errno;
	if (!has_ended(pid)) /* checked now, when its end can no longer be missed */
		return 0;
	tracker__remove(t, pid);
	return -ESRCH;
}

int tracker__add(struct tracker *t, pid_t pid)
{
	return add(t, pid, GT_FOLLOWED);
}

int tracker__add_alone(struct tracker *t, pid_t pid)
{
	return add(t, pid, GT_FOLLOWED_ALONE);
}

int tracker__add_launcher(struct tracker *t, pid_t pid)
{
	t->skel->bss->launcher = (uint32_t)pid;
	return tracker__add(t, pid);
}

int tracker__watch_name(struct tracker *t, const char *name)
{
	struct gt_watched_name key = {};
	uint8_t one = 1;

	snprintf(key.text, sizeof(key.text), "%s", name);
	if (bpf_map_update_elem(bpf_map__fd(t->skel->maps.names), &key, &one, 0))
		return -errno;
	t->skel->bss->watches_names = 1;
	return 0;
}

int tracker__watch_cgroup(struct tracker *t, int fd)
{
	int map = bpf_map__fd(t->skel->maps.cgroup), err = 0;
	uint32_t key = 0;

	t->skel->bss->watches_cgroup = 1;
	if (fd >= 0)
		err = bpf_map_update_elem(map, &key, &fd, 0);
	else if (bpf_map_delete_elem(map, &key) && errno != ENOENT)
		err = -1;
	return err ? -errno : 0;
}

int tracker__fd(const struct tracker *t)
{
	return ring_buffer__epoll_fd(t->ring);
}

void tracker__read(struct tracker *t)
{
	ring_buffer__consume(t->ring);
}

bool tracker__is_empty(const struct tracker *t)
{
	uint32_t first;

	return bpf_map_get_next_key(bpf_map__fd(t->skel->maps.tree), NULL, &first) != 0;
}

uint64_t tracker__overflows(const struct tracker *t)
{
	return t->skel->bss->overflows;
}
