// SPDX-License-Identifier: GPL-2.0
/*
 * See claim.h. The lock is on /proc/PID/mem (fcntl(2), F_OFD_SETLK), which all processes with the same
 * /proc share and which needs nothing of the target. The kernel releases it when its holder ends.
 *
 * The program can lock that file, too. So a lock counts only if a process of root, or of our user, holds
 * it, as the kernel lists the locks of each descriptor. Whatever else the program does with its lock, it
 * only has two recorders of itself.
 */
#include "inline/claim.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inline/inject.h"
#include "target/process/process.h"

#define STEP_MS 10

static bool is_trusted(const char *pid)
{
	char text[64];

	return process__status(atoi(pid), "status", "Uid", text, sizeof(text)) &&
	       strchr(text, '\t') &&
	       (!atol(strchr(text, '\t')) || atol(strchr(text, '\t')) == (long)geteuid());
}

/* Whether the descriptor has a lock of our kind on that file: "1: OFDLCK  ADVISORY  WRITE -1 00:15:42 0 EOF" */
static bool has_lock(int fdinfo, const char *name, const char *file)
{
	int fd = openat(fdinfo, name, O_RDONLY | O_CLOEXEC);
	char text[1024], *at;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "OFDLCK ");
	return at && strstr(at, file);
}

static bool holds(const char *pid, const char *file)
{
	const struct dirent *fd;
	bool found = false;
	char path[64];
	DIR *all;

	snprintf(path, sizeof(path), "/proc/%.10s/fdinfo", pid);
	all = opendir(path);
	if (!all)
		return false;
	while (!found && (fd = readdir(all)))
		found = isdigit((unsigned char)fd->d_name[0]) &&
			has_lock(dirfd(all), fd->d_name, file);
	closedir(all);
	return found;
}

static bool is_held_by_recorder(int fd)
{
	const struct dirent *entry;
	DIR *all = opendir("/proc");
	bool held = false;
	struct stat st;
	char file[64];

	if (!all || fstat(fd, &st)) {
		if (all)
			closedir(all);
		return true;
	}
	snprintf(file, sizeof(file), " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
		 (unsigned long long)st.st_ino);
	while (!held && (entry = readdir(all)))
		held = isdigit((unsigned char)entry->d_name[0]) && is_trusted(entry->d_name) &&
		       holds(entry->d_name, file);
	closedir(all);
	return held;
}

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
		if (!is_held_by_recorder(fd))
			return 0;
		usleep(STEP_MS * 1000);
		err = lock(fd, command);
	}
	return err == -EAGAIN && !is_held_by_recorder(fd) ? 0 : err;
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
