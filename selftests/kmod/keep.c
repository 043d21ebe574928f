// SPDX-License-Identifier: GPL-2.0
/* Sessions that outlive who made them: killed, closed, claimed, recovered, forgotten. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
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

#define NAME	"kept.session-1"
#define RECORDS 300

static int checkpoint(int fd, unsigned long request, void *data, uint64_t bytes, uint32_t which,
		      uint64_t *ret_bytes)
{
	struct gt_abi_checkpoint arg = {
		.size = sizeof(arg), .which = which, .data = (uintptr_t)data, .bytes = bytes
	};
	int code = call(fd, request, &arg);

	*ret_bytes = arg.bytes;
	return code;
}

static int write_checkpoint(int fd, char fill, uint64_t bytes)
{
	char *data = malloc(bytes + 1);
	uint64_t ignored;
	int code;

	memset(data, fill, bytes);
	code = checkpoint(fd, GT_IOC_CHECKPOINT, data, bytes, 0, &ignored);
	free(data);
	return code;
}

static bool checkpoint_is(int fd, uint32_t which, char fill, uint64_t bytes)
{
	char *data = malloc(bytes + 1);
	uint64_t got, needed;
	bool good = true;

	CHECK(data);
	CHECK_EQUAL(checkpoint(fd, GT_IOC_READ_CHECKPOINT, data, bytes - 1, which, &needed),
		    -ENOSPC);
	CHECK_EQUAL(needed, bytes);
	CHECK_EQUAL(checkpoint(fd, GT_IOC_READ_CHECKPOINT, data, bytes + 1, which, &got), 0);
	CHECK_EQUAL(got, bytes);
	for (uint64_t i = 0; i < bytes; i++)
		good = good && data[i] == fill;
	free(data);
	return good;
}

/*
 * A process that owns a session named NAME, does `prepare` to it, and waits for its end. Its PID,
 * or -1.
 */
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

static void end(pid_t pid, int signal)
{
	kill(pid, signal);
	waitpid(pid, NULL, 0);
}

static bool prepare_data(int fd)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		CHECK_EQUAL(emit(fd, 3, i), 0);
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

/* The records of the one that was claimed, all of them from `first` on. */
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
	CHECK_EQUAL(emit(fd, 3, 0), -ESHUTDOWN);
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

/* Who closes the file without ending gives a session back that goes on. */
static bool test_given_back(void)
{
	struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
	struct gt_abi_info info;
	struct gt_abi_claim claimed;
	const struct gt_session_page *page;
	int fd = session(&want);

	CHECK_EQUAL(emit(fd, 3, 0), 0);
	close(fd);
	CHECK(find(NAME, &info) && !info.owner && !info.frozen);
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0);
	CHECK_EQUAL(emit(fd, 3, 1), 0);
	page = map(fd, claimed.bytes);
	CHECK(page && records_are_there(page, 2));
	munmap((void *)page, claimed.bytes);
	close(fd);
	return release_by_name(NAME);
}

static bool gone(const char *name, int seconds)
{
	struct gt_abi_info info;

	for (int i = 0; i < seconds * 20; i++) {
		if (!find(name, &info))
			return true;
		usleep(50000);
	}
	return false;
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

/* A claimed one has no time-out; when its claimer is killed it can be claimed again. */
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

/* Ends that are not the owner's: of a child that has the file too, of one of its threads. */
static bool test_not_the_end(void)
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
	CHECK_EQUAL(emit(fd, 3, 0), 0);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	return true;
}

/* What is left of a file whose session was given back, or is another's. */
static bool has_nothing(int fd)
{
	struct gt_abi_info info = { .size = sizeof(info) };
	uint64_t ignored;

	return call(fd, GT_IOC_INFO, &info) == -ENOENT && emit(fd, 3, 0) == -ENOENT &&
	       write_checkpoint(fd, 'x', 10) == -ENOENT &&
	       checkpoint(fd, GT_IOC_READ_CHECKPOINT, NULL, 0, 0, &ignored) == -ENOENT &&
	       call(fd, GT_IOC_FREEZE, NULL) == -ENOENT &&
	       call(fd, GT_IOC_RELEASE, NULL) == -ENOENT && !map(fd, 4096);
}

/*
 * The owner ends, and a child has the file still: the session is given back, and what the child has
 * is nobody's, also when another has claimed it.
 */
static bool test_child_has_it(void)
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
			answer = has_nothing(fd) ? 'y' : 'n';
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

/* ---- calls that wait for user memory, while the session becomes another's ---- */

/* Children of an owner that ends are ours to wait for, while this is on. */
static void adopt(bool on)
{
	prctl(PR_SET_CHILD_SUBREAPER, on);
}

/* The end of the one that was adopted. */
static int adopted_status(void)
{
	int status = -1;

	waitpid(-1, &status, 0);
	adopt(false);
	return status;
}

struct late {
	int fd;
	bool is_emit;
	char *page; /* absent until it is answered */
	int code;
};

/* Two pages that are absent until answer(); NULL: this kernel has no userfaultfd. */
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
	struct gt_abi_checkpoint checkpoint_ = {
		.size = sizeof(checkpoint_), .data = (uintptr_t)late->page, .bytes = 5000
	};
	struct gt_abi_emit emit_ = {
		.size = sizeof(emit_), .record = (uintptr_t)late->page,
		.record_size = sizeof(struct gt_record),
	};

	late->code = late->is_emit ? call(late->fd, GT_IOC_EMIT, &emit_) :
				     call(late->fd, GT_IOC_CHECKPOINT, &checkpoint_);
	return NULL;
}

/* In a child: the call begins, reports that, and ends on request. Exits with 0 for -ENOENT. */
static _Noreturn void former_owner(int fd, bool is_emit, int begun, int go)
{
	struct late late = { .fd = fd, .is_emit = is_emit };
	pthread_t thread;
	int handler;
	char byte = 0;

	late.page = absent_pages(&handler);
	if (!late.page || pthread_create(&thread, NULL, call_late, &late))
		_exit(2);
	sleep(1); /* it waits for the page by then */
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
	adopt(true);
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

/* A former owner's checkpoint whose memory arrives after another has claimed the session. */
static bool test_late_checkpoint(void)
{
	return late_call(false);
}

static bool test_late_record(void)
{
	return late_call(true);
}

/*
 * The owner ends, but its table of descriptors is another process's, too: none of them is closed.
 * The session is frozen and given back nevertheless, at the next lookup.
 */
static bool test_shared_table(void)
{
	struct gt_abi_info info;
	struct gt_abi_claim claimed;
	int end_[2], status, fd;
	char byte;
	pid_t pid;

	CHECK(!pipe(end_));
	adopt(true);
	pid = fork();
	if (!pid) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
		pid_t child;

		want.timeout = 3600;
		fd = session(&want);
		child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
		if (!child) {
			close(end_[1]);
			_exit(read(end_[0], &byte, 1) == 1 && has_nothing(fd) ? 0 : 1);
		}
		_exit(child < 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	fd = claim(NAME, &claimed);
	CHECK(fd >= 0);
	CHECK(find(NAME, &info));
	CHECK(info.frozen && info.owner == (uint32_t)getpid() && !info.expires);
	CHECK(write(end_[1], "e", 1) == 1);
	CHECK_EQUAL(adopted_status(), 0);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	close(end_[0]);
	close(end_[1]);
	return true;
}

/* Its time-out begins when it is first listed. Its memory is given back a moment after its name. */
static bool test_shared_table_is_listed(void)
{
	uint64_t memory = parameter("memory");
	struct gt_abi_info info;
	int end_[2], status;
	char byte;
	pid_t pid;

	CHECK(!pipe(end_));
	adopt(true);
	pid = fork();
	if (!pid) {
		struct gt_abi_create want = small(NAME, GT_SESSION_KEEP);
		pid_t child;

		want.timeout = 1;
		session(&want);
		child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
		if (!child)
			_exit(read(end_[0], &byte, 1) != 1);
		_exit(child < 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(find(NAME, &info));
	CHECK(info.frozen && !info.owner && info.expires);
	CHECK(gone(NAME, 30));
	CHECK(write(end_[1], "e", 1) == 1);
	CHECK_EQUAL(adopted_status(), 0);
	close(end_[0]);
	close(end_[1]);
	for (int i = 0; i < 500 && parameter("memory") > memory; i++)
		usleep(10000);
	CHECK(parameter("memory") <= memory);
	return true;
}

/* A plain session goes with its owner, however that ends, and its memory with the last mapping. */
static bool test_plain(void)
{
	struct gt_abi_create want = small("plain", 0);
	uint64_t memory = parameter("memory"), sessions = parameter("sessions");
	const struct gt_session_page *page;
	int fd = session(&want);
	pid_t pid;

	page = map(fd, want.bytes);
	CHECK(page);
	CHECK_EQUAL(parameter("memory"), memory + want.bytes);
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

/* Threads that all want the same name: each time one gets it. */
static void *want_it(void *arg)
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
			wins = -1000000; /* two have it */
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
		CHECK(!pthread_create(&threads[i], NULL, want_it, &had));
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
		{ "recover after the owner was killed: frozen, all is there", test_recover },
		{ "recover after a process with many threads was killed", test_recover_threads },
		{ "a session that is closed goes on until it is claimed", test_given_back },
		{ "a time-out frees what nobody has", test_time_out },
		{ "a killed claimer gives it back", test_claimer_killed },
		{ "the end of a child or a thread is not the owner's", test_not_the_end },
		{ "a child that has the file does not keep it from being claimed",
		  test_child_has_it },
		{ "a former owner's checkpoint that comes late is refused", test_late_checkpoint },
		{ "a former owner's record that comes late is refused", test_late_record },
		{ "an owner that ended is none, though its descriptors are shared", test_shared_table },
		{ "whoever lists it sees that, too", test_shared_table_is_listed },
		{ "a plain session goes with its owner, memory with its mapping", test_plain },
		{ "of many who create, claim and release one name, one has it", test_races },
	};

	return TEST_RUN(tests);
}
