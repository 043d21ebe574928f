// SPDX-License-Identifier: GPL-2.0
/*
 * One recording: see recorder.h.
 *
 * The window [T0, T1]: T0 is taken after the last probe is live, T1 before the first one is
 * detached. In between a single loop drains the rings every few milliseconds into the sink, takes
 * the two snapshots of the target and looks for reasons to stop. Everything that can fail early
 * does so before the first probe is attached.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/drain.h"
#include "capture/launch.h"
#include "capture/memory.h"
#include "capture/privilege.h"
#include "capture/recovery.h"
#include "capture/recorder.h"
#include "capture/session.h"
#include "capture/subject.h"
#include "lib/log.h"
#include "target/csymbols.h"

#define MS		1000000ull

#define SECOND_SNAPSHOT (40 * MS)   /* after the first: a status word can lag that long */
#define LAYOUT_PATIENCE (2000 * MS) /* a program that began must pass the checks by then */
#define CHECK_PAUSE	(20 * MS)   /* between looks at one that may not be up */
#define SLOT_PATIENCE	(2000 * MS) /* for a record that is reserved, but not written */
#define NICE		(-10)
#define HOUSEKEEPING	(200 * MS) /* losses, memory, progress */

struct recorder {
	const struct recorder_opts *opts;
	struct recorder_stats *stats;
	struct error *err;
	struct session *session;
	struct drain *drain;
	struct sink *sink;
	struct recovery *recovery;
	uint64_t losses_seen; /* sequencer__losses() when the counters were last read */
	struct csymbols *csymbols;
	struct symbolizer symbolizer;
	struct raw_header facts;
	struct private_meta meta;
	int sigfd;
	uint64_t t0, t1, watermark, next_check;
	struct snapshot snap[2];
	bool has[2];
	int drained;	     /* an error of a drain while a snapshot was read */
	bool checked, given; /* layout by live checks; snapshots to the sink */
	bool runtime_up;     /* a goroutine was executed */
	uint64_t exec_time;  /* of a GT_EXEC that ends the recording; 0: none */
	bool stopped, target_gone;
	uint64_t housekeeping, records, last_records;
	struct gt_counters counters;
};

/* ---- records ---- */

static int on_record(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	struct recorder *r = ctx;

	r->records++;
	if (rec->kind < GT_KIND_END)
		r->stats->records[rec->kind]++;
	if (rec->kind == GT_EXECUTE)
		r->runtime_up = true;
	if (rec->kind == GT_EXEC && !r->exec_time)
		r->exec_time = rec->time;
	return sink__record(r->sink, ring, rec, size);
}

static int report_losses(struct recorder *r)
{
	unsigned int kind;
	uint64_t lost = 0;
	int code = session__counters(r->session, &r->counters);

	for (kind = 0; !code && kind < GT_KIND_END; kind++) {
		lost += r->counters.lost[kind];
		if (r->counters.lost[kind])
			code = sink__lost(r->sink, kind, r->counters.lost[kind]);
	}
	starvation__losses(&r->stats->starvation, clock__now(), lost);
	r->losses_seen = sequencer__losses(sink__sequencer(r->sink));
	return code;
}

/* A hole in a ring tells of a loss at once: then the counters say of which kinds. */
static int follow_losses(struct recorder *r, uint64_t now)
{
	int code = 0;

	if (!r->given)
		return 0;
	if (sequencer__losses(sink__sequencer(r->sink)) != r->losses_seen)
		code = report_losses(r);
	return code ? code : recovery__step(r->recovery, now, r->watermark, r->sink);
}

static int drain(struct recorder *r)
{
	uint64_t watermark;
	int n, code;

	starvation__drain(&r->stats->starvation, clock__now());
	n = drain__run(r->drain, &watermark);
	if (n < 0)
		return n;
	if (watermark <= r->watermark || r->exec_time)
		return n;
	r->watermark = watermark;
	code = sink__watermark(r->sink, watermark);
	if (!r->stats->initial_ns && sequencer__is_ready(sink__sequencer(r->sink)))
		r->stats->initial_ns = clock__now() - r->t0;
	return code ? code : n;
}

/* ---- the initial state ---- */

static void drop_snapshots(struct recorder *r)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (r->has[i])
			snapshot__deinit(&r->snap[i]);
		r->has[i] = false;
	}
}

/* What the rest of the recording needs; a command's libraries are opened later than its probes. */
static unsigned int privileges(const struct recorder *r, bool modules)
{
	bool folder = r->opts->folder_of_other || sink__in_folder_of_other(r->sink);

	return PRIVILEGE_READ | (folder ? PRIVILEGE_FOLDER : 0) |
	       (r->opts->launch ? PRIVILEGE_COMMAND : 0) | (modules ? PRIVILEGE_MODULES : 0);
}

static int give_snapshots(struct recorder *r)
{
	int code;

	if (r->opts->launch) { /* by now the dynamic linker has mapped its libraries */
		csymbols__add_modules(r->csymbols, r->opts->process);
		privilege__drop(privileges(r, false));
	}
	code = sink__snapshot(r->sink, r->has[0] ? &r->snap[0] : NULL,
			      r->has[1] ? &r->snap[1] : NULL);
	r->given = true;
	drop_snapshots(r);
	return code;
}

/* Of a million goroutines a snapshot takes long: the rings must not overflow meanwhile. */
static int drain_between(void *ctx)
{
	struct recorder *r = ctx;
	int n = drain(r);

	r->drained = n < 0 ? n : 0;
	return r->drained;
}

static void take_snapshot(struct recorder *r, int which)
{
	struct snapshot_reading how = {
		.before = which ? &r->snap[0] : NULL,
		.between = drain_between,
		.ctx = r,
	};
	uint64_t begin = clock__now();
	int code = snapshot__read(r->opts->process, r->opts->layout, &how, &r->snap[which]);

	r->has[which] = !code;
	r->stats->snapshot_ns[which] = clock__now() - begin;
	memory__sample(&r->stats->peak_memory);
	if (code)
		log__debug("snapshot %d of the process: %s", which + 1, strerror(-code));
}

/*
 * A program that begins: as soon as its runtime runs, the offsets are held against it. What it
 * looks like while it sets itself up may not fit; it gets some time. One that was not held at its
 * exec may be up and idle already: it is looked at from the first moment, but not judged.
 */
static int check_layout(struct recorder *r, uint64_t now)
{
	struct error reason = {};
	int code;

	if (!r->runtime_up && (r->opts->launch || now < r->next_check))
		return 0;
	r->next_check = now + CHECK_PAUSE;
	code = process__check_layout(r->opts->process, r->opts->layout, &reason);
	r->checked = r->stats->layout_checked = !code;
	if (code == -ETIMEDOUT)
		return error__set(r->err, code, "%s", reason.text);
	if (!code || code == -ESRCH || code == -EINTR || !r->runtime_up ||
	    now < r->t0 + LAYOUT_PATIENCE)
		return 0;
	return error__set(r->err, code, "%s", reason.text);
}

/*
 * Both snapshots are given only after a drain that follows the second: had the process exec'ed in
 * between, that drain would have found the record of it.
 */
static int initial_state(struct recorder *r, uint64_t now)
{
	if (r->given)
		return 0;
	if (!r->checked)
		return check_layout(r, now);
	if (!r->has[0]) {
		take_snapshot(r, 0);
		return r->drained || r->has[0] ? r->drained : give_snapshots(r);
	}
	if (!r->has[1]) {
		if (now < r->snap[0].time + SECOND_SNAPSHOT)
			return 0;
		take_snapshot(r, 1);
		return r->drained || r->has[1] ? r->drained : give_snapshots(r);
	}
	return r->watermark > r->snap[1].time_end ? give_snapshots(r) : 0;
}

/* ---- the loop ---- */

static int housekeeping(struct recorder *r, uint64_t now)
{
	double seconds = (double)(now - r->housekeeping) / 1e9;
	uint64_t lost = 0;
	unsigned int i;
	int code;

	if (now < r->housekeeping + HOUSEKEEPING)
		return 0;
	code = report_losses(r);
	for (i = 0; i < GT_KIND_END; i++)
		lost += r->counters.lost[i];
	log__progress("%6.1f s  %9.0f records/s  %llu lost", (double)(now - r->t0) / 1e9,
		      (double)(r->records - r->last_records) / seconds, (unsigned long long)lost);
	r->last_records = r->records;
	r->housekeeping = now;
	memory__sample(&r->stats->peak_memory);
	return code;
}

/* How long the rings can be left alone: they hold about a second of a busy program. */
static int pause_ms(const struct recorder *r, int n, uint64_t now)
{
	uint64_t end = r->t0 + r->opts->duration_ns;
	int ms = n ? 5 : 10;

	if (drain__fill(r->drain) > 25)
		ms = 0;
	if (r->opts->duration_ns && end < now + (uint64_t)ms * MS)
		ms = end > now ? (int)((end - now) / MS) : 0;
	return ms;
}

/*
 * ^C of a terminal reaches a program that we started, too; what was sent to us alone does not. The
 * kernel (PID 0) tells that follow.c is gone: that is for us only.
 */
static void pass_on_signal(struct recorder *r)
{
	struct signalfd_siginfo info;

	while (read(r->sigfd, &info, sizeof(info)) == sizeof(info))
		if (r->opts->launch && info.ssi_code == SI_USER && info.ssi_pid)
			kill(r->opts->launch->pid, (int)info.ssi_signo);
}

/* Sets stopped, when it is time to. */
static void wait_a_little(struct recorder *r, int ms)
{
	struct pollfd fd[2] = {
		{ .fd = r->sigfd, .events = POLLIN },
		{ .fd = r->opts->process->pidfd, .events = POLLIN },
	};

	if (poll(fd, 2, ms) > 0) {
		if (fd[0].revents)
			pass_on_signal(r);
		r->target_gone = fd[1].revents != 0;
		r->stopped = fd[0].revents || r->target_gone;
		log__debug("stopped by %s", r->target_gone ? "the end of the process" : "a signal");
	}
	if (r->opts->duration_ns && clock__now() >= r->t0 + r->opts->duration_ns)
		r->stopped = true;
}

static int loop(struct recorder *r)
{
	int n = 0, code = 0;

	while (!code && !r->stopped && !r->exec_time) {
		wait_a_little(r, pause_ms(r, n, clock__now()));
		n = drain(r);
		code = n < 0 ? n : 0;
		if (!code && !r->exec_time && !r->target_gone)
			code = initial_state(r, clock__now());
		if (!code && !r->exec_time && !r->target_gone)
			code = follow_losses(r, clock__now());
		if (!code)
			code = housekeeping(r, clock__now());
	}
	return code;
}

/* ---- begin and end ---- */

static void fill_meta(struct recorder *r)
{
	const struct process *proc = r->opts->process;

	subject__facts(r->opts, r->t0, &r->facts);
	r->meta = (struct private_meta){
		.tool = "gotrace-bpf " GOTRACE_VERSION,
		.command = proc->cmdline,
		.command_len = strlen(proc->cmdline),
		.build_id = r->facts.build_id[0] ? r->facts.build_id : NULL,
		.clock = "CLOCK_MONOTONIC",
		.go_version = r->opts->layout->version.text,
	};
}

static int begin(struct recorder *r)
{
	int code = subject__attach(r->opts, r->session, r->err);

	if (code)
		return code;
	memory__begin();
	r->t0 = r->housekeeping = clock__now();
	r->stats->attach_ns = r->t0 - r->opts->started;
	r->stats->missed_ns = r->opts->exec_time ? r->t0 - r->opts->exec_time : 0;
	r->stats->t0 = r->t0;
	r->checked = !r->opts->launch && !r->opts->exec_time;
	fill_meta(r);
	r->csymbols = subject__symbols(r->opts, &r->symbolizer);
	privilege__drop(privileges(r, r->opts->launch));
	code = sink__create_sequencer(r->sink, r->opts->layout, &r->symbolizer, &r->meta);
	if (!code && !session__has_kernel(r->session))
		sequencer__no_kernel(sink__sequencer(r->sink));
	if (!code)
		code = sink__start(r->sink, &r->facts);
	if (!code && r->opts->launch)
		code = launch__release(r->opts->launch, r->err);
	if (!code)
		log__msg("recording process %d to %s", r->opts->process->pid, r->opts->sink.path);
	return code;
}

/*
 * Everything up to T1 is handed over; a thread can have been descheduled in the midst of a record.
 */
static int drain_to_end(struct recorder *r)
{
	uint64_t deadline = clock__now() + SLOT_PATIENCE;
	int code;

	for (;;) {
		code = drain(r);
		if (code < 0)
			return code;
		if (r->exec_time || r->watermark >= r->t1 || clock__now() > deadline)
			return 0;
		usleep(500);
	}
}

static int end(struct recorder *r)
{
	int code;

	r->t1 = r->exec_time ? r->exec_time : clock__now();
	code = drain_to_end(r);
	if (r->exec_time)
		r->t1 = r->exec_time;
	if (!code && r->t1 <= r->t0)
		code = subject__replaced(r->opts, r->err);
	if (!code && !r->given)
		code = give_snapshots(r);
	if (!code)
		code = report_losses(r);
	session__detach(r->session);
	if (!code)
		code = sink__finish(r->sink, r->t1);
	return code;
}

static void fill_stats(struct recorder *r)
{
	if (sink__sequencer(r->sink)) {
		r->stats->sequencer = *sequencer__stats(sink__sequencer(r->sink));
		r->stats->writer = *sink__written(r->sink);
	}
	r->stats->counters = r->counters;
	r->stats->multi = session__multi(r->session);
	r->stats->kfuncs = session__kfuncs(r->session);
	r->stats->ring_bytes = session__ring_bytes(r->session);
	r->stats->rings = session__rings(r->session);
	memory__sample(&r->stats->peak_memory);
	memory__peak(&r->stats->peak_memory);
	r->stats->peak_memory += session__memory(r->session);
	r->stats->cpu_ns = clock__cpu();
}

static int open_session(struct recorder *r)
{
	struct session_opts opts = subject__session(r->opts);
	int code = session__open(&r->session, &opts, r->err);

	if (!code)
		r->recovery = recovery__create(r->opts->process, r->opts->layout);
	if (!code && !r->recovery)
		code = -ENOMEM;
	return code ? code : drain__create(&r->drain, r->session, on_record, r);
}

static int record(struct recorder *r)
{
	int code = begin(r);

	if (code) {
		session__detach(r->session);
		return code;
	}
	if (r->checked)
		take_snapshot(r, 0);
	code = r->drained ? r->drained : loop(r);
	log__progress_end();
	if (code)
		session__detach(r->session);
	else
		code = end(r);
	fill_stats(r);
	/* A layout that does not fit made nonsense of all records: no file. */
	return code && r->err->text[0] ? code : sink__commit(r->sink, code, r->err);
}

int recorder__run(const struct recorder_opts *opts, struct recorder_stats *ret, struct error *err)
{
	struct recorder r = { .opts = opts, .stats = ret, .err = err };
	struct sink_opts sink = opts->sink;
	int code;

	/* With no idle CPU the rings must not overflow behind the target's own threads. */
	setpriority(PRIO_PROCESS, 0, NICE);
	r.sigfd = subject__signals(err);
	if (r.sigfd < 0)
		return r.sigfd;
	starvation__init(&ret->starvation);
	sink.stop_fd = r.sigfd;
	code = sink__open(&r.sink, &sink, err);
	ret->analysis_ns = clock__now() - opts->started - opts->checks_ns;
	ret->checks_ns = opts->checks_ns;
	if (!code)
		code = open_session(&r);
	ret->load_ns = clock__now() - opts->started - ret->analysis_ns - ret->checks_ns;
	if (!code)
		code = record(&r);
	drop_snapshots(&r);
	recovery__destroy(r.recovery);
	drain__destroy(r.drain);
	session__destroy(r.session);
	sink__destroy(r.sink);
	csymbols__destroy(r.csymbols);
	starvation__deinit(&ret->starvation);
	close(r.sigfd);
	return code ? error__set(err, code, "cannot record: %s", strerror(-code)) : 0;
}
