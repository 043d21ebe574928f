// SPDX-License-Identifier: GPL-2.0
/* See confine.h. */
#include "inline/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/array.h"

#define FDS_MAX 16

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* stdin may be a terminal, to which input could be pushed. */
static int detach_standard_files(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return -errno;
	if (fd > STDERR_FILENO)
		close(fd);
	return 0;
}

int confine__keep_only(const int *fds, size_t n)
{
	unsigned int from = STDERR_FILENO + 1;
	int sorted[FDS_MAX], err = detach_standard_files();

	if (err || n > FDS_MAX)
		return err ?: -EINVAL;
	for (size_t i = 0; i < n; i++)
		sorted[i] = fds[i];
	array__sort(sorted, n, sizeof(sorted[0]), compare_fds);
	for (size_t i = 0; i < n; i++) {
		unsigned int fd = (unsigned int)sorted[i];

		if (fd > from && close_range(from, fd - 1, 0))
			return -errno;
		from = fd + 1 > from ? fd + 1 : from;
	}
	return close_range(from, ~0u, 0) ? -errno : 0;
}

/*
 * The directory of an ended process in /proc is empty, and nothing can be created in it. Another one
 * would require a writable directory, and a unit of systemd may have none. The process that ends
 * shares its root directory with this one. It sends no signal at its end: SIGCHLD may be ignored, and
 * then waitpid() would lose its status.
 */
int confine__enter_empty_root(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FS, NULL, NULL, NULL, NULL);
	int status;

	if (pid < 0)
		return -errno;
	if (!pid)
		_exit(chroot("/proc/self/fdinfo") || chdir("/") ? errno : 0);
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/* This also removes the ambient capabilities: they must be permitted and inheritable. */
int confine__keep_capabilities(const cap_value_t *caps, size_t n)
{
	cap_t had = cap_get_proc(), left = cap_init();
	cap_flag_value_t is_set;
	int err = had && left ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++) {
		if (cap_get_flag(had, caps[i], CAP_PERMITTED, &is_set) || is_set != CAP_SET)
			continue;
		cap_set_flag(left, CAP_PERMITTED, 1, &caps[i], CAP_SET);
		cap_set_flag(left, CAP_EFFECTIVE, 1, &caps[i], CAP_SET);
	}
	if (!err && (cap_set_proc(left) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		err = -errno;
	cap_free(had);
	cap_free(left);
	return err;
}

int confine__limit(int what, uint64_t value)
{
	const struct rlimit r = { value, value };

	return setrlimit((__rlimit_resource_t)what, &r) ? -errno : 0;
}
