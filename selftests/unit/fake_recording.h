/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine for recorder.c and blackbox_record.c: a clock that only poll(), usleep() and reads of
 * the process move, a process that is read, signalled and ends as the test determines, and probes
 * that do nothing.
 *
 * A test program that defines all that the tested file calls in another file of the library never
 * links that file. Each call that matters is noted in fake.text, a word each, so that their order
 * can be compared.
 */
#ifndef UNIT_FAKE_RECORDING_H
#define UNIT_FAKE_RECORDING_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "unit/test.h"
#include "capture/hits.h"
#include "capture/priority.h"
#include "capture/privilege.h"
#include "capture/probes.h"
#include "capture/setup.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "target/process/csymbols.h"
#include "target/process/snapshot.h"

#define MS	   1000000ull
#define NEVER	   UINT64_MAX
#define FAKE_PIDFD 1000 /* of the process */

struct fake {
	char text[1 << 18];
	size_t len;
	char progress[128]; /* the last line of it */
	uint64_t now, cpu;  /* CLOCK_MONOTONIC; CPU time of this process */
	/* the process */
	uint64_t exits, signalled; /* times; NEVER */
	uint64_t timer;		   /* when fd[2] of poll() ends, if there is one */
	int pipe[2];		   /* for signals */
	/* snapshots */
	unsigned int reads;
	int read_error[64];  /* by number of the read */
	uint64_t takes;	     /* ns per read; the rings are drained once, after half of it */
	unsigned int alive;  /* read and not yet released */
	uint64_t before[64]; /* time for comparison with the read; 0: none */
	uint64_t read_at[64];
	/* the session */
	int open_error, attach_error, inline_error;
	bool no_signals, kernel;
	uint64_t code_changes; /* time at which the process maps more code; 0: never */
	unsigned int looks;    /* for other Go runtimes */
	uint64_t look_takes, looked_at;
	struct probes_opts opened; /* options of probes__open() */
	unsigned int kept;	   /* privileges */
};

static struct fake fake;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	va_list ap;

	if (fake.len)
		fake.text[fake.len++] = ' ';
	va_start(ap, format);
	fake.len += vsnprintf(fake.text + fake.len, sizeof(fake.text) - fake.len, format, ap);
	va_end(ap);
	if (fake.len + 1 >= sizeof(fake.text))
		abort();
}

/* Number of times the word or words were recorded. */
static inline unsigned int noted(const char *words)
{
	unsigned int n = 0;
	const char *at = fake.text;

	for (; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void fake_begin(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.now = 5000 * MS;
	fake.exits = fake.signalled = NEVER;
	fake.takes = MS;
	fake.pipe[0] = fake.pipe[1] = -1;
}

static void fake_end(void)
{
	assert_int_equal(fake.alive, 0); /* each snapshot is released once */
	if (fake.pipe[1] >= 0)
		close(fake.pipe[1]);
}

/* ---- messages ---- */

void log__msg(const char *fmt, ...)
{
	note("say");
}

void log__debug(const char *fmt, ...)
{
}

void log__progress(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fake.progress, sizeof(fake.progress), fmt, ap);
	va_end(ap);
}

STUB_VOID(log__progress_end, (void))

/* ---- the clock ---- */

STUB(uint64_t, clock__now, (void), fake.now)
STUB(uint64_t, clock__cpu, (void), fake.cpu)

uint64_t clock__cpu_of(pid_t pid)
{
	return 0;
}

void priority__guarantee(void)
{
	note("priority");
}

STUB(double, hits__trap_ns, (void), 0)
STUB(double, hits__stepped_ns, (void), 0)

void hits__destroy(struct hits *h)
{
}

STUB(uint64_t, clock__wall_at, (uint64_t mono), mono + 7)

bool clock__state(struct clock_state *ret)
{
	*ret = (struct clock_state){ .synchronized = true, .max_error_us = 5, .error_us = 2 };
	return true;
}

int usleep(useconds_t us)
{
	fake.now += us * 1000ull;
	return 0;
}

/* fd[0] is for signals, fd[1] for the process, fd[2], if there is one, a timer. */
int poll(struct pollfd *fd, nfds_t n, int ms)
{
	uint64_t until = fake.now + (ms ? (uint64_t)ms * MS : MS / 10);
	uint64_t first = fake.exits < fake.signalled ? fake.exits : fake.signalled;

	note("poll%d", ms);
	assert_int_equal(n, ms < 0 ? 3 : 2);
	if (n == 3)
		until = fake.timer > fake.now ? fake.timer : fake.now;
	assert_int_equal(fd[0].fd, fake.pipe[0]);
	assert_int_equal(fd[1].fd, FAKE_PIDFD);
	assert_int_equal(fd[0].events & fd[1].events, POLLIN);
	if (first > until) {
		fake.now = until;
		if (n == 3)
			fd[2].revents = POLLIN;
		return n == 3;
	}
	if (first > fake.now)
		fake.now = first;
	fd[0].revents = fake.signalled <= fake.now ? POLLIN : 0;
	fd[1].revents = fake.exits <= fake.now ? POLLIN : 0;
	return (fd[0].revents != 0) + (fd[1].revents != 0);
}

/* A fortified build calls poll() by this name. */
int __poll_chk(struct pollfd *fd, nfds_t n, int ms, size_t size);
int __poll_chk(struct pollfd *fd, nfds_t n, int ms, size_t size)
{
	return poll(fd, n, ms);
}

/* ---- the process ---- */

int snapshot__read(const struct process *proc, const struct layout *layout,
		   const struct snapshot_reading *how, struct snapshot *ret)
{
	unsigned int i = fake.reads++ % 64;
	uint64_t begin = fake.now;
	int code = 0;

	note("read");
	fake.before[i] = how->before ? how->before->time : 0;
	fake.read_at[i] = begin;
	fake.now += fake.takes / 2;
	if (how->between)
		code = how->between(how->ctx);
	fake.now += fake.takes - fake.takes / 2;
	if (code || fake.read_error[i])
		return code ? code : fake.read_error[i];
	*ret = (struct snapshot){ .time = begin, .time_end = fake.now };
	fake.alive++;
	return 0;
}

void snapshot__deinit(struct snapshot *snap)
{
	fake.alive--;
	*snap = (struct snapshot){};
}

/* ---- the session ---- */

STUB(bool, probes__calls_only, (const struct probes *), false)

int probes__open(struct probes **ret, const struct probes_opts *opts, struct error *err)
{
	note("open");
	fake.opened = *opts;
	fake.now += 30 * MS;
	return fake.open_error;
}

void probes__destroy(struct probes *s)
{
	note("destroy");
}

struct probes_opts setup__probes(const struct recorder_opts *opts, uint64_t is_inline)
{
	return (struct probes_opts){ .sets = opts->sets, .derives = true };
}

void setup__measure(struct probes_opts *opts, struct hits **ret)
{
	opts->derived_ns = 1000;
	*ret = NULL;
}

int setup__attach(const struct recorder_opts *opts, struct probes *probes,
		  struct inline_probes *inl, struct error *err)
{
	note("attach");
	fake.now += 70 * MS;
	return fake.attach_error;
}

int inline_probes__create(struct inline_probes **ret, const struct inline_opts *opts,
			  struct error *err)
{
	note("inline");
	*ret = (struct inline_probes *)&fake;
	return fake.inline_error;
}

STUB(bool, inline_probes__disturbed, (struct inline_probes *, uint64_t), false)
STUB(uint64_t, inline_probes__which, (const struct inline_probes *), 1)
STUB(uint64_t, inline_probes__lost, (struct inline_probes * p, uint64_t lost[GT_KIND_END]), 0)
STUB(uint64_t, inline_probes__held_ns, (const struct inline_probes *), 0)
STUB(uint64_t, inline_probes__clock_error_ns, (const struct inline_probes *), 0)
STUB(uint64_t, inline_probes__bytes, (const struct inline_probes *), 1 << 20)

void inline_probes__remove(struct inline_probes *p)
{
	note("inline_remove");
}

void inline_probes__close(struct inline_probes *p)
{
	if (p)
		note("inline_close");
}

int setup__replaced(const struct recorder_opts *opts, struct error *err)
{
	return error__set(err, -ESRCH, "replaced");
}

void setup__facts(const struct recorder_opts *opts, const struct probes *probes, uint64_t t0,
		  struct raw_header *ret)
{
	*ret = (struct raw_header){ .t0 = t0,
				    .wall_ns = t0 + 4, /* 3 ns less than by then */

				    .build_id = "b",
				    .flags = fake.kernel ? 0 : RAW_NO_KERNEL };
}

STUB_VOID(setup__plugins,
	  (const struct recorder_opts *, struct probes *, size_t, bool, const char *))

void setup__libraries(const struct recorder_opts *opts)
{
	fake.looks++;
	fake.looked_at = fake.now;
	fake.now += fake.look_takes;
}

bool process__status(pid_t pid, const char *file, const char *key, char *ret, size_t size)
{
	snprintf(ret, size, "%llu kB",
		 (unsigned long long)(fake.code_changes && fake.now >= fake.code_changes ? 200 :
											   100));
	return true;
}

struct csymbols *setup__symbols(const struct recorder_opts *opts, struct symbolizer *ret,
				struct modules_symbols **ret_plugins)
{
	note("symbols");
	return NULL;
}

int setup__signals(struct error *err)
{
	if (!fake.no_signals && fake.pipe[0] >= 0)
		return fake.pipe[0];
	if (fake.no_signals || pipe2(fake.pipe, O_CLOEXEC | O_NONBLOCK))
		return error__set(err, -EMFILE, "no signals");
	return fake.pipe[0];
}

STUB_VOID(csymbols__destroy, (struct csymbols *))

void csymbols__add_modules(struct csymbols *c, const struct process *proc)
{
	note("modules");
}

void privilege__drop(unsigned int keep)
{
	note("keep%u", keep);
	fake.kept = keep;
}

void privilege__forbid_calls(unsigned int keep)
{
}

#endif
