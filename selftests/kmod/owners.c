// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of former owners of kept sessions: a child that inherited the file, a late call and a
 * process with the same descriptor table can no longer access the session, and the session of an
 * owner that was killed at any time is complete. Under test: kmod/session.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define NAME "kept.session-2"

/* A file whose session was given up, or has another owner, has no access. */
static bool has_no_access(int fd)
{
	struct gt_abi_info info = { .size = sizeof(info) };
	uint64_t ignored;

	return call(fd, GT_IOC_INFO, &info) == -ENOENT && emit (fd, 3, 0) == -ENOENT &&
	       write_checkpoint(fd, 'x', 10) == -ENOENT &&
	       checkpoint(fd, GT_IOC_READ_CHECKPOINT, NULL, 0, 0, &ignored) == -ENOENT &&
	       call(fd, GT_IOC_FREEZE, NULL) == -ENOENT &&
	       call(fd, GT_IOC_RELEASE, NULL) == -ENOENT && !map(fd, 4096);
}

/*
 * The owner ends while a child has the file: the session can be claimed, and the child has no
 * access to it, before and after that.
 */
static bool test_child_with_file(void)
{
	struct gt_abi_info info;
	struct gt_abi_claim claimed;
	int asked[2], answers[2], status, fd;
	char answer = 0;
	pid_t pid;

	CHECK(!pipe(asked) && !pipe(answers));
	pid = fork();
	if (!pid) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);

		want.timeout = 3600;
		fd = session(&want);
		if (fork())
			_exit(0);
		while (read(asked[0], &answer, 1) == 1 && answer) {
			answer = has_no_access(fd) ? 'y' : 'n';
			if (write(answers[1], &answer, 1) != 1)
				break;
		}
		close(fd);
		_exit(write(answers[1], "e", 1) != 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(find(NAME, &info));
	CHECK(info.frozen && !info.owner && info.expires);
	CHECK(write(asked[1], "?", 1) == 1 && read(answers[0], &answer, 1) == 1);
	CHECK_EQUAL(answer, 'y');
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0);
	CHECK(write(asked[1], "?", 1) == 1 && read(answers[0], &answer, 1) == 1);
	CHECK_EQUAL(answer, 'y');
	CHECK(write(asked[1], "", 1) == 1 && read(answers[0], &answer, 1) == 1);
	CHECK(answer == 'e' && find(NAME, &info));
	CHECK(info.owner == (uint32_t)getpid() && !info.expires);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		close(asked[i]);
		close(answers[i]);
	}
	return true;
}

/* ---- calls that wait for user memory while the session gets another owner ---- */

/* Makes this process the reaper of children whose parent ends. */
static void set_subreaper(bool on)
{
	prctl(PR_SET_CHILD_SUBREAPER, on);
}

/* The exit status of such a child. */
static int adopted_status(void)
{
	int status = -1;

	waitpid(-1, &status, 0);
	set_subreaper(false);
	return status;
}

struct late {
	int fd;
	bool is_emit;
	char *page; /* absent until it is answered */
	int code;
};

/* Two pages that are absent until answer(); NULL: the kernel has no userfaultfd. */
static char *absent_pages(int *ret_handler)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int handler = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	range.range.start = (uintptr_t)page;
	range.range.len = 8192;
	if (handler < 0 || page == MAP_FAILED || ioctl(handler, UFFDIO_API, &api) ||
	    ioctl(handler, UFFDIO_REGISTER, &range))
		return NULL;
	*ret_handler = handler;
	return page;
}

static bool answer_pages(int handler, char *page)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)page, .len = 8192 } };

	return !ioctl(handler, UFFDIO_ZEROPAGE, &zero);
}

static void *call_late(void *arg)
{
	struct late *late = arg;
	struct gt_abi_checkpoint checkpoint_ = { .size = sizeof(checkpoint_),
						 .data = (uintptr_t)late->page,
						 .bytes = 5000 };
	struct gt_abi_emit emit_ = {
		.size = sizeof(emit_),
		.record = (uintptr_t)late->page,
		.record_size = sizeof(struct gt_record),
	};

	late->code = late->is_emit ? call(late->fd, GT_IOC_EMIT, &emit_) :
				     call(late->fd, GT_IOC_CHECKPOINT, &checkpoint_);
	return NULL;
}

/* In a child: begins the call, reports that, and ends on request. Exits with 0 for -ENOENT. */
static _Noreturn void former_owner(int fd, bool is_emit, int begun, int go)
{
	struct late late = { .fd = fd, .is_emit = is_emit };
	pthread_t thread;
	int handler;
	char byte = 0;

	late.page = absent_pages(&handler);
	if (!late.page || pthread_create(&thread, NULL, call_late, &late))
		_exit(2);
	sleep(1); /* until it waits for the page */
	if (write(begun, "b", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(3);
	if (!answer_pages(handler, late.page) || pthread_join(thread, NULL))
		_exit(4);
	_exit(late.code == -ENOENT ? 0 : 1);
}

static bool late_call(bool is_emit)
{
	struct gt_abi_claim claimed;
	int begun[2], go[2], fd;
	const struct gt_session_page *page;
	char byte;
	pid_t pid;

	CHECK(!pipe(begun) && !pipe(go));
	set_subreaper(true);
	pid = fork();
	if (!pid) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);

		fd = session(&want);
		if (!fork())
			former_owner(fd, is_emit, begun[1], go[0]);
		for (;;)
			pause();
	}
	CHECK(read(begun[0], &byte, 1) == 1);
	end(pid, SIGKILL);
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0);
	CHECK_EQUAL(write_checkpoint(fd, 'm', 100), 0);
	CHECK_EQUAL(write_checkpoint(fd, 'n', 200), 0);
	page = map(fd, claimed.bytes);
	CHECK(page);
	CHECK(write(go[1], "g", 1) == 1);
	CHECK_EQUAL(adopted_status(), 0);
	CHECK(checkpoint_is(fd, 0, 'n', 200) && checkpoint_is(fd, 1, 'm', 100));
	CHECK_EQUAL(ring(page, 0)->head, 0);
	munmap((void *)page, claimed.bytes);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		close(begun[i]);
		close(go[i]);
	}
	return true;
}

/* A former owner's checkpoint whose memory arrives after another process claimed the session. */
static bool test_late_checkpoint(void)
{
	return late_call(false);
}

static bool test_late_record(void)
{
	return late_call(true);
}

/*
 * Ends the owner of a session named NAME; a child with the same descriptor table continues, so that
 * no descriptor is closed.
 */
static bool end_owner_of_shared_table(uint32_t timeout, int end_[2])
{
	int status, fd;
	char byte;
	pid_t pid;

	CHECK(!pipe(end_));
	set_subreaper(true);
	pid = fork();
	if (!pid) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
		pid_t child;

		want.timeout = timeout;
		fd = session(&want);
		child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
		if (!child) {
			close(end_[1]);
			_exit(read(end_[0], &byte, 1) == 1 && has_no_access(fd) ? 0 : 1);
		}
		_exit(child < 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return true;
}

/* The child has no access to the session by now, and ends. */
static bool end_sharing_child(int end_[2])
{
	CHECK(write(end_[1], "e", 1) == 1);
	CHECK_EQUAL(adopted_status(), 0);
	close(end_[0]);
	close(end_[1]);
	return true;
}

/* The next claim finds the session frozen and without an owner nevertheless. */
static bool test_shared_table(void)
{
	struct gt_abi_info info;
	struct gt_abi_claim claimed;
	int end_[2], fd;

	CHECK(end_owner_of_shared_table(3600, end_));
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0);
	CHECK(find(NAME, &info));
	CHECK(info.frozen && info.owner == (uint32_t)getpid() && !info.expires);
	CHECK(end_sharing_child(end_));
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	return true;
}

/* Its timeout begins when it is first listed. Its memory is freed a moment after its name. */
static bool test_shared_table_is_listed(void)
{
	uint64_t memory = parameter("memory");
	struct gt_abi_info info;
	int end_[2];

	CHECK(end_owner_of_shared_table(1, end_));
	CHECK(find(NAME, &info));
	CHECK(info.frozen && !info.owner && info.expires);
	CHECK(gone(NAME, 30));
	CHECK(end_sharing_child(end_));
	for (int i = 0; i < 500 && parameter("memory") > memory; i++)
		usleep(10000);
	CHECK(parameter("memory") <= memory);
	return true;
}

static void *emit_for_ever(void *arg)
{
	for (uint32_t i = 0;; i++)
		emit (*(int *)arg, 3, i)
			;
	return NULL;
}

/* The owner writes with three threads, and writes checkpoints, until it is killed. */
static void write_until_killed(void)
{
	struct gt_abi_create want = small("killed", GT_SESSION_KEEP);
	static uint8_t data[50000];
	struct gt_abi_checkpoint arg = { .size = sizeof(arg), .data = (uintptr_t)data };
	int fd = session(&want);
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, emit_for_ever, &fd);
	for (;;) {
		arg.bytes = 1 + arg.bytes * 7919 % sizeof(data);
		memset(data, arg.bytes, arg.bytes);
		call(fd, GT_IOC_CHECKPOINT, &arg);
	}
}

/* The session is frozen and its records are complete: writers were stopped between two records. */
static bool records_are_complete(int fd, const struct gt_session_page *page)
{
	static uint8_t data[50000];
	struct gt_abi_checkpoint arg = { .size = sizeof(arg),
					 .data = (uintptr_t)data,
					 .bytes = sizeof(data) };
	uint8_t bytes[GT_SUBBUF_MIN];
	struct subbuf copy = { .bytes = bytes };
	uint64_t last = ring(page, 0)->head / GT_SUBBUF_MIN, n = last > 3 ? last - 3 : 0;
	int code = call(fd, GT_IOC_READ_CHECKPOINT, &arg);

	CHECK(page->frozen);
	CHECK(code == 0 || code == -ENODATA);
	for (uint64_t i = 0; !code && i < arg.bytes; i++)
		CHECK(data[i] == (uint8_t)arg.bytes);
	for (; n * GT_SUBBUF_MIN < ring(page, 0)->head; n++) {
		CHECK_EQUAL(subbuf__copy(page, 0, n, &copy), 1);
		for (uint32_t at = sizeof(struct gt_subbuf); at < copy.used;) {
			size_t size = record_size(bytes + at, copy.used - at);

			CHECK(size);
			at += size;
		}
	}
	return true;
}

static bool test_killed(void)
{
	struct gt_abi_claim claimed;
	struct gt_abi_info info;

	for (int i = 0; i < 30; i++) {
		const struct gt_session_page *page;
		pid_t pid = fork();
		int fd;

		if (!pid)
			write_until_killed();
		while (!find("killed", &info))
			usleep(1000);
		usleep(i * 7919 % 30000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		fd = claim("killed", &claimed);
		CHECK(fd >= 0);
		page = map(fd, claimed.bytes);
		CHECK(page && records_are_complete(fd, page));
		munmap((void *)page, claimed.bytes);
		CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
		close(fd);
	}
	return true;
}

int main(void)
{
	static const struct test tests[] = {
		{ "a session can be claimed while a child has the file", test_child_with_file },
		{ "a former owner's checkpoint that comes late is rejected", test_late_checkpoint },
		{ "a former owner's record that comes late is rejected", test_late_record },
		{ "an ended owner with a shared descriptor table loses its session",
		  test_shared_table },
		{ "a listing notices that, too", test_shared_table_is_listed },
		{ "recover from 30 owners killed while they write", test_killed },
	};

	return TEST_RUN(tests);
}
