// SPDX-License-Identifier: GPL-2.0
/*
 * See claim.h. The lock is on /proc/PID/mem (fcntl(2), F_OFD_SETLK), which all processes with the same
 * /proc share and which needs nothing of the target. The kernel releases it when its holder ends.
 *
 * The program can lock that file, too. So a lock counts only if a privileged recorder holds it, as the
 * kernel lists the locks of each descriptor. A program that locks its memory may get two recorders at the
 * same time.
 */
#include "inline/claim.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inline/inject.h"
#include "lib/clock.h"
#include "target/process/proc.h"
#include "target/process/process.h"

#define STEP_MS 50

/* Whether it is in our user namespace, so that its capabilities are real ones. */
static bool is_in_our_namespace(const char *pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.10s/ns/user", pid);
	return !proc__stat("/proc/self/ns/user", &own) && !proc__stat(path, &other) &&
	       own.st_ino == other.st_ino;
}

/* Whether its program is this one, or has the name of the recorder. */
static bool is_recorder(const char *pid)
{
	char path[64], exe[4096];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.10s/exe", pid);
	n = proc__readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	name = strrchr(exe, '/');
	return (name && !strncmp(name, "/gotrace-bpf", 12)) ||
	       process__runs_this_program(atoi(pid));
}

/* A recorder with the capability to trace: no unprivileged user can give a lock to one. */
static bool is_trusted(const char *pid)
{
	char caps[64];

	return is_recorder(pid) &&
	       process__status(atoi(pid), "status", "CapEff", caps, sizeof(caps)) &&
	       strtoull(caps, NULL, 16) & 1ull << CAP_SYS_PTRACE && is_in_our_namespace(pid);
}

/* Whether the descriptor has a lock of our kind on that file: "1: OFDLCK  ADVISORY  WRITE -1 00:15:42 0 EOF" */
static bool has_lock(const char *fdinfo, const char *name, const char *file)
{
	char path[128], text[1024], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%.10s", fdinfo, name);
	fd = proc__open(path);
	if (fd < 0)
		return fd != -ENOENT && fd != -ESRCH;
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
	all = proc__opendir(path);
	if (!all)
		return errno != ENOENT && errno != ESRCH;
	while (!found && (fd = readdir(all)))
		found = isdigit((unsigned char)fd->d_name[0]) && has_lock(path, fd->d_name, file);
	closedir(all);
	return found;
}

static bool is_held_by_recorder(int fd)
{
	const struct dirent *entry;
	DIR *all = proc__opendir("/proc/");
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

/*
 * 0: it has the lock, or only a process that does not count has it, which two searches have shown with
 * an attempt in between; -EAGAIN; or another negative errno: the file system has no locks, for example.
 */
static int try_lock(int fd, int command)
{
	int err = lock(fd, command);

	if (err != -EAGAIN || is_held_by_recorder(fd))
		return err;
	err = lock(fd, command);
	return err == -EAGAIN && !is_held_by_recorder(fd) ? 0 : err;
}

static int lock_within(int fd, int command, unsigned int ms)
{
	uint64_t deadline = clock__now() + ms * 1000000ull;
	int err;

	while ((err = try_lock(fd, command)) == -EAGAIN && clock__now() < deadline)
		usleep(STEP_MS * 1000);
	return err;
}

int claim__refuse(pid_t pid, struct error *error)
{
	return error__set(error, -EBUSY,
			  "another gotrace-bpf has inline probes in process %d: end it first", pid);
}

int claim__take(pid_t pid, int mem_fd, unsigned int ms, struct error *error)
{
	int err = lock_within(mem_fd, F_OFD_SETLK, ms);

	if (!err || err == -EAGAIN)
		return err ? claim__refuse(pid, error) : 0;
	return error__set(error, err, "cannot lock the memory of process %d: %s", pid,
			  strerror(-err));
}

void claim__release(int mem_fd)
{
	struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(mem_fd, F_OFD_SETLK, &lock);
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
