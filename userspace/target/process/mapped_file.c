// SPDX-License-Identifier: GPL-2.0
/* See mapped_file.h. */
#include "target/process/mapped_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/regular.h"
#include "target/process/process.h"

bool mapped_file__parse(char *line, struct mapped_file *ret)
{
	struct mapped_file m;
	int name_at = 0;
	char x;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %*x:%*x %" SCNu64 " %n",
		   &m.start, &m.end, &x, &m.offset, &m.inode, &name_at) < 5 ||
	    x != 'x' || !name_at)
		return false;
	line[strcspn(line, "\n")] = 0;
	m.name = line + name_at;
	*ret = m;
	return true;
}

/*
 * Opens a file by its name in the target's root. It must be the mapped file; on overlay file
 * systems the inode number in maps differs.
 */
static int open_by_name(const struct process *proc, const char *path, uint64_t inode)
{
	struct statfs fs;
	char root[64];
	struct stat st;
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root", proc->pid);
	fd = regular__open_below(root, path, NULL);
	if (fd >= 0 && (regular__stat(fd, NULL, &st) || fstatfs(fd, &fs) ||
			(st.st_ino != inode && fs.f_type != OVERLAYFS_SUPER_MAGIC))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int mapped_file__open(const struct process *proc, const struct mapped_file *m)
{
	char name[96];
	int fd;

	if (!strcmp(m->name, proc->exe)) /* not by inode, which is not unique across devices */
		return fcntl(proc->exe_fd, F_DUPFD_CLOEXEC, 0);
	/* Also opens deleted files, but needs privileges. */
	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, proc->pid, m->start,
		 m->end);
	fd = regular__open(name, NULL);
	return fd >= 0 ? fd : open_by_name(proc, m->name, m->inode);
}
