// SPDX-License-Identifier: GPL-2.0
/*
 * The flight recorder: see flight.h.
 *
 * A trace must begin with a generation that contains the state of all goroutines. Each generation
 * contains it as long as it is small; otherwise every eighth one, or the one after half of max_bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/finisher.h"
#include "flight/flight.h"
#include "flight/window.h"
#include "lib/log.h"
#include "writer/writer.h"

#define STATE_SMALL  (2u << 20) /* bytes of a generation with all goroutines */
#define STATE_NS_MAX 8000000000ull
/* What precedes a state is removed together, so a window may lack this part of its limits. */
#define STATE_PART   4

struct flight {
	struct flight_opts opts;
	struct folder *folder;
	struct finisher *finisher;
	struct window *window;
	struct writer *writer;
	uint64_t t0, wall0;	/* the start of the recording by both clocks */
	uint64_t from;		/* the start of the open generation */
	uint64_t events, bytes; /* written before it */
	bool is_first;		/* it contains the state of all goroutines */
	uint64_t first_from;	/* the start of the latest generation that does */
	uint64_t bytes_since_first;
	bool state_is_large;
	bool warned;				    /* that --max-size is too small */
	struct flight_cause request[FLIGHT_CAUSES]; /* the first one is the oldest */
	size_t requests;
	uint64_t causes;	      /* requests so far */
	uint64_t limited;	      /* requests that were not kept since the last snapshot */
	uint64_t snapshots, failures; /* of snapshots that were not even begun */
};

int flight__open(struct flight **ret, const struct flight_opts *opts, struct error *error)
{
	struct flight *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return error__set(error, -ENOMEM, "out of memory");
	f->opts = *opts;
	f->folder = opts->folder;
	err = f->folder ? 0 : folder__open(&f->folder, opts->dir, opts->keep, error);
	if (!err) {
		f->finisher = finisher__create(f->folder);
		f->window = window__create(opts->max_bytes, opts->window_ns);
		if (!f->finisher || !f->window)
			err = error__set(error, -ENOMEM, "out of memory");
	}
	if (err) {
		flight__destroy(f);
		return err;
	}
	*ret = f;
	return 0;
}

bool flight__in_folder_of_other(const struct flight *f)
{
	return folder__is_of_other(f->folder);
}

uint64_t flight__snapshots(const struct flight *f)
{
	return f->snapshots;
}

uint64_t flight__causes(const struct flight *f)
{
	return f->causes;
}

struct window_part flight__window(const struct flight *f)
{
	return window__sums(f->window);
}

void flight__start(struct flight *f, struct writer *w, uint64_t t0, uint64_t wall_ns)
{
	f->writer = w;
	f->t0 = f->from = t0;
	f->wall0 = wall_ns;
	f->is_first = true;
	writer__use_memory(w, window__append, f->window);
}

/*
 * A generation that is larger than the limit, as with many goroutines, leaves nothing to save. The
 * advised size, in MiB, is that of four such generations, as a power of two.
 */
static unsigned long long advised_mib(const struct flight *f)
{
	unsigned long long mib = 2;

	while (mib << 20 < 4 * (unsigned long long)window__too_large(f->window))
		mib *= 2;
	return mib;
}

static void warn_of_size(struct flight *f)
{
	if (f->warned || !window__too_large(f->window))
		return;
	f->warned = true;
	log__msg("the window is often empty: one second of events, with the state of all "
		 "goroutines, takes %.1f MiB, more than --max-size; use --max-size=%lluM",
		 (double)window__too_large(f->window) / (1 << 20), advised_mib(f));
}

/* The generation that began at f->from has ended. */
static int add_generation(struct flight *f, uint64_t time)
{
	const struct writer_stats *written = writer__stats(f->writer);
	int err = window__describe(f->window, f->from, time, written->events - f->events,
				   f->is_first);

	if (f->is_first) {
		f->state_is_large = written->bytes - f->bytes > STATE_SMALL;
		f->first_from = f->from;
	}
	f->bytes_since_first = written->bytes - f->bytes + (f->is_first ? 0 : f->bytes_since_first);
	f->from = time;
	f->events = written->events;
	f->bytes = written->bytes;
	warn_of_size(f);
	return err;
}

int flight__next(struct flight *f, uint64_t time)
{
	int err = add_generation(f, time);

	if (err)
		return err;
	f->is_first = !f->state_is_large || time - f->first_from >= STATE_NS_MAX ||
		      time - f->first_from >= f->opts.window_ns / STATE_PART ||
		      f->bytes_since_first >= f->opts.max_bytes / STATE_PART ||
		      !window__sums(f->window).bytes;
	return f->is_first;
}

int flight__append(struct flight *f, const struct iovec *iov, size_t n)
{
	return window__append(f->window, iov, n);
}

void flight__has_state(struct flight *f)
{
	f->is_first = true;
}

bool flight__request(struct flight *f, const struct flight_cause *cause)
{
	f->causes++;
	if (f->requests == FLIGHT_CAUSES) {
		f->limited++;
		if (strcmp(cause->kind, "exit"))
			return false;
		f->requests--; /* how the process has ended is known only once */
	}
	f->request[f->requests++] = *cause;
	return true;
}

/* Later ones do not count: a signal may have arrived after the last record that is written. */
const struct flight_cause *flight__pending(const struct flight *f, size_t i, uint64_t time)
{
	for (size_t at = 0; at < f->requests; at++)
		if (f->request[at].time <= time && !i--)
			return &f->request[at];
	return NULL;
}

const struct flight_cause *flight__due(struct flight *f, uint64_t watermark)
{
	/* The window and the snapshot that is being written: no more than that is in memory. */
	if (!f->requests || watermark < f->request[0].time + f->opts.tail_ns ||
	    finisher__is_busy(f->finisher))
		return NULL;
	return &f->request[0];
}

/* Removes the requests up to `time` and returns their number. Later ones are for another snapshot. */
static size_t take_requests(struct flight *f, uint64_t time)
{
	size_t left = 0, taken;

	for (size_t i = 0; i < f->requests; i++)
		if (f->request[i].time > time)
			f->request[left++] = f->request[i];
	taken = f->requests - left;
	f->requests = left;
	return taken;
}

static int give_to_finisher(struct flight *f, const struct window_part *sums,
			    const struct flight_cause *cause, size_t causes)
{
	size_t len;
	struct finisher_job job = {
		.copy = window__copy(f->window),
		.version = f->opts.version,
		.target = f->opts.target,
		.about = { .events = sums->events,
			   .from = sums->from,
			   .to = sums->to,
			   .wall_ns = f->wall0 + (sums->from - f->t0) },
	};
	int err = job.copy ? 0 : -ENOMEM;

	snprintf(job.kind, sizeof(job.kind), "%s", cause->kind);
	snprintf(job.cause, sizeof(job.cause), "%s", cause->text);
	len = strlen(job.cause);
	if (causes > 1)
		snprintf(job.cause + len, sizeof(job.cause) - len, " (and %zu more)", causes - 1);
	if (!err)
		err = finisher__take(f->finisher, &job);
	if (err)
		window_copy__destroy(job.copy);
	return err;
}

static void report_empty(const struct flight *f, const char *cause)
{
	if (window__too_large(f->window))
		log__msg("no snapshot of %s: the latest generation takes more than --max-size, "
			 "which leaves nothing to save; use --max-size=%lluM",
			 cause, advised_mib(f));
	else
		log__msg("no snapshot of %s: nothing is recorded yet", cause);
}

void flight__save(struct flight *f, uint64_t time)
{
	struct window_part sums = window__sums(f->window);
	struct flight_cause cause = f->request[0];
	size_t causes = take_requests(f, time);
	int err;

	if (!sums.bytes) {
		report_empty(f, cause.text);
		f->failures++;
		return;
	}
	err = give_to_finisher(f, &sums, &cause, causes);
	if (err) {
		log__msg("no snapshot of %s: %s", cause.text, strerror(-err));
		f->failures++;
		return;
	}
	if (f->limited)
		log__msg("%llu requests for a snapshot were ignored before this one: a snapshot "
			 "has at most %d causes",
			 (unsigned long long)f->limited, FLIGHT_CAUSES);
	f->limited = 0;
	f->snapshots++;
}

int flight__end(struct flight *f, int err, uint64_t time, struct error *error)
{
	int failed;

	if (!err)
		err = add_generation(f, time);
	if (f->requests)
		flight__save(f, UINT64_MAX);
	failed = finisher__wait(f->finisher, NULL);
	f->failures += finisher__failures(f->finisher);
	if (err)
		return error__set(error, err, "the flight recorder of %s failed: %s", f->opts.dir,
				  strerror(-err));
	if (f->failures)
		return error__set(error, failed ?: -EIO,
				  "%llu snapshots could not be written to %s, or listed there",
				  (unsigned long long)f->failures, f->opts.dir);
	return 0;
}

void flight__destroy(struct flight *f)
{
	if (!f)
		return;
	if (f->finisher)
		finisher__wait(f->finisher, NULL);
	finisher__destroy(f->finisher);
	window__destroy(f->window);
	if (!f->opts.folder)
		folder__close(f->folder);
	free(f);
}
