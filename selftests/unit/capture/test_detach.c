// SPDX-License-Identifier: GPL-2.0
/*
 * Links are closed by processes of their own. A pipe stands for each link: its reader sees the end
 * of the file when the last descriptor of the link is closed.
 */
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <bpf/libbpf.h>

#include "unit/test.h"
#include "capture/detach.h"

#define LINKS	4
#define WAIT_MS 20000

struct bpf_link {
	int fd, reader;
};

static struct {
	struct bpf_link link[LINKS];
	struct bpf_link *all[LINKS];
	unsigned int no_clone; /* from this call on */
	unsigned int clones, destroyed, kill_at;
	bool open_after; /* a link was open after it was destroyed here */
} t;

static bool is_closed(const struct bpf_link *link, int ms)
{
	struct pollfd fd = { .fd = link->reader };

	return poll(&fd, 1, ms) == 1 && fd.revents & POLLHUP;
}

int bpf_link__fd(const struct bpf_link *link)
{
	return link->fd;
}

int bpf_link__destroy(struct bpf_link *link)
{
	if (++t.destroyed == t.kill_at)
		kill(getpid(), SIGKILL);
	close(link->fd);
	t.open_after |= !is_closed(link, 0);
	return 0;
}

typedef int clone_fn(int (*fn)(void *), void *stack, int flags, void *argument, ...);

int clone(int (*fn)(void *), void *stack, int flags, void *argument, ...)
{
	if (t.no_clone && ++t.clones >= t.no_clone) {
		errno = EAGAIN;
		return -1;
	}
	return ((clone_fn *)dlsym(RTLD_NEXT, "clone"))(fn, stack, flags, argument);
}

static int set_up(void **state)
{
	int ends[2];

	t.destroyed = t.clones = t.kill_at = 0;
	t.open_after = false;
	for (int i = 0; i < LINKS; i++) {
		assert_int_equal(pipe(ends), 0);
		t.link[i] = (struct bpf_link){ .fd = ends[1], .reader = ends[0] };
		t.all[i] = &t.link[i];
	}
	return 0;
}

static int tear_down(void **state)
{
	for (int i = 0; i < LINKS; i++)
		close(t.link[i].reader);
	return 0;
}

FIXTURE(set_up, tear_down)

static void restart(void **state)
{
	tear_down(state);
	set_up(state);
}

static void expect_closed(int ms)
{
	for (int i = 0; i < LINKS; i++)
		assert_true(is_closed(&t.link[i], ms));
}

/* All links are closed when it returns, by others, of whom none is left. */
TEST(closes_in_other_processes)
{
	detach__links(t.all, LINKS);
	assert_int_equal(t.destroyed, LINKS);
	assert_true(t.open_after);
	expect_closed(0);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST(no_links)
{
	detach__links(NULL, 0);
	assert_int_equal(t.destroyed, 0);
	for (int i = 0; i < LINKS; i++)
		close(t.link[i].fd);
}

/* Those without a process are closed at once, the others by their processes. */
TEST(clone_fails)
{
	for (t.no_clone = 1; t.no_clone <= LINKS; t.no_clone++) {
		detach__links(t.all, LINKS);
		assert_int_equal(t.destroyed, LINKS);
		assert_int_equal(t.open_after, t.no_clone > 1);
		expect_closed(0);
		restart(state);
	}
	t.no_clone = 0;
}

/* Killed at each link, the recorder leaves all of them to the exits of the others. */
TEST(killed)
{
	pid_t pid;
	int status;

	for (unsigned int at = 1; at <= LINKS; at++) {
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			t.kill_at = at;
			detach__links(t.all, LINKS);
			_exit(1);
		}
		for (int i = 0; i < LINKS; i++)
			close(t.link[i].fd);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		expect_closed(WAIT_MS);
		restart(state);
	}
}
