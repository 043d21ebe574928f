// SPDX-License-Identifier: GPL-2.0
/*
 * Several processes in one recording: see targets.h.
 *
 * This process records nothing itself, and does not open the programs of other users, since their
 * file systems may not answer. capture/tracker.c reports the selected processes that execute a
 * program, target_candidates.c keeps them, and this file starts a recorder for each (recorders.c), which
 * determines whether it is a Go program. The starts are limited, and a program that repeatedly fails or
 * ends at once waits longer.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pid_ns.h"
#include "capture/tracker.h"
#include "flight/folder.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "selection/program_files.h"
#include "command.h"
#include "record.h"
#include "recorders.h"
#include "supervisor.h"
#include "targets.h"
#include "targets_impl.h"

#define LOOKS	    500	   /* reads of /proc, per second */
#define STARTS	    4	   /* of recorders, per second */
#define STARTS_MOST 32	   /* at once, after a while without */
#define BRIEF_NS    SECOND /* a shorter recording counts as a failure */

/* ---- recorders ---- */

/*
 * The recorder was killed, for example because the machine has no memory. The process may still run the
 * program, and then gets another one, after a time that grows with the number of failures.
 */
static void record_again(struct targets *t, const struct recorder_slot *slot)
{
	const struct candidate c = { .pid = slot->program.pid, .is_found = true };

	t->tried[c.pid % TRIED_MAX] = (struct tried){};
	targets__enqueue(t, &c);
}

static void report_failure(struct targets *t, const struct recorder_slot *slot,
			   const struct recording_report *report, struct program_entry *e)
{
	const char *reason = report->reason[0] ? report->reason : "its recorder was killed";

	if (report->stats.t0) {
		t->failed = true;
		log__msg("process %d: %s", slot->program.pid, reason);
	} else if (!e->reported || targets__is_given(t, slot->program.pid)) { /* once per file */
		log__msg("process %d is not recorded: %s", slot->program.pid, reason);
		e->reported = true;
	}
}

static unsigned int slot_number(const struct targets *t, const struct recorder_slot *slot)
{
	return (unsigned int)(slot - t->recorders.slot);
}

/* Called by recorders.c, in a recorder. */
static void handle_fork(void *ctx)
{
	struct targets *t = ctx;

	supervisor__abandon(t->how->supervisor);
}

/* Called by recorders.c. `end`: enum recording_end, or -1 if the recorder was killed. */
static void handle_end(void *ctx, const struct recorder_slot *slot,
		       const struct recording_report *report, int end)
{
	struct targets *t = ctx;
	const struct program_file *file = &t->file[slot_number(t, slot)];
	struct program_entry *e = program_files__get(t->files, file);
	bool first = targets__is_given(t, slot->program.pid) && !t->stopping;

	if (t->how->supervisor)
		supervisor__remove(t->how->supervisor, slot_number(t, slot));
	if (end == RECORDING_NOTHING && report->not_go) {
		e->not_go |= report->not_go == file->ino;
		return;
	}
	if (end == RECORDING_DONE && report->stats.sequencer.window_ns >= BRIEF_NS) {
		program_entry__recorded(e);
		return;
	}
	program_entry__failed(e, clock__now());
	t->early += end == RECORDING_NOTHING;
	if (end == RECORDING_NOTHING || end == RECORDING_DONE)
		return;
	report_failure(t, slot, report, e);
	t->refused += !report->stats.t0;
	if (end < 0 && !t->stopping)
		record_again(t, slot);
	else if (first && !report->stats.t0) /* do not wait for it */
		tracker__remove(t->tracker, slot->program.pid);
}

static void start(struct targets *t, const struct candidate *c, uint64_t mark,
		  const struct program_file *file)
{
	struct recorder_slot *slot = recorders__free_slot(&t->recorders);
	struct recording r = *t->how;
	struct error error = {};
	int err;

	r.args = &t->args;
	r.pid = c->pid;
	r.exec_time = c->exec_time;
	r.started = clock__now();
	r.reason_in_report = true;
	r.only_if_go = !c->first;
	t->file[slot_number(t, slot)] = *file;
	t->tried[c->pid % TRIED_MAX] = (struct tried){ c->pid, mark, r.started };
	if (r.supervisor)
		r.channel = supervisor__add(r.supervisor, slot_number(t, slot), c->pid);
	err = r.channel < 0 ? r.channel : recorders__start(&t->recorders, slot, &r, "", &error);
	if (r.channel > 0)
		close(r.channel);
	if (!err)
		slot->mark = mark;
	else
		log__msg("process %d is not recorded: %s", c->pid,
			 error.text[0] ? error.text : strerror(-err));
	if (err && r.channel > 0 && !slot->recorder) /* else handle_end() does */
		supervisor__remove(r.supervisor, slot_number(t, slot));
	t->failed |= err != 0;
}

/* Whether a recorder can start now. */
static bool has_room(struct targets *t, const struct candidate *c)
{
	bool full = !recorders__free_slot(&t->recorders);

	if (full && !t->full)
		log__msg("%d processes are being recorded, which is the maximum: others are "
			 "recorded once one of these ends",
			 RECORDERS_MAX);
	t->full = full;
	return !full && (c->first || rate__take(&t->starts));
}

static void start_recorders(struct targets *t)
{
	unsigned int kept = 0, i;
	bool room = true;

	for (i = 0; i < t->n; i++) {
		struct candidate *c = &t->queue[i];
		struct program_entry *e;
		uint64_t mark, now = clock__now();
		bool looks = room && (c->first || now >= c->next_look);

		if (looks && !targets__is_candidate(t, c, &mark, &e))
			continue;
		if (looks && (c->first || now >= e->retry)) {
			room = has_room(t, c);
			if (room) {
				start(t, c, mark, &e->file);
				continue;
			}
		} else if (looks) {
			c->next_look = now + PAUSE_NS < e->retry ? now + PAUSE_NS : e->retry;
		}
		t->queue[kept++] = *c;
	}
	t->n = kept;
}

/* ---- the loop ---- */

static void check_duration(struct targets *t)
{
	if (!t->deadline || t->stopping || clock__now() < t->deadline)
		return;
	t->stopping = true;
	recorders__signal(&t->recorders, SIGTERM);
}

/* Until the cgroup is to be looked at again. */
static int pause_ms(const struct targets *t)
{
	uint64_t now = clock__now();

	return now < t->next_look ? (int)((t->next_look - now) / 1000000) + 1 : PAUSE_MS;
}

/* In the process that answers HTTP requests, which could change what is shared with it. */
static void handle_front(void *ctx)
{
	struct targets *t = ctx;

	tracker__destroy(t->tracker);
	recorders__deinit(&t->recorders);
}

/* It is replaced, as after any other end by a signal. */
static void end_invalid(const struct recorder_slot *slot)
{
	log__msg("process %d: its recorder sent something invalid: ending it", slot->program.pid);
	kill(slot->recorder, SIGKILL);
}

/* Passes requests on. Recorders answer once their probes are attached. */
static void serve(struct targets *t)
{
	if (!t->how->supervisor)
		return;
	for (unsigned int i = 0; i < RECORDERS_MAX; i++) {
		if (!t->recorders.slot[i].recorder)
			continue;
		if (supervisor__take_invalid(t->how->supervisor, i))
			end_invalid(&t->recorders.slot[i]);
		else if (t->recorders.report[i].stats.t0)
			supervisor__set_ready(t->how->supervisor, i);
	}
	if (t->stopping)
		supervisor__stopping(t->how->supervisor);
	supervisor__step(t->how->supervisor, handle_front, t);
}

static void wait_for_event(const struct targets *t)
{
	struct pollfd fd[2 + SUPERVISOR_FDS] = {
		{ .fd = t->recorders.sigfd, .events = POLLIN },
		{ .fd = tracker__fd(t->tracker), .events = POLLIN },
	};
	unsigned int n = t->how->supervisor ? supervisor__fds(t->how->supervisor, fd + 2) : 0;

	poll(fd, 2 + n, pause_ms(t));
}

static void loop(struct targets *t)
{
	unsigned int running;
	bool empty;

	do {
		t->stopping |= recorders__take_signals(&t->recorders);
		check_duration(t);
		/* In this order, so that the last execs are read after the end of the last process. */
		empty = !t->is_open && tracker__is_empty(t->tracker);
		tracker__read(t->tracker);
		if (!t->stopping) {
			targets__search(t);
			start_recorders(t);
		}
		serve(t);
		running = recorders__reap(&t->recorders);
		t->stopping |= empty && !running && !t->n;
		if (running || !t->stopping)
			wait_for_event(t);
	} while (running || !t->stopping);
}

/* ---- begin and end ---- */

/* A directory that cannot be written is reported before a process is waited for. */
static int check_directory(const struct targets *t)
{
	struct folder *folder = NULL;
	int err;

	if (t->args.serves && !t->args.flight.dir)
		return 0;
	err = folder__open(&folder, t->args.output, 0, t->error);

	folder__close(folder);
	return err;
}

static int watch(struct targets *t)
{
	const struct selection_opts *s = &t->args.selection;
	const char *name;
	int err = 0;

	for (unsigned int i = 0; !err && (name = selection__name(t->selection, i)); i++)
		err = tracker__watch_name(t->tracker, name);
	for (unsigned int i = 0; !err && i < s->npids; i++) {
		err = tracker__add_alone(t->tracker, s->pid[i]);
		t->queue[t->n++] = (struct candidate){ .pid = s->pid[i], .first = true };
		if (err == -ESRCH)
			error__set(t->error, err, "there is no process %d", s->pid[i]);
	}
	if (err)
		error__set(t->error, err, "cannot watch processes: %s", strerror(-err));
	return err;
}

static int prepare(struct targets *t)
{
	int err = recorders__init(&t->recorders, handle_end, t, t->args.flight.dir, t->error);

	if (t->how->supervisor)
		t->recorders.forked = handle_fork;
	if (!err)
		err = pid_ns__check(t->error);
	if (!err)
		err = check_directory(t);
	t->files = program_files__create();
	if (!err && !t->files)
		err = error__set(t->error, -ENOMEM, "out of memory");
	if (!err)
		err = selection__create(&t->selection, &t->args.selection, t->error);
	if (!err)
		err = tracker__create(&t->tracker, targets__handle_exec, t, t->error);
	t->recorders.tracker = t->tracker;
	if (!err)
		err = watch(t);
	if (!err)
		targets__search(t);
	if (!err && !t->n)
		log__msg("no process to record yet: waiting for one");
	return err;
}

static int conclude(const struct targets *t)
{
	recorders__report(&t->recorders);
	if (t->early)
		log__msg(
			"%u processes ended, or executed another program, before their probes were "
			"attached",
			t->early);
	if (t->how->supervisor) /* a service may be stopped before there was a process */
		return t->failed ? EXIT_FAILED : EXIT_DONE;
	if (!t->recorders.recorded && !t->refused)
		error__set(t->error, -ENOENT,
			   "nothing was recorded: no selected Go program ran long enough");
	return t->failed || !t->recorders.recorded ? EXIT_FAILED : EXIT_DONE;
}

int targets__run(const struct recording *how, struct error *error)
{
	uint64_t now = clock__now(), duration = how->args->duration_ns;
	struct targets *t = calloc(1, sizeof(*t));
	int err;

	if (!t) {
		error__set(error, -ENOMEM, "out of memory");
		return EXIT_FAILED;
	}
	t->how = how;
	t->args = *how->args;
	t->args.duration_ns = 0;
	t->error = error;
	t->is_open = selection__is_open(&t->args.selection);
	t->deadline = duration ? now + duration : 0;
	t->looks = (struct rate){ SECOND / LOOKS, now, LOOKS, LOOKS };
	t->starts = (struct rate){ SECOND / STARTS, now, STARTS_MOST, STARTS_MOST };
	err = prepare(t);
	if (!err)
		loop(t);
	err = err ? EXIT_FAILED : conclude(t);
	tracker__destroy(t->tracker);
	selection__destroy(t->selection);
	program_files__destroy(t->files);
	recorders__deinit(&t->recorders);
	free(t);
	return err;
}
