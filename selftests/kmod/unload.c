// SPDX-License-Identifier: GPL-2.0
/*
 * The module cannot be unloaded while it is in use, and can be afterwards. It is loaded again by
 * insmod of $VM_MODULE, or by modprobe. Under test: kmod/main.c, kmod/session.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

static int unload(void)
{
	return syscall(SYS_delete_module, "gotrace", O_NONBLOCK) ? -errno : 0;
}

static int load(void)
{
	const char *path = getenv("VM_MODULE");
	int fd, code;

	if (!path || !*path)
		return system("modprobe gotrace") ? -ENOENT : 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	code = fd < 0 || syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return code;
}

static bool unload_and_load(void)
{
	CHECK_EQUAL(unload(), 0);
	CHECK(open(GT_DEVICE, O_RDWR) < 0);
	CHECK_EQUAL(load(), 0);
	return true;
}

static bool test_open(void)
{
	int fd = device();

	CHECK_EQUAL(unload(), -EAGAIN);
	close(fd);
	return unload_and_load();
}

static bool test_mapped(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);

	CHECK(page);
	close(fd);
	CHECK_EQUAL(unload(), -EAGAIN);
	munmap((void *)page, want.bytes);
	return unload_and_load();
}

static bool test_kept(void)
{
	struct gt_abi_create want = small("kept", GT_SESSION_KEEP);
	struct gt_abi_claim claimed;
	int fd;

	close(session(&want));
	CHECK_EQUAL(unload(), -EAGAIN);
	fd = claim("kept", &claimed);
	CHECK(fd >= 0);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	CHECK_EQUAL(unload(), -EAGAIN);
	close(fd);
	return unload_and_load();
}

/* The module may be unloaded once the timeout has removed the session, while the worker ends. */
static bool test_expired(void)
{
	for (int i = 0; i < 3; i++) {
		struct gt_abi_create want = small("kept", GT_SESSION_KEEP);
		int code = -EAGAIN;

		want.timeout = 1;
		close(session(&want));
		for (int n = 0; n < 30000 && code == -EAGAIN; n++) {
			code = unload();
			usleep(1000);
		}
		CHECK_EQUAL(code, 0);
		CHECK_EQUAL(load(), 0);
	}
	return true;
}

static bool test_just_closed(void)
{
	for (int i = 0; i < 20; i++) {
		struct gt_abi_create want = small("", 0);

		want.rings = 1 + i % 4;
		close(session(&want));
		CHECK_EQUAL(unload(), 0);
		CHECK_EQUAL(load(), 0);
	}
	return true;
}

int main(void)
{
	static const struct test tests[] = {
		{ "unload fails while the device is open", test_open },
		{ "unload fails while a session is mapped", test_mapped },
		{ "unload fails while a session is kept", test_kept },
		{ "unload as soon as a timeout has passed", test_expired },
		{ "unload as soon as the last file is closed, 20 times", test_just_closed },
	};

	return TEST_RUN(tests);
}
