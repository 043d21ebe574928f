// SPDX-License-Identifier: GPL-2.0
/*
 * A session's checkpoints: data that its owner stores with it, written completely or not at all.
 *
 * Upstream: GT_IOC_CHECKPOINT and GT_IOC_READ_CHECKPOINT in ioctl.c. Downstream: memory.c. Two are
 * kept, and a third exists while it is being written, so a session may briefly use three times its
 * checkpoint_max; all of it counts as used memory. No lock is held while user memory is copied,
 * because that may take arbitrarily long.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "session.h"

struct checkpoint {
	refcount_t ref;		 /* held by its session and each reader */
	u64 bytes, number, time; /* number from 1; time CLOCK_MONOTONIC, ns */
	void *data;
};

#define STEP (1ul << 20) /* bytes copied between two reschedules */

/* NULL allowed. May sleep. */
static void checkpoint__put(struct checkpoint *c)
{
	if (c && refcount_dec_and_test(&c->ref)) {
		memory__free(c->data, c->bytes);
		kfree(c);
	}
}

/* May sleep. */
static struct checkpoint *checkpoint__alloc(u64 bytes)
{
	struct checkpoint *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);

	if (!c)
		return NULL;
	refcount_set(&c->ref, 1);
	c->bytes = bytes;
	c->data = memory__alloc(bytes);
	if (!c->data) {
		kfree(c);
		return NULL;
	}
	return c;
}

/* May sleep. -EINTR: the caller is being killed. */
static int checkpoint__copy(struct checkpoint *c, void __user *user, bool in)
{
	for (u64 at = 0; at < c->bytes; at += STEP) {
		unsigned long n = min_t(u64, c->bytes - at, STEP);

		if (in ? copy_from_user(c->data + at, user + at, n) :
			 copy_to_user(user + at, c->data + at, n))
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

int checkpoint__write(struct file *file, u64 address, u64 bytes)
{
	struct session *s = session__owned(file);
	struct checkpoint *c;
	int err;

	if (!s)
		return -ENOENT;
	if (!bytes || bytes > s->checkpoint_max)
		return -EINVAL;
	c = checkpoint__alloc(bytes);
	if (!c)
		return -ENOMEM;
	err = checkpoint__copy(c, u64_to_user_ptr(address), true);
	if (!err && !session__lock_owned(file))
		err = -ENOENT;
	if (!err) {
		mutex_lock(&s->lock);
		c->number = ++s->checkpoints_n;
		c->time = ktime_get_ns();
		swap(c, s->checkpoints[0]);
		swap(c, s->checkpoints[1]);
		mutex_unlock(&s->lock);
		session__unlock_owned();
	}
	checkpoint__put(c); /* the oldest, or the new one if that failed */
	return err;
}

int checkpoint__read(struct file *file, struct gt_abi_checkpoint *arg)
{
	struct session *s = session__lock_owned(file);
	struct checkpoint *c = NULL;
	u32 which;
	int err;

	if (!s)
		return -ENOENT;
	if (arg->which < ARRAY_SIZE(s->checkpoints)) {
		which = array_index_nospec(arg->which, ARRAY_SIZE(s->checkpoints));
		mutex_lock(&s->lock);
		c = s->checkpoints[which];
		if (c)
			refcount_inc(&c->ref);
		mutex_unlock(&s->lock);
	}
	session__unlock_owned();
	if (!c)
		return arg->which < ARRAY_SIZE(s->checkpoints) ? -ENODATA : -EINVAL;
	if (arg->bytes < c->bytes) {
		err = -ENOSPC;
	} else {
		err = checkpoint__copy(c, u64_to_user_ptr(arg->data), false);
		arg->number = c->number;
		arg->time = c->time;
	}
	arg->bytes = c->bytes;
	checkpoint__put(c);
	return err;
}

u64 checkpoint__bytes(const struct session *s)
{
	u64 bytes = 0;

	for (u32 i = 0; i < ARRAY_SIZE(s->checkpoints); i++)
		if (s->checkpoints[i])
			bytes += s->checkpoints[i]->bytes;
	return bytes;
}

void checkpoint__free(struct session *s)
{
	for (u32 i = 0; i < ARRAY_SIZE(s->checkpoints); i++) {
		checkpoint__put(s->checkpoints[i]);
		s->checkpoints[i] = NULL;
	}
}
