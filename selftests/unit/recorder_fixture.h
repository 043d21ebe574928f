/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that recorder.c calls, in addition to the machine of fake_recording.h: rings, a
 * sink and losses. A record leaves its ring at the first drain after its time.
 */
#ifndef UNIT_RECORDER_FIXTURE_H
#define UNIT_RECORDER_FIXTURE_H

#include <sys/resource.h>

#include "unit/test.h"
#include "unit/fake_recording.h"

#include "capture/cycle.h"
#include "capture/drain.h"
#include "capture/labels.h"
#include "capture/launch.h"
#include "budget/memory.h"
#include "capture/recorder.h"
#include "capture/resync.h"

#define T0 (5100 * MS) /* opening takes 30 ms, attaching 70 */

static struct {
	/* rings */
	struct gt_record record[4];
	size_t n, next;
	drain_fn fn;
	void *ctx;
	uint64_t lag;	   /* watermark behind the clock, ns */
	uint64_t stuck;	   /* the watermark never exceeds this */
	bool detach_frees; /* the probes' end submits what is stuck */
	unsigned int fill;
	unsigned int heap_changes; /* records of each drain, until they are sampled */
	bool samples_heap;
	uint64_t drain_fails;	   /* from this time on; NEVER */
	uint64_t drained, longest; /* time of the last; longest time between two */
	/* losses */
	struct gt_counters counters;
	unsigned int reports;
	int report_error;
	uint64_t losses; /* sequencer__losses() */
	uint64_t recovered_at, recovered_mark;
	unsigned int steps;
	int step_error;
	/* the sink */
	struct writer_stats written;
	uint64_t watermark, watermarks, t1, began;
	uint64_t recorded_at; /* the latest change of the event sets */
	int start_error, begin_error, create_error;
	uint64_t lost[GT_KIND_END];
	uint64_t given[2], given_at, given_after; /* the snapshots; watermark before them */
	unsigned int host_clocks;
	uint64_t sample_period, throttles; /* 0: the sink has none */
	int committed;			   /* result of the commit; 1: none */
	bool folder, gives;
	/* a budget */
	unsigned int busy; /* records of each drain while probes are attached */
	uint64_t flood;	   /* from this time on a drain does not end, 10 us a record; NEVER */
	int raises;	   /* a signal, then; 0: none */
	bool suspended;
	int resume_error;	   /* of the attach after a pause */
	unsigned int paused_steps; /* of resync in a pause */
	/* windows of a duty cycle */
	struct window {
		uint64_t t0, t1;
	} window[16];
	unsigned int windows; /* complete ones */
	unsigned int fulls;   /* so often the disk is too slow */
	uint64_t clock_set;   /* when CLOCK_REALTIME is set, by clock_step */
	uint64_t clock_step;
	bool paused;
	int reset_error;
	uint64_t replaced_at; /* NEVER: by no other program */
	/* live checks of the layout */
	unsigned int checks;
	int check_error;
	uint64_t fits_at; /* when it begins to succeed */
	/* forwarded signals */
	int killed[4];
	unsigned int nkilled;

	uint64_t middle_memory, end_memory;
	struct process process;
	struct layout layout;
	struct launch launch;
	struct site_list sites;
	struct go_modules modules;
	struct recorder_opts opts;
	struct recorder_stats stats;
	struct error err;
} t;

/* ---- what recorder.c calls ---- */

int setpriority(__priority_which_t which, id_t who, int value)
{
	assert_int_equal(which, PRIO_PROCESS);
	assert_int_equal(who, 0);
	note("nice%d", value);
	return 0;
}

int kill(pid_t pid, int signo)
{
	assert_int_equal(pid, t.launch.pid);
	t.killed[t.nkilled++] = signo;
	return 0;
}

int drain__create(struct drain **ret, const struct probes *probes, struct inline_probes *inl,
		  drain_fn fn, void *ctx)
{
	t.fn = fn;
	t.ctx = ctx;
	return 0;
}

STUB_VOID(drain__destroy, (struct drain *))

int drain__run(struct drain *d, uint64_t *ret_watermark)
{
	int n = 0, code = 0;

	if (t.drained && fake.now - t.drained > t.longest)
		t.longest = fake.now - t.drained;
	t.drained = fake.now;
	if (fake.now >= t.drain_fails) {
		*ret_watermark = NEVER;
		return -EIO;
	}
	for (unsigned int i = 0; i < t.heap_changes && !t.samples_heap; i++)
		t.fn(t.ctx, 3, &(struct gt_record){ .time = fake.now, .kind = GT_HEAP_ALLOC }, 40);
	for (unsigned int i = 0; i < t.busy && !t.suspended; i++, n++)
		t.fn(t.ctx, 3, &(struct gt_record){ .time = fake.now, .kind = GT_READY }, 40);
	for (; !code && t.next < t.n && t.record[t.next].time <= fake.now; n++) {
		const struct gt_record *rec = &t.record[t.next++];

		code = t.fn(t.ctx, 3, rec, 40);
	}
	for (; !code && fake.now >= t.flood; n++) {
		if (t.raises)
			raise(t.raises);
		t.raises = 0;
		fake.now += MS / 100;
		code = t.fn(t.ctx, 3, &(struct gt_record){ .time = fake.now }, 40);
	}
	if (code)
		return code;
	*ret_watermark = fake.now - t.lag < t.stuck ? fake.now - t.lag : t.stuck;
	return n;
}

STUB(unsigned int, drain__fill, (const struct drain *), t.fill)

int launch__release(struct launch *l, struct error *err)
{
	note("release");
	return 0;
}

void memory__begin(void)
{
	note("memory");
}

/* Memory in use: 100 and 50 for each snapshot; another value in the middle and at the end. */
void memory__sample(uint64_t *peak)
{
	uint64_t held = t.t1 ? t.end_memory : 100 + 50 * fake.alive;

	if (fake.now >= T0 + 300 * MS && fake.now < T0 + 500 * MS)
		held = t.middle_memory;
	if (*peak < held)
		*peak = held;
}

void memory__peak(uint64_t *peak)
{
	*peak += 10;
}

int process__check_layout(const struct process *proc, const struct layout *layout,
			  struct error *err)
{
	t.checks++;
	if (fake.now >= t.fits_at)
		return 0;
	return error__set(err, t.check_error, "the layout does not fit");
}

struct resync *resync__create(const struct process *process, const struct layout *layout)
{
	return (struct resync *)&t;
}

STUB_VOID(resync__destroy, (struct resync *))

int resync__step(struct resync *r, uint64_t now, uint64_t watermark, struct sink *sink)
{
	t.steps++;
	t.paused_steps += t.suspended;
	t.recovered_at = now;
	t.recovered_mark = watermark;
	return t.step_error;
}

void starvation__init(struct starvation *s)
{
	*s = (struct starvation){ .fd = -1 };
}

STUB_VOID(starvation__deinit, (struct starvation *))

void starvation__drain(struct starvation *s, uint64_t now)
{
	s->drained = now;
}

void starvation__losses(struct starvation *s, uint64_t now, uint64_t count)
{
	s->counted = count;
}

int probes__counters(const struct probes *s, struct gt_counters *ret)
{
	t.reports++;
	*ret = t.counters;
	return t.report_error;
}

bool probes__sample_heap(struct probes *p)
{
	note("sample");
	t.samples_heap = true;
	return true;
}

STUB(bool, probes__has_kernel, (const struct probes *), fake.kernel)

void probes__select(struct probes *p, unsigned int sets)
{
	note("select%x", sets);
	t.suspended = false; /* to be attached next */
}

int probes__add(struct probes *p, unsigned int sets, struct error *error)
{
	note("add%x", sets);
	return 0;
}

int probes__suspend(struct probes *p)
{
	note("suspend");
	t.suspended = true;
	fake.attach_error = t.resume_error;
	fake.now += 80 * MS;
	return 0;
}

STUB(int, probes__present, (const struct probes *), 0)

int sink__recorded(struct sink *s, uint64_t time, const struct gt_recorded *recorded)
{
	assert_true(time > t.watermark);
	t.recorded_at = time;
	note("recorded%x", recorded->sets);
	return 0;
}

void probes__detach(struct probes *s)
{
	note("detach");
	if (t.detach_frees)
		t.stuck = NEVER;
}

STUB(bool, probes__kfuncs, (const struct probes *), true)
STUB(bool, probes__multi, (const struct probes *), true)
STUB(unsigned int, probes__rings, (const struct probes *), 4)
STUB(uint64_t, probes__ring_bytes, (const struct probes *), 4 << 20)
STUB(uint64_t, probes__memory, (const struct probes *), 1000)

int sink__open(struct sink **ret, const struct sink_opts *opts, struct error *err)
{
	assert_int_equal(opts->stop_fd, fake.pipe[0]);
	fake.now += 5 * MS;
	t.opts.started += 5 * MS; /* so that the probes are still active at T0 */
	return 0;
}

STUB_VOID(sink__destroy, (struct sink *))
STUB(bool, sink__in_folder_of_other, (const struct sink *), t.folder)
STUB(bool, sink__gives_files, (const struct sink *), t.gives)

int sink__create_sequencer(struct sink *s, const struct layout *layout,
			   const struct symbolizer *symbolizer, const struct private_meta *meta)
{
	t.paused = false;
	assert_string_equal(meta->command, "./prog -x");
	assert_int_equal(meta->command_len, 9);
	assert_string_equal(meta->build_id, "b");
	assert_string_equal(meta->go_version, "go1.24");
	return t.create_error;
}

struct sequencer *sink__sequencer(struct sink *s)
{
	return t.paused ? NULL : (struct sequencer *)&t;
}

void sink__pause(struct sink *s)
{
	note("pause");
	t.window[t.windows % 16] = (struct window){ .t0 = t.began, .t1 = t.t1 };
	t.windows++;
	t.paused = true;
}

bool sink__is_full(const struct sink *s)
{
	return t.fulls && t.fulls--;
}

int probes__reset(struct probes *s)
{
	note("reset");
	return t.reset_error;
}

STUB(bool, process__is_same, (const struct process *), fake.now < t.replaced_at)

uint64_t cycle__next(const struct cycle_opts *opts, uint64_t first, uint64_t earliest)
{
	uint64_t at = opts->is_aligned ? 0 : first;

	if (opts->is_aligned && fake.now >= t.clock_set)
		at += t.clock_step;
	while (at < earliest)
		at += opts->period_ns;
	return at;
}

int cycle__open_timer(const struct cycle_opts *opts)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The next poll() ends when the clock is set, if that is earlier. */
int cycle__set_timer(int fd, const struct cycle_opts *opts, uint64_t at)
{
	bool is_set = opts->is_aligned && fake.now < t.clock_set && at > t.clock_set;

	fake.timer = is_set ? t.clock_set : at;
	return 0;
}

STUB(bool, cycle__clock_was_set, (int), fake.now == t.clock_set)
STUB(const struct writer_stats *, sink__written, (const struct sink *), &t.written)

bool sink__window(const struct sink *s, struct window_part *ret)
{
	*ret = (struct window_part){ T0, T0 + 9 * MS, 10, 11 };
	return true;
}

STUB(uint64_t, sink__causes, (const struct sink *), 12)
STUB(uint64_t, sink__snapshots, (const struct sink *), 13)

int sink__start(struct sink *s, const struct raw_header *facts)
{
	t.began = facts->t0;
	if (facts->flags & RAW_NO_KERNEL)
		note("no_kernel");
	return t.start_error;
}

int sink__record(struct sink *s, unsigned int ring, const struct gt_record *rec, size_t size)
{
	assert_int_equal(ring, 3);
	assert_int_equal(size, 40);
	if (!t.busy && fake.now < t.flood) /* they are too many */
		note("record%d", rec->kind);
	return 0;
}

int sink__watermark(struct sink *s, uint64_t time)
{
	assert_true(time > t.watermark);
	t.watermark = time;
	t.watermarks++;
	return 0;
}

int sink__snapshot(struct sink *s, struct snapshot *first, struct snapshot *second)
{
	note("give%d%d", first != NULL, second != NULL);
	t.given_at = fake.now;
	t.given_after = t.watermark;
	t.given[0] = first ? first->time : 0;
	t.given[1] = second ? second->time : 0;
	return 0;
}

int sink__lost(struct sink *s, unsigned int kind, uint64_t count)
{
	t.lost[kind] = count;
	return 0;
}

STUB(int, sink__name, (struct sink *, size_t, const char *), 0)

int labels__read_present(const struct recorder_opts *opts, const struct snapshot *snap,
			 int (*between)(void *), void *ctx, struct sink *sink)
{
	return 0;
}

STUB(int, modules__read, (struct go_modules *, const struct go_program *, struct error *), 0)
STUB(const char *, go_module__path, (const struct go_module *), "plugin.so")
STUB(int, sink__plugin_mapped, (struct sink *, uint64_t), 0)
STUB(int, sink__plugin, (struct sink *, uint64_t, const struct gt_plugin *, const char *), 0)
STUB(int, sink__plugins_probed, (struct sink *, uint64_t, uint64_t), 0)
STUB(int, setup__snapshot_signal, (int, struct error *), 0)
STUB(bool, sink__request, (struct sink *, const struct flight_cause *), false)
STUB(int, sink__save_due, (struct sink *, uint64_t), 0)

int sink__host_clock(struct sink *s, const struct private_host_clock *clock)
{
	assert_true(clock->synchronized);
	assert_int_equal(clock->max_error, 5000);
	assert_int_equal(clock->error, 2000);
	assert_int_equal(clock->shift, 3);
	t.host_clocks++;
	return 0;
}

void probes__throttled(struct probes *p, struct private_cpu_samples *ret)
{
	ret->throttles = 1;
	ret->throttled_ns = 500;
}

int sink__cpu_samples(struct sink *s, const struct private_cpu_samples *taken)
{
	t.sample_period = taken->period_ns;
	t.throttles += taken->throttles;
	return 0;
}

int sink__clock_error(struct sink *s, uint64_t ns)
{
	note("clock");
	return 0;
}

int sink__finish(struct sink *s, uint64_t t1)
{
	note("finish");
	assert_int_equal(fake.alive, 0); /* the memory of snapshots has been released */
	t.t1 = t1;
	return 0;
}

int sink__commit(struct sink *s, int code, struct error *err)
{
	note("commit");
	t.committed = code;
	return code;
}

STUB(uint64_t, sequencer__losses, (const struct sequencer *), t.losses)

bool sequencer__is_ready(const struct sequencer *s)
{
	return t.given_at && t.watermark > t.given_at;
}

const struct sequencer_stats *sequencer__stats(const struct sequencer *s)
{
	static const struct sequencer_stats stats = { .corrected = 5 };

	return &stats;
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	fake_begin();
	memset(&t, 0, sizeof(t));
	t.written.events = 6;
	fake.now -= 5 * MS;
	fake.cpu = 77;
	t.lag = MS;
	t.flood = t.stuck = t.drain_fails = t.clock_set = t.replaced_at = NEVER;
	t.committed = 1;
	t.process = (struct process){ .pid = 42, .pidfd = FAKE_PIDFD, .cmdline = "./prog -x" };
	memcpy(t.layout.version.text, "go1.24", 7);
	t.launch = (struct launch){ .pid = 42 };
	t.opts = (struct recorder_opts){ .duration_ns = 1000 * MS,
					 .started = 4990 * MS,
					 .process = &t.process,
					 .layout = &t.layout,
					 .sites = &t.sites,
					 .modules = &t.modules,
					 .sink.path = "/dev/null" };
	return 0;
}

static int tear_down(void **state)
{
	fake_end();
	return 0;
}

static inline int run(void)
{
	return recorder__run(&t.opts, &t.stats, &t.err);
}

__attribute__((unused)) static void add(uint64_t time, unsigned int kind)
{
	t.record[t.n++] = (struct gt_record){ .time = time, .kind = (uint16_t)kind };
}

#endif
