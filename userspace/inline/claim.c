// SPDX-License-Identifier: GPL-2.0
/*
 * See claim.h. The lock is on /proc/PID/mem (fcntl(2), F_OFD_SETLK), which all processes with the same
 * /proc share and which needs nothing of the target. The kernel releases it when its holder ends.
 */
#include "inline/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "inline/inject.h"

#define STEP_MS 10

static int lock(int fd, int command)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, command, &lock))
		return -errno;
	return command == F_OFD_GETLK && lock.l_type != F_UNLCK ? -EAGAIN : 0;
}

/* 0, -EAGAIN, or another negative errno: the file system has no locks, for example. */
static int lock_within(int fd, int command, unsigned int ms)
{
	int err = lock(fd, command);

	for (; err == -EAGAIN && ms >= STEP_MS; ms -= STEP_MS) {
		usleep(STEP_MS * 1000);
		err = lock(fd, command);
	}
	return err;
}

int claim__refuse(pid_t pid, struct error *error)
{
	return error__set(error, -EBUSY,
			  "another gotrace-bpf has inline probes in process %d: end it first", pid);
}

int claim__take(pid_t pid, unsigned int ms, struct error *error)
{
	int fd = inject__open(pid, O_RDWR, error), err;

	if (fd < 0)
		return fd;
	err = lock_within(fd, F_OFD_SETLK, ms);
	if (!err)
		return fd;
	close(fd);
	return err == -EAGAIN ? claim__refuse(pid, error) :
				error__set(error, err, "cannot lock the memory of process %d: %s",
					   pid, strerror(-err));
}

bool claim__await(pid_t pid, unsigned int ms)
{
	int fd = inject__open(pid, O_RDONLY, NULL), err;

	if (fd < 0)
		return true; /* the attachment reports the reason */
	err = lock_within(fd, F_OFD_GETLK, ms);
	close(fd);
	return err != -EAGAIN;
}
