// SPDX-License-Identifier: GPL-2.0
/*
 * Opening of untrusted paths, and reading parts of files: see regular.h.
 *
 * The kernel has no flag to follow only some symbolic links, so paths are walked
 * here, component by component. Each step opens the whole path so far and forbids symbolic links
 * in it: if a component is replaced by one in the meantime, the step fails.
 */
#include "lib/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX      40 /* as the kernel's MAXSYMLINKS */
#define CONFIGFS_MAGIC 0x62656570

/* File systems whose regular files are interfaces of the kernel. */
static bool is_interface(int fd)
{
	static const unsigned int magic[] = {
		PROC_SUPER_MAGIC,      SYSFS_MAGIC,	     DEBUGFS_MAGIC,  TRACEFS_MAGIC,
		SECURITYFS_MAGIC,      SELINUX_MAGIC,	     SMACK_MAGIC,    CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC,   PSTOREFS_MAGIC,	     EFIVARFS_MAGIC, BPF_FS_MAGIC,
		CONFIGFS_MAGIC,	       BINDERFS_SUPER_MAGIC, BINFMTFS_MAGIC, RDTGROUP_SUPER_MAGIC,
		USBDEVICE_SUPER_MAGIC, XENFS_SUPER_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++) {
		if ((unsigned int)fs.f_type == magic[i])
			return true;
	}
	return false;
}

int regular__stat(int fd, const char *path, struct stat *ret)
{
	struct statx stx;

	if (statx(fd, path ?: "", AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | (path ? 0 : AT_EMPTY_PATH),
		  STATX_BASIC_STATS, &stx))
		return -errno;
	*ret = (struct stat){
		.st_dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
		.st_ino = stx.stx_ino,
		.st_mode = stx.stx_mode,
		.st_nlink = stx.stx_nlink,
		.st_uid = stx.stx_uid,
		.st_gid = stx.stx_gid,
		.st_size = (off_t)stx.stx_size,
		.st_mtim = { stx.stx_mtime.tv_sec, stx.stx_mtime.tv_nsec },
		.st_ctim = { stx.stx_ctime.tv_sec, stx.stx_ctime.tv_nsec },
	};
	return 0;
}

/* Takes over `fd`, which is an O_PATH descriptor or a negative errno. */
static int reopen(int fd, const char *path, struct error *error)
{
	char name[32];
	struct stat st;
	int ret;

	if (fd < 0)
		return error__set(error, fd, "%s: %s", path, strerror(-fd));
	if (regular__stat(fd, NULL, &st) || !S_ISREG(st.st_mode) || is_interface(fd)) {
		close(fd);
		return error__set(error, -ENOEXEC, "%s: not a regular file", path);
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ret = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (ret < 0)
		ret = error__set(error, -errno, "%s: %s", path, strerror(errno));
	close(fd);
	return ret;
}

int regular__open(const char *path, struct error *error)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return reopen(fd < 0 ? -errno : fd, path, error);
}

struct walk {
	int root;
	char done[PATH_MAX]; /* resolved, without symbolic links */
	char rest[PATH_MAX];
	unsigned int links;
};

/* Move the first component of the rest to the resolved path; false: there is none. */
static bool next_component(struct walk *w)
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");
	size_t end = strlen(w->done);
	const char *name = w->rest + skip;
	char *slash;

	if (!len)
		return false;
	if (len == 2 && !memcmp(name, "..", 2)) {
		slash = strrchr(w->done, '/');
		if (slash)
			*slash = 0;
	} else if (len != 1 || name[0] != '.') {
		if (end + 1 + len >= sizeof(w->done))
			return false;
		snprintf(w->done + end, sizeof(w->done) - end, "/%.*s", (int)len, name);
	}
	memmove(w->rest, name + len, strlen(name + len) + 1);
	return true;
}

/* Open the resolved path without following a symbolic link in its last component. */
static int open_done(const struct walk *w)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, w->root, w->done[0] ? w->done : "/", &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* Prepend the target of a link, relative to the directory of the link, to the rest. */
static int follow(struct walk *w, int link, const struct stat *st)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n;

	if (st->st_uid && st->st_uid != geteuid())
		return -ELOOP;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = 0;
	if (snprintf(rest, sizeof(rest), "%s%s", target, w->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, rest);
	if (target[0] == '/')
		w->done[0] = 0;
	else
		*strrchr(w->done, '/') = 0; /* remove the name of the link */
	return 0;
}

/* An O_PATH descriptor of the final component, or a negative errno. */
static int walk__run(struct walk *w)
{
	struct stat st;
	int fd = -ENOENT, err;

	while (next_component(w)) {
		if (fd >= 0)
			close(fd);
		fd = open_done(w);
		if (fd < 0)
			return fd;
		err = regular__stat(fd, NULL, &st);
		if (!err)
			err = S_ISLNK(st.st_mode) ? follow(w, fd, &st) : 0;
		if (err) {
			close(fd);
			return err;
		}
	}
	return fd;
}

int regular__open_below(const char *root, const char *path, struct error *error)
{
	struct walk w = { .root = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	int fd;

	if (w.root < 0)
		return error__set(error, -errno, "%s: %s", root ? root : "/", strerror(errno));
	if (path[0] != '/')
		fd = -ENOENT;
	else if (strlen(path) >= sizeof(w.rest))
		fd = -ENAMETOOLONG;
	else
		fd = walk__run((strcpy(w.rest, path), &w));
	close(w.root);
	return reopen(fd, path, error);
}

int regular__read_at(int fd, uint64_t offset, void *to, size_t len)
{
	ssize_t n;

	for (size_t done = 0; done < len; done += (size_t)n) {
		n = pread(fd, (char *)to + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -EBADMSG;
	}
	return 0;
}
