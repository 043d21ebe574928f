// SPDX-License-Identifier: GPL-2.0
/* C's side of the target cgo: see main.go, which calls all of it. */
#include <pthread.h>
#include <unistd.h>

#include "_cgo_export.h"

struct work {
	int calls, pause_us;
};

void doze(int us)
{
	if (us)
		usleep((useconds_t)us);
}

void call_back(int n)
{
	goCallback(n);
}

static void *thread(void *arg)
{
	const struct work *work = arg;

	for (int i = 0; i < work->calls; i++) {
		goCallback(i);
		doze(work->pause_us);
	}
	return NULL;
}

void run_thread(int calls, int pause_us)
{
	struct work work = { calls, pause_us };
	pthread_t id;

	if (!pthread_create(&id, NULL, thread, &work))
		pthread_join(id, NULL);
}
