// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that waits for another one's reads may lose its CPU at any moment: here always after it has
 * read the clock. Reads that take no time must not look like one that blocks.
 */
#include <pthread.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "unit/test.h"
#include "lib/clock.h"
#include "target/process/reader.h"

static pthread_t waiting;

/* Instead of the library's */
uint64_t clock__now(void)
{
	struct timespec t, away = { .tv_nsec = 10 * MS };

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (pthread_equal(pthread_self(), waiting))
		nanosleep(&away, NULL);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int many_reads(void *ctx)
{
	uint64_t from = 7, to, end = clock__now() + 300 * MS;
	struct iovec local = { &to, sizeof(to) }, remote = { &from, sizeof(from) };

	do {
		to = 0;
		if (reader__vm_read(getpid(), &local, &remote, 1) != sizeof(to) || to != from)
			return -EIO;
	} while (clock__now() < end);
	return 0;
}

TEST(short_reads_are_no_long_one)
{
	char none;

	waiting = pthread_self();
	assert_int_equal(reader__run(many_reads, &none, sizeof(none), NULL, NULL), 0);
}
