/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs jobs with failing allocations: each job is repeated, and in each run another one of its
 * allocations fails. The job then returns -ENOMEM, or its normal result if it does not need the
 * allocation; and it must have freed everything.
 *
 * With AddressSanitizer, which has its own allocator, a test does nothing. Include it after
 * cmocka.h.
 */
#ifndef UNIT_NO_MEMORY_H
#define UNIT_NO_MEMORY_H

#include <fcntl.h>
#include <limits.h>

#include "unit/test.h"
#include "lib/error.h"
#include "lib/hash.h"

#define NONE_FAILS LONG_MAX

static long left = NONE_FAILS; /* allocations until one fails */
static long live;	       /* blocks in use */
static bool failed;
static uint64_t result; /* of a job: a hash of its output */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static bool fails(void)
{
	if (left == NONE_FAILS || left-- > 0)
		return false;
	left = NONE_FAILS; /* only one fails: a job that ignores it continues normally */
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
	return realloc(p, n * size); /* no block is that large */
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
	int code = run_job(job); /* data that is made only once exists now */

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
	TEST(test_##job)                                                                           \
	{                                                                                          \
		assert_job(#job, job);                                                             \
	}

#endif
