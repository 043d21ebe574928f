// SPDX-License-Identifier: GPL-2.0
/*
 * The initial state of one recording: two snapshots of the target, which the sink gets once the
 * layout is known to fit the program. recorder.c calls it in its loop.
 */
#include <errno.h>
#include <string.h>

#include "capture/labels.h"
#include "budget/memory.h"
#include "capture/privilege.h"
#include "capture/recorder_impl.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "target/process/csymbols.h"

#define SECOND_SNAPSHOT (40 * MS)   /* after the first: a status word can lag that long */
#define LAYOUT_PATIENCE (2000 * MS) /* a program that just started must pass the checks by then */
#define CHECK_PAUSE	(20 * MS)   /* between checks of a program whose runtime may not be up */

void recorder__drop_snapshots(struct recorder *r)
{
	for (int i = 0; i < 2; i++) {
		if (r->has[i])
			snapshot__deinit(&r->snap[i]);
		r->has[i] = false;
	}
}

int recorder__hand_over_snapshots(struct recorder *r)
{
	int err;

	if (r->opts->launch) { /* the dynamic linker has mapped its libraries by now */
		csymbols__add_modules(r->csymbols, r->opts->process);
		privilege__drop(recorder__privileges(r, false));
	}
	err = sink__snapshot(r->sink, r->has[0] ? &r->snap[0] : NULL,
			     r->has[1] ? &r->snap[1] : NULL);
	r->handed_over = true;
	recorder__drop_snapshots(r);
	return err;
}

/* Called while a snapshot is read: with a million goroutines the rings would overflow otherwise. */
static int drain_between(void *ctx)
{
	struct recorder *r = ctx;
	int n = recorder__drain(r);

	r->drain_error = n < 0 ? n : 0;
	if (n >= 0 && recorder__is_late(r))
		return -ETIME;
	return r->drain_error;
}

void recorder__take_snapshot(struct recorder *r, int which)
{
	struct snapshot_reading how = {
		.before = which ? &r->snap[0] : NULL,
		.stack_depth = r->opts->stack_depth,
		.between = drain_between,
		.ctx = r,
	};
	uint64_t begin = clock__now();
	int err = snapshot__read(r->opts->process, r->opts->layout, &how, &r->snap[which]);

	r->has[which] = !err;
	r->stats->snapshot_ns[which] = clock__now() - begin;
	memory__sample(&r->stats->peak_memory);
	if (err)
		log__debug("snapshot %d of the process: %s", which + 1, strerror(-err));
	else if (!which && !r->drain_error)
		r->drain_error =
			labels__read_present(r->opts, &r->snap[0], drain_between, r, r->sink);
}

/*
 * For a program that just started: once its runtime is up, the offsets are compared with its
 * memory. They may not fit while the runtime initializes, so that it gets LAYOUT_PATIENCE. A
 * program that was not held at its exec may be up and idle already: it is checked from the first
 * moment, but a mismatch counts only once a goroutine has run.
 */
static int check_layout(struct recorder *r, uint64_t now)
{
	struct error reason = {};
	int err;

	if (!r->runtime_up && (r->opts->launch || now < r->next_check))
		return 0;
	r->next_check = now + CHECK_PAUSE;
	err = process__check_layout(r->opts->process, r->opts->layout, &reason);
	r->checked = r->stats->layout_checked = !err;
	if (err == -ETIMEDOUT)
		return error__set(r->error, err, "%s", reason.text);
	if (!err || err == -ESRCH || err == -EINTR || !r->runtime_up ||
	    now < r->t0 + LAYOUT_PATIENCE)
		return 0;
	return error__set(r->error, err, "%s", reason.text);
}

/*
 * Takes the snapshots of the initial state, one step per call. They are handed over only after a
 * drain that follows the second: if the process executed another program in between, that drain has
 * found the record of it.
 */
int recorder__initial_state(struct recorder *r, uint64_t now)
{
	int which = r->has[0];

	if (r->handed_over)
		return 0;
	if (!r->checked)
		return check_layout(r, now);
	if (r->has[1])
		return r->watermark > r->snap[1].time_end ? recorder__hand_over_snapshots(r) : 0;
	if (which == 1 && now < r->snap[0].time + SECOND_SNAPSHOT)
		return 0;
	recorder__take_snapshot(r, which);
	return r->drain_error || r->has[which] ? r->drain_error : recorder__hand_over_snapshots(r);
}
