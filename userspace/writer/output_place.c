// SPDX-License-Identifier: GPL-2.0
/*
 * Resolves the path of an output file: see output_place.h. Called by output_file.c only.
 *
 * The path is followed component by component, because a link is followed only if the rule of
 * fs.protected_symlinks permits it, whatever the sysctl is set to: in a sticky world-writable
 * directory such as /tmp, any user could have planted the link. The last link may lead to a file
 * that does not exist yet.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>

#include "writer/output_place.h"
#include "format/header.h"

#define LINKS_MAX 40  /* as in the kernel */
#define HEAD_SIZE 64  /* bytes of an existing file that identify its kind */
#define ZIP_SIZE  512 /* the same of a compressed one: the tables of its codes come first */

struct place_walk {
	struct file_place place;
	char rest[PATH_MAX]; /* the unresolved part of the path */
	const char *p;	     /* in rest */
	unsigned int links;
};

static int enter(struct place_walk *w, const char *name, int flags)
{
	int dir = openat(w->place.dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);

	if (dir < 0)
		return -errno;
	if (w->place.dir >= 0)
		close(w->place.dir);
	w->place.dir = dir;
	return 0;
}

/* The rule of may_follow_link() in the kernel's fs/namei.c. */
static int may_follow(const struct place_walk *w, const struct stat *link)
{
	const mode_t shared = S_ISVTX | S_IWOTH;
	struct stat dir;

	if (link->st_uid == geteuid())
		return 0;
	if (fstat(w->place.dir, &dir))
		return -errno;
	if ((dir.st_mode & shared) != shared || dir.st_uid == link->st_uid)
		return 0;
	return -ENOLINK;
}

static bool is_proc(const struct place_walk *w)
{
	struct statfs fs;

	return !fstatfs(w->place.dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Replaces the link by its text, in front of the rest of the path. */
static int expand(struct place_walk *w)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(w->place.dir, w->place.name, text, sizeof(text));
	size_t left = strlen(w->p);

	if (len < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if ((size_t)len + left + 1 > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + len, w->p, left + 1);
	memcpy(w->rest, text, (size_t)len);
	w->p = w->rest;
	return w->rest[0] == '/' ? enter(w, "/", 0) : 0;
}

/* The text of a link in /proc may not be a path, or a path in another root. */
static int follow(struct place_walk *w, const struct stat *link, bool last, bool *ret_found)
{
	struct file_place *place = &w->place;
	struct stat to;
	int err = may_follow(w, link);

	if (err)
		return err;
	if (!is_proc(w))
		return expand(w);
	if (!last)
		return enter(w, place->name, 0);
	if (fstatat(place->dir, place->name, &to, 0) || S_ISREG(to.st_mode))
		return expand(w);
	place->exists = place->magic = *ret_found = true;
	place->mode = to.st_mode;
	return 0;
}

/* Resolves one component. Sets *ret_found if it was the last one. */
static int resolve_component(struct place_walk *w, bool *ret_found)
{
	struct file_place *place = &w->place;
	struct stat st;
	size_t len;
	bool last, ends;

	w->p += strspn(w->p, "/");
	len = strcspn(w->p, "/");
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(place->name, w->p, len);
	place->name[len] = '\0';
	w->p += len;
	last = !w->p[0];
	ends = !w->p[strspn(w->p, "/")];
	if (ends && (!last || !len || !strcmp(place->name, ".") || !strcmp(place->name, "..")))
		return -EISDIR;
	if (fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW)) {
		*ret_found = last && errno == ENOENT;
		return *ret_found ? 0 : -errno;
	}
	if (S_ISLNK(st.st_mode))
		return follow(w, &st, last, ret_found);
	if (!last)
		return enter(w, place->name, O_NOFOLLOW);
	place->exists = *ret_found = true;
	place->mode = st.st_mode;
	return 0;
}

int file_place__find(struct file_place *ret, const char *path)
{
	struct place_walk w = { .place.dir = -1, .p = w.rest };
	bool found = false;
	int err;

	if (!*path)
		return -ENOENT;
	if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest))
		return -ENAMETOOLONG;
	w.place.dir = AT_FDCWD;
	err = enter(&w, path[0] == '/' ? "/" : ".", 0);
	while (!err && !found)
		err = resolve_component(&w, &found);
	if (err) {
		if (w.place.dir >= 0)
			close(w.place.dir);
		return err;
	}
	*ret = w.place;
	return 0;
}

static bool begins(const char *head, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(head, with, n);
}

static bool holds(const char *head, size_t len, const char *text)
{
	return memmem(head, len, text, strlen(text));
}

/* gzip, of a protocol buffer that begins with a sample type: { type, unit }. */
static bool is_profile(const char *head, size_t len)
{
	z_stream z = { .next_in = (unsigned char *)head, .avail_in = (unsigned int)len };
	unsigned char data[3] = {};

	if (!begins(head, len, "\x1f\x8b") || inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
		return false;
	z.next_out = data;
	z.avail_out = sizeof(data);
	inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	return data[0] == 0x0a && data[2] == 0x08;
}

static bool looks_like(enum file_kind kind, const char *head, size_t len)
{
	switch (kind) {
	case FILE_TRACE:
		return header__is_one(head, len);
	case FILE_RAW:
		return begins(head, len, "GOTRRAW");
	case FILE_INDEX:
		return begins(head, len, "gotrace index ");
	case FILE_PACKED:
		return begins(head, len, "gotrace pack ");
	case FILE_TEXT:
		return begins(head, len, "Trace Go1.");
	case FILE_STATS:
		return begins(head, len, "{\n  \"events\": ");
	case FILE_DESCRIPTION: /* binary, text, JSON */
		return holds(head, len, "EventBatch") ||
		       holds(head, len, " events, minor version ") ||
		       begins(head, len, "{\n  \"minor\": ");
	case FILE_EXPORT: /* perfetto, the JSON kinds; folded stacks have nothing of their own */
		return holds(head, len, "written by gotrace export") ||
		       holds(head, len, "\"exporter\":\"gotrace\"");
	case FILE_REPORT:
		return holds(head, len, "written by gotrace report");
	case FILE_PROFILE:
	case FILE_ANY:
		break;
	}
	return true;
}

bool file_kind__fits(enum file_kind kind, int dir, const char *name)
{
	char head[ZIP_SIZE];
	struct stat st;
	ssize_t len;
	int fd;

	if (kind == FILE_ANY)
		return true;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -1 : read(fd, head, sizeof(head));
	close(fd);
	if (len <= 0)
		return !len;
	if (kind == FILE_PROFILE)
		return is_profile(head, (size_t)len);
	return looks_like(kind, head, (size_t)(len < HEAD_SIZE ? len : HEAD_SIZE));
}
