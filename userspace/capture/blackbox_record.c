// SPDX-License-Identifier: GPL-2.0
/*
 * Recording into a black box: see blackbox_record.h.
 *
 * The device is opened before there is any probe: files are closed in the order of their numbers, so when
 * this process is killed the session is frozen while all probes are there still, and no event is
 * missing up to that moment. The first checkpoint is written before the first record. Before it:
 * gotrace-bpf/recording.c. After it: nobody, until blackbox_read.c is asked.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "capture/blackbox.h"
#include "capture/blackbox_record.h"
#include "capture/clock.h"
#include "capture/kmod.h"
#include "capture/privilege.h"
#include "capture/subject.h"
#include "gotrace/session.h"
#include "lib/log.h"
#include "target/csymbols.h"

#define MS		1000000ull
#define SECOND_SNAPSHOT (40 * MS) /* after the first: a status word can lag that long */
#define INTERVAL	(1000 * MS)
#define INTERVAL_MIN	(100 * MS) /* where the rings go round in less than a few seconds */
#define SHARE		10	   /* a tenth of one CPU at most */
#define ALL_RINGS	(16u << 20)
#define SUBBUFS		16 /* of a ring: the oldest, which is lost at once, is a small part */
#define STACK_WORDS	(512u << 10) /* of a half: 20 000 stacks of 24 frames */
#define CHECKPOINT_MAX	(512ull << 20)

struct blackbox {
	const struct blackbox_opts *opts;
	struct blackbox_stats *stats;
	struct error *err;
	struct kmod *kmod;
	struct session *session;
	struct csymbols *csymbols;
	struct symbolizer symbolizer;
	struct blackbox_writer *writer;
	int sigfd;
	bool stopped;
	struct error why;			/* of a checkpoint that could not be written */
	unsigned int failed;			/* so many of them */
	uint64_t head[GT_RINGS_MAX], head_time; /* of each ring, when they were looked at last */
};

bool blackbox__name_is_good(const char *name)
{
	size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789._-");

	return len && len < GT_NAME_MAX && !name[len];
}

static uint32_t power_of_two_below(uint64_t n)
{
	return 1u << (31 - __builtin_clz((uint32_t)n));
}

/* --ring-size is of each ring; else all have 16 MiB together. */
static struct gt_abi_create describe(const struct blackbox_opts *opts)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t rings = cpus < 1 ? 1 : (uint32_t)cpus;
	uint64_t size = opts->recorder->ring_size;
	struct gt_abi_create want = { .flags = GT_SESSION_KEEP };

	if (rings >= GT_RINGS_MAX)
		rings = GT_RINGS_MAX - 1;
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
	int code = blackbox_writer__make(b->writer, kmod__memory(b->kmod), kmod__bytes(b->kmod),
					 first, second, &data, &size);

	return code ? code : kmod__write_checkpoint(b->kmod, data, size, &b->why);
}

/* What is recorded from `t0` on, without snapshots yet. */
static int write_header(struct blackbox *b, uint64_t t0)
{
	struct raw_header facts;
	int code;

	subject__facts(b->opts->recorder, t0, &facts);
	blackbox_writer__destroy(b->writer);
	b->writer = NULL;
	code = blackbox_writer__create(&b->writer, &facts, &b->symbolizer);
	if (!code)
		code = write_checkpoint(b, NULL, NULL);
	return code && b->why.text[0] ? error__set(b->err, code, "%s", b->why.text) : code;
}

/* Sets stopped, when it is time to. */
static void wait_until(struct blackbox *b, uint64_t time)
{
	const struct recorder_opts *recorder = b->opts->recorder;
	uint64_t end = b->stats->t0 + recorder->duration_ns, now;
	struct pollfd fd[2] = {
		{ .fd = b->sigfd, .events = POLLIN },
		{ .fd = recorder->process->pidfd, .events = POLLIN },
	};

	if (recorder->duration_ns && end < time)
		time = end;
	while (!b->stopped && (now = clock__now()) < time) {
		if (poll(fd, 2, (int)((time - now) / MS) + 1) <= 0)
			continue;
		b->stats->exited = fd[1].revents != 0;
		b->stopped = true;
	}
	if (recorder->duration_ns && clock__now() >= end)
		b->stopped = true;
}

static int read_snapshot(struct blackbox *b, const struct snapshot *before, struct snapshot *ret)
{
	struct snapshot_reading how = { .before = before };
	int code = snapshot__read(b->opts->recorder->process, b->opts->recorder->layout, &how, ret);

	if (code)
		log__debug("snapshot of the process: %s", strerror(-code));
	return code;
}

static bool is_over(struct blackbox *b)
{
	const struct process *proc = b->opts->recorder->process;

	if (process__is_same(proc))
		return false;
	if (process__alive(proc))
		b->stats->replaced = true;
	else
		b->stats->exited = true;
	b->stopped = true;
	return true;
}

/*
 * Of a process that is not what it was, or is gone, there is nothing to be said. One that the module has
 * no room for is no reason to end: those before it are still there.
 */
static void take_checkpoint(struct blackbox *b)
{
	struct snapshot first, second;
	int code;

	if (is_over(b) || read_snapshot(b, NULL, &first))
		return;
	usleep(SECOND_SNAPSHOT / 1000);
	if (!read_snapshot(b, &first, &second)) {
		code = is_over(b) ? -ESRCH : write_checkpoint(b, &first, &second);
		if (!code)
			b->stats->checkpoints++;
		else if (!b->stopped && !b->failed++)
			log__msg("no checkpoint: %s; recording goes on",
				 b->why.text[0] ? b->why.text : strerror(-code));
		snapshot__deinit(&second);
	}
	snapshot__deinit(&first);
}

/* ---- the loop ---- */

/* Bytes that the busiest ring was given since this was asked last. */
static uint64_t most_bytes(struct blackbox *b)
{
	const struct gt_session_page *page = kmod__memory(b->kmod);
	const char *control = (const char *)page + page->control_offset;
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < page->rings && i < GT_RINGS_MAX; i++) {
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
 * A checkpoint that is older than the window tells less: so there are several in the time in which the
 * rings go round, though none may cost more than its share.
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
	take_checkpoint(b); /* of what lives still */
}

/* ---- begin and end ---- */

static int begin(struct blackbox *b)
{
	const struct recorder_opts *recorder = b->opts->recorder;
	int code;

	b->csymbols = subject__symbols(recorder, &b->symbolizer);
	code = write_header(b, BLACKBOX_NOT_BEGUN);
	if (!code)
		code = subject__attach(recorder, b->session, b->err);
	if (code)
		return code;
	privilege__drop(PRIVILEGE_READ);
	b->stats->t0 = clock__now();
	code = write_header(b, b->stats->t0);
	if (!code)
		code = b->opts->began(b->opts->ctx);
	return code;
}

static int open_all(struct blackbox *b)
{
	struct gt_abi_create want = describe(b->opts);
	struct session_opts session = subject__session(b->opts->recorder);
	int code = kmod__open(&b->kmod, b->err);

	if (!code)
		code = kmod__create(b->kmod, &want, b->err);
	if (code)
		return code;
	b->stats->memory = want.bytes;
	session.session = want.id;
	code = session__open(&b->session, &session, b->err);
	if (!code)
		code = begin(b);
	if (code) { /* there is nothing in it */
		kmod__release(b->kmod, NULL);
		return code;
	}
	loop(b);
	b->stats->t1 = clock__now();
	return kmod__freeze(b->kmod, b->err);
}

int blackbox__record(const struct blackbox_opts *opts, struct blackbox_stats *ret,
		     struct error *err)
{
	struct blackbox b = { .opts = opts, .stats = ret, .err = err };
	int code;

	b.sigfd = subject__signals(err);
	if (b.sigfd < 0)
		return b.sigfd;
	code = open_all(&b);
	session__destroy(b.session);
	blackbox_writer__destroy(b.writer);
	csymbols__destroy(b.csymbols);
	kmod__close(b.kmod);
	close(b.sigfd);
	return code ? error__set(err, code, "cannot record: %s", strerror(-code)) : 0;
}
