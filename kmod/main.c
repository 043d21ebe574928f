// SPDX-License-Identifier: GPL-2.0
/*
 * The module: /dev/gotrace and its files. A file owns a session, or is there to ask.
 *
 * Before it: userspace/capture/kmod.c. After it: ioctl.c and session.c. All of it may sleep.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>

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
 * A session shows what other users' programs do, and takes memory: it is for those who may load the
 * BPF programs that fill it. Asked in the initial user namespace: the root of a container has no
 * right to it.
 */
static int open_file(struct inode *inode, struct file *file)
{
	if (!perfmon_capable() || !bpf_capable()) /* each is CAP_SYS_ADMIN's, too */
		return -EPERM;
	file->private_data = NULL; /* the session it will own */
	return nonseekable_open(inode, file);
}

/*
 * Each close() of a descriptor, also by the end of a process: all of its descriptors come here
 * before any of its other files is let go, so that nothing is recorded when the first probe is
 * gone.
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

/* May not sleep once it has asked to be woken. */
static __poll_t poll_file(struct file *file, poll_table *table)
{
	struct session *s = session__of(file);
	__poll_t ready = 0;

	if (!s)
		return EPOLLERR;
	poll_wait(file, &s->wait, table);
	smp_mb(); /* a writer moves the head, then looks who waits */
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
	.mode = 0666, /* open_file() decides, by capabilities: they need not be root's */
};

/*
 * Without kfuncs (an older kernel, or one without types) the device is there nevertheless, and says
 * so.
 */
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
MODULE_VERSION("0.1");
MODULE_DESCRIPTION("Traces of Go programs: stacks, and records that outlive their recorder");
