// SPDX-License-Identifier: GPL-2.0
/*
 * Sends the files of a spool: see sender.h.
 *
 * One thread. A slot holds a file from the computation of its checksum to the last answer about it;
 * libcurl makes progress with all requests in http__wait(). After a failure the file waits, longer
 * each time, and all new requests wait while no request succeeds, so that a server which is down or
 * overloaded gets few of them.
 */
#include "ship/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "ship/spool.h"
#include "ship/transfer.h"

#define NS_PER_S    1000000000ull
#define NS_PER_MS   1000000ull
#define PAUSE_FIRST (NS_PER_S / 4)
#define PAUSE_MAX   (30 * NS_PER_S)
#define SCAN_NS	    NS_PER_S
#define REPORT_NS   (10 * NS_PER_S)
#define SHOW_NS	    (NS_PER_S / 5)
#define DIFFERS_MAX 3
#define WAIT_MS	    200

struct slot {
	enum { SLOT_FREE, SLOT_HASHING, SLOT_PUT, SLOT_HEAD } stage;
	struct spool_file *file;
	struct place_parts parts; /* of the file, or as the user has named them */
	struct digest digest;
	struct transfer transfer;
	int fd;
};

struct sender {
	const struct sender_opts *opts;
	struct sender_result *result;
	struct credentials credentials;
	struct spool spool;
	struct journal *journal;
	struct http *http;
	struct slot slot[HTTP_SLOTS_MAX];
	int signals;		    /* descriptor */
	uint64_t scanned, progress; /* CLOCK_MONOTONIC, ns: the last scan, the last acceptance */
	uint64_t shown;		    /* the progress, at that time */
	uint64_t pause_until;
	unsigned int failures; /* since the last acceptance */
	char reason[256];      /* of the last failure; empty after an acceptance */
	uint64_t reported;     /* CLOCK_MONOTONIC, ns: when one was; 0: none */
};

/* ---- failures ---- */

/* 1/4 s, 1/2 s, ... at most 30 s, of which a random half is left out, so that hosts spread. */
static uint64_t pause_after(unsigned int tries)
{
	uint64_t ns = tries < 8 ? PAUSE_FIRST << tries : PAUSE_MAX;

	ns = ns < PAUSE_MAX ? ns : PAUSE_MAX;
	return ns - (uint64_t)random() % (ns / 2);
}

/* The same reason once, and at most one per 10 s. */
static void report(struct sender *s, const char *name, const char *reason)
{
	uint64_t now = clock__now();

	if (!strcmp(s->reason, reason))
		return;
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	if (s->reported && now - s->reported < REPORT_NS)
		return;
	s->reported = now;
	log__msg("%s: %s; will be repeated", name, reason);
}

static void leave(struct sender *s, struct slot *slot, enum spool_state state)
{
	digest__end(&slot->digest);
	if (slot->fd >= 0)
		close(slot->fd);
	spool__set(&s->spool, slot->file, state);
	slot->stage = SLOT_FREE;
}

static void fail(struct sender *s, struct slot *slot, const char *reason, unsigned int retry_after)
{
	uint64_t now = clock__now(), given = now + retry_after * NS_PER_S;
	struct spool_file *f = slot->file;

	report(s, f->name, reason);
	f->not_before = now + pause_after(f->tries++);
	if (now >= s->pause_until) /* else it began together with one that failed */
		s->pause_until = now + pause_after(s->failures++);
	if (s->pause_until < given)
		s->pause_until = given;
	s->result->failures++;
	leave(s, slot, SPOOL_WAITING);
}

/* For good, in this process: the next one tries again. */
static void refuse(struct sender *s, struct slot *slot, const char *reason)
{
	log__msg("%s: not sent: %s", slot->file->name, reason);
	s->result->refused++;
	leave(s, slot, SPOOL_REFUSED);
}

/* ---- acceptance ---- */

static int record_acceptance(struct sender *s, const struct slot *slot, struct error *error)
{
	const struct spool_file *f = slot->file;
	const struct journal_file about = { f->name, f->bytes, f->mtime_ns };
	int err = 0;

	if (s->opts->remove) {
		err = spool__remove(&s->spool, f);
		if (!err)
			return 0;
		log__msg("cannot remove %s/%s: %s", s->spool.path, f->name, strerror(-err));
	}
	return journal__add(s->journal, &about, slot->transfer.digest.hex, error);
}

static int accept_file(struct sender *s, struct slot *slot, struct error *error)
{
	int err = record_acceptance(s, slot, error);

	if (err)
		return err;
	s->result->files++;
	s->result->bytes += slot->file->bytes;
	s->progress = clock__now();
	s->failures = 0;
	s->pause_until = 0;
	s->reason[0] = '\0';
	leave(s, slot, SPOOL_ACCEPTED);
	return 0;
}

/* ---- a slot ---- */

static int start_head(struct sender *s, struct slot *slot, struct error *error)
{
	slot->stage = SLOT_HEAD;
	return transfer__head(s->http, (unsigned int)(slot - s->slot), &slot->transfer,
			      &s->credentials) ?
		       error__set(error, -ENOMEM, "out of memory") :
		       0;
}

static int start_put(struct sender *s, struct slot *slot, struct error *error)
{
	facts__read(&slot->transfer.facts, slot->fd, slot->file->mtime_ns);
	slot->stage = SLOT_PUT;
	return transfer__put(s->http, (unsigned int)(slot - s->slot), &slot->transfer, slot->fd,
			     &s->credentials) ?
		       error__set(error, -ENOMEM, "out of memory") :
		       0;
}

static int continue_hash(struct sender *s, struct slot *slot, struct error *error)
{
	int n = digest__step(&slot->digest, slot->fd, slot->file->bytes, &slot->transfer.digest);

	if (n > 0)
		return start_put(s, slot, error);
	if (n < 0)
		fail(s, slot, strerror(-n), 0);
	return 0;
}

/* New keys may have been written to the file, or a proxy in between may be repaired. */
static int deny(struct sender *s, struct slot *slot, const struct http_answer *answer,
		struct error *error)
{
	struct credentials fresh;

	if (!s->opts->follow)
		return error__set(error, -EACCES, "%s: not accepted by %s: %s", slot->file->name,
				  s->opts->place.endpoint, answer->reason);
	if (!credentials__read(&fresh, s->opts->credentials, NULL))
		s->credentials = fresh;
	credentials__clear(&fresh);
	fail(s, slot, answer->reason, 0);
	return 0;
}

/* An answer may be corrupt: the server is asked again before the file is given up. */
static void differ(struct sender *s, struct slot *slot)
{
	static const char reason[] = "the server has an object with this key and other bytes; two "
				     "hosts may have the same name";

	if (++slot->file->differed < DIFFERS_MAX)
		fail(s, slot, reason, 0);
	else
		refuse(s, slot, reason);
}

static int take_answer(struct sender *s, struct slot *slot, const struct http_answer *answer,
		       struct error *error)
{
	switch (transfer__result(&slot->transfer, answer, slot->stage == SLOT_HEAD)) {
	case TRANSFER_ACCEPTED:
		return accept_file(s, slot, error);
	case TRANSFER_UNCERTAIN:
		return start_head(s, slot, error);
	case TRANSFER_DIFFERS:
		differ(s, slot);
		return 0;
	case TRANSFER_DENIED:
		return deny(s, slot, answer, error);
	case TRANSFER_RETRY:
		break;
	}
	fail(s, slot, answer->reason, answer->retry_after);
	return 0;
}

static int take_answers(struct sender *s, struct error *error)
{
	struct http_answer answer;
	unsigned int slot;
	int err = 0;

	while (!err && http__next(s->http, &slot, &answer))
		err = take_answer(s, &s->slot[slot], &answer, error);
	return err;
}

/* ---- the next file ---- */

static void name_parts(const struct sender *s, struct slot *slot)
{
	slot->parts = slot->file->parts;
	if (s->opts->host)
		snprintf(slot->parts.host, sizeof(slot->parts.host), "%s", s->opts->host);
	if (s->opts->service)
		snprintf(slot->parts.service, sizeof(slot->parts.service), "%s", s->opts->service);
}

static int begin(struct sender *s, struct slot *slot, struct spool_file *f, struct error *error)
{
	struct error why = {};

	slot->file = f;
	slot->fd = spool__open_file(&s->spool, f, &why);
	if (slot->fd == -ENOENT) {
		spool__set(&s->spool, f, SPOOL_GONE);
		return 0;
	}
	spool__set(&s->spool, f, SPOOL_SENDING);
	if (slot->fd < 0 || f->bytes > TRANSFER_BYTES_MAX) {
		refuse(s, slot, slot->fd < 0 ? why.text : "the file is larger than 5 GiB");
		return 0;
	}
	name_parts(s, slot);
	slot->transfer = (struct transfer){
		.place = &s->opts->place, .parts = &slot->parts, .name = f->name, .bytes = f->bytes
	};
	slot->stage = SLOT_HASHING;
	return digest__begin(&slot->digest) ? error__set(error, -ENOMEM, "out of memory") : 0;
}

static struct slot *free_slot(struct sender *s)
{
	for (unsigned int i = 0; i < s->opts->slots; i++)
		if (s->slot[i].stage == SLOT_FREE)
			return &s->slot[i];
	return NULL;
}

/* The oldest files first: they are the first that the recorder removes at its limit. */
static int begin_files(struct sender *s, struct error *error)
{
	uint64_t now = clock__now();
	struct slot *slot;
	int err = 0;

	if (now < s->pause_until)
		return 0;
	for (size_t i = spool__first(&s->spool); !err && i < s->spool.n && (slot = free_slot(s));
	     i++) {
		struct spool_file *f = s->spool.file[i];

		if (f->state == SPOOL_WAITING && f->not_before <= now)
			err = begin(s, slot, f, error);
	}
	return err;
}

/* ---- the loop ---- */

static int scan(struct sender *s, struct error *error)
{
	uint64_t now = clock__now();
	int err;

	if (s->scanned && (!s->opts->follow || now - s->scanned < SCAN_NS))
		return 0;
	s->scanned = now;
	err = spool__scan(&s->spool, s->journal, error);
	return err ?: journal__trim(s->journal, s->spool.n, spool__has, &s->spool, error);
}

static int continue_hashes(struct sender *s, bool *ret_any, struct error *error)
{
	int err = 0;

	*ret_any = false;
	for (unsigned int i = 0; !err && i < s->opts->slots; i++)
		if (s->slot[i].stage == SLOT_HASHING) {
			err = continue_hash(s, &s->slot[i], error);
			*ret_any = true;
		}
	return err;
}

static bool is_idle(const struct sender *s)
{
	for (unsigned int i = 0; i < s->opts->slots; i++)
		if (s->slot[i].stage != SLOT_FREE)
			return false;
	return true;
}

static bool is_stopped(const struct sender *s)
{
	struct signalfd_siginfo info;

	return read(s->signals, &info, sizeof(info)) == sizeof(info);
}

static void show_progress(struct sender *s)
{
	uint64_t now = clock__now();

	if (now - s->shown < SHOW_NS)
		return;
	s->shown = now;
	log__progress("%llu files sent, %.1f MiB, %zu waiting",
		      (unsigned long long)s->result->files, (double)s->result->bytes / (1 << 20),
		      s->spool.count[SPOOL_WAITING]);
}

/* Whether all is done that is to be done now; or a negative errno with the reason. */
static int is_done(const struct sender *s, struct error *error)
{
	if (s->opts->follow)
		return 0;
	if (is_idle(s) && !s->spool.count[SPOOL_WAITING])
		return 1;
	if (clock__now() - s->progress < s->opts->give_up_ns)
		return 0;
	return error__set(error, -ETIMEDOUT, "gave up after %.0f s without an accepted file: %s",
			  (double)s->opts->give_up_ns / 1e9,
			  s->reason[0] ? s->reason : "requests were not answered");
}

static int run(struct sender *s, struct error *error)
{
	bool hashing;
	int err, done;

	for (;;) {
		err = scan(s, error);
		err = err ?: begin_files(s, error);
		err = err ?: continue_hashes(s, &hashing, error);
		if (err)
			return err;
		done = is_done(s, error);
		if (done)
			return done < 0 ? done : 0;
		http__wait(s->http, s->signals, hashing ? 0 : WAIT_MS);
		err = take_answers(s, error);
		if (err)
			return err;
		if (is_stopped(s))
			return s->opts->follow ? 0 : error__set(error, -EINTR, "interrupted");
		show_progress(s);
	}
}

/* ---- beginning and end ---- */

static int open_journal(struct sender *s, struct error *error)
{
	const struct sender_opts *o = s->opts;
	char to[PLACE_ENDPOINT_SIZE + PLACE_BUCKET_SIZE + PLACE_PREFIX_SIZE + 16];

	snprintf(to, sizeof(to), "%s s3://%s/%s", o->place.endpoint, o->place.bucket,
		 o->place.prefix);
	return journal__open(&s->journal, o->journal ? AT_FDCWD : s->spool.dir,
			     o->journal ?: JOURNAL_NAME, to, error);
}

static int open_signals(struct sender *s, struct error *error)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	s->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals < 0 ? error__set(error, -errno, "signalfd: %s", strerror(errno)) : 0;
}

static int open_all(struct sender *s, struct error *error)
{
	const struct http_opts http = { .ca = s->opts->ca,
					.region = s->opts->place.region,
					.slots = s->opts->slots,
					.timeout = s->opts->timeout,
					.loopback = s->opts->place.loopback };
	int err = credentials__read(&s->credentials, s->opts->credentials, error);

	err = err ?: spool__open(&s->spool, s->opts->dir, error);
	err = err ?: open_journal(s, error);
	err = err ?: http__open(&s->http, &http, error);
	return err ?: open_signals(s, error);
}

static void close_all(struct sender *s)
{
	http__close(s->http);
	for (unsigned int i = 0; i < s->opts->slots; i++)
		if (s->slot[i].stage != SLOT_FREE)
			leave(s, &s->slot[i], SPOOL_WAITING);
	s->result->lost = s->spool.lost + s->spool.count[SPOOL_GONE];
	s->result->waiting = s->spool.count[SPOOL_WAITING];
	journal__close(s->journal);
	spool__close(&s->spool);
	if (s->signals >= 0)
		close(s->signals);
	credentials__clear(&s->credentials);
}

int sender__run(const struct sender_opts *opts, struct sender_result *ret, struct error *error)
{
	struct sender *s = calloc(1, sizeof(*s));
	int err;

	*ret = (struct sender_result){};
	if (!s)
		return error__set(error, -ENOMEM, "out of memory");
	s->opts = opts;
	s->result = ret;
	s->signals = -1;
	s->spool.dir = -1;
	srandom((unsigned int)(clock__now() ^ (uint64_t)getpid()));
	err = open_all(s, error);
	ret->began = !err;
	s->progress = clock__now();
	err = err ?: scan(s, error);
	if (!err && s->spool.other_names)
		log__msg("%s: %zu files are not sent: they do not have the names of a continuous "
			 "recording",
			 s->spool.path, s->spool.other_names);
	err = err ?: run(s, error);
	log__progress_end();
	close_all(s);
	free(s);
	return err;
}
