// SPDX-License-Identifier: GPL-2.0
/* A call in a child: its result, its refusal, its crash, its hang; nothing of it stays. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "lib/guarded.h"

static const struct guarded_limits limits = { .cpu_seconds = 1,
					      .seconds = 60,
					      .memory = 1ull << 30 };

static int add_one(void *ctx, void *result, struct error *err)
{
	int *before = ctx;

	*(int *)result = ++*before;
	return 0;
}

static int refuse(void *ctx, void *result, struct error *err)
{
	*(int *)result = 7;
	return error__set(err, -EBADMSG, "it makes no sense");
}

static int crash(void *ctx, void *result, struct error *err)
{
	signal(SIGSEGV, SIG_DFL); /* the sanitizer's would end it otherwise */
	raise(SIGSEGV);
	return 0;
}

static int give_up(void *ctx, void *result, struct error *err)
{
	signal(SIGABRT, SIG_DFL);
	abort();
	return 0;
}

static int leave(void *ctx, void *result, struct error *err)
{
	_exit(0);
	return 0;
}

static int spin(void *ctx, void *result, struct error *err)
{
	for (volatile int i = 1; i; i |= 1)
		;
	return 0;
}

static int sleep_long(void *ctx, void *result, struct error *err)
{
	pause();
	return 0;
}

static int take_memory(void *ctx, void *result, struct error *err)
{
	return mmap(NULL, 4ull << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0) == MAP_FAILED ?
		       -ENOMEM :
		       0;
}

static int run(guarded_fn fn, int *ctx, int *ret, struct error *err)
{
	err->text[0] = 0;
	return guarded__run(fn, ctx, &limits, ret, sizeof(*ret), err);
}

TEST(results)
{
	struct error err;
	int before = 1, ret = 0;

	assert_int_equal(run(add_one, &before, &ret, &err), 0);
	assert_int_equal(ret, 2);
	assert_int_equal(before, 1); /* the child's copy was changed */
	assert_string_equal(err.text, "");
	assert_int_equal(run(refuse, &before, &ret, &err), -EBADMSG);
	assert_string_equal(err.text, "it makes no sense");
	assert_int_equal(ret, 2);
}

static void no_result(guarded_fn fn, const char *why)
{
	struct error err;
	int ret = 3;

	assert_int_equal(run(fn, NULL, &ret, &err), -ENOTRECOVERABLE);
	assert_non_null(strstr(err.text, why));
	assert_int_equal(ret, 3);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

TEST(crashes)
{
	no_result(crash, "crashed (Segmentation fault)");
	no_result(give_up, "crashed (Aborted)");
	no_result(leave, "ended without a result");
}

TEST(hangs)
{
	static const struct guarded_limits short_limits = { .cpu_seconds = 1,
							    .seconds = 1,
							    .memory = 1ull << 30 };
	struct error err = { "" };
	int ret;

	no_result(spin, "more than 1 s of CPU time");
	assert_int_equal(guarded__run(sleep_long, NULL, &short_limits, &ret, sizeof(ret), &err),
			 -ENOTRECOVERABLE);
	assert_string_equal(err.text, "did not end within 1 s");
}

TEST(memory)
{
	struct error err;
	int ret;

#if defined(__SANITIZE_ADDRESS__)
	assert_int_equal(run(take_memory, NULL, &ret, &err), 0); /* no limit with it */
#else
	assert_int_equal(run(take_memory, NULL, &ret, &err), -ENOMEM);
#endif
}
