// SPDX-License-Identifier: GPL-2.0
/*
 * Handlers that end the process, for the time of an analysis: see interrupt.h.
 */
#include "interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int stops[] = { SIGINT, SIGTERM, SIGHUP };

#define NSTOPS (sizeof(stops) / sizeof(stops[0]))

static struct interrupt now;
static struct sigaction before[NSTOPS];
static sigset_t mask;

static void on_signal(int sig)
{
	static const char text[] = "gotrace-bpf: interrupted while the program was analysed; "
				   "nothing was recorded\n";
	static const char clear[] = "\r\033[K"; /* the line of lib/steps.c */

	(void)sig;
	if (now.held > 0)
		kill(now.held, SIGKILL);
	if (!now.quiet && isatty(STDERR_FILENO) && write(STDERR_FILENO, clear, strlen(clear)) < 0)
		_exit(now.status);
	if (!now.quiet && write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(now.status);
	_exit(now.status);
}

void interrupt__allow(const struct interrupt *how)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t set;

	now = *how;
	sigemptyset(&set);
	for (size_t i = 0; i < NSTOPS; i++) {
		sigaction(stops[i], NULL, &before[i]);
		if (before[i].sa_handler == SIG_IGN) /* nohup */
			continue;
		sigaction(stops[i], &action, NULL);
		sigaddset(&set, stops[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, &mask);
}

void interrupt__forbid(void)
{
	sigprocmask(SIG_SETMASK, &mask, NULL);
	for (size_t i = 0; i < NSTOPS; i++)
		sigaction(stops[i], &before[i], NULL);
}
