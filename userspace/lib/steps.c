// SPDX-License-Identifier: GPL-2.0
/*
 * Progress of a command: see steps.h.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/steps.h"
#include "lib/ticker.h"
#include "lib/unicode.h"

#define PATIENCE_MS 500
#define WIDTH	    72 /* less than a terminal: a wrapped line cannot be cleared */

static void show_first(void);

static struct {
	struct ticker ticker;
	pthread_mutex_t lock; /* of the members below */
	bool shown;
	char text[WIDTH];
} steps = {
	.ticker = { .first_ms = PATIENCE_MS, .tick = show_first },
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void show(void)
{
	if (steps.text[0])
		log__progress("%s ...", steps.text);
}

static void show_first(void)
{
	pthread_mutex_lock(&steps.lock);
	steps.shown = true;
	show();
	pthread_mutex_unlock(&steps.lock);
}

void steps__begin(void)
{
	steps__end();
	if (!isatty(STDERR_FILENO))
		return;
	steps.shown = false;
	steps.text[0] = '\0';
	ticker__start(&steps.ticker);
}

void steps__say(const char *fmt, ...)
{
	va_list ap;

	if (!steps.ticker.running)
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
	if (!steps.ticker.running)
		return;
	ticker__stop(&steps.ticker);
	if (steps.shown)
		log__progress_end();
}
