// SPDX-License-Identifier: GPL-2.0
/*
 * A recording from its first probe to its end: what is done when, and for which reasons it stops. The
 * machine is fake_recording.h's; rings, sink and losses are made here: a record comes out of its ring at
 * the first drain after its time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fake_recording.h"

#include "capture/drain.h"
#include "capture/launch.h"
#include "capture/memory.h"
#include "capture/recorder.h"
#include "capture/recovery.h"

#define T0 (5100 * MS) /* opening takes 30 ms, attaching 70 */

static struct {
	/* rings */
	struct gt_record record[4];
	size_t n, next;
	drain_fn fn;
	void *ctx;
	uint64_t lag;	/* of the watermark behind the clock */
	uint64_t stuck; /* the watermark never passes this */
	unsigned int fill;
	uint64_t drain_fails; /* from then on; NEVER */
	uint64_t drained, longest; /* when last; between two drains at most */
	/* losses */
	struct gt_counters counters;
	unsigned int reports;
	int report_error;
	uint64_t losses; /* sequencer__losses() */
	uint64_t recovered_at, recovered_mark;
	unsigned int steps;
	int step_error;
	/* the sink */
	uint64_t watermark, watermarks, t1, began;
	int start_error, begin_error, create_error;
	uint64_t lost[GT_KIND_END];
	uint64_t given_at, given_after; /* the snapshots; the watermark before */
	int committed; /* with this code; 1: never */
	bool folder;
	/* live checks of the layout */
	unsigned int checks;
	int check_error;
	uint64_t fits_at; /* from when on it passes */
	/* signals that were passed on */
	int killed[4];
	unsigned int nkilled;

	struct process process;
	struct layout layout;
	struct launch launch;
	struct recorder_opts opts;
	struct recorder_stats stats;
	struct error err;
} t;

/* ---- what recorder.c calls ---- */

int setpriority(__priority_which_t which, id_t who, int value)
{
	return 0;
}

int kill(pid_t pid, int signo)
{
	assert_int_equal(pid, t.launch.pid);
	t.killed[t.nkilled++] = signo;
	return 0;
}

int drain__create(struct drain **ret, const struct session *session, drain_fn fn, void *ctx)
{
	t.fn = fn;
	t.ctx = ctx;
	return 0;
}

void drain__destroy(struct drain *d)
{
}

int drain__run(struct drain *d, uint64_t *ret_watermark)
{
	int n = 0, code = 0;

	if (t.drained && fake.now - t.drained > t.longest)
		t.longest = fake.now - t.drained;
	t.drained = fake.now;
	if (fake.now >= t.drain_fails)
		return -EIO;
	for (; !code && t.next < t.n && t.record[t.next].time <= fake.now; n++) {
		const struct gt_record *rec = &t.record[t.next++];

		code = t.fn(t.ctx, 3, rec, 40);
	}
	*ret_watermark = fake.now - t.lag < t.stuck ? fake.now - t.lag : t.stuck;
	return code ? code : n;
}

unsigned int drain__fill(const struct drain *d)
{
	return t.fill;
}

int launch__release(struct launch *l, struct error *err)
{
	note("release");
	return 0;
}

void memory__begin(void)
{
}

void memory__sample(uint64_t *peak)
{
	if (*peak < 100)
		*peak = 100;
}

void memory__peak(uint64_t *peak)
{
	*peak += 10;
}

int process__check_layout(const struct process *proc, const struct layout *layout, struct error *err)
{
	t.checks++;
	if (fake.now >= t.fits_at)
		return 0;
	return error__set(err, t.check_error, "the layout does not fit");
}

struct recovery *recovery__create(const struct process *process, const struct layout *layout)
{
	return (struct recovery *)&t;
}

void recovery__destroy(struct recovery *r)
{
}

int recovery__step(struct recovery *r, uint64_t now, uint64_t watermark, struct sink *sink)
{
	t.steps++;
	t.recovered_at = now;
	t.recovered_mark = watermark;
	return t.step_error;
}

void starvation__init(struct starvation *s)
{
	*s = (struct starvation){ .fd = -1 };
}

void starvation__deinit(struct starvation *s)
{
}

void starvation__drain(struct starvation *s, uint64_t now)
{
	s->drained = now;
}

void starvation__losses(struct starvation *s, uint64_t now, uint64_t count)
{
	s->counted = count;
}

int session__counters(const struct session *s, struct gt_counters *ret)
{
	t.reports++;
	*ret = t.counters;
	return t.report_error;
}

void session__detach(struct session *s)
{
	note("detach");
}

bool session__has_kernel(const struct session *s)
{
	return false;
}

bool session__kfuncs(const struct session *s)
{
	return true;
}

bool session__multi(const struct session *s)
{
	return true;
}

unsigned int session__rings(const struct session *s)
{
	return 4;
}

uint64_t session__ring_bytes(const struct session *s)
{
	return 4 << 20;
}

uint64_t session__memory(const struct session *s)
{
	return 1000;
}

int sink__open(struct sink **ret, const struct sink_opts *opts, struct error *err)
{
	assert_int_equal(opts->stop_fd, fake.pipe[0]);
	fake.now += 5 * MS;
	t.opts.started += 5 * MS; /* so that the probes are still live at T0 */
	return 0;
}

void sink__destroy(struct sink *s)
{
}

bool sink__in_folder_of_other(const struct sink *s)
{
	return t.folder;
}

int sink__create_sequencer(struct sink *s, const struct layout *layout,
			   const struct symbolizer *symbolizer, const struct private_meta *meta)
{
	assert_string_equal(meta->command, "./prog -x");
	assert_int_equal(meta->command_len, 9);
	assert_string_equal(meta->build_id, "b1");
	assert_string_equal(meta->go_version, "go1.24");
	return t.create_error;
}

struct sequencer *sink__sequencer(struct sink *s)
{
	return (struct sequencer *)&t;
}

const struct writer_stats *sink__written(const struct sink *s)
{
	static const struct writer_stats stats = {};

	return &stats;
}

int sink__start(struct sink *s, const struct raw_header *facts)
{
	t.began = facts->t0;
	return t.start_error;
}

int sink__record(struct sink *s, unsigned int ring, const struct gt_record *rec, size_t size)
{
	assert_int_equal(ring, 3);
	assert_int_equal(size, 40);
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
	return 0;
}

int sink__lost(struct sink *s, unsigned int kind, uint64_t count)
{
	t.lost[kind] = count;
	return 0;
}

int sink__finish(struct sink *s, uint64_t t1)
{
	note("finish");
	t.t1 = t1;
	return 0;
}

int sink__commit(struct sink *s, int code, struct error *err)
{
	note("commit");
	t.committed = code;
	return code;
}

uint64_t sequencer__losses(const struct sequencer *s)
{
	return t.losses;
}

bool sequencer__is_ready(const struct sequencer *s)
{
	return t.given_at && t.watermark > t.given_at;
}

void sequencer__no_kernel(struct sequencer *s)
{
	note("no_kernel");
}

const struct sequencer_stats *sequencer__stats(const struct sequencer *s)
{
	static const struct sequencer_stats stats = {};

	return &stats;
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	fake_begin();
	memset(&t, 0, sizeof(t));
	fake.now -= 5 * MS;
	fake.cpu = 77;
	t.lag = MS;
	t.stuck = t.drain_fails = NEVER;
	t.committed = 1;
	t.process = (struct process){ .pid = 42, .pidfd = 1, .cmdline = "./prog -x" };
	memcpy(t.layout.version.text, "go1.24", 7);
	t.launch = (struct launch){ .pid = 42 };
	t.opts = (struct recorder_opts){ .duration_ns = 1000 * MS,
					 .started = 4990 * MS,
					 .process = &t.process,
					 .layout = &t.layout,
					 .sink.path = "/dev/null" };
	return 0;
}

static int tear_down(void **state)
{
	fake_end();
	assert_int_equal(fake.alive, 0); /* each snapshot is released, once */
	return 0;
}

static int run(void)
{
	return recorder__run(&t.opts, &t.stats, &t.err);
}

static void add(uint64_t time, unsigned int kind)
{
	t.record[t.n++] = (struct gt_record){ .time = time, .kind = (uint16_t)kind };
}

/* ---- tests ---- */

static void for_a_duration(void **state)
{
	add(T0 - 1, GT_PARK);
	add(T0 + 300 * MS, GT_EXECUTE);
	add(T0 + 300 * MS, GT_KIND_END); /* a kind that is not known is only handed on */
	assert_int_equal(run(), 0);
	assert_int_equal(t.began, T0);
	assert_int_equal(t.t1, T0 + 1000 * MS);
	assert_int_equal(t.committed, 0);
	assert_true(t.watermark >= t.t1);
	assert_in_range(t.longest, 10 * MS, 11 * MS);
	assert_int_equal(t.stats.t0, T0);
	assert_int_equal(t.stats.attach_ns, T0 - t.opts.started);
	assert_int_equal(t.stats.load_ns, 30 * MS);
	assert_int_equal(t.stats.missed_ns, 0);
	assert_int_equal(t.stats.records[GT_PARK], 1);
	assert_int_equal(t.stats.records[GT_EXECUTE], 1);
	assert_int_equal(noted("record"), 3);
	assert_int_equal(t.stats.rings, 4);
	assert_int_equal(t.stats.ring_bytes, 4 << 20);
	assert_int_equal(t.stats.peak_memory, 1110);
	assert_int_equal(t.stats.cpu_ns, 77);
	assert_true(t.stats.multi && t.stats.kfuncs);
	assert_int_equal(noted("no_kernel"), 1);
	assert_int_equal(noted("detach destroy"), 0);
	assert_non_null(strstr(fake.text, "detach finish commit destroy"));
}

/* From how far the analysis came, and what the live checks took of it. */
static void times_before(void **state)
{
	t.opts.started = 4900 * MS;
	t.opts.checks_ns = 20 * MS;
	t.opts.exec_time = 4800 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.stats.checks_ns, 20 * MS);
	assert_int_equal(t.stats.analysis_ns, 4995 * MS - t.opts.started + 5 * MS - 20 * MS);
	assert_int_equal(t.stats.load_ns, 30 * MS);
	assert_int_equal(t.stats.missed_ns, T0 - 4800 * MS);
}

static void two_snapshots(void **state)
{
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(fake.read_at[0], T0);
	assert_in_range(fake.read_at[1], T0 + 40 * MS, T0 + 50 * MS);
	assert_null(fake.before[0]);
	assert_non_null(fake.before[1]);
	assert_int_equal(noted("give11"), 1);
	assert_int_equal(noted("give"), 1);
	assert_true(t.given_after > fake.read_at[1] + MS);
	assert_int_equal(t.stats.snapshot_ns[0], MS);
	assert_int_equal(t.stats.snapshot_ns[1], MS);
	assert_in_range(t.stats.initial_ns, t.given_at - T0, t.given_at - T0 + 20 * MS);
}

/* The second one is not read a nanosecond before its time, but at it. */
static void second_at_its_time(void **state)
{
	fake.takes = 10 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.read_at[1], T0 + 40 * MS);
}

static void not_given_before_a_drain(void **state)
{
	t.stuck = T0 + 40 * MS + MS; /* just the end of the second */
	fake.takes = MS;
	add(T0, GT_PARK);
	fake.signalled = T0 + 300 * MS;
	t.opts.duration_ns = 0;
	assert_int_equal(run(), 0);
	assert_true(t.given_at >= fake.signalled); /* at the end at the latest */
}

static void snapshot_fails(void **state)
{
	fake.read_error[0] = -EPERM;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 3); /* at once, and once more in the loop */
	assert_int_equal(noted("give11"), 1);
	fake_end();

	set_up(NULL);
	fake.read_error[0] = fake.read_error[1] = -EPERM;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(noted("give00"), 1);
	assert_int_equal(noted("give"), 1);
	fake_end();

	set_up(NULL);
	fake.read_error[1] = -EPERM;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(noted("give10"), 1);
	assert_int_equal(noted("give"), 1);
}

static void stopped_by_signal(void **state)
{
	t.opts.duration_ns = 0;
	fake.signalled = T0 + 123 * MS + 5;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, fake.signalled);
	assert_int_equal(t.committed, 0);
	assert_int_equal(t.nkilled, 0);
}

static void stopped_by_exit(void **state)
{
	t.opts.duration_ns = 0;
	fake.exits = T0 + 20 * MS; /* before the second snapshot */
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, fake.exits);
	assert_int_equal(fake.reads, 1);
	assert_int_equal(noted("give10"), 1);
	assert_int_equal(t.steps, 0);
}

/* What a terminal sends reaches the command by itself, what the kernel sends is for the recorder. */
static void passes_signals_on(void **state)
{
	t.opts.launch = &t.launch;
	t.opts.duration_ns = 0;
	fake.signalled = T0 + 5 * MS;
	assert_int_equal(pipe2(fake.pipe, O_NONBLOCK), 0);
	fake_signal(SIGINT, SI_KERNEL, 9);
	fake_signal(SIGTERM, SI_USER, 0);
	fake_signal(SIGHUP, SI_USER, 9);
	assert_int_equal(run(), 0);
	assert_int_equal(t.nkilled, 1);
	assert_int_equal(t.killed[0], SIGHUP);
	fake_end();

	set_up(NULL);
	t.opts.duration_ns = 0;
	fake.signalled = T0 + 5 * MS;
	assert_int_equal(pipe2(fake.pipe, O_NONBLOCK), 0);
	fake_signal(SIGHUP, SI_USER, 9);
	assert_int_equal(run(), 0);
	assert_int_equal(t.nkilled, 0); /* one that runs gets nothing */
}

static void stopped_by_exec(void **state)
{
	add(T0 + 200 * MS, GT_EXEC);
	add(T0 + 200 * MS, GT_PARK);
	add(T0 + 200 * MS + 1, GT_EXEC);
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 200 * MS); /* the first one's */
	assert_true(t.watermark < T0 + 200 * MS);
	assert_int_equal(noted("record"), 3);
	assert_in_range(fake.now, T0 + 200 * MS, T0 + 210 * MS);
}

/* It is found when the rings are drained to the end. */
static void exec_at_the_end(void **state)
{
	t.lag = 3 * MS;
	t.opts.duration_ns = 100 * MS;
	add(T0 + 102 * MS, GT_PARK);
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 100 * MS);
	assert_true(t.watermark >= t.t1 && t.watermark < t.t1 + MS);
	fake_end();

	set_up(NULL);
	t.lag = 3 * MS;
	t.opts.duration_ns = 100 * MS;
	add(T0 + 100 * MS + 1, GT_EXEC);
	t.record[0].time = T0 + 100 * MS + 1;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 100 * MS + 1);
}

static void exec_before_the_window(void **state)
{
	add(T0, GT_EXEC);
	assert_int_equal(run(), -ESRCH);
	assert_string_equal(t.err.text, "replaced");
	assert_int_equal(noted("commit"), 0);
	assert_int_equal(noted("detach"), 1);
	fake_end();

	set_up(NULL);
	add(T0 + 1, GT_EXEC);
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 1);
}

/* A thread that was stopped within a record may never write it: two seconds are waited. */
static void patience_at_the_end(void **state)
{
	t.stuck = T0 + 500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 1000 * MS);
	assert_in_range(fake.now, t.t1 + 2000 * MS + 1, t.t1 + 2001 * MS);
	assert_int_equal(t.committed, 0);
}

static void pauses(void **state)
{
	t.opts.duration_ns = 105 * MS + MS / 2;
	add(T0 + 10 * MS, GT_PARK);
	assert_int_equal(run(), 0);
	assert_non_null(strstr(fake.text, "poll10 record")); /* after a drain with records: 5 ms */
	assert_non_null(strstr(strstr(fake.text, "record"), " poll5 poll10"));
	assert_int_equal(noted("poll5"), 1);
	assert_true(t.t1 >= T0 + t.opts.duration_ns);
	assert_true(t.t1 < T0 + t.opts.duration_ns + MS);
	fake_end();

	set_up(NULL);
	t.opts.duration_ns = 0;
	t.fill = 25;
	fake.signalled = T0 + 100 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("poll0"), 0);
	fake_end();

	set_up(NULL);
	t.fill = 26; /* it must not overflow */
	fake.signalled = T0;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("poll0"), 1);
}

static void drain_fails(void **state)
{
	t.drain_fails = T0 + 100 * MS;
	assert_int_equal(run(), -EIO);
	assert_int_equal(t.committed, -EIO);
	assert_int_equal(noted("finish"), 0);
	assert_non_null(strstr(fake.text, "detach commit"));
	assert_string_equal(t.err.text, "cannot record: Input/output error");
	fake_end();

	set_up(NULL); /* in the midst of the first snapshot, and of the second */
	t.drain_fails = T0;
	assert_int_equal(run(), -EIO);
	assert_int_equal(noted("poll"), 0);
	assert_int_equal(noted("give"), 0);
	fake_end();

	set_up(NULL);
	fake.takes = 10 * MS;
	t.drain_fails = T0 + 41 * MS;
	assert_int_equal(run(), -EIO);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(noted("give"), 0);
	fake_end();

	set_up(NULL);
	t.drain_fails = T0 + 1000 * MS;
	t.opts.duration_ns = 999 * MS;
	t.lag = 2 * MS;
	assert_int_equal(run(), -EIO);
	assert_int_equal(noted("finish"), 0);
	assert_int_equal(t.committed, -EIO);
}

/* The counters, every 200 ms and at the end; each kind that lost some reaches the sink. */
static void losses(void **state)
{
	t.counters.lost[0] = 3;
	t.counters.lost[GT_KIND_END - 1] = 4;
	t.counters.foreign = 9;
	t.opts.duration_ns = 1100 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.reports, 6);
	assert_int_equal(t.lost[0], 3);
	assert_int_equal(t.lost[GT_KIND_END - 1], 4);
	assert_int_equal(t.stats.starvation.counted, 7);
	assert_int_equal(t.stats.counters.foreign, 9);
	fake_end();

	set_up(NULL);
	t.report_error = -EBADF;
	assert_int_equal(run(), -EBADF);
	assert_in_range(fake.now, T0 + 200 * MS, T0 + 210 * MS);
}

/* A hole in a ring: the counters are read at once, though not before the snapshots were given. */
static void follows_losses(void **state)
{
	t.losses = 5;
	t.opts.duration_ns = 150 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.reports, 2);
	assert_true(t.steps > 5);
	assert_true(t.recovered_at <= T0 + 150 * MS);
	assert_int_equal(t.recovered_mark, t.recovered_at - MS);
	fake_end();

	set_up(NULL);
	t.step_error = -ENOSPC;
	assert_int_equal(run(), -ENOSPC);
	assert_int_equal(t.steps, 1);
	assert_int_equal(fake.now, t.given_at);
}

static void kept_privileges(void **state)
{
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ);
	assert_int_equal(noted("keep"), 1);
	assert_int_equal(noted("modules"), 0);
	fake_end();

	set_up(NULL);
	t.folder = true;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_FOLDER);
	fake_end();

	set_up(NULL);
	t.opts.folder_of_other = true;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_FOLDER);
}

/* Its libraries are opened when the snapshots are given; privileges for that are kept until then. */
static void command(void **state)
{
	char first[32];

	t.opts.launch = &t.launch;
	add(T0 + 100 * MS, GT_EXECUTE);
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_COMMAND);
	snprintf(first, sizeof(first), "keep%u no_kernel release",
		 PRIVILEGE_READ | PRIVILEGE_COMMAND | PRIVILEGE_MODULES);
	assert_non_null(strstr(fake.text, first));
	assert_non_null(strstr(fake.text, "modules keep5 give11"));
	assert_int_equal(t.checks, 1); /* when its first goroutine runs */
	assert_true(fake.read_at[0] >= T0 + 100 * MS);
	assert_true(t.stats.layout_checked);
}

static void layout_does_not_fit(void **state)
{
	t.opts.launch = &t.launch;
	t.opts.duration_ns = 5000 * MS;
	t.check_error = -EPROTO;
	t.fits_at = NEVER;
	add(T0 + 100 * MS, GT_EXECUTE);
	assert_int_equal(run(), -EPROTO);
	assert_string_equal(t.err.text, "the layout does not fit");
	assert_in_range(fake.now, T0 + 2000 * MS, T0 + 2010 * MS);
	assert_int_equal(noted("commit"), 0);
	assert_false(t.stats.layout_checked);
	fake_end();

	set_up(NULL); /* within its time */
	t.opts.launch = &t.launch;
	t.opts.duration_ns = 5000 * MS;
	t.check_error = -EPROTO;
	t.fits_at = T0 + 1900 * MS;
	add(T0 + 100 * MS, GT_EXECUTE);
	assert_int_equal(run(), 0);
	assert_true(t.stats.layout_checked);
	assert_true(fake.read_at[0] >= t.fits_at);
}

/* What says nothing about the layout ends nothing; a process that is stopped does. */
static void layout_cannot_be_checked(void **state)
{
	static const int harmless[] = { -ESRCH, -EINTR };

	for (int i = 0; i < 2; i++) {
		t.opts.launch = &t.launch;
		t.opts.duration_ns = 3000 * MS;
		t.check_error = harmless[i];
		t.fits_at = NEVER;
		add(T0, GT_EXECUTE);
		assert_int_equal(run(), 0);
		assert_int_equal(fake.reads, 0);
		assert_int_equal(noted("give00"), 1);
		fake_end();
		set_up(NULL);
	}
	t.opts.launch = &t.launch;
	t.check_error = -ETIMEDOUT;
	t.fits_at = NEVER;
	add(T0, GT_EXECUTE);
	assert_int_equal(run(), -ETIMEDOUT);
	assert_in_range(fake.now, T0, T0 + 10 * MS);
}

/* One that had just begun, not held at its exec: looked at every 20 ms, and not judged until it runs. */
static void just_begun(void **state)
{
	t.opts.exec_time = 4000 * MS;
	t.opts.duration_ns = 3000 * MS;
	t.check_error = -EPROTO;
	t.fits_at = T0 + 2500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.checks, 126); /* 10, 30, 50 ... 2510 ms */
	assert_true(t.stats.layout_checked);
}

static void cannot_begin(void **state)
{
	fake.attach_error = -ENOENT;
	assert_int_equal(run(), -ENOENT);
	assert_int_equal(noted("commit"), 0);
	assert_int_equal(noted("attach detach destroy"), 1);
	assert_string_equal(t.err.text, "cannot record: No such file or directory");
	assert_int_equal(t.stats.t0, 0);
	fake_end();

	set_up(NULL);
	fake.open_error = -EBADF;
	assert_int_equal(run(), -EBADF);
	assert_int_equal(noted("attach"), 0);
	fake_end();

	set_up(NULL);
	fake.no_signals = true;
	assert_int_equal(run(), -EMFILE);
	assert_int_equal(noted("open"), 0);
	fake_end();

	set_up(NULL);
	t.opts.launch = &t.launch;
	t.create_error = -EINVAL;
	assert_int_equal(run(), -EINVAL);
	assert_int_equal(t.began, 0);
	fake_end();

	set_up(NULL);
	t.opts.launch = &t.launch;
	t.start_error = -EIO;
	assert_int_equal(run(), -EIO);
	assert_int_equal(noted("release"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(for_a_duration),
		TEST(times_before),
		TEST(two_snapshots),
		TEST(second_at_its_time),
		TEST(not_given_before_a_drain),
		TEST(snapshot_fails),
		TEST(stopped_by_signal),
		TEST(stopped_by_exit),
		TEST(passes_signals_on),
		TEST(stopped_by_exec),
		TEST(exec_at_the_end),
		TEST(exec_before_the_window),
		TEST(patience_at_the_end),
		TEST(pauses),
		TEST(drain_fails),
		TEST(losses),
		TEST(follows_losses),
		TEST(kept_privileges),
		TEST(command),
		TEST(layout_does_not_fit),
		TEST(layout_cannot_be_checked),
		TEST(just_begun),
		TEST(cannot_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
