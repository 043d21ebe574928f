/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that calls a function after a while, and then again and again.
 *
 * For what a command shows while it works: lib/steps.c and lib/progress.c. A thread, because the
 * command may be in one long call. Its stack is small: the function must not need much.
 */
#ifndef LIB_TICKER_H
#define LIB_TICKER_H

#include <pthread.h>
#include <stdbool.h>

struct ticker {
	unsigned int first_ms,
		every_ms;     /* until the first call, and between calls; every_ms 0: one call */
	void (*tick)(void);   /* runs in the thread */
	pthread_mutex_t lock; /* of `over` */
	pthread_cond_t ended;
	pthread_t thread;
	bool running; /* changed by start and stop only */
	bool over;
};

/* Starts with the members of the first two lines set. Without a thread `tick` is never called. */
void ticker__start(struct ticker *t);
/* Waits until a call that runs has returned. No effect if it does not run. */
void ticker__stop(struct ticker *t);

#endif
