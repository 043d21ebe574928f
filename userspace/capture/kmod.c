// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel module's device: see kmod.h. Upstream: the module (kmod/). Downstream: probes.c, and
 * recording into and recovery from flight recorder buffers (blackbox.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/kmod.h"

#define READ_TRIES 9 /* the first one asks for the size */

struct kmod {
	int fd;
	struct gt_abi abi;
	const struct gt_session_page *memory; /* NULL: no session is owned */
	size_t bytes;
};

static int not_permitted(int err, struct error *error, const char *what)
{
	return error__set(error, err,
			  "%s: not permitted; run as root, or with CAP_BPF and CAP_PERFMON", what);
}

static int no_memory(const struct kmod *k, struct error *error, const char *what)
{
	return error__set(
		error, -ENOMEM,
		"%s: not enough memory; the limit of all flight recorder buffers is %llu MiB "
		"(/sys/module/gotrace/parameters/max_memory), and the memory cgroup may "
		"have a limit of its own; use a smaller --ring-size",
		what, (unsigned long long)k->abi.memory_max >> 20);
}

static int explain(int err, struct error *error, const char *what)
{
	if (err == -EPERM || err == -EACCES)
		return not_permitted(err, error, what);
	return error__set(error, err, "%s: %s", what, strerror(-err));
}

/* 0, or a negative errno with the reason. */
static int call(const struct kmod *k, unsigned long request, void *argument, const char *what,
		struct error *error)
{
	int err = ioctl(k->fd, request, argument) < 0 ? -errno : 0;

	return err ? explain(err, error, what) : 0;
}

static int ask_abi(struct kmod *k, struct error *error)
{
	int err;

	k->abi.size = sizeof(k->abi);
	err = call(k, GT_IOC_ABI, &k->abi, GT_DEVICE, error);
	if (!err && k->abi.version != GT_ABI_VERSION)
		return error__set(
			error, -EPROTO,
			"the loaded kernel module gotrace has version %u, not %d: install the "
			"one of this gotrace-bpf (make kmod_install) and load it again",
			k->abi.version, GT_ABI_VERSION);
	return err;
}

int kmod__open(struct kmod **ret, struct error *error)
{
	struct kmod *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->fd = open(GT_DEVICE, O_RDWR | O_CLOEXEC);
	err = k->fd < 0 ? -errno : ask_abi(k, error);
	if (!err) {
		*ret = k;
		return 0;
	}
	kmod__close(k);
	if (err == -ENOENT || err == -ENXIO || err == -ENODEV)
		return error__set(error, -ENOENT,
				  "the kernel module is not loaded: modprobe gotrace (make kmod "
				  "kmod_install builds and installs it)");
	return explain(err, error, GT_DEVICE);
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

bool kmod__has_kfuncs(const struct kmod *k)
{
	return k->abi.features & GT_FEATURE_KFUNCS && !access("/sys/kernel/btf/gotrace", R_OK);
}

static int map(struct kmod *k, uint64_t bytes, struct error *error)
{
	const struct gt_session_page *page;
	void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, k->fd, 0);

	if (memory == MAP_FAILED)
		return error__set(error, -errno, "cannot map the flight recorder buffer: %s",
				  strerror(errno));
	k->memory = page = memory;
	k->bytes = bytes;
	if (page->magic == GT_ABI_MAGIC && page->version == GT_ABI_VERSION)
		return 0;
	unmap(k);
	return error__set(error, -EPROTO,
			  "the flight recorder buffer has another "
			  "layout version; reinstall the kernel module");
}

int kmod__create(struct kmod *k, struct gt_abi_create *want, struct error *error)
{
	int err;

	want->size = sizeof(*want);
	err = ioctl(k->fd, GT_IOC_CREATE, want) < 0 ? -errno : 0;
	switch (err) {
	case 0:
		return map(k, want->bytes, error);
	case -EEXIST:
		return error__set(
			error, err,
			"flight recorder buffer '%s' exists already: gotrace-bpf recover %s -o "
			"FILE, or choose another name",
			want->name, want->name);
	case -ENOSPC:
		return error__set(error, err,
				  "the kernel module has its maximum of %d flight recorder "
				  "buffers: recover or discard some (gotrace-bpf recover --list)",
				  GT_SESSIONS_MAX);
	case -ENOMEM:
		return no_memory(k, error, "cannot create a flight recorder buffer");
	default:
		return explain(err, error, "cannot create a flight recorder buffer");
	}
}

int kmod__claim(struct kmod *k, const char *name, struct error *error)
{
	struct gt_abi_claim claim = { .size = sizeof(claim) };
	size_t len = strlen(name);
	int err;

	if (len >= sizeof(claim.name))
		return error__set(error, -ENOENT, "there is no flight recorder buffer '%s'", name);
	memcpy(claim.name, name, len);
	err = ioctl(k->fd, GT_IOC_CLAIM, &claim) < 0 ? -errno : 0;
	switch (err) {
	case 0:
		return map(k, claim.bytes, error);
	case -ENOENT:
		return error__set(
			error, err,
			"there is no flight recorder buffer '%s' (gotrace-bpf recover --list "
			"lists all)",
			name);
	case -EBUSY:
		return error__set(error, err,
				  "flight recorder buffer '%s' is in use: its recorder is "
				  "running, or it is being recovered",
				  name);
	case -EPERM:
	case -EACCES:
		return not_permitted(err, error, "cannot claim the flight recorder buffer");
	default:
		return error__set(error, err, "cannot claim flight recorder buffer '%s': %s", name,
				  strerror(-err));
	}
}

/* One call returns all sessions: there are at most GT_SESSIONS_MAX. */
int kmod__list(struct kmod *k, struct gt_abi_info **ret, size_t *ret_n, struct error *error)
{
	struct gt_abi_info *info = calloc(GT_SESSIONS_MAX, sizeof(*info));
	struct gt_abi_list list = {
		.size = sizeof(list),
		.count = GT_SESSIONS_MAX,
		.infos = (uintptr_t)info,
		.info_size = sizeof(*info),
	};
	int err;

	if (!info)
		return -ENOMEM;
	err = call(k, GT_IOC_LIST, &list, "cannot list the flight recorder buffers", error);
	if (err) {
		free(info);
		return err;
	}
	*ret = info;
	*ret_n = list.count < GT_SESSIONS_MAX ? list.count : GT_SESSIONS_MAX;
	return 0;
}

int kmod__freeze(struct kmod *k, struct error *error)
{
	return call(k, GT_IOC_FREEZE, NULL, "cannot freeze the flight recorder buffer", error);
}

int kmod__release(struct kmod *k, struct error *error)
{
	unmap(k);
	return call(k, GT_IOC_RELEASE, NULL, "cannot release the flight recorder buffer", error);
}

int kmod__write_checkpoint(struct kmod *k, const void *data, size_t size, struct error *error)
{
	struct gt_abi_checkpoint arg = {
		.size = sizeof(arg),
		.data = (uintptr_t)data,
		.bytes = size,
	};
	int err = ioctl(k->fd, GT_IOC_CHECKPOINT, &arg) < 0 ? -errno : 0;

	switch (err) {
	case 0:
		return 0;
	case -EINVAL: /* more than the session has space for */
		return error__set(
			error, err,
			"the process has too many goroutines for a checkpoint (%llu MiB): "
			"goroutines without an event will have their state of the previous "
			"checkpoint in the trace, or be missing; use a larger --ring-size",
			(unsigned long long)size >> 20);
	case -ENOMEM:
		return no_memory(k, error, "cannot write the checkpoint");
	default:
		return error__set(error, err, "cannot write the checkpoint: %s", strerror(-err));
	}
}

/* Makes room for the checkpoint's current size, which the module has reported. */
static int make_room(struct gt_abi_checkpoint *arg, void **data, struct error *error)
{
	if (arg->bytes > GT_CHECKPOINT_MAX)
		return error__set(error, -EPROTO, "the checkpoint exceeds the maximum size");
	free(*data);
	*data = malloc(arg->bytes + 1);
	arg->data = (uintptr_t)*data;
	return *data ? 0 : -ENOMEM;
}

/* The recorder may replace the checkpoint by a larger one while its child process reads. */
int kmod__read_checkpoint(struct kmod *k, unsigned int which, void **ret, size_t *ret_size,
			  struct gt_abi_checkpoint *ret_facts, struct error *error)
{
	struct gt_abi_checkpoint arg = { .size = sizeof(arg), .which = which };
	void *data = NULL;
	int err = -ENOSPC;

	for (int i = 0; i < READ_TRIES && err == -ENOSPC; i++) {
		err = i ? make_room(&arg, &data, error) : 0;
		if (!err && ioctl(k->fd, GT_IOC_READ_CHECKPOINT, &arg) < 0)
			err = -errno;
	}
	if (!err) {
		*ret = data;
		*ret_size = arg.bytes;
		if (ret_facts)
			*ret_facts = arg;
		return 0;
	}
	free(data);
	if (err == -ENODATA)
		return error__set(error, err, "cannot read the checkpoint: the buffer has none");
	return explain(err, error, "cannot read the checkpoint");
}

const struct gt_session_page *kmod__memory(const struct kmod *k)
{
	return k->memory;
}

size_t kmod__bytes(const struct kmod *k)
{
	return k->bytes;
}
