// SPDX-License-Identifier: GPL-2.0
/*
 * Requests for snapshots of a flight recorder buffer: one at a time is kept, it is due after its
 * tail and once the one before is complete, and what its process does decides whether it counts.
 */
#include <signal.h>
#include <sys/mman.h>

#include "unit/test.h"
#include "blackbox/blackbox_flight.h"

#define TAIL 100ull

/* Shared with the processes that write snapshots. */
static struct shared {
	unsigned int saves;
	char kind[32], text[64];
	uint64_t time;
	bool blocks; /* whether SIGUSR1 is blocked there */
	bool hangs, fails, dies;
} *shared;

static bool save(void *ctx, const struct flight_cause *cause)
{
	sigset_t blocked;

	if (ctx != shared)
		return false;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	shared->blocks = sigismember(&blocked, SIGUSR1);
	strcpy(shared->kind, cause->kind);
	strcpy(shared->text, cause->text);
	shared->time = cause->time;
	while (__atomic_load_n(&shared->hangs, __ATOMIC_ACQUIRE))
		usleep(1000);
	shared->saves++;
	if (shared->dies)
		raise(SIGKILL);
	return !shared->fails;
}

static struct blackbox_flight begin(void)
{
	memset(shared, 0, sizeof(*shared));
	return (struct blackbox_flight){ .tail_ns = TAIL, .save = save, .ctx = shared };
}

static void wait_for_child(struct blackbox_flight *f)
{
	while (f->child) {
		usleep(1000);
		assert_true(blackbox_flight__step(f, 1) > 1);
	}
}

TEST(after_the_tail)
{
	struct blackbox_flight f = begin();

	assert_int_equal(blackbox_flight__step(&f, 1000), UINT64_MAX);
	assert_true(blackbox_flight__request(&f, "signal", "a request", 1000));
	assert_int_equal(blackbox_flight__step(&f, 1000), 1000 + TAIL);
	assert_int_equal(blackbox_flight__step(&f, 1000 + TAIL - 1), 1000 + TAIL);
	assert_int_equal(f.child, 0);
	assert_in_range(blackbox_flight__step(&f, 1000 + TAIL), 1001 + TAIL, 1e9);
	assert_int_not_equal(f.child, 0);
	wait_for_child(&f);
	assert_int_equal(f.written, 1);
	assert_int_equal(f.failed, 0);
	assert_string_equal(shared->kind, "signal");
	assert_string_equal(shared->text, "a request");
	assert_int_equal(shared->time, 1000);
	assert_false(shared->blocks);
	assert_int_equal(blackbox_flight__step(&f, 2000), UINT64_MAX);
	assert_true(blackbox_flight__end(&f));
	assert_int_equal(shared->saves, 1);
}

/* A second request is ignored until the first one is due, and waits for its end from then on. */
TEST(one_at_a_time)
{
	struct blackbox_flight f = begin();

	shared->hangs = true;
	assert_true(blackbox_flight__request(&f, "a", "first", 1000));
	assert_false(blackbox_flight__request(&f, "b", "second", 1001));
	assert_int_equal(f.ignored, 1);
	blackbox_flight__step(&f, 1000 + TAIL);
	assert_int_equal(f.ignored, 0);
	assert_true(blackbox_flight__request(&f, "c", "third", 2000));
	blackbox_flight__step(&f, 2000 + TAIL);
	assert_true(f.has_request);
	__atomic_store_n(&shared->hangs, false, __ATOMIC_RELEASE);
	while (f.has_request)
		blackbox_flight__step(&f, 3000);
	wait_for_child(&f);
	assert_int_equal(f.written, 2);
	assert_int_equal(shared->saves, 2);
	assert_string_equal(shared->text, "third");
}

/* At the end nothing is waited for but the snapshots. */
TEST(at_the_end)
{
	struct blackbox_flight f = begin();

	assert_true(blackbox_flight__end(&f));
	assert_int_equal(shared->saves, 0);
	assert_true(blackbox_flight__request(&f, "a", "first", 1000));
	blackbox_flight__step(&f, 1000 + TAIL);
	assert_true(blackbox_flight__request(&f, "exit", "the end", 1200));
	assert_true(blackbox_flight__end(&f));
	assert_int_equal(shared->saves, 2);
	assert_string_equal(shared->text, "the end");
	assert_int_equal(f.written, 2);
	assert_int_equal(f.child, 0);
}

/* A failure is that of the last one only, if a later one contains the same events. */
TEST(failures)
{
	struct blackbox_flight f = begin();

	shared->fails = true;
	assert_true(blackbox_flight__request(&f, "a", "first", 1000));
	assert_false(blackbox_flight__end(&f));
	assert_int_equal(f.failed, 1);
	shared->fails = false;
	assert_true(blackbox_flight__request(&f, "a", "second", 1000));
	assert_true(blackbox_flight__end(&f));
	assert_int_equal(f.failed, 1);
	assert_int_equal(f.written, 1);
	shared->dies = true;
	assert_true(blackbox_flight__request(&f, "a", "third", 1000));
	assert_false(blackbox_flight__end(&f));
	assert_int_equal(f.failed, 2);
}

static void prepare(void)
{
	sigset_t request;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	sigemptyset(&request);
	sigaddset(&request, SIGUSR1);
	sigprocmask(SIG_BLOCK, &request, NULL);
}

GROUP(prepare, NULL)
