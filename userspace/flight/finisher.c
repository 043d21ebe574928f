// SPDX-License-Identifier: GPL-2.0
/*
 * Completes the files of a continuous recording in a thread: see finisher.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "flight/finisher.h"
#include "writer/output_file.h"

#define FILES_MAX 4

struct finisher_job {
	struct trace_file *file;
	struct folder_file about;
};

struct finisher {
	struct folder *folder; /* used by the thread only, once it runs */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct finisher_job job[FILES_MAX]; /* a ring; the thread works on the first one */
	unsigned int first, n;
	bool ends;
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

/* A file is listed only once it is complete. After a failure its .partial remains. */
static int complete(struct finisher *f, struct finisher_job *job, struct error *error)
{
	int err = trace_file__commit(job->file);

	if (err)
		error__set(error, err, "cannot complete %s/%s: %s", folder__path(f->folder),
			   job->about.name, strerror(-err));
	job->about.bytes = trace_file__size(job->file);
	trace_file__destroy(job->file);
	return err ? err : folder__add(f->folder, &job->about, error);
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
		error.text[0] = '\0';
		err = complete(f, &f->job[f->first], &error);
		pthread_mutex_lock(&f->lock);
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

bool finisher__is_full(struct finisher *f)
{
	bool is_full;

	pthread_mutex_lock(&f->lock);
	is_full = f->n == FILES_MAX;
	pthread_mutex_unlock(&f->lock);
	return is_full;
}

int finisher__take(struct finisher *f, struct trace_file *file, const struct folder_file *about)
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
		f->job[(f->first + f->n++) % FILES_MAX] = (struct finisher_job){ file, *about };
		pthread_cond_signal(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

int finisher__failure(struct finisher *f, struct error *error)
{
	int err;

	pthread_mutex_lock(&f->lock);
	err = f->err;
	if (err)
		error__set(error, err, "%s", f->error.text);
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
	return finisher__failure(f, error);
}

void finisher__destroy(struct finisher *f)
{
	if (!f)
		return;
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
