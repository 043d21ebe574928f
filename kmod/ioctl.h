/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KMOD_IOCTL_H
#define KMOD_IOCTL_H

struct file;

/* The device's ioctls (include/gotrace/uapi.h): unlocked_ioctl of its files. May sleep. */
long ioctl__call(struct file *file, unsigned int request, unsigned long argument);

#endif
