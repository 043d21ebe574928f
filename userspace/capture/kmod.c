// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel module's device: see kmod.h. Before it: the module (kmod/). After it: session.c, which
 * asks for a session's id, and whoever reads a black box (blackbox.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/kmod.h"

struct kmod {
	int fd;
	struct gt_abi abi;
	const struct gt_session_page *memory; /* NULL: no session is owned */
	size_t bytes;
};

static int not_permitted(int code, struct error *err, const char *what)
{
	return error__set(err, code,
			  "%s: not permitted; run as root, or with CAP_BPF and CAP_PERFMON", what);
}

static int no_memory(const struct kmod *k, struct error *err, const char *what)
{
	return error__set(err, -ENOMEM,
			  "%s: no memory; the module may hold %llu MiB in all (that is "
			  "/sys/module/gotrace/parameters/max_memory), and the memory cgroup has "
			  "its limit; a smaller --ring-size takes less",
			  what, (unsigned long long)k->abi.memory_max >> 20);
}

/* 0, or a negative errno with the reason. */
static int call(const struct kmod *k, unsigned long request, void *argument, const char *what,
		struct error *err)
{
	int code = ioctl(k->fd, request, argument) < 0 ? -errno : 0;

	if (code == -EPERM || code == -EACCES)
		return not_permitted(code, err, what);
	return code ? error__set(err, code, "%s: %s", what, strerror(-code)) : 0;
}

static int ask_abi(struct kmod *k, struct error *err)
{
	int code;

	k->abi.size = sizeof(k->abi);
	code = call(k, GT_IOC_ABI, &k->abi, GT_DEVICE, err);
	if (!code && k->abi.version != GT_ABI_VERSION)
		return error__set(
			err, -EPROTO,
			"the module gotrace that is loaded is of version %u, not %d: install "
			"the one of this gotrace-bpf (make kmod_install) and load it anew",
			k->abi.version, GT_ABI_VERSION);
	return code;
}

int kmod__open(struct kmod **ret, struct error *err)
{
	struct kmod *k = calloc(1, sizeof(*k));
	int code;

	if (!k)
		return -ENOMEM;
	k->fd = open(GT_DEVICE, O_RDWR | O_CLOEXEC);
	code = k->fd < 0 ? -errno : ask_abi(k, err);
	if (!code) {
		*ret = k;
		return 0;
	}
	kmod__close(k);
	if (code == -ENOENT || code == -ENXIO || code == -ENODEV)
		return error__set(err, -ENOENT,
				  "the kernel module is not loaded: modprobe gotrace (make kmod "
				  "kmod_install builds and installs it)");
	if (code == -EPERM || code == -EACCES)
		return not_permitted(code, err, GT_DEVICE);
	return error__set(err, code, "%s: %s", GT_DEVICE, strerror(-code));
}

static void unmap(struct kmod *k)
{
	if (k->memory)
		munmap((void *)k->memory, k->bytes);
	k->memory = NULL;
	k->bytes = 0;
}

void kmod__close(struct kmod *k)
{
	if (!k)
		return;
	unmap(k);
	if (k->fd >= 0)
		close(k->fd);
	free(k);
}

const struct gt_abi *kmod__abi(const struct kmod *k)
{
	return &k->abi;
}

bool kmod__has_kfuncs(const struct kmod *k)
{
	return k->abi.features & GT_FEATURE_KFUNCS && !access("/sys/kernel/btf/gotrace", R_OK);
}

static int map(struct kmod *k, uint64_t bytes, struct error *err)
{
	const struct gt_session_page *page;
	void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, k->fd, 0);

	if (memory == MAP_FAILED)
		return error__set(err, -errno, "cannot map the session's memory: %s",
				  strerror(errno));
	k->memory = page = memory;
	k->bytes = bytes;
	if (page->magic == GT_ABI_MAGIC && page->version == GT_ABI_VERSION)
		return 0;
	unmap(k);
	return error__set(err, -EPROTO, "the session's memory is of another version");
}

int kmod__create(struct kmod *k, struct gt_abi_create *want, struct error *err)
{
	int code;

	want->size = sizeof(*want);
	code = ioctl(k->fd, GT_IOC_CREATE, want) < 0 ? -errno : 0;
	switch (code) {
	case 0:
		return map(k, want->bytes, err);
	case -EEXIST:
		return error__set(
			err, code,
			"there is a black box \"%s\" already: gotrace-bpf recover %s -o FILE, "
			"or take another name",
			want->name, want->name);
	case -ENOSPC:
		return error__set(err, code,
				  "the kernel module holds as many sessions as it may "
				  "(%d): recover some (gotrace-bpf recover --list)",
				  GT_SESSIONS_MAX);
	case -ENOMEM:
		return no_memory(k, err, "cannot create a session of the kernel module");
	case -EPERM:
	case -EACCES:
		return not_permitted(code, err, "cannot create a session of the kernel module");
	default:
		return error__set(err, code, "cannot create a session of the kernel module: %s",
				  strerror(-code));
	}
}

int kmod__claim(struct kmod *k, const char *name, struct error *err)
{
	struct gt_abi_claim claim = { .size = sizeof(claim) };
	size_t len = strlen(name);
	int code;

	if (len < sizeof(claim.name))
		memcpy(claim.name, name, len);
	else
		return error__set(err, -ENOENT, "there is no black box \"%s\"", name);
	code = ioctl(k->fd, GT_IOC_CLAIM, &claim) < 0 ? -errno : 0;
	switch (code) {
	case 0:
		return map(k, claim.bytes, err);
	case -ENOENT:
		return error__set(
			err, code,
			"there is no black box \"%s\" (gotrace-bpf recover --list shows all)",
			name);
	case -EBUSY:
		return error__set(err, code,
				  "the black box \"%s\" is in use: its daemon runs, or it "
				  "is being recovered",
				  name);
	case -EPERM:
	case -EACCES:
		return not_permitted(code, err, "cannot claim the black box");
	default:
		return error__set(err, code, "cannot claim the black box \"%s\": %s", name,
				  strerror(-code));
	}
}

int kmod__info(struct kmod *k, struct gt_abi_info *ret, struct error *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	return call(k, GT_IOC_INFO, ret, "cannot ask for the session", err);
}

/* There are GT_SESSIONS_MAX at most, so one call sees them all. */
int kmod__list(struct kmod *k, struct gt_abi_info **ret, size_t *ret_n, struct error *err)
{
	struct gt_abi_info *info = calloc(GT_SESSIONS_MAX, sizeof(*info));
	struct gt_abi_list list = {
		.size = sizeof(list),
		.count = GT_SESSIONS_MAX,
		.infos = (uintptr_t)info,
		.info_size = sizeof(*info),
	};
	int code;

	if (!info)
		return -ENOMEM;
	code = call(k, GT_IOC_LIST, &list, "cannot list the black boxes", err);
	if (code) {
		free(info);
		return code;
	}
	*ret = info;
	*ret_n = list.count < GT_SESSIONS_MAX ? list.count : GT_SESSIONS_MAX;
	return 0;
}

int kmod__freeze(struct kmod *k, struct error *err)
{
	return call(k, GT_IOC_FREEZE, NULL, "cannot stop the session", err);
}

int kmod__release(struct kmod *k, struct error *err)
{
	unmap(k);
	return call(k, GT_IOC_RELEASE, NULL, "cannot release the session", err);
}

int kmod__write_checkpoint(struct kmod *k, const void *data, size_t size, struct error *err)
{
	struct gt_abi_checkpoint arg = {
		.size = sizeof(arg),
		.data = (uintptr_t)data,
		.bytes = size,
	};
	int code = ioctl(k->fd, GT_IOC_CHECKPOINT, &arg) < 0 ? -errno : 0;

	switch (code) {
	case 0:
		return 0;
	case -EINVAL: /* more than the session was created for */
		return error__set(
			err, code,
			"the process has too many goroutines for a checkpoint (%llu MiB): "
			"those without an event in the window are as in the last one that "
			"was written, or missing",
			(unsigned long long)size >> 20);
	case -ENOMEM:
		return no_memory(k, err, "cannot write the checkpoint");
	default:
		return error__set(err, code, "cannot write the checkpoint: %s", strerror(-code));
	}
}

/* Whoever reads owns the session, so that its size, once told, is still so when it is read. */
int kmod__read_checkpoint(struct kmod *k, unsigned int which, void **ret, size_t *ret_size,
			  struct gt_abi_checkpoint *ret_facts, struct error *err)
{
	struct gt_abi_checkpoint arg = { .size = sizeof(arg), .which = which };
	void *data;
	int code;

	if (ioctl(k->fd, GT_IOC_READ_CHECKPOINT, &arg) < 0 && errno != ENOSPC)
		return error__set(err, -errno, "cannot read the checkpoint: %s",
				  errno == ENODATA ? "there is none" : strerror(errno));
	if (arg.bytes > GT_CHECKPOINT_MAX)
		return error__set(err, -EPROTO, "the checkpoint is longer than it may be");
	data = malloc(arg.bytes + 1);
	if (!data)
		return -ENOMEM;
	arg.data = (uintptr_t)data;
	code = call(k, GT_IOC_READ_CHECKPOINT, &arg, "cannot read the checkpoint", err);
	if (code) {
		free(data);
		return code;
	}
	*ret = data;
	*ret_size = arg.bytes;
	if (ret_facts)
		*ret_facts = arg;
	return 0;
}

const struct gt_session_page *kmod__memory(const struct kmod *k)
{
	return k->memory;
}

size_t kmod__bytes(const struct kmod *k)
{
	return k->bytes;
}

int kmod__fd(const struct kmod *k)
{
	return k->fd;
}
