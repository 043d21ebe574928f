// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the probes out of the target: see detach.h.
 *
 * The kernel removes the breakpoints of a link when its last file descriptor is closed. In a thread
 * with a pending SIGKILL it gives up ("failed to unregister, leaking uprobe": remove_breakpoint()
 * fails with EINTR, seen on Linux 6.18). A kill -9 of the recorder during close() would thus leave
 * breakpoints in the target, where each hit is a useless trap. The exit of a process is not
 * interrupted like this. So for each link a process, the holder, has the last descriptor and closes
 * it by its exit: when the recorder has closed a pipe, or is gone. The holders exit at the same
 * time. The kernel waits about 60 ms for each link until no CPU runs its program; one after the
 * other took 1.3 s.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "capture/detach.h"
#include "lib/log.h"

#define STACK_SIZE (16 * 1024)

struct holder {
	int pipe; /* end to read from */
	int link;
	pid_t pid;
	_Alignas(16) char stack[STACK_SIZE];
};

/* Shares the recorder's memory, not its descriptors: all but two of these are closed. */
static int hold(void *argument)
{
	const struct holder *h = argument;
	char byte;

	dup2(h->pipe, 0);
	dup2(h->link, 1);
	close_range(2, ~0u, 0);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}

static void start_holders(struct holder *holder, struct bpf_link **link, unsigned int n, int pipe)
{
	for (unsigned int i = 0; i < n; i++) {
		struct holder *h = &holder[i];

		h->pipe = pipe;
		h->link = bpf_link__fd(link[i]);
		h->pid = clone(hold, h->stack + sizeof(h->stack), CLONE_VM, h);
		if (h->pid < 0) /* the link is closed here, and not at the same time as others */
			log__debug("cannot start a process that closes a link");
	}
}

void detach__links(struct bpf_link **link, unsigned int n)
{
	struct holder *holder = n ? calloc(n, sizeof(*holder)) : NULL;
	int ends[2] = { -1, -1 };

	if (holder && !pipe(ends))
		start_holders(holder, link, n, ends[0]);
	for (unsigned int i = 0; i < n; i++)
		bpf_link__destroy(link[i]);
	if (ends[0] < 0) {
		free(holder);
		return;
	}
	close(ends[0]);
	close(ends[1]);
	for (unsigned int i = 0; i < n; i++)
		while (holder[i].pid > 0 && waitpid(holder[i].pid, NULL, __WALL) < 0 &&
		       errno == EINTR)
			;
	free(holder);
}
