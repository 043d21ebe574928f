// SPDX-License-Identifier: GPL-2.0
/*
 * Recording into a flight recorder buffer: see blackbox_record.h.
 *
 * The device is opened before the first probe is attached. Files are closed in the order of their
 * numbers: if this process is killed, the session is frozen while all probes are still attached,
 * and no event up to that moment is missing. The first checkpoint is written before the first
 * record.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "blackbox/blackbox.h"
#include "blackbox/blackbox_flight.h"
#include "blackbox/blackbox_record.h"
#include "capture/hits.h"
#include "capture/kmod.h"
#include "capture/privilege.h"
#include "capture/setup.h"
#include "gotrace/config.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/power.h"
#include "target/process/csymbols.h"

#define SECOND_SNAPSHOT (40 * MS) /* after the first: a status word can lag that long */
#define INTERVAL	(1000 * MS)
#define INTERVAL_MIN	(100 * MS) /* if the rings wrap around within a few seconds */
#define SHARE		10	   /* checkpoints use at most 1/SHARE of one CPU */
#define ALL_RINGS	(16u << 20)
#define SUBBUFS		16	     /* per ring: the oldest is overwritten as a whole */
#define STACK_WORDS	(512u << 10) /* per half: 20,000 stacks of 24 frames */
#define CHECKPOINT_MAX	(512ull << 20)

struct blackbox {
	const struct blackbox_opts *opts;
	struct blackbox_stats *stats;
	struct error *error;
	struct kmod *kmod;
	struct probes *probes;
	struct csymbols *csymbols;
	struct modules_symbols *plugin_symbols;
	struct symbolizer symbolizer;
	struct blackbox_writer *writer;
	int sigfd;
	bool stopped;
	struct blackbox_flight flight; /* its `save` NULL: no snapshots */
	struct error why;	       /* reason of the last checkpoint that could not be written */
	unsigned int failed;	       /* number of such checkpoints */
	uint64_t head[GT_RINGS_MAX], head_time; /* of each ring, when last read */
};

bool blackbox__name_is_valid(const char *name)
{
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789._-");

	return len && len < GT_NAME_MAX && !name[len];
}

/* One ring per CPU, as far as the limit of all rings allows; otherwise CPUs share rings. */
static uint32_t ring_count(const struct blackbox_opts *opts)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t rings = cpus < 1 ? 1 : (uint32_t)cpus;

	if (rings >= GT_RINGS_MAX)
		rings = GT_RINGS_MAX - 1;
	if (opts->bytes_max && opts->bytes_max / BLACKBOX_RING_MIN < rings)
		rings = (uint32_t)(opts->bytes_max / BLACKBOX_RING_MIN);
	return rings ? rings : 1;
}

/*
 * --ring-size is the size of each ring, --max-size that of all rings; without them all rings have
 * 16 MiB in total.
 */
static struct gt_abi_create describe(const struct blackbox_opts *opts)
{
	uint32_t rings = ring_count(opts);
	uint64_t most = (uint64_t)GT_SUBBUF_MAX * GT_SUBBUFS_MAX;
	uint64_t size = opts->recorder->ring_size;
	struct gt_abi_create want = { .flags = GT_SESSION_KEEP };

	if (opts->bytes_max) {
		size = opts->bytes_max / rings;
		size = power_of_two_below(size < most ? size : most);
	}
	if (!size)
		size = power_of_two_below(ALL_RINGS / rings);
	if (size < BLACKBOX_RING_MIN)
		size = BLACKBOX_RING_MIN;
	want.rings = rings;
	want.subbuf_size = (uint32_t)(size / SUBBUFS);
	if (want.subbuf_size < GT_SUBBUF_MIN)
		want.subbuf_size = GT_SUBBUF_MIN;
	if (want.subbuf_size > GT_SUBBUF_MAX)
		want.subbuf_size = GT_SUBBUF_MAX;
	want.subbufs = (uint32_t)(size / want.subbuf_size);
	want.stack_words = STACK_WORDS;
	want.timeout = opts->timeout;
	want.checkpoint_max = CHECKPOINT_MAX;
	memcpy(want.name, opts->name, strnlen(opts->name, sizeof(want.name) - 1));
	return want;
}

/* ---- checkpoints ---- */

static int write_checkpoint(struct blackbox *b, const struct snapshot *first,
			    const struct snapshot *second)
{
	const void *data;
	size_t size;
	int err = blackbox_writer__make(b->writer, kmod__memory(b->kmod), kmod__bytes(b->kmod),
					first, second, &data, &size);

	return err ? err : kmod__write_checkpoint(b->kmod, data, size, &b->why);
}

/* Writes a checkpoint without snapshots, for a window that starts at `t0`. */
static int write_header(struct blackbox *b, uint64_t t0)
{
	struct raw_header facts;
	int err;

	setup__facts(b->opts->recorder, b->probes, t0, &facts);
	blackbox_writer__destroy(b->writer);
	b->writer = NULL;
	err = blackbox_writer__create(&b->writer, &facts, &b->symbolizer);
	if (!err)
		err = write_checkpoint(b, NULL, NULL);
	return err && b->why.text[0] ? error__set(b->error, err, "%s", b->why.text) : err;
}

/*
 * Sets b->stopped if a signal ends the recording. Returns whether one has requested a snapshot.
 */
static bool handle_signals(struct blackbox *b)
{
	struct signalfd_siginfo info;
	bool requested = false;

	if (!b->flight.save) {
		b->stopped = true;
		return false;
	}
	while (read(b->sigfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGUSR1)
			b->stopped = true;
		else
			requested |= blackbox_flight__request(&b->flight, "signal",
							      "the user's request", clock__now());
	}
	return requested;
}

/* When to wake up: at `time`, or earlier for a snapshot. */
static uint64_t step_flight(struct blackbox *b, uint64_t time, uint64_t now)
{
	uint64_t next = b->flight.save ? blackbox_flight__step(&b->flight, now) : time;

	return next < time ? next : time;
}

/*
 * Waits until `time`; sets b->stopped if the recording must end. A request for a snapshot ends the
 * wait: its window must contain a checkpoint, even if the rings wrap around quickly.
 */
static void wait_until(struct blackbox *b, uint64_t time)
{
	const struct recorder_opts *recorder = b->opts->recorder;
	uint64_t end = b->stats->t0 + recorder->duration_ns, now, next;
	bool requested = false;
	struct pollfd fd[2] = {
		{ .fd = b->sigfd, .events = POLLIN },
		{ .fd = recorder->process->pidfd, .events = POLLIN },
	};

	if (recorder->duration_ns && end < time)
		time = end;
	while (!b->stopped && !requested && (now = clock__now()) < time) {
		next = step_flight(b, time, now);
		if (poll(fd, 2, (int)((next - now) / MS) + 1) <= 0)
			continue;
		if (fd[0].revents)
			requested = handle_signals(b);
		b->stats->exited = fd[1].revents != 0;
		b->stopped |= b->stats->exited;
	}
	if (recorder->duration_ns && clock__now() >= end)
		b->stopped = true;
}

static int read_snapshot(struct blackbox *b, const struct snapshot *before, struct snapshot *ret)
{
	struct snapshot_reading how = { .before = before };
	int err = snapshot__read(b->opts->recorder->process, b->opts->recorder->layout, &how, ret);

	if (err)
		log__debug("snapshot of the process: %s", strerror(-err));
	return err;
}

static bool is_over(struct blackbox *b)
{
	const struct process *proc = b->opts->recorder->process;

	if (process__is_same(proc))
		return false;
	if (process__was_replaced(proc))
		b->stats->replaced = true;
	else
		b->stats->exited = true;
	b->stopped = true;
	return true;
}

/* No probes are attached to plugins meanwhile: the rings are not read, so no record shows a new one in time. */
static void report_new_plugins(const struct blackbox *b)
{
	const struct recorder_opts *o = b->opts->recorder;
	const struct go_program program = { o->process, o->pclntab, o->layout, o->sites };
	size_t first = o->modules->n;

	if (modules__read(o->modules, &program, NULL) <= 0)
		return;
	for (size_t i = first; i < o->modules->n; i++)
		log__msg("not recorded: what the plugin %s executes: it was loaded during the "
			 "recording",
			 go_module__name(o->modules->module[i]));
}

/*
 * Writes no checkpoint if the process has ended or executed another program. A checkpoint for which
 * the module has no space does not end the recording: the previous ones still exist.
 */
static void take_checkpoint(struct blackbox *b)
{
	struct snapshot first, second;
	int err;

	if (is_over(b))
		return;
	report_new_plugins(b);
	if (read_snapshot(b, NULL, &first))
		return;
	usleep(SECOND_SNAPSHOT / 1000);
	if (!read_snapshot(b, &first, &second)) {
		err = is_over(b) ? -ESRCH : write_checkpoint(b, &first, &second);
		if (!err)
			b->stats->checkpoints++;
		else if (!b->stopped && !b->failed++)
			log__msg("cannot write a checkpoint: %s; the recording continues",
				 b->why.text[0] ? b->why.text : strerror(-err));
		snapshot__deinit(&second);
	}
	snapshot__deinit(&first);
}

/* ---- the loop ---- */

/* Bytes written to the busiest ring since the last call. */
static uint64_t most_bytes(struct blackbox *b)
{
	const struct gt_session_page *page = kmod__memory(b->kmod);
	const char *control = (const char *)page + page->control_offset;
	uint64_t most = 0;

	for (uint32_t i = 0; i < page->rings && i < GT_RINGS_MAX; i++) {
		const struct gt_ring_control *ring =
			(const void *)(control + i * page->control_stride);
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

		if (head - b->head[i] > most)
			most = head - b->head[i];
		b->head[i] = head;
	}
	return most;
}

/*
 * Time until the next checkpoint. One that is older than the window is less useful, so several are
 * written in the time in which the rings wrap around, as far as SHARE permits.
 */
static uint64_t interval(struct blackbox *b, uint64_t cost)
{
	const struct gt_session_page *page = kmod__memory(b->kmod);
	uint64_t now = clock__now();
	double bytes = (double)most_bytes(b), all = (double)page->subbufs * page->subbuf_size;
	uint64_t ns = INTERVAL;

	if (bytes > 0 && b->head_time && all / bytes * (double)(now - b->head_time) < 4 * INTERVAL)
		ns = (uint64_t)(all / bytes * (double)(now - b->head_time) / 4);
	if (ns < INTERVAL_MIN)
		ns = INTERVAL_MIN;
	b->head_time = now;
	return ns > cost * SHARE ? ns : cost * SHARE;
}

static void loop(struct blackbox *b)
{
	uint64_t cpu, begin;

	while (!b->stopped) {
		begin = clock__now();
		cpu = clock__cpu();
		take_checkpoint(b);
		if (!b->stopped)
			wait_until(b, begin + interval(b, clock__cpu() - cpu));
	}
	take_checkpoint(b); /* of the final state, if the process still exists */
}

/* ---- begin and end ---- */

static int begin(struct blackbox *b)
{
	const struct recorder_opts *recorder = b->opts->recorder;
	int err;

	b->csymbols = setup__symbols(recorder, &b->symbolizer, &b->plugin_symbols);
	err = write_header(b, BLACKBOX_NOT_BEGUN);
	if (!err)
		err = setup__attach(recorder, b->probes, NULL, b->error);
	if (err)
		return err;
	privilege__drop(PRIVILEGE_READ | b->opts->privilege);
	privilege__forbid_calls(b->opts->privilege);
	b->stats->t0 = clock__now();
	err = write_header(b, b->stats->t0);
	if (!err)
		err = b->opts->on_started(b->opts->ctx);
	return err;
}

static bool save(void *ctx, const struct flight_cause *cause)
{
	struct blackbox *b = ctx;

	return b->opts->flight.save(b->opts->ctx, b->kmod, &b->symbolizer, cause);
}

static int open_signals(struct blackbox *b)
{
	int err;

	b->sigfd = setup__signals(b->error);
	if (b->sigfd < 0)
		return b->sigfd;
	if (!b->opts->flight.save)
		return 0;
	b->flight = (struct blackbox_flight){
		.tail_ns = b->opts->flight.tail_ns,
		.save = save,
		.ctx = b,
	};
	err = setup__snapshot_signal(b->sigfd, b->error);
	if (err)
		close(b->sigfd);
	return err;
}

/*
 * The buffer is frozen. A flight recorder that was stopped leaves nothing behind, as without the
 * module, unless its last snapshot is still only in the buffer.
 */
static int end_flight(struct blackbox *b)
{
	struct blackbox_stats *stats = b->stats;

	if (stats->exited || stats->replaced)
		blackbox_flight__request(&b->flight, "exit",
					 stats->replaced ? "another program in the process" :
							   "the end of the process",
					 stats->t1);
	stats->released = blackbox_flight__end(&b->flight);
	stats->snapshots = b->flight.written;
	stats->failed_snapshots = b->flight.failed;
	return stats->released ? kmod__release(b->kmod, b->error) : 0;
}

static int open_all(struct blackbox *b)
{
	struct gt_abi_create want = describe(b->opts);
	struct probes_opts probes = setup__probes(b->opts->recorder, 0);
	struct hits *trap = NULL;
	int err = kmod__open(&b->kmod, b->error);

	if (!err)
		err = kmod__create(b->kmod, &want, b->error);
	if (err)
		return err;
	b->stats->memory = want.bytes;
	probes.session = want.id;
	if (probes.derives)
		setup__measure(&probes, &trap);
	err = probes__open(&b->probes, &probes, b->error);
	if (!err)
		setup__plugins(b->opts->recorder, b->probes, 0, false, NULL);
	if (!err)
		err = begin(b);
	hits__destroy(trap); /* takes as long as the detachment of a probe */
	if (err) {	     /* the buffer is empty */
		kmod__release(b->kmod, NULL);
		return err;
	}
	loop(b);
	setup__libraries(b->opts->recorder);
	b->stats->t1 = clock__now();
	err = kmod__freeze(b->kmod, b->error);
	return err || !b->flight.save ? err : end_flight(b);
}

int blackbox__record(const struct blackbox_opts *opts, struct blackbox_stats *ret,
		     struct error *error)
{
	struct blackbox b = { .opts = opts, .stats = ret, .error = error };
	int err;

	err = open_signals(&b);
	if (err)
		return err;
	err = open_all(&b);
	probes__destroy(b.probes);
	blackbox_writer__destroy(b.writer);
	csymbols__destroy(b.csymbols);
	free(b.plugin_symbols);
	kmod__close(b.kmod);
	close(b.sigfd);
	return err ? error__set(error, err, "cannot record: %s", strerror(-err)) : 0;
}
