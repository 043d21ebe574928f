// SPDX-License-Identifier: GPL-2.0
/*
 * The module: /dev/gotrace and its files. A file owns a session, or only makes queries.
 *
 * Upstream: userspace/capture/kmod.c. Downstream: ioctl.c and session.c. All functions may sleep.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "gotrace/version.h"

#include "ioctl.h"
#include "kfuncs.h"
#include "main.h"
#include "session.h"

static bool has_kfuncs;

bool main__has_kfuncs(void)
{
	return has_kfuncs;
}

/*
 * A session contains what programs of other users do, and takes memory: it requires the privileges
 * that loading the BPF programs requires. They are checked in the initial user namespace: root of a
 * container has none.
 */
static int open_file(struct inode *inode, struct file *file)
{
	if (!perfmon_capable() || !bpf_capable()) /* both are implied by CAP_SYS_ADMIN */
		return -EPERM;
	file->private_data = NULL; /* the session that it will own */
	return nonseekable_open(inode, file);
}

/*
 * Called for each close() of a descriptor. When a process ends, it is called for all of its
 * descriptors before any other of its files is released: so the session is frozen before the first
 * probe is detached.
 */
static int flush_file(struct file *file, fl_owner_t id)
{
	session__flushed(file);
	return 0;
}

static int release_file(struct inode *inode, struct file *file)
{
	session__disown(file);
	return 0;
}

/* The address space's lock is held for writing. */
static int map_file(struct file *file, struct vm_area_struct *vma)
{
	struct session *s = session__owned(file);
	struct area *area = s ? session__area(s) : NULL;
	int err;

	if (!area)
		return -ENODEV;
	err = area__map(area, vma);
	area__put(area);
	return err;
}

/* Must not sleep after poll_wait(). */
static __poll_t poll_file(struct file *file, poll_table *table)
{
	struct session *s = session__of(file);
	__poll_t ready = 0;

	if (!s)
		return EPOLLERR;
	poll_wait(file, &s->wait, table);
	smp_mb(); /* a writer moves the head, then looks for sleepers */
	if (READ_ONCE(s->dead) || READ_ONCE(s->frozen))
		ready |= EPOLLHUP;
	if (session__readable(s))
		ready |= EPOLLIN | EPOLLRDNORM;
	return ready;
}

static const struct file_operations files = {
	.owner = THIS_MODULE,
	.open = open_file,
	.flush = flush_file,
	.release = release_file,
	.unlocked_ioctl = ioctl__call,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = map_file,
	.poll = poll_file,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gotrace",
	.fops = &files,
	.mode = 0666, /* open_file() checks capabilities instead */
};

/* Without kfuncs (an older kernel, or one without BTF) the device exists, and reports that. */
static int __init gotrace_init(void)
{
	int err = kfuncs__register();

	has_kfuncs = !err;
	if (err)
		pr_info("gotrace: BPF programs cannot call the module on this kernel (%d)\n", err);
	return misc_register(&device);
}

static void __exit gotrace_exit(void)
{
	misc_deregister(&device);
	session__exit();
}

module_init(gotrace_init);
module_exit(gotrace_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(GOTRACE_VERSION);
MODULE_DESCRIPTION("Flight recorder and stack unwinder for traces of Go programs");
