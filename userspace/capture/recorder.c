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
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/drain.h"
#include "capture/hits.h"
#include "capture/launch.h"
#include "capture/served.h"
#include "budget/memory.h"
#include "capture/priority.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "capture/resync.h"
#include "capture/setup.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "target/process/csymbols.h"

#define SLOT_PATIENCE (200 * MS)  /* wait at the end for records reserved, but not submitted, */
#define INLINE_SLOTS  (1200 * MS) /* and for those of inline probes, which are given up after 1 s */
#define LATE_MIN      (1000 * MS) /* what is read after the end or a signal; more of a long window */
#define LATE_SHARE    4		  /* of its length */
#define LATE_CHECK    1024	  /* records between looks at the clock */
#define NICE	      (-10)
#define INLINE_BUSY   1000 /* records in one drain */
#define CLOCK_PERIOD  (1000 * MS)
#define HOUSEKEEPING  (200 * MS) /* between reports of losses, memory and progress */

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

bool recorder__is_late(struct recorder *r)
{
	uint64_t now = clock__now(), share = r->length / LATE_SHARE;
	sigset_t pending;

	if (!r->late_at && r->ends && now >= r->ends)
		r->late_at = r->ends + (share > LATE_MIN ? share : LATE_MIN);
	if (!r->signal_at && !sigpending(&pending) &&
	    (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	     sigismember(&pending, SIGHUP)))
		r->signal_at = now;
	r->late =
		(r->late_at && now > r->late_at) || (r->signal_at && now > r->signal_at + LATE_MIN);
	return r->late;
}

static int handle_record(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	struct recorder *r = ctx;
	int err;

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
	if (rec->kind == GT_PLUGIN_MAPPED && !r->plugin_mapped)
		r->plugin_mapped = rec->time;
	err = sink__record(r->sink, ring, rec, size);
	if (!err && !(r->records % LATE_CHECK) && recorder__is_late(r))
		err = -ETIME;
	return err;
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

/*
 * After an exec, records are of another program: the stream ends at r->exec_time. Records after T1,
 * which are read until the probes are detached, are not applied.
 */
static int handle_watermark(struct recorder *r, uint64_t watermark)
{
	int err;

	if (r->t1 && watermark > r->t1)
		watermark = r->t1;
	if (watermark <= r->watermark || r->exec_time)
		return 0;
	r->watermark = watermark;
	err = sink__watermark(r->sink, watermark);
	if (!r->stats->initial_ns && sequencer__is_ready(sink__sequencer(r->sink)))
		r->stats->initial_ns = clock__now() - r->t0;
	return err;
}

/* Copies the rings to the sink. Returns the number of records, or a negative errno. */
int recorder__drain(struct recorder *r)
{
	uint64_t watermark;
	int n, err;

	starvation__drain(&r->stats->starvation, clock__now());
	n = drain__run(r->drain, &watermark);
	if (n == -ETIME && r->late)
		return 0;
	err = n < 0 ? n : handle_watermark(r, watermark);
	return err ? err : n;
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

int recorder__note_clock(struct recorder *r, uint64_t now)
{
	struct private_host_clock clock = { .time = now };
	struct clock_state state;

	if (r->clock_read && now < r->clock_read + CLOCK_PERIOD)
		return 0;
	r->clock_read = now;
	if (!clock__state(&state))
		return 0;
	clock.synchronized = state.synchronized;
	clock.max_error = (uint64_t)state.max_error_us * 1000;
	clock.error = (uint64_t)state.error_us * 1000;
	clock.shift = (int64_t)(clock__wall_at(now) - (now - r->t0) - r->facts.wall_ns);
	return sink__host_clock(r->sink, &clock);
}

static int housekeeping(struct recorder *r, uint64_t now)
{
	double seconds = (double)(now - r->housekeeping) / 1e9;
	int err;

	if (now < r->housekeeping + HOUSEKEEPING)
		return 0;
	err = report_losses(r);
	err = err ?: recorder__note_clock(r, now);
	err = err ?: recorder__note_samples(r);
	limit_heap(r, seconds);
	log__progress("%6.1f s  %9.0f records/s  %llu lost", (double)(now - r->t0) / 1e9,
		      (double)(r->records - r->last_records) / seconds,
		      (unsigned long long)r->lost);
	r->last_records = r->records;
	r->housekeeping = now;
	memory__sample(&r->stats->peak_memory);
	recorder__note_cpu(r);
	if (!r->target_gone && !r->exec_time)
		recorder__libraries(r);
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
	struct pollfd fd[2 + SERVED_FDS] = {
		{ .fd = r->sigfd, .events = POLLIN },
		{ .fd = r->opts->process->pidfd, .events = POLLIN },
	};
	unsigned int n = r->served ? served__fds(r->served, fd + 2) : 0;

	if (poll(fd, 2 + n, ms) > 0) {
		r->stopped = fd[0].revents && recorder__is_interrupted(r);
		r->target_gone = fd[1].revents != 0;
		r->stopped |= r->target_gone;
		if (r->stopped)
			log__debug("stopped by %s",
				   r->target_gone ? "the end of the process" : "a signal");
	}
	r->over = r->ends && clock__now() >= r->ends;
	if (r->stopped && !r->target_gone && !r->signal_at)
		r->signal_at = clock__now();
}

static int loop(struct recorder *r)
{
	int n = 0, err = 0;

	while (!err && !r->stopped && !r->over && !r->late && !r->exec_time) {
		wait_for_event(r, pause_ms(r, n, clock__now()));
		n = recorder__drain(r);
		err = n < 0 ? n : 0;
		if (!err && !r->exec_time && r->inl &&
		    inline_probes__disturbed(r->inl, clock__now()))
			r->stopped = true;
		if (!err && !r->exec_time && !r->target_gone)
			err = recorder__plugins(r);
		if (!err && !r->exec_time && !r->target_gone)
			err = recorder__initial_state(r, clock__now());
		if (!err && !r->exec_time && !r->target_gone)
			err = handle_losses(r, clock__now());
		if (!err && !r->exec_time && !r->target_gone)
			err = recorder__keep_budget(r, clock__now());
		if (!err && !r->exec_time && !r->target_gone)
			err = sink__save_due(r->sink, r->watermark);
		if (!err && r->served)
			served__step(r->served);
		if (!err)
			err = housekeeping(r, clock__now());
		recorder__sample(r, clock__now());
	}
	return err;
}

/* ---- begin and end ---- */

static void detach(struct recorder *r)
{
	probes__detach(r->probes);
	if (r->inl) /* last: uprobes may be in the same pages */
		inline_probes__remove(r->inl);
}

/*
 * Drains until all records up to T1 are there. A thread that was descheduled between reserving and
 * submitting a record delays this by up to SLOT_PATIENCE or INLINE_SLOTS.
 */
static int drain_to_end(struct recorder *r)
{
	uint64_t deadline = clock__now() + (r->inl ? INLINE_SLOTS : SLOT_PATIENCE);
	int err;

	for (;;) {
		err = recorder__drain(r);
		if (err < 0)
			return err;
		if (r->exec_time || r->late || r->watermark >= r->t1 || clock__now() > deadline)
			return 0;
		usleep(500);
	}
}

/* The probes of BPF are detached, so none of their slots is reserved any more: the rings are complete. */
static int drain_rest(struct recorder *r)
{
	int n = r->watermark < r->t1 && !r->late ? recorder__drain(r) : 0;

	return n < 0 ? n : 0;
}

/* The trace ends at the watermark, up to which all records have been read. */
static void end_earlier(struct recorder *r)
{
	uint64_t missing = r->t1;

	if (!r->late || r->watermark >= r->t1)
		return;
	r->t1 = r->watermark > r->t0 ? r->watermark : r->t0 + 1;
	log__msg("the last %.1f s are missing: the program was too fast for the recorder, or the "
		 "recorder got too little CPU time (a higher priority, nice -n -20, or fewer "
		 "--events would help)",
		 (double)(missing - r->t1) / 1e9);
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
		err = recorder__hand_over_snapshots(r);
	if (!err)
		err = report_losses(r);
	recorder__note_cpu(r);
	probes__detach(r->probes);
	if (!err)
		err = drain_rest(r);
	if (!err)
		err = recorder__note_samples(r);
	if (!err)
		end_earlier(r);
	recorder__end_pause(r, r->t1);
	r->libraries_due = 0;
	if (!r->target_gone && !r->exec_time)
		recorder__libraries(r);
	if (r->inl)
		inline_probes__remove(r->inl);
	if (!err && r->inl)
		err = sink__clock_error(r->sink, inline_probes__clock_error_ns(r->inl));
	if (!err)
		err = sink__finish(r->sink, r->t1);
	if (!err && r->served)
		served__finish(r->served);
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
		.modules = r->opts->modules,
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
		setup__plugins(r->opts, r->probes, 0, false, NULL);
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
	int err = recorder__begin(r);

	if (err) {
		detach(r);
		return err;
	}
	r->has_begun = true;
	if (r->checked)
		recorder__take_snapshot(r, 0);
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
	const struct served_opts opts = {
		.channel = r->opts->channel,
		.version = r->opts->sink.version,
		.stats = recorder__status_bytes,
		.stats_ctx = r,
	};

	return r->opts->channel ? served__create(&r->served, &opts) : 0;
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
	sink.served = r.served;
	if (!err)
		err = sink__open(&r.sink, &sink, error);
	ret->analysis_ns = clock__now() - opts->started - opts->checks_ns;
	ret->checks_ns = opts->checks_ns;
	if (!err)
		err = open_probes(&r);
	ret->load_ns = clock__now() - opts->started - ret->analysis_ns - ret->checks_ns;
	if (!err)
		err = record(&r);
	recorder__drop_snapshots(&r);
	resync__destroy(r.resync);
	drain__destroy(r.drain);
	probes__destroy(r.probes);
	inline_probes__close(r.inl);
	hits__destroy(r.trap);
	sink__destroy(r.sink);
	served__destroy(r.served);
	csymbols__destroy(r.csymbols);
	free(r.plugin_symbols);
	starvation__deinit(&ret->starvation);
	close(r.sigfd);
	return err ? error__set(error, err, "cannot record: %s", strerror(-err)) : 0;
}
