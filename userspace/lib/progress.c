// SPDX-License-Identifier: GPL-2.0
/*
 * Progress of reading: see progress.h. lib/log.c draws the line.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/progress.h"
#include "lib/terminal.h"
#include "lib/ticker.h"
#include "lib/unicode.h"

#define PATIENCE_MS  1000
#define INTERVAL_MS  200
#define NAME_COLUMNS 30
#define MIB	     (1024.0 * 1024)

static void show(void);

static struct {
	bool enabled;
	struct ticker ticker;
	char name[128];
	uint64_t size;
	uint64_t first, begun; /* when the first file and this one were opened; 0: none was */
	_Atomic uint64_t position, read;
} progress = { .ticker = { .every_ms = INTERVAL_MS, .tick = show } };

void progress__enable(void)
{
	progress.enabled = terminal__can_redraw(STDERR_FILENO);
	if (progress.enabled)
		atexit(progress__end);
}

void progress__forbid(void)
{
	progress__end();
	progress.enabled = false;
}

/* Such as "12s" and "3m05s", rounded up. */
static const char *print_time(char *to, size_t size, double seconds)
{
	uint64_t s = seconds < 359999 ? (uint64_t)(seconds + 0.99) : 360000;

	if (s < 60)
		snprintf(to, size, "%" PRIu64 "s", s);
	else
		snprintf(to, size, "%" PRIu64 "m%02us", s / 60, (unsigned int)(s % 60));
	return to;
}

static void show(void)
{
	double seconds = (double)(clock__now() - progress.begun) / 1e9,
	       size = (double)progress.size;
	double position = (double)progress.position, rate = (double)progress.read / seconds;
	char time[24];

	if (position >= size)
		log__progress("%s: %.1f MiB read, processing", progress.name, size / MIB);
	else if (rate > 0)
		log__progress("%s: %u%% of %.1f MiB, %.1f MiB/s, %s left", progress.name,
			      (unsigned int)(100 * position / size), size / MIB, rate / MIB,
			      print_time(time, sizeof(time), (size - position) / rate));
}

/* Without the directory; a path can be longer than the line. */
static void set_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(progress.name, sizeof(progress.name), "%s", slash ? slash + 1 : path);
	utf8__make_printable(progress.name);
	progress.name[utf8__cut(progress.name, strlen(progress.name), NAME_COLUMNS)] = '\0';
}

void progress__begin(const char *name, uint64_t size)
{
	uint64_t waited;

	if (!progress.enabled || !size)
		return;
	progress__end();
	progress.begun = clock__now();
	progress.first = progress.first ?: progress.begun;
	waited = (progress.begun - progress.first) / 1000000;
	progress.ticker.first_ms = waited < PATIENCE_MS ? PATIENCE_MS - (unsigned int)waited : 0;
	progress.size = size;
	progress.position = progress.read = 0;
	set_name(name);
	ticker__start(&progress.ticker);
}

void progress__read(uint64_t position, uint64_t n)
{
	atomic_store_explicit(&progress.position, position, memory_order_relaxed);
	atomic_fetch_add_explicit(&progress.read, n, memory_order_relaxed);
}

void progress__end(void)
{
	if (!progress.ticker.running)
		return;
	ticker__stop(&progress.ticker);
	log__progress_end();
}
