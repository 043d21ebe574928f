/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs without memory: each is repeated, and in each run another one of its allocations fails. The job returns
 * -ENOMEM then, or its result is the same as ever, if it can do without; and it has freed all that it had.
 * With AddressSanitizer, which has an allocator of its own, a test does nothing. Include it after cmocka.h.
 */
#ifndef UNIT_NO_MEMORY_H
#define UNIT_NO_MEMORY_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/hash.h"

#define NONE_FAILS LONG_MAX

static long left = NONE_FAILS; /* allocations that do not fail yet */
static long live;	       /* blocks */
static bool failed;
static uint64_t result; /* of a job: a sum over what came out of it */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static bool fails(void)
{
	if (left == NONE_FAILS || left-- > 0)
		return false;
	left = NONE_FAILS; /* one only: what goes on as if nothing had happened gets far */
	failed = true;
	errno = ENOMEM;
	return true;
}

static void *counted(void *p)
{
	live += p != NULL;
	return p;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
	if (fails())
		return NULL;
	return p ? __libc_realloc(p, size) : counted(__libc_malloc(size));
}

void *reallocarray(void *p, size_t n, size_t size)
{
	return realloc(p, n * size); /* none is that large */
}

void free(void *p)
{
	live -= p != NULL;
	__libc_free(p);
}

static struct error why;

static inline void add(const void *data, size_t len)
{
	result = result * 31 + (len ? hash__bytes(data, len) : 0);
}

static inline void add_number(uint64_t n)
{
	add(&n, sizeof(n));
}

static inline void add_file(const char *path)
{
	static char bytes[1 << 16];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes));

	assert_in_range(n, 1, sizeof(bytes) - 1);
	add(bytes, (size_t)n);
	close(fd);
}

static inline int run_job(int (*job)(void))
{
	result = 1;
	why = (struct error){};
	return job();
}

static inline void assert_job(const char *name, int (*job)(void))
{
	uint64_t wanted;
	long n = 0, before;
	int code = run_job(job); /* what is made once is there then */

	if (code)
		fail_msg("%s: %d: %s", name, code, why.text);
	wanted = result;
	do {
		before = live;
		failed = false;
		left = n++;
		code = run_job(job);
		left = NONE_FAILS;
		if (code ? !failed || code != -ENOMEM : result != wanted)
			fail_msg("%s: allocation %ld: %d", name, n, code);
		if (live != before)
			fail_msg("%s: allocation %ld: %ld blocks are not freed", name, n,
				 live - before);
	} while (failed);
	assert_true(n > 10);
}

#define JOB(job)                                                                                   \
	static void test_##job(void **state)                                                       \
	{                                                                                          \
		assert_job(#job, job);                                                             \
	}

#endif
