// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that analyses a recording, and the queue of generations in front of it: see
 * metrics/metrics.h.
 *
 * The recorder only copies bytes into the queue. After each generation the thread publishes a
 * snapshot, which takes time proportional to the goroutines that are alive; it is left out if that
 * would take more than 2 % of the time.
 */
#include "metrics/metrics.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "metrics/stream.h"

#define STACK	       (512u << 10)
#define PUBLISH_FACTOR 50 /* between snapshots: so many times as long as one took */

struct queued {
	struct queued *next;
	uint64_t skipped; /* generations that were left out before it */
	bool has_state;	  /* a trace can begin with it */
	size_t len;
	unsigned char data[];
};

struct metrics {
	pthread_mutex_t lock; /* of all up to `published` */
	pthread_cond_t changed;
	size_t limit, waiting; /* bytes in the queue */
	struct queued *first, **last;
	uint64_t skipped; /* since the last one in the queue */
	bool stop, finish;
	bool wants_state;
	struct outbuf published;

	bool started, has_header; /* the caller's */
	bool has_state;		  /* of the next generation */
	pthread_t thread;
	char header[TRACE_HEADER_LEN];

	struct stream_analysis stream; /* the thread's */
	uint64_t next_publish;	       /* CLOCK_MONOTONIC, ns */
	bool is_stale;		       /* what was analysed last is not published */
};

int metrics__create(struct metrics **ret, const struct metrics_opts *opts, struct error *error)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return error__set(error, -ENOMEM, "out of memory");
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	m->limit = opts && opts->queue ? opts->queue : METRICS_QUEUE;
	m->last = &m->first;
	*ret = m;
	return 0;
}

/* ---- the thread ---- */

static void publish(struct metrics *m, bool always)
{
	uint64_t begin = clock__now();
	struct outbuf o = {}, old;
	struct metric_values v = {};
	int err;

	m->is_stale = begin < m->next_publish && !always;
	if (m->is_stale)
		return;
	err = stream_analysis__collect(&m->stream, &v);
	if (!err)
		err = metric_values__pack(&v, &o);
	metric_values__deinit(&v);
	if (!err) {
		pthread_mutex_lock(&m->lock);
		old = m->published;
		m->published = o;
		pthread_mutex_unlock(&m->lock);
		o = old;
	}
	outbuf__deinit(&o);
	m->next_publish = begin + PUBLISH_FACTOR * (clock__now() - begin);
}

/* Without memory the analysis begins anew, as after a generation that is missing. */
static void analyse(struct metrics *m, const struct queued *q)
{
	for (uint64_t i = 0; i < q->skipped; i++)
		stream_analysis__skip(&m->stream);
	if (stream_analysis__add(&m->stream, q->data, q->len, q->has_state))
		stream_analysis__skip(&m->stream);
	pthread_mutex_lock(&m->lock);
	m->wants_state = m->skipped || stream_analysis__wants_state(&m->stream);
	pthread_mutex_unlock(&m->lock);
	publish(m, false);
}

static void finish(struct metrics *m)
{
	for (uint64_t i = 0; i < m->skipped; i++)
		stream_analysis__skip(&m->stream);
	if (!m->is_stale && !m->skipped) /* published as of the end */
		return;
	stream_analysis__finish(&m->stream);
	publish(m, true);
}

/* With the lock held. NULL: none will come. */
static struct queued *take(struct metrics *m)
{
	struct queued *q;

	while (!m->first && !m->stop && !m->finish)
		pthread_cond_wait(&m->changed, &m->lock);
	q = m->stop ? NULL : m->first;
	if (q) {
		m->first = q->next;
		if (!m->first)
			m->last = &m->first;
		m->waiting -= q->len;
	}
	return q;
}

/* The recorder may run with real-time priority. */
static void lower_priority(void)
{
	const struct sched_param param = {};

	sched_setscheduler(0, SCHED_BATCH, &param);
}

static void *run(void *arg)
{
	struct metrics *m = arg;
	struct queued *q;

	lower_priority();
	pthread_mutex_lock(&m->lock);
	while ((q = take(m))) {
		pthread_mutex_unlock(&m->lock);
		analyse(m, q);
		free(q);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	if (!m->stop)
		finish(m);
	return NULL;
}

/* Signals are for the recorder's own thread. */
static int start(struct metrics *m)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err = stream_analysis__init(&m->stream, m->header);

	if (err)
		return err;
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_attr_setstacksize(&attr, STACK) ?: pthread_create(&m->thread, &attr, run, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	m->started = !err;
	return -err;
}

/* ---- the recorder ---- */

static void copy(unsigned char *to, const struct iovec *iov, size_t n, size_t skip)
{
	size_t len, from;

	for (size_t i = 0; i < n; i++) {
		from = skip < iov[i].iov_len ? skip : iov[i].iov_len;
		len = iov[i].iov_len - from;
		if (len)
			memcpy(to, (const char *)iov[i].iov_base + from, len);
		to += len;
		skip -= from;
	}
}

static int take_header(struct metrics *m, const struct iovec *iov, size_t n)
{
	size_t len = 0, part;

	for (size_t i = 0; i < n && len < sizeof(m->header); i++) {
		part = sizeof(m->header) - len;
		if (part > iov[i].iov_len)
			part = iov[i].iov_len;
		memcpy(m->header + len, iov[i].iov_base, part);
		len += part;
	}
	m->has_header = len == sizeof(m->header);
	return m->has_header ? 0 : -EINVAL;
}

/* Takes it over; NULL: no memory. One may always wait, however large it is. */
static void enqueue(struct metrics *m, struct queued *q)
{
	pthread_mutex_lock(&m->lock);
	if (!q || (m->first && m->waiting + q->len > m->limit)) {
		m->skipped++;
		m->wants_state = true;
		free(q);
	} else {
		q->skipped = m->skipped;
		m->skipped = 0;
		m->waiting += q->len;
		*m->last = q;
		m->last = &q->next;
		pthread_cond_broadcast(&m->changed);
	}
	pthread_mutex_unlock(&m->lock);
}

int metrics__append(void *to, const struct iovec *iov, size_t n)
{
	struct metrics *m = to;
	bool first = !m->has_header;
	size_t len = 0, skip = first ? sizeof(m->header) : 0;
	struct queued *q;
	bool has_state = m->has_state || !m->started;
	int err = first ? take_header(m, iov, n) : 0;

	for (size_t i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (err || len == skip)
		return err;
	len -= skip;
	err = m->started ? 0 : start(m);
	if (err)
		return err;
	m->has_state = false;
	q = malloc(sizeof(*q) + len);
	if (q) {
		*q = (struct queued){ .len = len, .has_state = has_state };
		copy(q->data, iov, n, skip);
	}
	enqueue(m, q);
	return 0;
}

bool metrics__needs_state(struct metrics *m)
{
	bool wants;

	pthread_mutex_lock(&m->lock);
	wants = m->wants_state;
	pthread_mutex_unlock(&m->lock);
	return wants;
}

void metrics__has_state(struct metrics *m)
{
	m->has_state = true;
}

static void end_thread(struct metrics *m, bool *how)
{
	if (!m->started)
		return;
	pthread_mutex_lock(&m->lock);
	*how = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	m->started = false;
}

void metrics__finish(struct metrics *m)
{
	end_thread(m, &m->finish);
}

int metrics__snapshot(struct metrics *m, void **ret, size_t *size)
{
	struct metric_values none = {};
	struct outbuf o = {};
	int err;

	pthread_mutex_lock(&m->lock);
	err = m->published.len ? outbuf__put(&o, m->published.data, m->published.len, NULL) :
				 metric_values__pack(&none, &o);
	pthread_mutex_unlock(&m->lock);
	if (err) {
		outbuf__deinit(&o);
		return -ENOMEM;
	}
	*ret = o.data;
	*size = o.len;
	return 0;
}

void metrics__destroy(struct metrics *m)
{
	struct queued *q;

	if (!m)
		return;
	end_thread(m, &m->stop);
	while ((q = m->first)) {
		m->first = q->next;
		free(q);
	}
	stream_analysis__deinit(&m->stream);
	outbuf__deinit(&m->published);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
