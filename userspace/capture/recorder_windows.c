// SPDX-License-Identifier: GPL-2.0
/*
 * A duty cycle: windows of a fixed length and period, each a recording of its own, by programs that
 * stay loaded. Nothing is attached between two windows, and the recorder sleeps until the next one,
 * a signal, or the end of the process.
 *
 * Upstream: recorder.c. Downstream: cycle.c (times), flight/rotate.c (one file per window).
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/drain.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "capture/resync.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/log.h"

#define PATIENCE (2000 * MS) /* to empty the rings */
#define LEAD	 (30 * MS)   /* between the start of the first attach and its window */
#define LEAD_MAX (500 * MS)
#define MARGIN	 (2 * MS) /* by which an attach may take longer than the one before */
#define SAMPLES	 1024	  /* latest attach times, for the median */

struct windows {
	struct recorder *r;
	const struct cycle_opts *opts;
	int timer;
	uint64_t first;	   /* start of the first window */
	uint64_t start;	   /* of the next one, and of the latest */
	uint64_t earliest; /* start of the next one */
	uint64_t lead;	   /* the attach starts this long before the window */
	uint64_t deadline; /* of the whole recording; 0: none */
	bool was_set;	   /* CLOCK_REALTIME was set: a gap is not of missed windows */
	bool ends;
	uint64_t attach_ns[SAMPLES]; /* of the latest windows */
};

/* ---- between two windows ---- */

static void find_start(struct windows *w)
{
	uint64_t earliest = clock__now() + w->lead;

	if (earliest < w->earliest)
		earliest = w->earliest;
	w->start = w->r->stats->windows || w->opts->is_aligned ?
			   cycle__next(w->opts, w->first, earliest) :
			   earliest;
}

/* Sleeps until `at`, a signal, the end of the process, or CLOCK_REALTIME is set. */
static int sleep_until(struct windows *w, uint64_t at, bool *ret_again)
{
	struct pollfd fd[] = {
		{ .fd = w->r->sigfd, .events = POLLIN },
		{ .fd = w->r->opts->process->pidfd, .events = POLLIN },
		{ .fd = w->timer, .events = POLLIN },
	};
	int err = cycle__set_timer(w->timer, w->opts, at);

	*ret_again = false;
	if (err == -ECANCELED) { /* CLOCK_REALTIME was set in a window */
		*ret_again = w->was_set = true;
		return 0;
	}
	if (err)
		return err;
	if (poll(fd, 3, -1) < 0) {
		*ret_again = true;
		return errno == EINTR ? 0 : -errno;
	}
	w->r->stopped = fd[0].revents && recorder__is_interrupted(w->r);
	w->r->target_gone = fd[1].revents != 0;
	w->ends = w->r->stopped || w->r->target_gone;
	*ret_again = !w->ends && (!fd[2].revents || cycle__clock_was_set(w->timer));
	w->was_set |= *ret_again && fd[2].revents;
	return 0;
}

/* Waits until the probes of the next window are to be attached, or the recording ends. */
static int wait_for_window(struct windows *w)
{
	bool again = true, is_last = false;
	int err = 0;

	while (!err && again) {
		find_start(w);
		if (!w->r->has_begun && w->opts->is_aligned)
			log__msg("the first window begins in %.1f s",
				 (double)(w->start - clock__now()) / 1e9);
		is_last = w->deadline && w->start >= w->deadline;
		err = sleep_until(w, is_last ? w->deadline : w->start - w->lead, &again);
	}
	w->ends |= is_last;
	return err;
}

/* Discards what the probes recorded after the window, which must not become part of the next one. */
static int empty_rings(struct recorder *r)
{
	uint64_t now = clock__now(), deadline = now + PATIENCE, watermark = 0;
	int n;

	r->discards = true;
	while ((n = drain__run(r->drain, &watermark)) >= 0 && watermark < now &&
	       clock__now() < deadline)
		usleep(500);
	r->discards = false;
	if (n < 0)
		return n;
	return watermark < now ? -ETIMEDOUT : 0;
}

/* Clears what one window has left in the recorder and in the maps of the programs. */
static int forget_window(struct recorder *r)
{
	int err = empty_rings(r);

	if (!err)
		err = probes__reset(r->probes);
	resync__destroy(r->resync);
	r->resync = resync__create(r->opts->process, r->opts->layout);
	if (!err && !r->resync)
		err = -ENOMEM;
	r->losses_seen = r->lost = 0;
	r->counters = (struct gt_counters){};
	r->watermark = r->exec_time = r->late_at = 0;
	r->drain_error = 0;
	r->handed_over = r->over = r->late = r->runtime_up = false;
	r->last_heap = r->stats->records[GT_HEAP_ALLOC];
	r->last_records = r->records;
	r->stats->starvation.drained = r->stats->starvation.counted = 0;
	return err;
}

/* ---- windows ---- */

static void note_window(struct windows *w)
{
	struct recorder_stats *stats = w->r->stats;
	uint64_t took = w->r->attach_ns, needs = took + took / 4 + MARGIN;

	w->attach_ns[stats->windows % SAMPLES] = took;
	if (!stats->windows || took < stats->window_attach_min_ns)
		stats->window_attach_min_ns = took;
	if (took > stats->window_attach_max_ns)
		stats->window_attach_max_ns = took;
	stats->windows++;
	w->lead -= w->lead / 8;
	if (w->lead < needs)
		w->lead = needs < LEAD_MAX ? needs : LEAD_MAX;
	log__debug("window %llu: attached in %.1f ms, began %.3f ms late",
		   (unsigned long long)stats->windows, (double)took / 1e6,
		   (double)(w->r->t0 - w->r->begins) / 1e6);
}

/* Counts windows whose time passed while the previous one was detached, or the disk was too slow. */
static void count_missed(struct windows *w, uint64_t before)
{
	uint64_t periods = (w->start - before + w->opts->period_ns / 2) / w->opts->period_ns;

	if (before && !w->was_set && periods > 1)
		w->r->stats->windows_missed += periods - 1;
	w->was_set = false;
}

/* Counts windows that were due before the recording ended, but for which attaching took too long. */
static void count_missed_at_end(struct windows *w, uint64_t before)
{
	bool in_window = w->r->stopped || w->r->target_gone;
	uint64_t end = clock__now();

	if (in_window && w->r->t1 > before && w->r->t1 < end)
		end = w->r->t1;

	if (w->deadline && end > w->deadline)
		end = w->deadline;
	if (before && !w->was_set && end > before)
		w->r->stats->windows_missed += (end - 1 - before) / w->opts->period_ns;
}

/*
 * An exec or the end of the process between two windows is noticed by the attach of the next one,
 * which fails; it ends the recording, as within a window.
 */
static bool has_ended(const struct windows *w)
{
	return w->r->stats->windows && !process__is_same(w->r->opts->process);
}

static int record_window(struct windows *w)
{
	struct recorder *r = w->r;
	uint64_t left;
	int err;

	if (has_ended(w)) {
		w->ends = r->target_gone = true;
		return 0;
	}
	r->begins = w->start;
	r->length = w->opts->window_ns;
	left = w->deadline ? w->deadline - w->start : r->opts->duration_ns;
	if (left && left < r->length)
		r->length = left;
	err = recorder__window(r);
	if (err && has_ended(w)) {
		r->error->text[0] = '\0';
		w->ends = r->target_gone = true;
		return 0;
	}
	if (err)
		return err;
	note_window(w);
	recorder__count_window(r);
	sink__pause(r->sink);
	w->ends = r->stopped || r->exec_time;
	r->target_gone |= r->exec_time != 0;
	return w->ends ? 0 : forget_window(r);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void find_median(struct windows *w)
{
	uint64_t n = w->r->stats->windows < SAMPLES ? w->r->stats->windows : SAMPLES;

	array__sort(w->attach_ns, n, sizeof(w->attach_ns[0]), compare);
	w->r->stats->window_attach_median_ns = n ? w->attach_ns[n / 2] : 0;
}

static int record_windows(struct windows *w)
{
	uint64_t duration = w->r->opts->duration_ns, before = 0;
	int err = 0;

	while (!err && !w->ends) {
		err = wait_for_window(w);
		if (err || w->ends)
			break;
		w->earliest = w->start + 1;
		if (sink__is_full(w->r->sink)) {
			log__debug("no window: the disk is too slow");
			continue;
		}
		count_missed(w, before);
		before = w->start;
		err = record_window(w);
		if (w->r->stats->windows == 1) { /* the next ones follow its actual start */
			w->first = w->r->t0;
			w->earliest = w->first + 1;
			w->deadline = duration ? w->first + duration : 0;
			before = w->opts->is_aligned ? before : w->first;
		}
	}
	count_missed_at_end(w, before);
	return err;
}

int recorder__windows(struct recorder *r)
{
	struct windows *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return err;
	w->r = r;
	w->opts = &r->opts->cycle;
	w->lead = w->opts->is_aligned ? LEAD : 0;
	w->timer = cycle__open_timer(w->opts);
	err = w->timer < 0 ? w->timer : record_windows(w);
	if (!err && r->target_gone)
		log__msg("process %d ended or executed another program", r->opts->process->pid);
	find_median(w);
	if (w->timer >= 0)
		close(w->timer);
	free(w);
	return err;
}
