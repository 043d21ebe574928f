// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of memory: the module's limit, the number of sessions, memory cgroups, address space;
 * failures leave nothing behind. Under test: kmod/memory.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define MIB (1ull << 20)

static struct gt_abi_create of_size(uint64_t bytes)
{
	struct gt_abi_create want = small("", 0);

	want.subbufs = 64;
	want.subbuf_size = bytes / want.subbufs;
	want.checkpoint_max = GT_CHECKPOINT_MAX;
	return want;
}

static int create(struct gt_abi_create want, int *ret_fd)
{
	int fd = device(), code = call(fd, GT_IOC_CREATE, &want);

	*ret_fd = fd;
	return code;
}

/* From pages that need not be present. */
static int write_empty_checkpoint(int fd, uint64_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gt_abi_checkpoint arg = { .size = sizeof(arg),
					 .data = (uintptr_t)at,
					 .bytes = bytes };
	int code = call(fd, GT_IOC_CHECKPOINT, &arg);

	munmap(at, bytes);
	return code;
}

static bool within_limit(void)
{
	uint64_t memory = parameter("memory");
	int fds[3];

	CHECK_EQUAL(create(of_size(4 * MIB), &fds[0]), 0);
	CHECK_EQUAL(create(of_size(16 * MIB), &fds[1]), -ENOMEM);
	CHECK(parameter("memory") < memory + 6 * MIB);
	CHECK_EQUAL(write_empty_checkpoint(fds[0], 2 * MIB), 0);
	CHECK_EQUAL(write_empty_checkpoint(fds[0], 2 * MIB), 0);
	CHECK_EQUAL(write_empty_checkpoint(fds[0], 16 * MIB), -ENOMEM);
	CHECK_EQUAL(write_empty_checkpoint(fds[0], 2 * MIB), 0);
	CHECK_EQUAL(emit (fds[0], 1, 1), 0);
	close(fds[0]);
	CHECK_EQUAL(create(of_size(8 * MIB), &fds[2]), 0);
	close(fds[1]);
	close(fds[2]);
	CHECK_EQUAL(parameter("memory"), memory);
	return true;
}

static bool test_limit(void)
{
	uint64_t max = parameter("max_memory");
	struct gt_abi abi = { .size = sizeof(abi) };
	int fd = device();
	bool good;

	CHECK(set_parameter("max_memory", parameter("memory") + 16 * MIB));
	CHECK_EQUAL(call(fd, GT_IOC_ABI, &abi), 0);
	close(fd);
	good = abi.memory_max == parameter("max_memory") && within_limit();
	CHECK(set_parameter("max_memory", max));
	return good;
}

/* More than any machine has, and than integers hold. */
static bool test_huge(void)
{
	struct gt_abi_create want = small("", 0);
	uint64_t max = parameter("max_memory");
	int fd;

	want.rings = GT_SESSION_RINGS_MAX;
	want.subbuf_size = GT_SUBBUF_MAX;
	want.subbufs = GT_SUBBUFS_MAX;
	CHECK_EQUAL(create(want, &fd), -ENOMEM);
	close(fd);
	CHECK(set_parameter("max_memory", ~0ull));
	CHECK_EQUAL(create(want, &fd), -ENOMEM);
	close(fd);
	want.rings = 64; /* 4 TiB */
	CHECK_EQUAL(create(want, &fd), -ENOMEM);
	close(fd);
	CHECK(set_parameter("max_memory", max));
	return true;
}

static bool test_many(void)
{
	uint32_t n = GT_SESSIONS_MAX - parameter("sessions"), ids[GT_SESSIONS_MAX];
	int fds[GT_SESSIONS_MAX], more;

	for (uint32_t i = 0; i < n; i++) {
		struct gt_abi_create want = small("", 0);

		fds[i] = session(&want);
		ids[i] = want.id;
		CHECK(ids[i]);
		for (uint32_t j = 0; j < i; j++)
			CHECK(ids[i] != ids[j]);
	}
	CHECK_EQUAL(create(small("", 0), &more), -ENOSPC);
	close(more);
	close(fds[0]);
	CHECK_EQUAL(create(small("", 0), &fds[0]), 0);
	for (uint32_t i = 0; i < n; i++)
		close(fds[i]);
	return true;
}

/* An id that a BPF program still uses must not be reused soon. */
static bool test_ids(void)
{
	uint32_t ids[150];

	for (int i = 0; i < 150; i++) {
		struct gt_abi_create want = small("", 0);

		close(session(&want));
		ids[i] = want.id;
		for (int j = 0; j < i; j++)
			CHECK(ids[i] && ids[i] != ids[j]);
	}
	return true;
}

static bool test_address_space(void)
{
	struct rlimit old, tight = { 64 * MIB, 64 * MIB };
	struct gt_abi_create want = of_size(128 * MIB);
	const struct gt_session_page *page;
	int fd = session(&want);

	CHECK(!getrlimit(RLIMIT_AS, &old));
	tight.rlim_max = old.rlim_max;
	CHECK(!setrlimit(RLIMIT_AS, &tight));
	page = map(fd, want.bytes);
	CHECK(!setrlimit(RLIMIT_AS, &old));
	CHECK(!page);
	CHECK_EQUAL(emit (fd, 1, 1), 0);
	page = map(fd, want.bytes);
	CHECK(page && page->rings == 1);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

/* ---- a cgroup of the test; its files are in the current folder ---- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return good;
}

static uint64_t read_number(const char *path, const char *name)
{
	char line[128], word[64];
	unsigned long long value = ~0ull, n;
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file))
		if (name ? sscanf(line, "%63s %llu", word, &n) == 2 && !strcmp(word, name) :
			   sscanf(line, "%llu", &n) == 1)
			value = n;
	if (file)
		fclose(file);
	return value;
}

static bool in_cgroup(void)
{
	uint64_t before = read_number("memory.current", NULL);
	int fd, other;

	CHECK_EQUAL(create(of_size(16 * MIB), &fd), 0);
	CHECK(read_number("memory.current", NULL) >= before + 16 * MIB);
	CHECK_EQUAL(create(of_size(64 * MIB), &other), -ENOMEM);
	CHECK_EQUAL(write_empty_checkpoint(fd, 64 * MIB), -ENOMEM);
	CHECK_EQUAL(write_empty_checkpoint(fd, 4 * MIB), 0);
	CHECK(read_number("memory.current", NULL) >= before + 20 * MIB);
	CHECK_EQUAL(read_number("memory.events", "oom_kill"), 0);
	CHECK_EQUAL(emit (fd, 1, 1), 0);
	close(other);
	close(fd);
	for (int i = 0; i < 100 && read_number("memory.current", NULL) > before + 8 * MIB; i++)
		usleep(50000);
	CHECK(read_number("memory.current", NULL) <= before + 8 * MIB);
	return true;
}

static bool limited_child(void)
{
	pid_t pid;
	int status;

	CHECK(write_file("memory.max", "33554432"));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(!(write_file("cgroup.procs", "0") && in_cgroup() && !fflush(stdout)));
	waitpid(pid, &status, 0);
	CHECK_EQUAL(status, 0);
	return true;
}

/* Memory is charged to the cgroup; beyond the limit calls fail, and nothing is killed. */
static bool test_cgroup(void)
{
	char folder[] = "/tmp/gotrace-cgroup.XXXXXX";
	bool good = false;

	CHECK(mkdtemp(folder));
	CHECK(!mount("none", folder, "cgroup2", 0, NULL) && !chdir(folder));
	write_file("cgroup.subtree_control", "+memory");
	if (!mkdir("gotrace-test", 0700) && !chdir("gotrace-test")) {
		good = limited_child();
		good = !chdir("..") && !rmdir("gotrace-test") && good;
	}
	CHECK(!chdir("/") && !umount(folder) && !rmdir(folder));
	return good;
}

int main(void)
{
	static const struct test tests[] = {
		{ "max_memory limits all sessions together", test_limit },
		{ "sessions that are too large for any machine", test_huge },
		{ "the number of sessions is limited", test_many },
		{ "ids are not reused soon", test_ids },
		{ "no address space to map it", test_address_space },
		{ "memory is charged to the cgroup, beyond its limit calls fail", test_cgroup },
	};

	return TEST_RUN(tests);
}
