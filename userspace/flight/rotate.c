// SPDX-License-Identifier: GPL-2.0
/*
 * A recording in short files: see rotate.h.
 *
 * A generation that cannot be written is lost, but does not end the recording: the file ends before
 * it, and each of the next generations is the first one of a file until one is written. If the disk
 * is full, the oldest files of the index make room.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight/finisher.h"
#include "flight/rotate.h"
#include "format/header.h"
#include "lib/log.h"
#include "writer/output_file.h"
#include "writer/writer.h"

struct rotate {
	struct rotate_opts opts;
	struct folder *folder;
	struct finisher *finisher;
	struct writer *writer;
	struct trace_file *file;  /* being written; NULL: created with its first generation */
	struct folder_file about; /* of it, up to the open generation */
	uint64_t from;		  /* the start of the open generation */
	uint64_t t0, wall0;	  /* the start of the recording by both clocks */
	uint64_t events;	  /* written before it */
	bool appended;		  /* the writer passed a generation since the last boundary */
	int failure;		  /* of it; 0: it was written */
	bool room_is_useless;	  /* the disk was full although files had been removed */
	uint64_t lost_from;	  /* the start of the generations that are being lost; 0: none */
	uint64_t lost_ns, files;
	struct error error; /* of the start */
};

int rotate__open(struct rotate **ret, const struct rotate_opts *opts, struct error *error)
{
	struct rotate *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return error__set(error, -ENOMEM, "out of memory");
	r->opts = *opts;
	err = folder__open(&r->folder, opts->dir, opts->keep, error);
	if (!err) {
		r->finisher = finisher__create(r->folder);
		if (!r->finisher)
			err = error__set(error, -ENOMEM, "out of memory");
	}
	if (err) {
		rotate__destroy(r);
		return err;
	}
	*ret = r;
	return 0;
}

bool rotate__in_folder_of_other(const struct rotate *r)
{
	return folder__is_of_other(r->folder);
}

/* ---- writing ---- */

static int begin_file(struct rotate *r)
{
	r->about = (struct folder_file){ .from = r->from, .wall_ns = r->wall0 + (r->from - r->t0) };
	return folder__create(r->folder, &r->opts.target, "", &r->about, &r->file);
}

static int write_generation(struct rotate *r, const struct iovec *iov, size_t n)
{
	char header[TRACE_HEADER_LEN];
	int err = r->file ? 0 : begin_file(r);

	if (!err && !trace_file__size(r->file)) {
		header__make(r->opts.version, header);
		err = trace_file__append(r->file, header, sizeof(header));
	}
	return err ? err : trace_file__appendv(r->file, iov, n);
}

/* Removes files only as long as this frees space: another program may fill the disk. */
static int write_with_room(struct rotate *r, const struct iovec *iov, size_t n)
{
	int err = write_generation(r, iov, n);
	uint64_t bytes = 0;

	if ((err == -ENOSPC || err == -EDQUOT) && !r->room_is_useless) {
		for (size_t i = 0; i < n; i++)
			bytes += iov[i].iov_len;
		if (folder__make_room(r->folder, 2 * bytes))
			return err;
		err = write_generation(r, iov, n);
		r->room_is_useless = err;
	}
	if (!err)
		r->room_is_useless = false;
	return err;
}

/* For writer__use_memory(). */
static int append(void *to, const struct iovec *iov, size_t n)
{
	struct rotate *r = to;

	/* A file that ended with a loss may still wait for the finisher. */
	r->failure = r->lost_from && r->about.events ? -EAGAIN : write_with_room(r, iov, n);
	r->appended = true;
	return 0;
}

int rotate__start(struct rotate *r, struct writer *w, uint64_t t0, uint64_t wall_ns)
{
	bool is_first = !r->t0;
	int err;

	r->writer = w;
	r->t0 = r->from = t0;
	r->wall0 = wall_ns;
	r->events = writer__stats(w)->events;
	writer__use_memory(w, append, r);
	if (!is_first)
		return 0;
	err = begin_file(r); /* so that a failure is known before anything is recorded */
	if (err)
		error__set(&r->error, err, "cannot write %s/%s: %s", r->opts.dir, r->about.name,
			   strerror(-err));
	return err;
}

/* ---- between two generations ---- */

/* Passes the file on, or removes it if it contains no generation. */
static int end_file(struct rotate *r)
{
	struct finisher_job job = { .file = r->file, .about = r->about };
	int err = 0;

	if (r->file && r->about.events) {
		err = finisher__take(r->finisher, &job);
		if (err == -EAGAIN)
			return err;
		r->files += !err;
	}
	if (err)
		log__msg("cannot complete %s/%s: %s", r->opts.dir, r->about.name, strerror(-err));
	if (err || !r->about.events)
		trace_file__destroy(r->file);
	r->file = NULL;
	r->about.events = 0;
	return err;
}

static void lose(struct rotate *r, uint64_t time)
{
	if (!r->lost_from) {
		log__msg("cannot write %s/%s: %s; recording continues, and events are lost until "
			 "a file can be written",
			 r->opts.dir, r->about.name, strerror(-r->failure));
		r->lost_from = r->from;
	}
	r->lost_ns += time - r->from;
}

static void report_recovery(struct rotate *r)
{
	if (!r->lost_from)
		return;
	log__msg("writing to %s again: the events of %.3f s are missing (from_ns %llu to %llu)",
		 r->opts.dir, (double)(r->from - r->lost_from) / 1e9,
		 (unsigned long long)r->lost_from, (unsigned long long)r->from);
	r->lost_from = 0;
}

/* The generation from r->from to `time` has ended. Returns whether it was written. */
static bool add_generation(struct rotate *r, uint64_t time)
{
	uint64_t events = writer__stats(r->writer)->events;
	bool written = r->appended && !r->failure;

	if (written) {
		report_recovery(r);
		r->about.events += events - r->events;
		r->about.to = time;
	} else if (r->appended) {
		lose(r, time);
	}
	r->events = events;
	r->appended = false;
	r->from = time;
	return written;
}

/* Files that are being written are not listed, so that the limit does not remove them. */
static uint64_t size_limit(const struct rotate *r)
{
	const unsigned int *sharers = r->opts.sharers;
	unsigned int n = sharers ? __atomic_load_n(sharers, __ATOMIC_RELAXED) : 1;

	return r->opts.keep / 8 / (n ? n : 1);
}

int rotate__next(struct rotate *r, uint64_t time)
{
	uint64_t size;

	if (!add_generation(r, time)) {
		if (!r->failure)
			return 0; /* a generation without any known P is not written */
		end_file(r);
		return 1;
	}
	size = trace_file__size(r->file);
	if (!folder__is_removed(r->folder) &&
	    ((time - r->about.from < r->opts.every_ns && size < size_limit(r)) ||
	     finisher__is_full(r->finisher))) /* the disk is slow: this file becomes longer */
		return 0;
	return end_file(r) != -EAGAIN;
}

/* Describes what is missing; `err` is the first failure of the finisher. */
static int report_losses(struct rotate *r, int err, struct error *error)
{
	uint64_t failures = finisher__failures(r->finisher);

	if (failures)
		error__set(error, err, "%llu of %llu files could not be completed or listed in %s",
			   (unsigned long long)failures, (unsigned long long)r->files, r->opts.dir);
	else if (r->lost_ns)
		error__set(error, err = -EIO, "the events of %.3f s could not be written to %s",
			   (double)r->lost_ns / 1e9, r->opts.dir);
	return err;
}

bool rotate__is_full(const struct rotate *r)
{
	return finisher__is_full(r->finisher);
}

void rotate__pause(struct rotate *r, uint64_t time)
{
	if (!r->writer)
		return;
	add_generation(r, time);
	while (end_file(r) == -EAGAIN)
		usleep(10000);
	r->lost_from = 0; /* what is not recorded is not lost */
	r->writer = NULL;
}

int rotate__end(struct rotate *r, int err, uint64_t time, struct error *error)
{
	int failed;

	if (!err && r->writer)
		add_generation(r, time);
	while (r->writer && end_file(r) == -EAGAIN)
		usleep(10000);
	failed = finisher__wait(r->finisher, NULL);
	if (r->error.text[0])
		return error__set(error, err, "%s", r->error.text);
	if (err)
		return error__set(error, err,
				  "cannot write to %s: %s; its index lists the %llu complete files",
				  r->opts.dir, strerror(-err), (unsigned long long)r->files);
	return report_losses(r, failed, error);
}

void rotate__destroy(struct rotate *r)
{
	if (!r)
		return;
	if (r->finisher)
		finisher__wait(r->finisher, NULL);
	finisher__destroy(r->finisher);
	trace_file__destroy(r->file);
	folder__close(r->folder);
	free(r);
}
