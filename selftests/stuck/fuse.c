// SPDX-License-Identifier: GPL-2.0
/*
 * A FUSE file system with one file, a copy of a program, which stops to answer reads of it:
 *
 *	fuse PROGRAM FOLDER FLAG	mounts it on FOLDER; reads wait for ever once the file FLAG exists
 *
 * For selftests/check/forged.sh. Speaks the protocol itself, so that no library is needed. It ends when it is
 * unmounted, or killed, which makes those who wait for it go on with an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_ID	 2
#define READ_MAX (128 << 10)
#define VALID	 3600 /* seconds for which the kernel need not ask again */
#define LIFE	 300  /* seconds after which it ends by itself, and so do all that wait for it */

static int device, program;
static off_t size;
static const char *flag;

static void reply(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header out = { .len = (uint32_t)(sizeof(out) + len),
				       .error = error,
				       .unique = unique };
	struct iovec parts[2] = { { &out, sizeof(out) }, { (void *)data, len } };

	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		perror("reply");
}

static struct fuse_attr attributes(uint64_t id)
{
	return (struct fuse_attr){ .ino = id,
				   .size = id == FILE_ID ? (uint64_t)size : 0,
				   .nlink = 1,
				   .mode = id == FILE_ID ? S_IFREG | 0755 : S_IFDIR | 0755,
				   .blksize = 4096 };
}

static void do_read(uint64_t unique, const struct fuse_read_in *in)
{
	static char data[READ_MAX];
	ssize_t n;

	if (!access(flag, F_OK))
		return;
	n = pread(program, data, in->size < READ_MAX ? in->size : READ_MAX, (off_t)in->offset);
	reply(unique, n < 0 ? -EIO : 0, data, n < 0 ? 0 : (size_t)n);
}

static void answer(const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .flags = FUSE_ASYNC_READ,
				      .max_readahead = 4096,
				      .max_write = 4096 };
	struct fuse_entry_out entry = { .nodeid = FILE_ID,
					.entry_valid = VALID,
					.attr_valid = VALID,
					.attr = attributes(FILE_ID) };
	struct fuse_attr_out attr = { .attr_valid = VALID, .attr = attributes(in->nodeid) };
	struct fuse_open_out open = { .fh = 1 };
	struct fuse_statfs_out fs = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		return reply(in->unique, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return strcmp(body, "program") ? reply(in->unique, -ENOENT, NULL, 0) :
						 reply(in->unique, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(in->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return reply(in->unique, 0, &open, sizeof(open));
	case FUSE_STATFS:
		return reply(in->unique, 0, &fs, sizeof(fs));
	case FUSE_READ:
		return do_read(in->unique, body);
	case FUSE_RELEASE:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
		return reply(in->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return reply(in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char request[1 << 20];
	struct stat st;
	char options[128];
	ssize_t n;

	program = argc == 4 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (program < 0 || device < 0 || fstat(program, &st))
		return 1;
	size = st.st_size;
	flag = argv[3];
	alarm(LIFE);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (mount("stuck", argv[2], "fuse", MS_NODEV | MS_NOSUID, options))
		return 1;
	puts("mounted");
	fflush(stdout);
	while ((n = read(device, request, sizeof(request))) > 0 || errno == EINTR ||
	       errno == EAGAIN) {
		if (n > 0)
			answer((void *)request, request + sizeof(struct fuse_in_header));
	}
	return 0;
}
