// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that calls a function repeatedly: see ticker.h.
 */
#include <time.h>

#include "lib/ticker.h"

#define STACK (64u << 10) /* counts towards --max-memory */

static void add_ms(struct timespec *t, unsigned int ms)
{
	t->tv_nsec += (long)(ms % 1000) * 1000000;
	t->tv_sec += ms / 1000 + t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
}

/* True: the time is up; false: ticker__stop() was called. */
static bool wait_for(struct ticker *t, unsigned int ms)
{
	struct timespec until;
	bool over;

	clock_gettime(CLOCK_MONOTONIC, &until);
	add_ms(&until, ms);
	pthread_mutex_lock(&t->lock);
	while (!t->over && !pthread_cond_timedwait(&t->ended, &t->lock, &until))
		;
	over = t->over;
	pthread_mutex_unlock(&t->lock);
	return !over;
}

static void *run(void *ticker)
{
	struct ticker *t = ticker;
	bool again = wait_for(t, t->first_ms);

	while (again) {
		t->tick();
		again = t->every_ms && wait_for(t, t->every_ms);
	}
	return NULL;
}

static int create_thread(struct ticker *t)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, STACK);
	if (!err)
		err = pthread_create(&t->thread, &attr, run, t);
	pthread_attr_destroy(&attr);
	return err;
}

void ticker__start(struct ticker *t)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->ended, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&t->lock, NULL);
	t->over = false;
	t->running = !create_thread(t);
}

void ticker__stop(struct ticker *t)
{
	if (!t->running)
		return;
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_cond_signal(&t->ended);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->ended);
	pthread_mutex_destroy(&t->lock);
	t->running = false;
}
