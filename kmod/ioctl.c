// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls: arguments are copied from userspace once, checked, passed on, and results copied
 * back.
 *
 * Upstream: the device's files in main.c. Downstream: session.c, checkpoint.c and emit.c. A
 * structure may be longer than the one defined here if the rest is 0, but not shorter. All
 * functions may sleep; no lock is held.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "ioctl.h"
#include "main.h"
#include "session.h"

union argument {
	u32 size; /* each argument begins with it */
	struct gt_abi abi;
	struct gt_abi_create create;
	struct gt_abi_info info;
	struct gt_abi_claim claim;
	struct gt_abi_list list;
	struct gt_abi_checkpoint checkpoint;
	struct gt_abi_emit emit;
	struct gt_abi_positions positions;
};

static int do_abi(struct file *file, union argument *a)
{
	a->abi = (struct gt_abi){
		.size = a->size,
		.version = GT_ABI_VERSION,
		.features = main__has_kfuncs() ? GT_FEATURE_KFUNCS : 0,
		.sessions = session__count(),
		.memory = memory__used(),
		.memory_max = memory__max(),
	};
	return 0;
}

static int do_create(struct file *file, union argument *a)
{
	return session__create(file, &a->create);
}

static int do_info(struct file *file, union argument *a)
{
	struct session *s = session__owned(file);
	u32 size = a->size;
	int err = s ? session__info(s, &a->info) : -ENOENT;

	a->size = size;
	return err;
}

static int do_claim(struct file *file, union argument *a)
{
	return session__claim(file, &a->claim);
}

/* For a caller with a longer structure: members that are unknown here are 0. */
static int copy_infos(void __user *user, u32 size, const struct gt_abi_info *infos, u32 n)
{
	for (u32 i = 0; i < n; i++, user += size)
		if (copy_to_user(user, &infos[i], sizeof(*infos)) ||
		    clear_user(user + sizeof(*infos), size - sizeof(*infos)))
			return -EFAULT;
	return 0;
}

static int do_list(struct file *file, union argument *a)
{
	struct gt_abi_list *list = &a->list;
	u32 room = min_t(u32, list->count, GT_SESSIONS_MAX);
	struct gt_abi_info *infos;
	int err;

	if (list->info_size < sizeof(*infos) || list->pad)
		return -EINVAL;
	if (list->info_size > PAGE_SIZE)
		return -E2BIG;
	infos = kcalloc(GT_SESSIONS_MAX, sizeof(*infos), GFP_KERNEL_ACCOUNT);
	if (!infos)
		return -ENOMEM;
	list->count = session__list(infos, room);
	err = copy_infos(u64_to_user_ptr(list->infos), list->info_size, infos,
			 min(room, list->count));
	kfree(infos);
	return err;
}

static int do_freeze(struct file *file, union argument *a)
{
	return session__freeze(file);
}

static int do_release(struct file *file, union argument *a)
{
	return session__release(file);
}

static int do_write_checkpoint(struct file *file, union argument *a)
{
	return checkpoint__write(file, a->checkpoint.data, a->checkpoint.bytes);
}

static int do_read_checkpoint(struct file *file, union argument *a)
{
	return checkpoint__read(file, &a->checkpoint);
}

/*
 * The record and its tail are copied first: that may sleep, fail, and take so long that another
 * file owns the session by then. session__claim() waits for callers that found they still owned it.
 */
static int do_emit(struct file *file, union argument *a)
{
	struct gt_abi_emit *emit = &a->emit;
	struct session *s = session__owned(file);
	int err = -ENOENT;
	u8 *copy;

	if (!s)
		return -ENOENT;
	if (!session__size_is_valid(emit->record_size) || emit->tail_size > GT_TAIL_MAX ||
	    emit->pad)
		return -EINVAL;
	copy = kmalloc(SESSION_RECORD_MAX + GT_TAIL_MAX, GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	if (copy_from_user(copy, u64_to_user_ptr(emit->record), emit->record_size) ||
	    copy_from_user(copy + SESSION_RECORD_MAX, u64_to_user_ptr(emit->tail),
			   emit->tail_size)) {
		kfree(copy);
		return -EFAULT;
	}
	rcu_read_lock();
	if (session__owned(file)) /* checked again after copying */
		err = session__emit(s, copy, emit->record_size, copy + SESSION_RECORD_MAX,
				    emit->tail_size);
	rcu_read_unlock();
	kfree(copy);
	return err;
}

static int do_positions(struct file *file, union argument *a)
{
	struct gt_abi_positions *positions = &a->positions;
	struct session *s = session__owned(file);
	u32 room;
	u64 *heads;
	int err;

	if (!s)
		return -ENOENT;
	room = positions->heads ? min(positions->count, s->rings_n) : 0;
	heads = kcalloc(s->rings_n, sizeof(*heads), GFP_KERNEL_ACCOUNT);
	if (!heads)
		return -ENOMEM;
	err = -ENOENT;
	if (session__lock_owned(file)) {
		err = session__positions(s, heads, room);
		session__unlock_owned();
	}
	if (!err && copy_to_user(u64_to_user_ptr(positions->heads), heads, room * sizeof(*heads)))
		err = -EFAULT;
	positions->count = s->rings_n;
	kfree(heads);
	return err;
}

#define FIRST _IOC_NR(GT_IOC_ABI)

#define CALL(request_, member_, call_)                                                             \
	[_IOC_NR(request_) - FIRST] = {                                                            \
		.request = (request_),                                                             \
		.size = sizeof(((union argument *)NULL)->member_),                                 \
		.reserved = offsetof(union argument, member_.reserved),                            \
		.reserved_size = sizeof(((union argument *)NULL)->member_.reserved),               \
		.call = (call_),                                                                   \
	}

static const struct {
	unsigned int request;
	u32 size;		     /* of its argument; 0: none */
	u32 reserved, reserved_size; /* offset of reserved members, which must be 0 */
	int (*call)(struct file *file, union argument *a);
} calls[] = {
	CALL(GT_IOC_ABI, abi, do_abi),
	CALL(GT_IOC_CREATE, create, do_create),
	CALL(GT_IOC_INFO, info, do_info),
	CALL(GT_IOC_CLAIM, claim, do_claim),
	CALL(GT_IOC_LIST, list, do_list),
	[_IOC_NR(GT_IOC_FREEZE) - FIRST] = { .request = GT_IOC_FREEZE, .call = do_freeze },
	[_IOC_NR(GT_IOC_RELEASE) - FIRST] = { .request = GT_IOC_RELEASE, .call = do_release },
	CALL(GT_IOC_CHECKPOINT, checkpoint, do_write_checkpoint),
	CALL(GT_IOC_READ_CHECKPOINT, checkpoint, do_read_checkpoint),
	CALL(GT_IOC_EMIT, emit, do_emit),
	CALL(GT_IOC_POSITIONS, positions, do_positions),
};

/* The size in the request's number is ignored: it differs if the structure is longer. */
static bool is_request(unsigned int request, unsigned int known)
{
	unsigned int size = _IOC_SIZE(known) ? IOCSIZE_MASK : 0;

	return (request & ~size) == (known & ~size);
}

static int copy_in(union argument *a, u32 known, const void __user *user)
{
	u32 size;
	int err;

	if (get_user(size, (const u32 __user *)user))
		return -EFAULT;
	if (size < known)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	/* user memory may have changed since: the checked size counts */
	err = copy_struct_from_user(a, known, user, size);
	a->size = size;
	return err;
}

long ioctl__call(struct file *file, unsigned int request, unsigned long argument)
{
	u32 place = array_index_nospec(_IOC_NR(request) - FIRST, ARRAY_SIZE(calls));
	void __user *user = (void __user *)argument;
	union argument a = {};
	int err;

	if (_IOC_NR(request) < FIRST || _IOC_NR(request) - FIRST >= ARRAY_SIZE(calls) ||
	    !is_request(request, calls[place].request))
		return -ENOTTY;
	if (!calls[place].size)
		return calls[place].call(file, &a);
	err = copy_in(&a, calls[place].size, user);
	if (err)
		return err;
	if (memchr_inv((u8 *)&a + calls[place].reserved, 0, calls[place].reserved_size))
		return -EINVAL;
	err = calls[place].call(file, &a);
	/* -ENOSPC: some arguments return the required size */
	if ((!err || err == -ENOSPC) && copy_to_user(user, &a, calls[place].size))
		return -EFAULT;
	return err;
}
