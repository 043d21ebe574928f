// SPDX-License-Identifier: GPL-2.0
/*
 * A recording in short files: see rotate.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight/finisher.h"
#include "flight/rotate.h"
#include "writer/output_file.h"
#include "writer/writer.h"

struct rotate {
	struct rotate_opts opts;
	struct folder *folder;
	struct finisher *finisher;
	struct writer *writer;
	struct trace_file *file;  /* being written */
	struct folder_file about; /* of it */
	uint64_t last;		  /* end of the latest generation */
	uint64_t t0, wall0;	  /* the start of the recording by both clocks */
	uint64_t events;	  /* in the files before this one */
	uint64_t files;
	struct error error; /* the first one */
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

uint64_t rotate__files(const struct rotate *r)
{
	return r->files;
}

static int begin_file(struct rotate *r, uint64_t time)
{
	int err;

	r->about = (struct folder_file){ .from = time, .wall_ns = r->wall0 + (time - r->t0) };
	err = folder__create(r->folder, &r->opts.subject, "", &r->about, &r->file);
	if (err)
		return error__set(&r->error, err, "cannot write %s/%s: %s", r->opts.dir,
				  r->about.name, strerror(-err));
	writer__use_file(r->writer, r->file);
	r->events = writer__stats(r->writer)->events;
	return 0;
}

int rotate__start(struct rotate *r, struct writer *w, uint64_t t0, uint64_t wall_ns)
{
	int err = finisher__failure(r->finisher, &r->error);

	r->writer = w;
	r->t0 = t0;
	r->wall0 = wall_ns;
	return err ? err : begin_file(r, t0);
}

static int end_file(struct rotate *r, uint64_t time)
{
	struct finisher_job job;
	int err;

	r->about.to = time;
	r->about.events = writer__stats(r->writer)->events - r->events;
	job = (struct finisher_job){ .file = r->file, .about = r->about };
	err = finisher__take(r->finisher, &job);
	if (err)
		return error__set(&r->error, err, "cannot complete %s/%s: %s", r->opts.dir,
				  r->about.name, strerror(-err));
	r->file = NULL;
	r->files++;
	return 0;
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
	uint64_t size = trace_file__size(r->file);
	int err = finisher__failure(r->finisher, &r->error);

	r->last = time;
	if (err || !size) /* a generation without any known P is not written */
		return err;
	if ((time - r->about.from < r->opts.every_ns && size < size_limit(r)) ||
	    finisher__is_full(r->finisher)) /* the disk is slow: this file becomes longer */
		return 0;
	err = end_file(r, time);
	if (!err)
		err = begin_file(r, time);
	return err ? err : 1;
}

bool rotate__is_full(const struct rotate *r)
{
	return finisher__is_full(r->finisher);
}

/* Without any generation there is no file. */
int rotate__pause(struct rotate *r, uint64_t time)
{
	while (r->file && trace_file__size(r->file) && finisher__is_full(r->finisher))
		usleep(10000);
	if (r->file && trace_file__size(r->file))
		return end_file(r, time);
	trace_file__destroy(r->file);
	r->file = NULL;
	return 0;
}

int rotate__end(struct rotate *r, int err, uint64_t time, struct error *error)
{
	int failed = rotate__pause(r, err ? r->last : time);

	failed = finisher__wait(r->finisher, &r->error) ?: failed;
	if (r->error.text[0])
		return error__set(error, failed ?: err, "%s", r->error.text);
	if (err)
		error__set(error, err,
			   "cannot write to %s: %s; its index lists the %llu complete files",
			   r->opts.dir, strerror(-err), (unsigned long long)r->files);
	return err;
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
