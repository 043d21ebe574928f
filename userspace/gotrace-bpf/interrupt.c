// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that ends the process: see interrupt.h.
 *
 * A signal handler is not sufficient: a read that waits for a FUSE or network file system is
 * interrupted only by the end of the process.
 */
#include "interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capture/setup.h"
#include "lib/log.h"

#define DEADLINE_S 120 /* seconds; a program of 200 MB takes 1 */

static struct {
	struct interrupt how;
	pthread_t thread;
	int signals, done;
	bool runs;
} watcher = { .signals = -1, .done = -1 };

static void *watch(void *unused)
{
	struct pollfd fd[] = {
		{ .fd = watcher.done, .events = POLLIN },
		{ .fd = watcher.signals, .events = POLLIN },
	};
	int n = poll(fd, 2, DEADLINE_S * 1000);

	if (n < 0 || fd[0].revents)
		return NULL;
	if (!watcher.how.quiet && n)
		log__msg("interrupted during the analysis of the program; nothing was recorded");
	else if (!watcher.how.quiet)
		log__msg("the analysis of the program took more than %d s: check its file system",
			 DEADLINE_S);
	if (watcher.how.held > 0)
		kill(watcher.how.held, SIGKILL);
	_exit(watcher.how.status);
}

void interrupt__allow(const struct interrupt *how)
{
	watcher.how = *how;
	watcher.signals = setup__signals(NULL);
	watcher.done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	watcher.runs = watcher.signals >= 0 && watcher.done >= 0 &&
		       !pthread_create(&watcher.thread, NULL, watch, NULL);
}

void interrupt__forbid(void)
{
	if (watcher.runs) {
		eventfd_write(watcher.done, 1);
		pthread_join(watcher.thread, NULL);
	}
	if (watcher.signals >= 0)
		close(watcher.signals);
	if (watcher.done >= 0)
		close(watcher.done);
	watcher.signals = watcher.done = -1;
	watcher.runs = false;
}
