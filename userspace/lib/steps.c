// SPDX-License-Identifier: GPL-2.0
/*
 * Progress of a command: see steps.h.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/steps.h"
#include "lib/unicode.h"

#define PATIENCE_MS 500
#define WIDTH	    72 /* less than a terminal: a wrapped line cannot be cleared */

static struct {
	pthread_mutex_t lock; /* of all members below except the thread */
	pthread_cond_t ended;
	pthread_t thread;
	bool running; /* the thread exists; changed by begin and end only */
	bool over, shown;
	char text[WIDTH];
} steps = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void show(void)
{
	if (steps.text[0])
		log__progress("%s ...", steps.text);
}

static void *watch(void *unused)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += PATIENCE_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&steps.lock);
	while (!steps.over && !pthread_cond_timedwait(&steps.ended, &steps.lock, &until))
		;
	if (!steps.over) {
		steps.shown = true;
		show();
	}
	pthread_mutex_unlock(&steps.lock);
	return NULL;
}

void steps__begin(void)
{
	pthread_condattr_t attr;

	steps__end();
	if (!isatty(STDERR_FILENO))
		return;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&steps.ended, &attr);
	pthread_condattr_destroy(&attr);
	steps.over = steps.shown = false;
	steps.text[0] = '\0';
	steps.running = !pthread_create(&steps.thread, NULL, watch, NULL);
}

void steps__say(const char *fmt, ...)
{
	va_list ap;

	if (!steps.running)
		return;
	pthread_mutex_lock(&steps.lock);
	va_start(ap, fmt);
	vsnprintf(steps.text, sizeof(steps.text), fmt, ap);
	va_end(ap);
	utf8__make_printable(steps.text);
	if (steps.shown)
		show();
	pthread_mutex_unlock(&steps.lock);
}

void steps__end(void)
{
	if (!steps.running)
		return;
	pthread_mutex_lock(&steps.lock);
	steps.over = true;
	pthread_cond_signal(&steps.ended);
	pthread_mutex_unlock(&steps.lock);
	pthread_join(steps.thread, NULL);
	pthread_cond_destroy(&steps.ended);
	steps.running = false;
	if (steps.shown)
		log__progress_end();
}
