// SPDX-License-Identifier: GPL-2.0
/*
 * Completes the files of a continuous recording in a thread: see finisher.h.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/finisher.h"
#include "flight/window.h"
#include "lib/log.h"
#include "writer/output.h"

#define FILES_MAX 4

struct finisher {
	struct folder *folder; /* used by the thread only, once it runs */
	pthread_t thread;
	bool has_thread;
	bool suggested;	      /* what to do with a snapshot; used by the thread only */
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct finisher_job job[FILES_MAX]; /* a ring; the thread works on the first one */
	unsigned int first, n;
	bool ends;
	uint64_t failures;
	struct error error; /* the first one */
	int err;
};

struct finisher *finisher__create(struct folder *folder)
{
	struct finisher *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->folder = folder;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	return f;
}

static int write_copy(struct finisher *f, struct finisher_job *job)
{
	int err = folder__create(f->folder, &job->target, job->kind, &job->about, &job->file);

	if (!err)
		err = window_copy__write(job->copy, job->file, job->version);
	window_copy__destroy(job->copy);
	return err;
}

/* What to do with snapshots is suggested once. */
static void report(struct finisher *f, const struct finisher_job *job)
{
	char path[PATH_MAX];

	log__msg("snapshot of %s: %s/%s, %.3f s, %llu events, %llu bytes", job->cause,
		 folder__path(f->folder), job->about.name,
		 (double)(job->about.to - job->about.from) / 1e9,
		 (unsigned long long)job->about.events, (unsigned long long)job->about.bytes);
	if (f->suggested)
		return;
	f->suggested = true;
	snprintf(path, sizeof(path), "%s/%s", folder__path(f->folder), job->about.name);
	output__suggest(path);
}

/* A file is listed only once it is complete. One that cannot be completed is removed. */
static int complete_file(struct finisher *f, struct finisher_job *job, struct error *error)
{
	int err = job->copy ? write_copy(f, job) : 0;

	if (!err)
		err = trace_file__commit(job->file);
	if (err)
		error__set(error, err, "%s%s%scannot complete %s/%s: %s",
			   job->copy ? "no snapshot of " : "", job->copy ? job->cause : "",
			   job->copy ? ": " : "", folder__path(f->folder), job->about.name,
			   strerror(-err));
	if (err && job->file)
		trace_file__discard(job->file);
	job->about.bytes = job->file ? trace_file__size(job->file) : 0;
	trace_file__destroy(job->file);
	return err;
}

/*
 * A failure is reported here, and the recording continues. Rotated files may fail each second: the
 * same error is then reported once.
 */
static int complete(struct finisher *f, struct finisher_job *job, struct error *error)
{
	int before = error->code, err;

	*error = (struct error){};
	err = complete_file(f, job, error);
	if (!err) {
		err = folder__add(f->folder, &job->about, error);
		if (job->copy)
			report(f, job);
	}
	if (err && (job->copy || error->code != before))
		log__msg("%s", error->text);
	return err;
}

static void *run(void *ctx)
{
	struct finisher *f = ctx;
	struct error error = {};
	int err;

	pthread_mutex_lock(&f->lock);
	for (;;) {
		while (!f->n && !f->ends)
			pthread_cond_wait(&f->changed, &f->lock);
		if (!f->n)
			break;
		pthread_mutex_unlock(&f->lock);
		err = complete(f, &f->job[f->first], &error);
		pthread_mutex_lock(&f->lock);
		f->failures += err != 0;
		if (err && !f->err) {
			f->err = err;
			f->error = error;
		}
		f->first = (f->first + 1) % FILES_MAX;
		f->n--;
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static unsigned int jobs(struct finisher *f)
{
	unsigned int n;

	pthread_mutex_lock(&f->lock);
	n = f->n;
	pthread_mutex_unlock(&f->lock);
	return n;
}

bool finisher__is_full(struct finisher *f)
{
	return jobs(f) == FILES_MAX;
}

bool finisher__is_busy(struct finisher *f)
{
	return jobs(f);
}

int finisher__take(struct finisher *f, const struct finisher_job *job)
{
	int err = 0;

	if (!f->has_thread) {
		err = -pthread_create(&f->thread, NULL, run, f);
		f->has_thread = !err;
	}
	if (err)
		return err;
	pthread_mutex_lock(&f->lock);
	if (f->n == FILES_MAX) {
		err = -EAGAIN;
	} else {
		f->job[(f->first + f->n++) % FILES_MAX] = *job;
		pthread_cond_signal(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

int finisher__wait(struct finisher *f, struct error *error)
{
	pthread_mutex_lock(&f->lock);
	f->ends = true;
	pthread_cond_signal(&f->changed);
	pthread_mutex_unlock(&f->lock);
	if (f->has_thread)
		pthread_join(f->thread, NULL);
	f->has_thread = f->ends = false;
	return f->err ? error__set(error, f->err, "%s", f->error.text) : 0;
}

uint64_t finisher__failures(const struct finisher *f)
{
	return f->failures;
}

void finisher__destroy(struct finisher *f)
{
	if (!f)
		return;
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
