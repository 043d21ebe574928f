// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel module's device: which errors it gives, with which remedy, and what of its memory is
 * refused. The device is a file in memory here, and its ioctl() this file's.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "unit/test.h"
#include "capture/kmod.h"

static struct {
	int open_error, error; /* of open(), of every ioctl() but the first; errnos */
	struct gt_abi abi;
	struct gt_session_page page;
	uint64_t bytes;	    /* of the session's memory */
	unsigned long last; /* request */
	char name[GT_NAME_MAX];
	uint32_t count;	     /* of the list; of how many there was room for */
	uint64_t checkpoint; /* its size */
	int size_error;	     /* when that is asked for */
	int read_error;	     /* when it is read */
	unsigned int grows;  /* how often it is replaced by a larger one, before it is read */
	bool has_btf;
	int fd; /* of the device */
	struct kmod *k;
	struct error err;
} t;

int open(const char *path, int flags, ...)
{
	int fd;

	if (strcmp(path, GT_DEVICE)) /* not kmod.c's: reach.c's of the mutants */
		return openat(AT_FDCWD, path, flags, 0600);
	if (t.open_error) {
		errno = t.open_error;
		return -1;
	}
	fd = t.fd = memfd_create("gotrace", MFD_CLOEXEC);
	assert_int_equal(write(fd, &t.page, sizeof(t.page)), sizeof(t.page));
	return fd;
}

int access(const char *path, int mode)
{
	assert_string_equal(path, "/sys/kernel/btf/gotrace");
	return t.has_btf ? 0 : -1;
}

static int read_checkpoint(struct gt_abi_checkpoint *arg)
{
	if (!arg->bytes) {
		arg->bytes = t.checkpoint;
		errno = t.size_error;
		return t.size_error ? -1 : 0;
	}
	assert_int_equal(arg->bytes, t.checkpoint);
	if (t.grows) {
		t.grows--;
		arg->bytes = t.checkpoint += 8;
		errno = ENOSPC;
		return -1;
	}
	if (t.read_error) {
		errno = t.read_error;
		return -1;
	}
	memset((void *)(uintptr_t)arg->data, 'c', arg->bytes);
	arg->number = 9;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	t.last = request;
	if (t.error && request != GT_IOC_READ_CHECKPOINT) {
		errno = t.error;
		return -1;
	}
	switch (request) {
	case GT_IOC_ABI:
		assert_int_equal(((struct gt_abi *)arg)->size, sizeof(t.abi));
		*(struct gt_abi *)arg = t.abi;
		return 0;
	case GT_IOC_CREATE:
		assert_int_equal(((struct gt_abi_create *)arg)->size, sizeof(struct gt_abi_create));
		((struct gt_abi_create *)arg)->bytes = t.bytes;
		return 0;
	case GT_IOC_CLAIM:
		memcpy(t.name, ((struct gt_abi_claim *)arg)->name, sizeof(t.name));
		((struct gt_abi_claim *)arg)->bytes = t.bytes;
		return 0;
	case GT_IOC_LIST:
		assert_int_equal(((struct gt_abi_list *)arg)->count, GT_SESSIONS_MAX);
		assert_int_equal(((struct gt_abi_list *)arg)->info_size,
				 sizeof(struct gt_abi_info));
		((struct gt_abi_list *)arg)->count = t.count;
		for (uint32_t i = 0; i < t.count && i < GT_SESSIONS_MAX; i++)
			((struct gt_abi_info *)(uintptr_t)((struct gt_abi_list *)arg)->infos)[i]
				.id = 21 + i;
		return 0;
	case GT_IOC_READ_CHECKPOINT:
		return read_checkpoint(arg);
	default:
		return 0;
	}
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.abi = (struct gt_abi){ .version = GT_ABI_VERSION, .memory_max = 64 << 20 };
	t.page = (struct gt_session_page){ .magic = GT_ABI_MAGIC, .version = GT_ABI_VERSION };
	t.bytes = sizeof(t.page);
	t.checkpoint = 40;
	t.size_error = ENOSPC;
	return 0;
}

static int set_up_open(void **state)
{
	set_up(state);
	return kmod__open(&t.k, &t.err);
}

static int tear_down(void **state)
{
	kmod__close(t.k);
	return 0;
}

FIXTURE(set_up_open, tear_down)

/* The error of what was called last, and a part of its text. */
static void assert_error(int got, int code, const char *text)
{
	assert_int_equal(got, code);
	if (!strstr(t.err.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, t.err.text);
	t.err.text[0] = 0;
}

static int open_with(int error)
{
	t.open_error = error;
	return kmod__open(&t.k, &t.err);
}

static int create(int error)
{
	struct gt_abi_create want = { .name = "box" };

	t.error = error;
	return kmod__create(t.k, &want, &t.err);
}

static int claim(int error, const char *name)
{
	t.error = error;
	return kmod__claim(t.k, name, &t.err);
}

/* ---- tests ---- */

TEST_WITH(opens, set_up, tear_down)
{
	static const int absent[] = { ENOENT, ENXIO, ENODEV };

	for (int i = 0; i < 3; i++)
		assert_error(open_with(absent[i]), -ENOENT, "not loaded: modprobe gotrace");
	assert_error(open_with(EPERM), -EPERM, "run as root");
	assert_error(open_with(EACCES), -EACCES, "run as root");
	assert_error(open_with(EBUSY), -EBUSY, "/dev/gotrace: Device or resource busy");
	t.abi.version = GT_ABI_VERSION + 1;
	assert_error(open_with(0), -EPROTO, "gotrace has version 2, not 1");
	t.abi.version = GT_ABI_VERSION;
	t.error = EPERM;
	assert_error(open_with(0), -EPERM, "run as root");
	t.error = 0;
	t.abi.memory_max = 3ull << 32 | 5 << 20;
	assert_int_equal(open_with(0), 0);
	assert_true(fcntl(t.fd, F_GETFD) >= 0);
	assert_null(kmod__memory(t.k));
	assert_error(create(ENOMEM), -ENOMEM, "buffers is 12293 MiB");
}

/*
 * By its features, and its BTF, which a kernel without CONFIG_DEBUG_INFO_BTF_MODULES does not have.
 */
TEST(has_kfuncs)
{
	assert_false(kmod__has_kfuncs(t.k));
	t.has_btf = true;
	assert_false(kmod__has_kfuncs(t.k));
	kmod__close(t.k);
	t.abi.features = GT_FEATURE_KFUNCS;
	assert_int_equal(open_with(0), 0);
	assert_true(kmod__has_kfuncs(t.k));
	t.has_btf = false;
	assert_false(kmod__has_kfuncs(t.k));
}

TEST(creates)
{
	assert_int_equal(create(0), 0);
	assert_int_equal(kmod__memory(t.k)->magic, GT_ABI_MAGIC);
	assert_int_equal(kmod__bytes(t.k), sizeof(t.page));
	assert_int_equal(kmod__release(t.k, &t.err), 0);
	assert_null(kmod__memory(t.k));
	assert_int_equal(kmod__bytes(t.k), 0);
	assert_int_equal(t.last, GT_IOC_RELEASE);
	assert_error(create(EEXIST), -EEXIST, "gotrace-bpf recover box");
	assert_error(create(ENOSPC), -ENOSPC, "maximum of 64 flight recorder buffers");
	assert_error(create(ENOMEM), -ENOMEM, "buffers is 64 MiB");
	assert_error(create(EPERM), -EPERM, "run as root");
	assert_error(create(EACCES), -EACCES, "run as root");
	assert_error(create(EINVAL), -EINVAL, "Invalid argument");
}

TEST(claims)
{
	char name[GT_NAME_MAX + 1] = "";

	memset(name, 'n', GT_NAME_MAX);
	assert_error(claim(0, name), -ENOENT, "there is no");
	name[GT_NAME_MAX - 1] = 0;
	assert_int_equal(claim(0, name), 0);
	assert_string_equal(t.name, name);
	assert_int_equal(kmod__bytes(t.k), sizeof(t.page));
	kmod__release(t.k, NULL);
	assert_error(claim(ENOENT, "box"), -ENOENT, "recover --list");
	assert_error(claim(EBUSY, "box"), -EBUSY, "in use");
	assert_error(claim(EPERM, "box"), -EPERM, "run as root");
	assert_error(claim(EACCES, "box"), -EACCES, "run as root");
	assert_error(claim(EIO, "box"), -EIO, "buffer 'box': Input/output error");
}

/* Memory of another version, or none, is not read. */
TEST(refuses_memory)
{
	struct gt_session_page *page =
		mmap(NULL, t.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0);

	page->magic++;
	assert_error(create(0), -EPROTO, "another layout version");
	assert_null(kmod__memory(t.k));
	page->magic--;
	page->version++;
	assert_error(claim(0, "box"), -EPROTO, "another layout version");
	assert_null(kmod__memory(t.k));
	munmap(page, t.bytes);
	t.bytes = 0;
	assert_error(create(0), -EINVAL, "cannot map");
}

TEST(lists)
{
	struct gt_abi_info *list = NULL;
	size_t n;

	t.count = 3;
	assert_int_equal(kmod__list(t.k, &list, &n, &t.err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(list[2].id, 23);
	free(list);
	t.count = GT_SESSIONS_MAX + 1;
	assert_int_equal(kmod__list(t.k, &list, &n, &t.err), 0);
	assert_int_equal(n, GT_SESSIONS_MAX);
	free(list);
	t.error = EIO;
	assert_error(kmod__list(t.k, &list, &n, &t.err), -EIO, "cannot list");
	assert_error(kmod__freeze(t.k, &t.err), -EIO, "cannot freeze");
	t.error = EACCES;
	assert_error(kmod__freeze(t.k, &t.err), -EACCES, "run as root");
	t.error = 0;
	assert_int_equal(kmod__freeze(t.k, &t.err), 0);
	assert_int_equal(t.last, GT_IOC_FREEZE);
}

TEST(writes_checkpoints)
{
	assert_int_equal(kmod__write_checkpoint(t.k, "data", 5, &t.err), 0);
	t.error = EINVAL;
	assert_error(kmod__write_checkpoint(t.k, "", 700 << 20, &t.err), -EINVAL, "(700 MiB)");
	t.error = ENOMEM;
	assert_error(kmod__write_checkpoint(t.k, "", 5, &t.err), -ENOMEM, "buffers is 64 MiB");
	t.error = EIO;
	assert_error(kmod__write_checkpoint(t.k, "", 5, &t.err), -EIO, "Input/output error");
}

TEST(reads_checkpoints)
{
	struct gt_abi_checkpoint facts;
	size_t size;
	void *data;

	assert_int_equal(kmod__read_checkpoint(t.k, 1, &data, &size, &facts, &t.err), 0);
	assert_int_equal(size, 40);
	assert_int_equal(facts.which, 1);
	assert_int_equal(facts.number, 9);
	assert_memory_equal(data, "cccc", 4);
	free(data);
	assert_int_equal(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), 0);
	free(data);
	t.grows = 7;
	assert_int_equal(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), 0);
	assert_int_equal(size, 40 + 7 * 8);
	free(data);
	t.grows = 8;
	assert_error(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), -ENOSPC,
		     "cannot read the checkpoint");
	t.grows = 0;
	t.size_error = ENODATA;
	assert_error(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), -ENODATA,
		     "the buffer has none");
	t.size_error = EIO;
	assert_error(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), -EIO,
		     "Input/output");
	t.size_error = ENOSPC;
	t.read_error = EACCES;
	assert_error(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), -EACCES,
		     "run as root");
	t.read_error = 0;
	t.checkpoint = GT_CHECKPOINT_MAX + 1;
	assert_error(kmod__read_checkpoint(t.k, 0, &data, &size, NULL, &t.err), -EPROTO,
		     "exceeds the maximum");
}
