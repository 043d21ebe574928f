// SPDX-License-Identifier: GPL-2.0
/*
 * Messages for the user: see log.h.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/terminal.h"
#include "lib/unicode.h"

static bool verbose;
static bool to_syslog;
static bool in_progress;				 /* the cursor is after a progress line */
static int patience_ms = -1;				 /* -1: no limit */
static unsigned int missed;				 /* messages since the last one */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the line: steps.c has a thread */

void log__set_verbose(bool on)
{
	verbose = on;
}

void log__connect_syslog(void)
{
	openlog(program_invocation_short_name, LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void log__to_syslog(void)
{
	openlog(program_invocation_short_name, LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

void log__limit_wait(int ms)
{
	patience_ms = ms;
}

bool log__verbose(void)
{
	return verbose;
}

static void clear_progress(void)
{
	if (in_progress)
		dprintf(STDERR_FILENO, "\r\033[K");
	in_progress = false;
}

/*
 * A pipe that is ready has room for PIPE_BUF bytes, more than a message. The first message that finds
 * it full waits, those after it do not.
 */
static bool is_ready(void)
{
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return patience_ms < 0 || poll(&fd, 1, missed ? 0 : patience_ms) > 0;
}

/* One write per message, so that lines of several processes do not mix. */
static void write_line(const char *text)
{
	const char *name = program_invocation_short_name;

	if (!is_ready()) {
		missed++;
		return;
	}
	clear_progress();
	if (missed)
		dprintf(STDERR_FILENO, "%s: %u messages are missing here: nothing read them\n",
			name, missed);
	missed = 0;
	dprintf(STDERR_FILENO, "%s: %s\n", name, text);
}

static void say(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	utf8__make_printable(text);
	if (to_syslog) {
		syslog(LOG_NOTICE, "%s", text);
		return;
	}
	pthread_mutex_lock(&lock);
	write_line(text);
	pthread_mutex_unlock(&lock);
}

void log__msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void log__debug(const char *fmt, ...)
{
	va_list ap;

	if (!verbose)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void log__progress(const char *fmt, ...)
{
	char text[160];
	va_list ap;

	if (!terminal__can_redraw(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A line that is wrapped cannot be cleared; some terminals wrap after their last column. */
	text[utf8__cut(text, strlen(text), terminal__columns(STDERR_FILENO) - 1)] = '\0';
	pthread_mutex_lock(&lock);
	dprintf(STDERR_FILENO, "\r\033[K%s", text);
	in_progress = true;
	pthread_mutex_unlock(&lock);
}

void log__progress_end(void)
{
	pthread_mutex_lock(&lock);
	clear_progress();
	pthread_mutex_unlock(&lock);
}
