// SPDX-License-Identifier: GPL-2.0
/*
 * A recording from its first probe to its end: what is done when, and for which reasons it stops.
 */
#include "unit/test.h"
#include "unit/recorder_fixture.h"

FIXTURE(set_up, tear_down)

/* A signal that is read when poll() reports it. */
static void fake_signal(int signo, int code, pid_t from)
{
	struct signalfd_siginfo info = { .ssi_signo = (uint32_t)signo,
					 .ssi_code = code,
					 .ssi_pid = (uint32_t)from };

	if (write(fake.pipe[1], &info, sizeof(info)) != sizeof(info))
		abort();
}

TEST(for_a_duration)
{
	add(T0 - 1, GT_PARK);
	add(T0 + 300 * MS, GT_EXECUTE);
	add(T0 + 300 * MS, GT_KIND_END); /* a kind that is not known is only handed on */
	assert_int_equal(run(), 0);
	assert_int_equal(t.began, T0);
	assert_int_equal(t.t1, T0 + 1000 * MS);
	assert_int_equal(t.committed, 0);
	assert_int_equal(t.watermark, t.t1);
	assert_in_range(t.host_clocks, 1, 2); /* once per second */
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
	assert_int_equal(t.stats.sequencer.corrected, 5);
	assert_int_equal(t.stats.writer.events, 6);
	assert_int_equal(t.stats.cpu_ns, 77);
	assert_true(t.stats.multi && t.stats.kfuncs);
	assert_int_equal(noted("no_kernel"), 1);
	assert_int_equal(noted("nice-10"), 1);
	assert_int_equal(noted("symbols"), 1);
	assert_int_equal(noted("say"), 1);
	assert_int_equal(noted("release"), 0);
	assert_int_equal(t.stats.starvation.drained, t.drained);
	assert_int_equal(t.stats.starvation.fd, -1);
	assert_non_null(strstr(fake.text, "detach finish commit destroy"));
}

/* Taken out after the uprobes, with their records. */
TEST(with_inline_probes)
{
	t.opts.is_inline = true;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("inline open"), 1);
	assert_non_null(
		strstr(fake.text, "detach inline_remove clock finish commit destroy inline_close"));
	assert_false(t.stats.derives);
	assert_int_equal(t.stats.inline_bytes, 1 << 20);
	fake_end();

	set_up(NULL);
	t.opts.is_inline = true;
	fake.inline_error = -ENOTSUP;
	assert_int_equal(run(), -ENOTSUP);
	assert_int_equal(noted("open"), 0);
}

/* From how far the analysis came, and what the live checks took of it. */
TEST(times_before)
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

TEST(kernel_events)
{
	fake.kernel = true;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("no_kernel"), 0);
}

/* The peak is that of any moment: with both snapshots, in the midst, or at the end. */
TEST(memory)
{
	assert_int_equal(run(), 0);
	assert_int_equal(noted("attach memory"), 1);
	assert_int_equal(t.stats.peak_memory, 200 + 10 + 1000);
	fake_end();

	set_up(NULL);
	t.middle_memory = 500;
	assert_int_equal(run(), 0);
	assert_int_equal(t.stats.peak_memory, 500 + 10 + 1000);
	fake_end();

	set_up(NULL);
	t.end_memory = 600;
	assert_int_equal(run(), 0);
	assert_int_equal(t.stats.peak_memory, 600 + 10 + 1000);
}

TEST(progress)
{
	t.counters.lost[0] = 3;
	t.counters.lost[GT_KIND_END - 1] = 4;
	t.counters.foreign = 100;
	fake.takes = 0;
	t.opts.duration_ns = 500 * MS;
	add(T0 + 10 * MS, GT_PARK);
	add(T0 + 15 * MS, GT_PARK);
	add(T0 + 300 * MS, GT_PARK);
	add(T0 + 305 * MS, GT_PARK);
	assert_int_equal(run(), 0);
	assert_string_equal(fake.progress, "   0.4 s         10 records/s  7 lost");
}

TEST(two_snapshots)
{
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 2);
	assert_int_equal(fake.read_at[0], T0);
	assert_in_range(fake.read_at[1], T0 + 40 * MS, T0 + 50 * MS);
	assert_int_equal(fake.before[0], 0);
	assert_int_equal(fake.before[1], fake.read_at[0]);
	assert_int_equal(t.given[0], fake.read_at[0]);
	assert_int_equal(t.given[1], fake.read_at[1]);
	assert_int_equal(noted("give11"), 1);
	assert_int_equal(noted("give"), 1);
	assert_true(t.given_after > fake.read_at[1] + MS);
	assert_int_equal(t.stats.snapshot_ns[0], MS);
	assert_int_equal(t.stats.snapshot_ns[1], MS);
	assert_in_range(t.stats.initial_ns, t.given_at - T0, t.given_at - T0 + 20 * MS);
}

/* The second one is not read a nanosecond before its time, but at it. */
TEST(second_at_its_time)
{
	fake.takes = 10 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.read_at[1], T0 + 40 * MS);
}

/* The second one is read from 40 to 50 ms; an exec at its very end may come still. */
TEST(given_after_its_end)
{
	fake.takes = 10 * MS;
	t.stuck = T0 + 50 * MS;
	t.opts.duration_ns = 100 * MS;
	assert_int_equal(run(), 0);
	assert_true(t.given_at >= T0 + 100 * MS); /* at the end at the latest */
	fake_end();

	set_up(NULL);
	fake.takes = 10 * MS;
	t.stuck = T0 + 50 * MS + 1;
	t.opts.duration_ns = 100 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.given_at, T0 + 60 * MS);
}

TEST(snapshot_fails)
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

TEST(stopped_by_signal)
{
	t.opts.duration_ns = 0;
	fake.signalled = T0 + 123 * MS + 5;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, fake.signalled);
	assert_int_equal(t.committed, 0);
	assert_int_equal(t.nkilled, 0);
}

TEST(stopped_by_exit)
{
	t.opts.duration_ns = 0;
	fake.exits = T0 + 20 * MS; /* before the second snapshot */
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, fake.exits);
	assert_int_equal(fake.reads, 1);
	assert_int_equal(noted("give10"), 1);
	assert_int_equal(t.steps, 0);
	fake_end();

	set_up(NULL);
	fake.exits = T0 + 200 * MS;
	assert_int_equal(run(), 0);
	assert_true(t.recovered_at < fake.exits);
	fake_end();

	set_up(NULL);
	fake.takes = 10 * MS;
	fake.exits = T0 + 40 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 1);
}

/*
 * What a terminal sends reaches the command by itself, what the kernel sends is for the recorder.
 */
TEST(passes_signals_on)
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

TEST(stopped_by_exec)
{
	add(T0 + 200 * MS, GT_EXEC);
	add(T0 + 200 * MS, GT_PARK);
	add(T0 + 200 * MS + 1, GT_EXEC);
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 200 * MS); /* the first one's */
	assert_true(t.watermark < T0 + 200 * MS);
	assert_int_equal(noted("record"), 3);
	assert_in_range(fake.now, T0 + 200 * MS, T0 + 210 * MS);
	assert_true(t.recovered_at < T0 + 200 * MS);
	fake_end();

	set_up(NULL); /* at the time of the second snapshot */
	fake.takes = 10 * MS;
	add(T0 + 40 * MS, GT_EXEC);
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 1);
}

/* It is found when the rings are drained to the end. */
TEST(exec_at_the_end)
{
	t.lag = 3 * MS;
	t.opts.duration_ns = 100 * MS;
	add(T0 + 102 * MS, GT_PARK);
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 100 * MS);
	assert_int_equal(t.watermark, t.t1);
	fake_end();

	set_up(NULL);
	t.lag = 3 * MS;
	t.opts.duration_ns = 100 * MS;
	add(T0 + 100 * MS + 1, GT_EXEC);
	t.record[0].time = T0 + 100 * MS + 1;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 100 * MS + 1);
}

TEST(exec_before_the_window)
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

/* A thread that was stopped within a record may never write it: 200 ms are waited. */
TEST(patience_at_the_end)
{
	t.stuck = T0 + 500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 1000 * MS);
	assert_in_range(fake.now, t.t1 + 200 * MS + 1, t.t1 + 201 * MS);
	assert_int_equal(t.committed, 0);
	fake_end();

	set_up(NULL);
	fake.takes = 0;
	t.stuck = T0 + 1000 * MS; /* whole to the last nanosecond */
	t.lag = 3 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(fake.now, t.t1 + 3 * MS, t.t1 + 4 * MS);
}

/* The program writes records faster than they are read: the trace ends where it is complete. */
TEST(late)
{
	t.flood = T0 + 500 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(fake.now, T0 + 2000 * MS, T0 + 2020 * MS);
	assert_in_range(t.t1, T0 + 490 * MS, T0 + 500 * MS);
	assert_int_equal(t.t1, t.watermark);
	assert_int_equal(t.committed, 0);
	fake_end();

	set_up(NULL); /* a quarter of a long recording, and before there is anything to keep */
	t.flood = T0;
	t.opts.duration_ns = 8000 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(fake.now, T0 + 10000 * MS, T0 + 10020 * MS);
	assert_int_equal(t.t1, T0 + 1);
}

TEST(late_after_a_signal)
{
	sigset_t term, before;
	const struct timespec none = {};

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	t.raises = SIGTERM;
	t.opts.duration_ns = 0;
	t.flood = T0 + 500 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(fake.now, T0 + 1500 * MS, T0 + 1530 * MS);
	assert_int_equal(t.t1, t.watermark);
	sigtimedwait(&term, NULL, &none);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A record that a program had begun is there at the latest when the probes are detached. */
TEST(a_record_after_the_end)
{
	t.stuck = T0 + 500 * MS;
	t.detach_frees = true;
	assert_int_equal(run(), 0);
	assert_int_equal(t.t1, T0 + 1000 * MS);
	assert_int_equal(t.watermark, t.t1);
}

TEST(pauses)
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

	set_up(NULL); /* the time is over when the second snapshot was read */
	fake.takes = 10 * MS;
	t.opts.duration_ns = 45 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("poll0"), 1);
	assert_in_range(t.t1, T0 + 50 * MS, T0 + 51 * MS);
	fake_end();

	set_up(NULL);
	t.fill = 26; /* it must not overflow */
	fake.signalled = T0;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("poll0"), 1);
}

TEST(drain_fails)
{
	t.drain_fails = T0 + 100 * MS;
	assert_int_equal(run(), -EIO);
	assert_in_range(fake.now, T0 + 100 * MS, T0 + 110 * MS);
	assert_true(t.watermark < T0 + 100 * MS);
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
TEST(losses)
{
	t.counters.lost[0] = 3;
	t.counters.lost[GT_KIND_END - 1] = 4;
	t.counters.foreign = 9;
	fake.takes = 0;
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

/* A probe of the heap that is hit more than 1000 times per second; drains are 10 ms apart. */
TEST(heap_changes_often)
{
	t.heap_changes = 9;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("sample"), 0);
	assert_int_equal(noted("say"), 1);
	fake_end();

	set_up(NULL);
	t.heap_changes = 11;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("sample"), 1);
	assert_int_equal(noted("say"), 2);
	assert_in_range(t.stats.records[GT_HEAP_ALLOC], 11 * 20, 11 * 23);
}

/* A hole in a ring: the counters are read at once, though not before the snapshots were given. */
TEST(follows_losses)
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
