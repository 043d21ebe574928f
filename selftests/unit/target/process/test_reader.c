// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of memory that block: a page of our own that a userfaultfd handler never provides stands in
 * for any page that does not arrive.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "unit/test.h"
#include "target/process/process.h"
#include "target/process/reader.h"

#define PAGE 4096

static char *absent; /* the page; NULL: this machine or user can't have one */
static int handler;  /* of its faults: it answers none */
static struct process self;
static atomic_int returned;

static int make_absent_page(void **state)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	sigset_t set;
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	handler = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	sigemptyset(&set); /* in all threads, as in the recorder */
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	range.range.start = (uintptr_t)page;
	range.range.len = PAGE;
	if (handler >= 0 && page != MAP_FAILED && !ioctl(handler, UFFDIO_API, &api) &&
	    !ioctl(handler, UFFDIO_REGISTER, &range))
		absent = page;
	return process__open(&self, getpid(), NULL);
}

GROUP(make_absent_page, NULL)

struct job {
	uint64_t addr;
	int calls;
	char got[8];
};

static int read_it(void *ctx)
{
	struct job *job = ctx;
	int code;

	job->calls++;
	code = process__read(&self, job->addr, job->got, sizeof(job->got));
	atomic_fetch_add(&returned, 1);
	return code;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int count(void *ctx)
{
	++*(int *)ctx;
	return 0;
}

static int enough(void *ctx)
{
	return ++*(int *)ctx == 10 ? -ECANCELED : 0;
}

TEST(a_read_that_ends)
{
	char here[8] = "present";
	struct job job = { .addr = (uintptr_t)here };
	int calls = 0;

	assert_int_equal(reader__run(read_it, &job, sizeof(job), count, &calls), 0);
	assert_string_equal(job.got, "present");
	assert_int_equal(job.calls, 1);
	job.addr = 8;
	assert_int_equal(reader__run(read_it, &job, sizeof(job), NULL, NULL), -EFAULT);
	assert_int_equal(job.calls, 2);
}

TEST(a_read_that_blocks)
{
	struct job job = { .addr = (uintptr_t)absent };
	uint64_t begin = now_ms(), took;
	int calls = 0, before = atomic_load(&returned);

	if (!absent)
		skip();
	assert_int_equal(reader__run(read_it, &job, sizeof(job), count, &calls), -ETIMEDOUT);
	took = now_ms() - begin;
	assert_true(took >= READER_PATIENCE_MS);
	assert_true(calls > 10);	/* rings are drained meanwhile */
	assert_int_equal(job.calls, 0); /* nothing came back */
	assert_int_equal(atomic_load(&returned), before);
}

TEST(it_is_cancelled)
{
	struct job job = { .addr = (uintptr_t)absent };
	int calls = 0;

	if (!absent)
		skip();
	assert_int_equal(reader__run(read_it, &job, sizeof(job), enough, &calls), -ECANCELED);
	assert_int_equal(calls, 10);
	assert_int_equal(job.calls, 0);
}

TEST(a_signal_ends_it)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct timespec none = { 0 };
	sigset_t set;

	if (!absent)
		skip();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct job job = { .addr = (uintptr_t)absent };
		uint64_t begin = now_ms(), took;

		sigemptyset(&set);
		sigaddset(&set, signals[i]);
		assert_int_equal(kill(getpid(), signals[i]), 0);
		assert_int_equal(reader__run(read_it, &job, sizeof(job), NULL, NULL), -EINTR);
		took = now_ms() - begin;
		assert_true(took >= READER_SIGNAL_MS && took < READER_PATIENCE_MS);
		/* it is there still */
		assert_int_equal(sigtimedwait(&set, NULL, &none), signals[i]);
	}
}

TEST(reasons)
{
	struct error err = { "" };

	assert_int_equal(reader__blocked(-EINTR, 7, &err), -EINTR);
	assert_non_null(strstr(err.text, "interrupted"));
	assert_non_null(strstr(err.text, "process 7"));
	err.text[0] = 0; /* the first reason stays otherwise */
	assert_int_equal(reader__blocked(-ETIMEDOUT, 7, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "within 5 s"));
}

/*
 * The page arrives after all: the threads that waited for it do nothing any more. LeakSanitizer stops all threads at
 * the end, and would wait for ever for one that waits for a page.
 */
TEST(a_late_page)
{
	int before = atomic_load(&returned);

	if (!absent)
		skip();
	assert_int_equal(close(handler), 0); /* wakes all threads that wait for it */
	usleep(200000);
	assert_int_equal(atomic_load(&returned), before);
}
