// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of sessions that outlive their owner: killed, closed, claimed, recovered, released. What a
 * former owner and its relatives can still do is tested in owners.c. Under test: kmod/session.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define NAME	"kept.session-1"
#define RECORDS 300

/* Starts an owner of a session named NAME, which calls `prepare` and waits. Its PID, or -1. */
static pid_t owner(bool (*prepare)(int fd), uint32_t timeout)
{
	int ready[2];
	char answer = 0;
	pid_t pid;

	if (pipe(ready) || (pid = fork()) < 0)
		return -1;
	if (!pid) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
		int fd;

		want.timeout = timeout;
		fd = session(&want);
		answer = prepare(fd);
		if (write(ready[1], &answer, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &answer, 1) != 1 || !answer) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static bool prepare_data(int fd)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		CHECK_EQUAL(emit (fd, 3, i), 0);
	CHECK_EQUAL(write_checkpoint(fd, 'a', 100), 0);
	CHECK_EQUAL(write_checkpoint(fd, 'b', 70000), 0);
	CHECK_EQUAL(write_checkpoint(fd, 'c', 5000), 0);
	return true;
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static bool prepare_threads(int fd)
{
	pthread_t thread;

	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&thread, NULL, wait_for_ever, NULL));
	return prepare_data(fd);
}

/* The records of a claimed session, all of them from `first` on. */
static bool records_are_there(const struct gt_session_page *page, uint32_t end_)
{
	uint8_t bytes[GT_SUBBUF_MIN];
	struct subbuf copy = { .bytes = bytes };
	uint64_t head = ring(page, 0)->head, next = 0;

	for (uint64_t n = 0; n * GT_SUBBUF_MIN < head; n++) {
		CHECK_EQUAL(subbuf__copy(page, 0, n, &copy), 1);
		for (uint32_t at = sizeof(struct gt_subbuf); at < copy.used;) {
			const struct gt_record *rec = (const void *)(bytes + at);
			size_t size = record_size(rec, copy.used - at);

			CHECK(size);
			CHECK_EQUAL(rec->object, 3ull << 32 | next++);
			CHECK(!page->frozen || rec->time < page->frozen);
			at += size;
		}
	}
	CHECK_EQUAL(next, end_);
	return true;
}

static bool recovers(bool (*prepare)(int fd))
{
	struct gt_abi_info info = {};
	struct gt_abi_claim claimed;
	const struct gt_session_page *page;
	uint64_t ignored;
	pid_t pid = owner(prepare, 0);
	int fd;

	CHECK(pid > 0 && find(NAME, &info));
	CHECK_EQUAL(info.owner, pid);
	CHECK(!info.frozen && !info.expires && info.checkpoints == 3);
	CHECK_EQUAL(info.checkpoint_bytes, 75000);
	CHECK_EQUAL(claim(NAME, &claimed), -EBUSY);
	end(pid, SIGKILL);

	CHECK(find(NAME, &info));
	CHECK(!info.owner && info.frozen && !info.expires && info.flags == GT_SESSION_KEEP);
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0 && claimed.id == info.id && claimed.bytes == info.bytes);
	CHECK(find(NAME, &info));
	CHECK_EQUAL(info.owner, getpid());
	page = map(fd, claimed.bytes);
	CHECK(page && records_are_there(page, RECORDS));
	CHECK_EQUAL(page->refused, 0);
	CHECK_EQUAL(emit (fd, 3, 0), -ESHUTDOWN);
	CHECK(checkpoint_is(fd, 0, 'c', 5000) && checkpoint_is(fd, 1, 'b', 70000));
	CHECK_EQUAL(checkpoint(fd, GT_IOC_READ_CHECKPOINT, NULL, 0, 2, &ignored), -EINVAL);

	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	CHECK(!find(NAME, &info));
	CHECK(records_are_there(page, RECORDS)); /* the mapping keeps its memory */
	munmap((void *)page, claimed.bytes);
	close(fd);
	return true;
}

static bool test_recover(void)
{
	return recovers(prepare_data);
}

static bool test_recover_threads(void)
{
	return recovers(prepare_threads);
}

static bool release_by_name(const char *name)
{
	struct gt_abi_claim claimed;
	int fd = claim(name, &claimed);

	CHECK(fd >= 0);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), -ENOENT);
	close(fd);
	return true;
}

/* A process that closes the file without ending leaves a session that still takes records. */
static bool test_given_back(void)
{
	struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
	struct gt_abi_info info;
	struct gt_abi_claim claimed;
	const struct gt_session_page *page;
	int fd = session(&want);

	CHECK_EQUAL(emit (fd, 3, 0), 0);
	close(fd);
	CHECK(find(NAME, &info) && !info.owner && !info.frozen);
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0);
	CHECK_EQUAL(emit (fd, 3, 1), 0);
	page = map(fd, claimed.bytes);
	CHECK(page && records_are_there(page, 2));
	munmap((void *)page, claimed.bytes);
	close(fd);
	return release_by_name(NAME);
}

static bool test_time_out(void)
{
	struct gt_abi_create first = small("first", GT_SESSION_KEEP);
	struct gt_abi_create second = small("second", GT_SESSION_KEEP);
	struct gt_abi_create owned = small("owned", GT_SESSION_KEEP);
	struct gt_abi_info info;
	int fd;

	second.timeout = 1;
	first.timeout = 3600;
	owned.timeout = 1;
	fd = session(&owned);
	close(session(&first));
	close(session(&second));
	CHECK(find("second", &info) && info.expires);
	CHECK(gone("second", 30));
	CHECK(find("first", &info) && info.expires);
	CHECK(find("owned", &info) && !info.expires);
	close(fd);
	CHECK(gone("owned", 30));
	return release_by_name("first");
}

/* A claimed session has no timeout; when its owner is killed it can be claimed again. */
static bool test_claimer_killed(void)
{
	pid_t pid = owner(prepare_data, 10), claimer;
	struct gt_abi_claim claimed;
	struct gt_abi_info info;
	uint64_t frozen;

	CHECK(pid > 0);
	end(pid, SIGKILL);
	CHECK(find(NAME, &info) && info.expires);
	frozen = info.frozen;
	claimer = fork();
	if (!claimer) {
		if (claim(NAME, &claimed) >= 0)
			pause();
		_exit(1);
	}
	for (int i = 0; i < 200 && find(NAME, &info) && !info.owner; i++)
		usleep(10000);
	CHECK_EQUAL(info.owner, claimer);
	sleep(11);
	CHECK(find(NAME, &info) && !info.expires);
	end(claimer, SIGKILL);
	CHECK(find(NAME, &info) && !info.owner && info.frozen == frozen && info.expires);
	return release_by_name(NAME);
}

static void *nothing(void *arg)
{
	return arg;
}

/* Ends other than the owner's: of a child with the file, of a thread of the owner. */
static bool test_other_ends(void)
{
	struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
	struct gt_abi_info info;
	int fd = session(&want);
	pthread_t thread;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	CHECK(!pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL));
	close(dup(fd));
	CHECK(find(NAME, &info));
	CHECK(info.owner == (uint32_t)getpid() && !info.frozen);
	CHECK_EQUAL(emit (fd, 3, 0), 0);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	return true;
}

/* A session without GT_SESSION_KEEP ends with its owner, its memory with the last mapping. */
static bool test_plain(void)
{
	struct gt_abi_create want = small("plain", 0);
	uint64_t memory = parameter("memory"), sessions = parameter("sessions");
	const struct gt_session_page *page;
	int fd = session(&want);
	pid_t pid;

	page = map(fd, want.bytes);
	CHECK(page);
	CHECK_EQUAL(parameter("memory"), memory + session_memory(&want));
	CHECK_EQUAL(parameter("sessions"), sessions + 1);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	CHECK_EQUAL(parameter("sessions"), sessions);
	CHECK_EQUAL(parameter("memory"), memory + want.bytes);
	munmap((void *)page, want.bytes);
	CHECK_EQUAL(parameter("memory"), memory);

	pid = fork();
	if (!pid) {
		session(&want);
		pause();
	}
	for (int i = 0; i < 500 && parameter("sessions") == sessions; i++)
		usleep(10000);
	CHECK_EQUAL(parameter("sessions"), sessions + 1);
	end(pid, SIGKILL);
	CHECK_EQUAL(parameter("sessions"), sessions);
	return true;
}

/* Threads that claim the same name: exactly one gets it each time. */
static void *claim_repeatedly(void *arg)
{
	struct gt_abi_claim claimed;
	long wins = 0;

	for (int i = 0; i < 200; i++) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
		int fd = device(), code;

		code = i % 2 ? call(fd, GT_IOC_CREATE, &want) : -ENOENT;
		if (code) {
			close(fd);
			fd = claim(NAME, &claimed);
		}
		if (fd < 0)
			continue;
		if (!__atomic_exchange_n((int *)arg, 1, __ATOMIC_ACQ_REL))
			wins++;
		else
			wins = -1000000; /* two threads have it */
		__atomic_store_n((int *)arg, 0, __ATOMIC_RELEASE);
		if (i % 3 == 0)
			call(fd, GT_IOC_RELEASE, NULL);
		close(fd);
	}
	return (void *)wins;
}

static bool test_races(void)
{
	pthread_t threads[4];
	struct gt_abi_info info;
	long sum = 0;
	int had = 0;
	void *wins;

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, claim_repeatedly, &had));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &wins);
		CHECK((long)wins >= 0);
		sum += (long)wins;
	}
	CHECK(sum > 0);
	return !find(NAME, &info) || release_by_name(NAME);
}

int main(void)
{
	static const struct test tests[] = {
		{ "recover after the owner was killed: frozen and complete", test_recover },
		{ "recover after a process with many threads was killed", test_recover_threads },
		{ "a closed session takes records until it is claimed", test_given_back },
		{ "a timeout frees a session without an owner", test_time_out },
		{ "a session of a killed claimer can be claimed again", test_claimer_killed },
		{ "the end of a child or a thread is not that of the owner", test_other_ends },
		{ "a plain session ends with its owner, its memory with the mapping", test_plain },
		{ "of many that create, claim and release one name, one succeeds", test_races },
	};

	return TEST_RUN(tests);
}
