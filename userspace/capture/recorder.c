// SPDX-License-Identifier: GPL-2.0
/*
 * The main loop of one recording: see recorder.h.
 *
 * The window is [T0, T1]: T0 is taken after the last probe is live, T1 before the first one is
 * detached. In between, a single loop drains the rings into the sink every few milliseconds, takes
 * the two snapshots of the target, reacts to losses, and checks whether to stop. Everything that
 * can fail early does so before the first probe is attached.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/drain.h"
#include "capture/hits.h"
#include "capture/labels.h"
#include "capture/launch.h"
#include "capture/live.h"
#include "capture/memory.h"
#include "capture/priority.h"
#include "capture/privilege.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "capture/resync.h"
#include "capture/setup.h"
#include "gotrace/version.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "target/process/csymbols.h"

#define MS		1000000ull

#define SECOND_SNAPSHOT (40 * MS)   /* after the first: a status word can lag that long */
#define LAYOUT_PATIENCE (2000 * MS) /* a program that just started must pass the checks by then */
#define CHECK_PAUSE	(20 * MS)   /* between checks of a program whose runtime may not be up */
#define SLOT_PATIENCE	(2000 * MS) /* wait at the end for records reserved, but not submitted */
#define NICE		(-10)
#define INLINE_BUSY	1000	   /* records in one drain */
#define HOUSEKEEPING	(200 * MS) /* between reports of losses, memory and progress */

/* ---- records ---- */

static bool is_stepped(const struct gt_record *rec, size_t size)
{
	const struct gt_func_call *call = (const void *)(rec + 1);
	const struct gt_request *request = (const void *)(rec + 1);

	if (rec->kind == GT_FUNC_CALL)
		return size >= sizeof(*rec) + sizeof(*call) && call->stepped == 1;
	return rec->kind == GT_REQUEST && size >= sizeof(*rec) + sizeof(*request) &&
	       request->stepped == 1;
}

static int handle_record(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	struct recorder *r = ctx;

	if (r->discards)
		return 0;
	r->records++;
	if (rec->kind < GT_KIND_END)
		r->stats->records[rec->kind]++;
	r->stats->stepped += is_stepped(rec, size);
	r->stats->inlined += ring >= r->bpf_rings && rec->kind != GT_STACK;
	if (rec->kind == GT_EXECUTE)
		r->runtime_up = true;
	if (rec->kind == GT_EXEC && !r->exec_time)
		r->exec_time = rec->time;
	return sink__record(r->sink, ring, rec, size);
}

static int report_losses(struct recorder *r)
{
	unsigned int kind;
	int err = probes__counters(r->probes, &r->counters);

	if (!err && r->inl)
		r->stats->inline_lost = inline_probes__lost(r->inl, r->counters.lost);
	for (kind = r->lost = 0; !err && kind < GT_KIND_END; kind++) {
		r->lost += r->counters.lost[kind];
		if (r->counters.lost[kind])
			err = sink__lost(r->sink, kind, r->counters.lost[kind]);
	}
	starvation__losses(&r->stats->starvation, clock__now(), r->lost);
	r->losses_seen = sequencer__losses(sink__sequencer(r->sink));
	return err;
}

/* A gap in a ring shows a loss at once; the counters then show the kinds. */
static int handle_losses(struct recorder *r, uint64_t now)
{
	int err = 0;

	if (!r->handed_over || recorder__is_paused(r))
		return 0;
	if (sequencer__losses(sink__sequencer(r->sink)) != r->losses_seen)
		err = report_losses(r);
	return err ? err : resync__step(r->resync, now, r->watermark, r->sink);
}

/* After an exec, records are of another program: the stream ends at r->exec_time. */
static int handle_watermark(struct recorder *r, uint64_t watermark)
{
	int err;

	if (watermark <= r->watermark || r->exec_time)
		return 0;
	r->watermark = watermark;
	err = sink__watermark(r->sink, watermark);
	if (!r->stats->initial_ns && sequencer__is_ready(sink__sequencer(r->sink)))
		r->stats->initial_ns = clock__now() - r->t0;
	return err;
}

/* Copies the rings to the sink. Returns the number of records, or a negative errno. */
static int drain_rings(struct recorder *r)
{
	uint64_t watermark;
	int n, err;

	starvation__drain(&r->stats->starvation, clock__now());
	n = drain__run(r->drain, &watermark);
	err = n < 0 ? n : handle_watermark(r, watermark);
	return err ? err : n;
}

/* ---- the initial state ---- */

static void drop_snapshots(struct recorder *r)
{
	for (int i = 0; i < 2; i++) {
		if (r->has[i])
			snapshot__deinit(&r->snap[i]);
		r->has[i] = false;
	}
}

/* To attach the probes for further windows, or after a pause. */
static unsigned int privileges_of_cycle(const struct recorder *r)
{
	bool events = r->opts->sample_hz || r->opts->sets & SITE_SET(FAULT);

	if (!r->opts->cycle.window_ns && !r->opts->budget.share)
		return 0;
	return (events ? PRIVILEGE_EVENTS : 0) | (probes__multi(r->probes) ? 0 : PRIVILEGE_UPROBES);
}

/* What the rest of the recording needs. `modules`: a command's libraries are still to be opened. */
static unsigned int privileges(const struct recorder *r, bool modules)
{
	bool folder = r->opts->folder_of_other || sink__in_folder_of_other(r->sink);

	return PRIVILEGE_READ | (folder ? PRIVILEGE_FOLDER : 0) | privileges_of_cycle(r) |
	       (r->opts->launch ? PRIVILEGE_COMMAND : 0) | (modules ? PRIVILEGE_MODULES : 0) |
	       (r->opts->is_inline ? PRIVILEGE_INLINE : 0);
}

static int hand_over_snapshots(struct recorder *r)
{
	int err;

	if (r->opts->launch) { /* the dynamic linker has mapped its libraries by now */
		csymbols__add_modules(r->csymbols, r->opts->process);
		privilege__drop(privileges(r, false));
	}
	err = sink__snapshot(r->sink, r->has[0] ? &r->snap[0] : NULL,
			     r->has[1] ? &r->snap[1] : NULL);
	r->handed_over = true;
	drop_snapshots(r);
	return err;
}

/* Called while a snapshot is read: with a million goroutines the rings would overflow otherwise. */
static int drain_between(void *ctx)
{
	struct recorder *r = ctx;
	int n = drain_rings(r);

	r->drain_error = n < 0 ? n : 0;
	return r->drain_error;
}

static void take_snapshot(struct recorder *r, int which)
{
	struct snapshot_reading how = {
		.before = which ? &r->snap[0] : NULL,
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
static int handle_initial_state(struct recorder *r, uint64_t now)
{
	int which = r->has[0];

	if (r->handed_over)
		return 0;
	if (!r->checked)
		return check_layout(r, now);
	if (r->has[1])
		return r->watermark > r->snap[1].time_end ? hand_over_snapshots(r) : 0;
	if (which == 1 && now < r->snap[0].time + SECOND_SNAPSHOT)
		return 0;
	take_snapshot(r, which);
	return r->drain_error || r->has[which] ? r->drain_error : hand_over_snapshots(r);
}

/* ---- the loop ---- */

/* A probe that is hit more often than its records are worth is replaced by samples. */
static void limit_heap(struct recorder *r, double seconds)
{
	uint64_t changes = r->stats->records[GT_HEAP_ALLOC] - r->last_heap;

	r->last_heap = r->stats->records[GT_HEAP_ALLOC];
	if ((double)changes < seconds * PROBES_HEAP_MAX || r->target_gone ||
	    !probes__sample_heap(r->probes))
		return;
	log__msg("the heap's size changes more than %d times per second: sampling it from now on "
		 "(--events with set heap records every change)",
		 PROBES_HEAP_MAX);
}

void recorder__note_cpu(struct recorder *r)
{
	uint64_t cpu = clock__cpu_of(r->opts->process->pid);

	if (cpu > r->target_cpu)
		r->stats->target_cpu_ns = cpu - r->target_cpu;
}

static int housekeeping(struct recorder *r, uint64_t now)
{
	double seconds = (double)(now - r->housekeeping) / 1e9;
	int err;

	if (now < r->housekeeping + HOUSEKEEPING)
		return 0;
	err = report_losses(r);
	limit_heap(r, seconds);
	log__progress("%6.1f s  %9.0f records/s  %llu lost", (double)(now - r->t0) / 1e9,
		      (double)(r->records - r->last_records) / seconds,
		      (unsigned long long)r->lost);
	r->last_records = r->records;
	r->housekeeping = now;
	memory__sample(&r->stats->peak_memory);
	recorder__note_cpu(r);
	return err;
}

/* Time until the next drain. The rings hold about a second of a busy program's records. */
static int pause_ms(const struct recorder *r, int n, uint64_t now)
{
	int ms = n ? 5 : 10;

	if (r->inl) /* while records are sequenced, which takes longer, the rings fill again */
		ms = n > INLINE_BUSY ? 1 : 3;

	if (drain__fill(r->drain) > 25)
		ms = 0;
	if (r->ends && r->ends < now + (uint64_t)ms * MS)
		ms = r->ends > now ? (int)((r->ends - now) / MS) : 0;
	return ms;
}

static void request(struct recorder *r, const char *kind, const char *text)
{
	struct flight_cause cause = { .kind = kind, .time = clock__now() };

	snprintf(cause.text, sizeof(cause.text), "%s", text);
	sink__request(r->sink, &cause);
}

/*
 * Forwards a signal that was sent to this process alone to the command. ^C of a terminal reaches
 * both. A signal from the kernel (PID 0) means that the process of follow.c has ended, and is not
 * forwarded. Returns whether one ends the recording.
 */
bool recorder__is_interrupted(struct recorder *r)
{
	struct signalfd_siginfo info;
	bool ends = false, requested = false;

	while (read(r->sigfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			request(r, "signal", "the user's request");
			requested = true;
			continue;
		}
		ends = true;
		if (r->opts->launch && info.ssi_code == SI_USER && info.ssi_pid)
			kill(r->opts->launch->pid, (int)info.ssi_signo);
	}
	return ends || !requested;
}

/* Waits for a signal, the end of the target, or `ms`; sets r->stopped to end the recording. */
static void wait_for_event(struct recorder *r, int ms)
{
	struct pollfd fd[2 + LIVE_FDS] = {
		{ .fd = r->sigfd, .events = POLLIN },
		{ .fd = r->opts->process->pidfd, .events = POLLIN },
	};
	unsigned int n = r->live ? live__fds(r->live, fd + 2) : 0;

	if (poll(fd, 2 + n, ms) > 0) {
		r->stopped = fd[0].revents && recorder__is_interrupted(r);
		r->target_gone = fd[1].revents != 0;
		r->stopped |= r->target_gone;
		if (r->stopped)
			log__debug("stopped by %s",
				   r->target_gone ? "the end of the process" : "a signal");
	}
	r->over = r->ends && clock__now() >= r->ends;
}

static int loop(struct recorder *r)
{
	int n = 0, err = 0;

	while (!err && !r->stopped && !r->over && !r->exec_time) {
		wait_for_event(r, pause_ms(r, n, clock__now()));
		n = drain_rings(r);
		err = n < 0 ? n : 0;
		if (!err && !r->exec_time && r->inl &&
		    inline_probes__disturbed(r->inl, clock__now()))
			r->stopped = true;
		if (!err && !r->exec_time && !r->target_gone)
			err = handle_initial_state(r, clock__now());
		if (!err && !r->exec_time && !r->target_gone)
			err = handle_losses(r, clock__now());
		if (!err && !r->exec_time && !r->target_gone)
			err = recorder__keep_budget(r, clock__now());
		if (!err && !r->exec_time && !r->target_gone)
			err = sink__save_due(r->sink, r->watermark);
		if (!err && r->live)
			live__step(r->live);
		if (!err)
			err = housekeeping(r, clock__now());
		recorder__sample(r, clock__now());
	}
	return err;
}

/* ---- begin and end ---- */

static void fill_meta(struct recorder *r)
{
	const struct process *proc = r->opts->process;

	setup__facts(r->opts, r->probes, r->t0, &r->facts);
	r->meta = (struct private_meta){
		.tool = "gotrace-bpf " GOTRACE_VERSION,
		.command = proc->cmdline,
		.command_len = strlen(proc->cmdline),
		.build_id = r->facts.build_id[0] ? r->facts.build_id : NULL,
		.clock = "CLOCK_MONOTONIC",
		.go_version = r->opts->layout->version.text,
	};
}

static void detach(struct recorder *r)
{
	probes__detach(r->probes);
	if (r->inl) /* last: uprobes may be in the same pages */
		inline_probes__remove(r->inl);
}

static int attach(struct recorder *r)
{
	uint64_t now = clock__now();
	int err = setup__attach(r->opts, r->probes, r->inl, r->error);

	r->attach_ns = clock__now() - now;
	return err;
}

/* The probes are attached. */
static void begin_window(struct recorder *r)
{
	uint64_t now = clock__now();

	/* the sum of several windows; with the time since the attach, whose hits count, too */
	r->target_cpu = clock__cpu_of(r->opts->process->pid) - r->stats->target_cpu_ns;
	for (; now < r->begins; now = clock__now())
		usleep((useconds_t)((r->begins - now) / 1000 + 1));
	r->t0 = r->housekeeping = now;
	r->ends = r->length ? r->t0 + r->length : 0;
	recorder__begin_samples(r);
	recorder__begin_budget(r);
	if (r->has_begun)
		return;
	r->stats->attach_ns = r->t0 - r->opts->started;
	r->stats->missed_ns = r->opts->exec_time ? r->t0 - r->opts->exec_time : 0;
	r->stats->t0 = r->t0;
}

static int begin(struct recorder *r)
{
	int err = attach(r);

	if (err)
		return err;
	if (!r->has_begun) {
		memory__begin();
		priority__guarantee();
	}
	begin_window(r);
	r->checked = !r->opts->launch && !r->opts->exec_time;
	fill_meta(r);
	if (!r->has_begun) {
		r->csymbols = setup__symbols(r->opts, &r->symbolizer);
		privilege__drop(privileges(r, r->opts->launch));
		privilege__forbid_calls(privileges(r, r->opts->launch));
	}
	err = sink__create_sequencer(r->sink, r->opts->layout, &r->symbolizer, &r->meta);
	if (!err)
		err = sink__start(r->sink, &r->facts);
	for (size_t i = 0; !err && r->opts->calls && i < r->opts->calls->n; i++)
		err = sink__name(r->sink, i, r->opts->calls->func[i].name);
	if (!err && r->opts->launch)
		err = launch__release(r->opts->launch, r->error);
	if (!err && !r->has_begun)
		log__msg("recording process %d to %s", r->opts->process->pid, r->opts->sink.path);
	return err;
}

/*
 * Drains until all records up to T1 are there. A thread that was descheduled between reserving and
 * submitting a record delays this by up to SLOT_PATIENCE.
 */
static int drain_to_end(struct recorder *r)
{
	uint64_t deadline = clock__now() + SLOT_PATIENCE;
	int err;

	for (;;) {
		err = drain_rings(r);
		if (err < 0)
			return err;
		if (r->exec_time || r->watermark >= r->t1 || clock__now() > deadline)
			return 0;
		usleep(500);
	}
}

static int end(struct recorder *r)
{
	int err;

	if (r->target_gone || r->exec_time)
		request(r, "exit",
			r->exec_time ? "another program in the process" : "the end of the process");
	r->t1 = r->exec_time ? r->exec_time : clock__now();
	err = drain_to_end(r);
	if (r->exec_time)
		r->t1 = r->exec_time;
	if (!err && r->t1 <= r->t0)
		err = setup__replaced(r->opts, r->error);
	if (!err && !r->handed_over)
		err = hand_over_snapshots(r);
	if (!err)
		err = report_losses(r);
	recorder__note_cpu(r);
	detach(r);
	if (!err && r->inl)
		err = sink__clock_error(r->sink, inline_probes__clock_error_ns(r->inl));
	if (!err)
		err = sink__finish(r->sink, r->t1);
	if (!err && r->live)
		live__finish(r->live);
	return err;
}

static int create_inline(struct recorder *r)
{
	const struct inline_opts opts = {
		.process = r->opts->process,
		.elf = r->opts->elf,
		.pclntab = r->opts->pclntab,
		.layout = r->opts->layout,
		.sites = r->opts->sites,
		.stack_depth = r->opts->stack_depth,
	};

	return inline_probes__create(&r->inl, &opts, r->error);
}

static int open_probes(struct recorder *r)
{
	struct probes_opts opts;
	int err = r->opts->is_inline ? create_inline(r) : 0;

	if (err)
		return err;
	opts = setup__probes(r->opts, r->inl ? inline_probes__which(r->inl) : 0);

	setup__measure(&opts, &r->trap);
	recorder__measure_budget(r);
	err = probes__open(&r->probes, &opts, r->error);
	if (!err)
		r->resync = resync__create(r->opts->process, r->opts->layout);
	if (!err && !r->resync)
		err = -ENOMEM;
	if (!err)
		r->bpf_rings = probes__rings(r->probes);
	return err ? err : drain__create(&r->drain, r->probes, r->inl, handle_record, r);
}

int recorder__window(struct recorder *r)
{
	int err = begin(r);

	if (err) {
		detach(r);
		return err;
	}
	r->has_begun = true;
	if (r->checked)
		take_snapshot(r, 0);
	err = r->drain_error ? r->drain_error : loop(r);
	log__progress_end();
	if (err)
		detach(r);
	else
		err = end(r);
	return err;
}

/* Thousands of hits of a probe of this process, once nothing waits for the result. */
static void measure_hits(struct recorder *r)
{
	if (!r->trap)
		return;
	r->stats->trap_ns = hits__trap_ns();
	if (r->stats->stepped)
		r->stats->stepped_ns = hits__stepped_ns();
}

static int record(struct recorder *r)
{
	int err;

	r->length = r->opts->duration_ns;
	err = r->opts->cycle.window_ns ? recorder__windows(r) : recorder__window(r);
	if (err && !r->has_begun)
		return err;
	if (!err)
		measure_hits(r);
	recorder__fill_stats(r);
	/* If the layout does not fit the program, the records are wrong: no file is written. */
	return err && r->error->text[0] ? err : sink__commit(r->sink, err, r->error);
}

static int create_live(struct recorder *r)
{
	const struct live_opts opts = {
		.channel = r->opts->channel,
		.version = r->opts->sink.version,
		.stats = recorder__status_bytes,
		.stats_ctx = r,
	};

	return r->opts->channel ? live__create(&r->live, &opts) : 0;
}

int recorder__run(const struct recorder_opts *opts, struct recorder_stats *ret, struct error *error)
{
	struct recorder r = { .opts = opts, .stats = ret, .error = error };
	struct sink_opts sink = opts->sink;
	int err;

	/* For the attach, and for the recording if priority__guarantee() is not permitted. */
	setpriority(PRIO_PROCESS, 0, NICE);
	r.sigfd = setup__signals(error);
	if (r.sigfd < 0)
		return r.sigfd;
	err = opts->sink.flight.dir ? setup__snapshot_signal(r.sigfd, error) : 0;
	if (err) {
		close(r.sigfd);
		return err;
	}
	starvation__init(&ret->starvation);
	sink.stop_fd = r.sigfd;
	err = create_live(&r);
	sink.live = r.live;
	if (!err)
		err = sink__open(&r.sink, &sink, error);
	ret->analysis_ns = clock__now() - opts->started - opts->checks_ns;
	ret->checks_ns = opts->checks_ns;
	if (!err)
		err = open_probes(&r);
	ret->load_ns = clock__now() - opts->started - ret->analysis_ns - ret->checks_ns;
	if (!err)
		err = record(&r);
	drop_snapshots(&r);
	resync__destroy(r.resync);
	drain__destroy(r.drain);
	probes__destroy(r.probes);
	inline_probes__close(r.inl);
	hits__destroy(r.trap);
	sink__destroy(r.sink);
	live__destroy(r.live);
	csymbols__destroy(r.csymbols);
	starvation__deinit(&ret->starvation);
	close(r.sigfd);
	return err ? error__set(error, err, "cannot record: %s", strerror(-err)) : 0;
}
