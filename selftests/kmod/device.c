// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the device: privileges for opening it, invalid arguments, mappings. Under test:
 * kmod/main.c, kmod/ioctl.c, kmod/memory.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* Kernels since 6.10 let BPF programs call the module, if it has BTF. */
static bool expect_kfuncs(void)
{
	struct utsname name;
	int major, minor;

	uname(&name);
	return sscanf(name.release, "%d.%d", &major, &minor) == 2 && major * 1000 + minor >= 6010 &&
	       !access("/sys/kernel/btf/gotrace", F_OK);
}

static bool test_abi(void)
{
	struct gt_abi_create want = small("", 0);
	struct gt_abi abi = { .size = sizeof(abi) }, later = abi;
	int fd = session(&want);

	CHECK_EQUAL(call(fd, GT_IOC_ABI, &abi), 0);
	CHECK(abi.size == sizeof(abi) && abi.version == GT_ABI_VERSION);
	CHECK_EQUAL(abi.features, expect_kfuncs() ? GT_FEATURE_KFUNCS : 0);
	CHECK(abi.memory_max > want.bytes);
	CHECK_EQUAL(abi.sessions, parameter("sessions"));
	CHECK_EQUAL(abi.memory, parameter("memory"));
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	CHECK_EQUAL(call(fd, GT_IOC_ABI, &later), 0);
	CHECK_EQUAL(later.sessions, abi.sessions - 1);
	CHECK_EQUAL(later.memory, abi.memory - session_memory(&want)); /* the file is still open */
	close(fd);
	return true;
}

/* ---- privileges for opening it ---- */

#define BIT(capability) (1ull << (capability))
#define UID_NOBODY	65534

/*
 * User namespaces are unavailable in a chroot, in which tests in a virtual machine run: enters a
 * new root, and leaves the old one.
 */
static int leave_chroot(void)
{
	if (chdir("/") || chroot("/dev"))
		return -1;
	for (int i = 0; i < 16; i++)
		if (chdir(".."))
			return -1;
	return chroot(".");
}

/* Changes to another user, and keeps the capabilities that capset() will set. */
static int change_user(void)
{
	return prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) ||
	       setresgid(UID_NOBODY, UID_NOBODY, UID_NOBODY) ||
	       setresuid(UID_NOBODY, UID_NOBODY, UID_NOBODY);
}

/*
 * The result of open() for this user with just these capabilities; in_namespace: for root of a user
 * namespace with all capabilities.
 */
static int opened_with(uid_t user, uint64_t capabilities, bool in_namespace)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
		struct __user_cap_data_struct data[2] = {
			{ capabilities, capabilities, 0 },
			{ capabilities >> 32, capabilities >> 32, 0 },
		};

		int folder = open("/dev", O_PATH);

		if (in_namespace ? leave_chroot() || unshare(CLONE_NEWUSER) :
				   (user && change_user()) || syscall(SYS_capset, &header, data))
			_exit(255);
		_exit(openat(folder, "gotrace", O_RDWR) < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -255;
}

static bool test_capabilities(void)
{
	static const uid_t users[] = { 0, UID_NOBODY };

	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
		uid_t user = users[i];

		CHECK_EQUAL(opened_with(user, BIT(CAP_SYS_ADMIN), false), 0);
		CHECK_EQUAL(opened_with(user, BIT(CAP_PERFMON) | BIT(CAP_BPF), false), 0);
		CHECK_EQUAL(opened_with(user, BIT(CAP_PERFMON), false), -EPERM);
		CHECK_EQUAL(opened_with(user, BIT(CAP_BPF), false), -EPERM);
		CHECK_EQUAL(opened_with(user, 0, false), -EPERM);
		CHECK_EQUAL(opened_with(user, ~(BIT(CAP_SYS_ADMIN) | BIT(CAP_BPF)), false), -EPERM);
	}
	CHECK_EQUAL(opened_with(0, 0, true), -EPERM);
	return true;
}

/* ---- invalid arguments ---- */

static int create_and_close(struct gt_abi_create want)
{
	int fd = device(), code = call(fd, GT_IOC_CREATE, &want);

	close(fd);
	return code;
}

#define REFUSED(member_, value_)                                                                   \
	do {                                                                                       \
		struct gt_abi_create w = small("name", GT_SESSION_KEEP);                           \
		w.member_ = (value_);                                                              \
		CHECK_EQUAL(create_and_close(w), -EINVAL);                                         \
	} while (0)

static bool test_limits(void)
{
	static const uint32_t odd[] = { 0, 1, 3, 0x7fffffff, 0x80000000, 0xffffffff };

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		REFUSED(subbuf_size, odd[i]);
		REFUSED(subbufs, odd[i]);
		REFUSED(stack_words, odd[i]);
	}
	REFUSED(subbuf_size, GT_SUBBUF_MIN / 2);
	REFUSED(subbuf_size, GT_SUBBUF_MIN + 8);
	REFUSED(subbuf_size, GT_SUBBUF_MAX * 2);
	REFUSED(subbufs, GT_SUBBUFS_MIN / 2);
	REFUSED(subbufs, GT_SUBBUFS_MIN + 1);
	REFUSED(subbufs, GT_SUBBUFS_MAX * 2);
	REFUSED(stack_words, GT_STACK_WORDS_MIN / 2);
	REFUSED(stack_words, GT_STACK_WORDS_MAX * 2);
	REFUSED(rings, GT_SESSION_RINGS_MAX + 1);
	REFUSED(rings, 0xffffffff);
	REFUSED(timeout, GT_TIMEOUT_MAX + 1);
	REFUSED(checkpoint_max, GT_CHECKPOINT_MAX + 1);
	REFUSED(checkpoint_max, ~0ull);
	REFUSED(flags, GT_SESSION_KEEP | 2);
	REFUSED(flags, ~0u);
	REFUSED(reserved[0], 1);
	REFUSED(reserved[3], 1ull << 63);
	REFUSED(size, 0);
	REFUSED(size, sizeof(struct gt_abi_create) - 1);
	return true;
}

static bool test_names(void)
{
	static const char *const bad[] = {
		"", "a b", "a/b", "a\n", "\xe9t\xe9", "\x7f", "a%s", ":"
	};
	struct gt_abi_create want, other;
	int fd, code;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQUAL(create_and_close(small(bad[i], GT_SESSION_KEEP)), -EINVAL);
	want = small("", GT_SESSION_KEEP);
	memset(want.name, 'a', sizeof(want.name)); /* without a NUL */
	CHECK_EQUAL(create_and_close(want), -EINVAL);
	want.name[sizeof(want.name) - 1] = 0;
	other = want;
	fd = session(&want);
	CHECK_EQUAL(create_and_close(other), -EEXIST);
	code = call(fd, GT_IOC_CREATE, &other);
	CHECK_EQUAL(code, -EBADFD);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	CHECK_EQUAL(call(fd, GT_IOC_CREATE, &other), -EBADFD);
	close(fd);
	return true;
}

/* Requests that need a session, without one; unknown requests. */
static bool test_no_session(void)
{
	uint64_t zero[16] = { 0 };
	uint32_t *size = (uint32_t *)zero;
	int fd = device();

	*size = sizeof(struct gt_abi_info);
	CHECK_EQUAL(call(fd, GT_IOC_INFO, zero), -ENOENT);
	*size = sizeof(struct gt_abi_checkpoint);
	CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, zero), -ENOENT);
	CHECK_EQUAL(call(fd, GT_IOC_READ_CHECKPOINT, zero), -ENOENT);
	*size = sizeof(struct gt_abi_emit);
	CHECK_EQUAL(call(fd, GT_IOC_EMIT, zero), -ENOENT);
	*size = sizeof(struct gt_abi_positions);
	CHECK_EQUAL(call(fd, GT_IOC_POSITIONS, zero), -ENOENT);
	CHECK_EQUAL(call(fd, GT_IOC_FREEZE, NULL), -ENOENT);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), -ENOENT);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENODEV);
	for (unsigned int nr = 0; nr < 256; nr++)
		if (nr < 0x80 || nr > 0x8a)
			CHECK_EQUAL(call(fd, _IOWR('g', nr, struct gt_abi), zero), -ENOTTY);
	CHECK_EQUAL(call(fd, _IOWR('h', 0x80, struct gt_abi), zero), -ENOTTY);
	CHECK_EQUAL(call(fd, _IOR('g', 0x80, struct gt_abi), zero), -ENOTTY);
	CHECK_EQUAL(call(fd, _IO('g', 0x80), zero), -ENOTTY);
	CHECK_EQUAL(call(fd, _IOC(_IOC_NONE, 'g', _IOC_NR(GT_IOC_RELEASE), 8), zero), -ENOTTY);
	close(fd);
	return true;
}

/* Invalid addresses, also in the middle of what is read or written. */
static bool test_addresses(void)
{
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *bad[] = { NULL,
			(void *)8,
			pages + 4096,
			pages + 4092,
			(void *)0x7fffffffffff,
			(void *)0x8000000000000000,
			(void *)0xffff888000000000,
			(void *)-4096,
			(void *)-1 };
	static const unsigned long requests[] = { GT_IOC_ABI,
						  GT_IOC_CREATE,
						  GT_IOC_INFO,
						  GT_IOC_CLAIM,
						  GT_IOC_LIST,
						  GT_IOC_CHECKPOINT,
						  GT_IOC_READ_CHECKPOINT,
						  GT_IOC_EMIT,
						  GT_IOC_POSITIONS };
	struct gt_abi_create want = small("listed", 0);
	struct gt_abi_checkpoint written = { .size = sizeof(written), .bytes = 4096 };
	int fd = session(&want);

	written.data = (uintptr_t)pages;
	CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, &written), 0);
	CHECK(pages != MAP_FAILED && !munmap(pages + 4096, 4096));
	*(uint32_t *)(pages + 4092) = 128; /* a size at the end of the page */
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint64_t address = (uintptr_t)bad[i];
		struct gt_abi_emit emit = { .size = sizeof(emit),
					    .record_size = 32,
					    .record = address };
		struct gt_abi_emit tail = { .size = sizeof(tail),
					    .record_size = 32,
					    .record = (uintptr_t)pages,
					    .tail = address,
					    .tail_size = 9 };
		struct gt_abi_checkpoint data = { .size = sizeof(data),
						  .data = address,
						  .bytes = 64 };
		struct gt_abi_list list = { .size = sizeof(list),
					    .count = 64,
					    .infos = address,
					    .info_size = sizeof(struct gt_abi_info) };
		struct gt_abi_positions heads = { .size = sizeof(heads),
						  .count = 1,
						  .heads = address };

		for (size_t r = 0; r < sizeof(requests) / sizeof(*requests); r++)
			CHECK_EQUAL(call(fd, requests[r], bad[i]), -EFAULT);
		CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), -EFAULT);
		CHECK_EQUAL(call(fd, GT_IOC_EMIT, &tail), -EFAULT);
		CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, &data), -EFAULT);
		data.bytes = 8192;
		CHECK_EQUAL(call(fd, GT_IOC_READ_CHECKPOINT, &data), -EFAULT);
		CHECK_EQUAL(call(fd, GT_IOC_LIST, &list), -EFAULT);
		CHECK_EQUAL(call(fd, GT_IOC_POSITIONS, &heads), address ? -EFAULT : 0);
	}
	munmap(pages, 4096);
	close(fd);
	return true;
}

/* A structure of a later version is accepted if its unknown members are 0. */
static bool test_sizes(void)
{
	struct {
		struct gt_abi abi;
		uint8_t later[8192];
	} grown = { .abi.size = sizeof(struct gt_abi) + 64 };
	int fd = device();

	CHECK_EQUAL(call(fd, GT_IOC_ABI, &grown), 0);
	CHECK_EQUAL(grown.abi.size, sizeof(struct gt_abi) + 64);
	CHECK_EQUAL(call(fd, _IOC(_IOC_READ | _IOC_WRITE, 'g', 0x80, 128), &grown), 0);
	grown.later[63] = 1;
	CHECK_EQUAL(call(fd, GT_IOC_ABI, &grown), -E2BIG);
	grown.abi.size = 1 << 20;
	CHECK_EQUAL(call(fd, GT_IOC_ABI, &grown), -E2BIG);
	close(fd);
	return true;
}

/* A list's elements have the size that the caller passes; unknown members are 0. */
static bool test_list_sizes(void)
{
	static const uint32_t bad[] = { 0, 1, sizeof(struct gt_abi_info) - 1 };
	struct gt_abi_create first = small("first", 0), second = small("second", 0);
	int fd = session(&first), other = session(&second);
	struct {
		struct gt_abi_info info;
		uint64_t later[3];
	} grown[3];
	struct gt_abi_list list = { .size = sizeof(list), .infos = (uintptr_t)grown };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		list.info_size = bad[i];
		CHECK_EQUAL(call(fd, GT_IOC_LIST, &list), -EINVAL);
	}
	list.info_size = 4097;
	CHECK_EQUAL(call(fd, GT_IOC_LIST, &list), -E2BIG);
	memset(grown, 'x', sizeof(grown));
	list.info_size = sizeof(*grown);
	list.count = 2;
	CHECK_EQUAL(call(fd, GT_IOC_LIST, &list), 0);
	CHECK_EQUAL(list.count, 2);
	for (int i = 0; i < 2; i++) {
		CHECK_EQUAL(grown[i].info.size, sizeof(struct gt_abi_info));
		CHECK(!strcmp(grown[i].info.name, i ? "second" : "first"));
		CHECK(!grown[i].later[0] && !grown[i].later[1] && !grown[i].later[2]);
	}
	CHECK(grown[2].info.size != sizeof(struct gt_abi_info) && grown[2].later[2]);
	close(fd);
	close(other);
	return true;
}

static bool test_emit_sizes(void)
{
	static const uint32_t bad[] = {
		0, 8, 31, 33, 36, 2048, 0x80000000, 0xffffffff, 0xfffffff8
	};
	static const uint32_t bad_tails[] = { GT_TAIL_MAX + 1, 0x7fffffff, 0xfffffff9, 0xffffffff };
	struct gt_abi_create want = small("", 0);
	static uint8_t bytes[4096];
	struct gt_abi_emit emit = { .size = sizeof(emit),
				    .record = (uintptr_t)bytes,
				    .tail = (uintptr_t)bytes };
	int fd = session(&want);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		emit
			.record_size = bad[i];
		CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), -EINVAL);
	}
	emit
		.record_size = 56;
	for (size_t i = 0; i < sizeof(bad_tails) / sizeof(*bad_tails); i++) {
		emit
			.tail_size = bad_tails[i];
		CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), -EINVAL);
	}
	emit
		.tail_size = GT_TAIL_MAX;
	CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), 0);
	emit
		.pad = 1;
	CHECK_EQUAL(call(fd, GT_IOC_EMIT, &emit), -EINVAL);
	close(fd);
	return true;
}

static bool test_checkpoint_sizes(void)
{
	struct gt_abi_create want = small("", 0);
	struct gt_abi_checkpoint arg = { .size = sizeof(arg) };
	static uint8_t bytes[8192];
	uint64_t memory;
	int fd;

	want.checkpoint_max = 4096;
	fd = session(&want);
	memory = parameter("memory");
	arg.data = (uintptr_t)bytes;
	CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, &arg), -EINVAL);
	CHECK_EQUAL(call(fd, GT_IOC_READ_CHECKPOINT, &arg), -ENODATA);
	arg.bytes = 4097;
	CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, &arg), -EINVAL);
	arg.bytes = ~0ull;
	CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, &arg), -EINVAL);
	arg.bytes = 1;
	for (int i = 0; i < 50; i++)
		CHECK_EQUAL(call(fd, GT_IOC_CHECKPOINT, &arg), 0);
	CHECK_EQUAL(parameter("memory"), memory + 2 * sysconf(_SC_PAGESIZE));
	CHECK_EQUAL(call(fd, GT_IOC_READ_CHECKPOINT, &arg), 0);
	CHECK(arg.number == 50 && arg.bytes == 1);
	arg.which = 1;
	CHECK_EQUAL(call(fd, GT_IOC_READ_CHECKPOINT, &arg), 0);
	CHECK(arg.number == 49 && arg.time);
	close(fd);
	return true;
}

/* ---- mappings ---- */

static int mapping_error(int fd, size_t bytes, int protection, int flags, off_t offset)
{
	void *at = mmap(NULL, bytes, protection, flags, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, bytes);
	return 0;
}

static bool test_read_only(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want), memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	uint64_t magic = 0;

	CHECK_EQUAL(mapping_error(fd, want.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 0), -EACCES);
	CHECK_EQUAL(mapping_error(fd, want.bytes, PROT_WRITE, MAP_SHARED, 0), -EACCES);
	CHECK_EQUAL(mapping_error(fd, want.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), -EACCES);
	CHECK_EQUAL(mapping_error(fd, want.bytes, PROT_READ | PROT_EXEC, MAP_SHARED, 0), -EACCES);
	for (int i = 0; i < 2; i++) {
		void *at = mmap(NULL, want.bytes, PROT_READ, i ? MAP_PRIVATE : MAP_SHARED, fd, 0);

		CHECK(at != MAP_FAILED && *(uint64_t *)at == GT_ABI_MAGIC);
		CHECK(mprotect(at, 4096, PROT_READ | PROT_WRITE) && errno == EACCES);
		CHECK(mprotect(at, 4096, PROT_READ | PROT_EXEC) && errno == EACCES);
		CHECK_EQUAL(pwrite(memory, &magic, 8, (uintptr_t)at), -1); /* as a debugger does */
		CHECK(*(uint64_t *)at == GT_ABI_MAGIC);
		CHECK(mremap(at, want.bytes, want.bytes + 4096, MREMAP_MAYMOVE) == MAP_FAILED);
		munmap(at, want.bytes);
	}
	close(memory);
	close(fd);
	return true;
}

static bool test_mapping_bounds(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	uint8_t *part;
	int status;

	CHECK_EQUAL(mapping_error(fd, want.bytes + 1, PROT_READ, MAP_SHARED, 0), -EINVAL);
	CHECK_EQUAL(mapping_error(fd, want.bytes, PROT_READ, MAP_SHARED, 4096), -EINVAL);
	CHECK_EQUAL(mapping_error(fd, 4096, PROT_READ, MAP_SHARED, want.bytes), -EINVAL);
	CHECK_EQUAL(mapping_error(fd, 4096, PROT_READ, MAP_SHARED, 1ll << 62), -EINVAL);
	CHECK_EQUAL(mapping_error(fd, 4096, PROT_READ, MAP_SHARED, want.bytes - 4096), 0);
	part = mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(part != MAP_FAILED);
	CHECK(!munmap(part + 4096, 4096)); /* two parts are left */
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	CHECK_EQUAL(*(uint64_t *)part, GT_ABI_MAGIC);
	CHECK_EQUAL(part[2 * 4096], 0);
	if (!fork())
		_exit(*(uint64_t *)part != GT_ABI_MAGIC);
	CHECK(wait(&status) > 0);
	CHECK_EQUAL(status, 0);
	munmap(part, 4096);
	munmap(part + 2 * 4096, 4096);
	return true;
}

int main(void)
{
	static const struct test tests[] = {
		{ "the ABI's numbers", test_abi },
		{ "CAP_SYS_ADMIN, or CAP_PERFMON and CAP_BPF, permits to open it",
		  test_capabilities },
		{ "limits of a session", test_limits },
		{ "names of sessions", test_names },
		{ "requests without a session, and unknown ones", test_no_session },
		{ "invalid addresses", test_addresses },
		{ "structures of a later version", test_sizes },
		{ "sizes of a list's elements", test_list_sizes },
		{ "sizes of records", test_emit_sizes },
		{ "sizes of checkpoints, two are kept", test_checkpoint_sizes },
		{ "mappings are read-only", test_read_only },
		{ "mappings are bounded, and outlive the session", test_mapping_bounds },
	};

	return TEST_RUN(tests);
}
