// SPDX-License-Identifier: GPL-2.0
/*
 * The cgroup whose processes are recorded: see cgroup.h.
 *
 * Other users may own cgroups (systemd delegates those of services and scopes) and create any number
 * of them: walks are bounded, and other units are not searched for a unit.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "selection/cgroup.h"

#define CGROUP2_MAGIC 0x63677270 /* CGROUP2_SUPER_MAGIC */
#define DEPTH_MAX     16
#define FOLDERS_MAX   16384 /* of one walk */

const char *cgroup__root(void)
{
	/* The second one: on systems that also have hierarchies of cgroup v1 */
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs st;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!statfs(places[i], &st) && (uint64_t)st.f_type == CGROUP2_MAGIC)
			return places[i];
	return NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

static bool is_unit(const char *name)
{
	return ends_with(name, ".service") || ends_with(name, ".scope");
}

static const char *below(const char *root, const char *path)
{
	size_t len = strlen(root);

	if (!strncmp(path, root, len) && (path[len] == '/' || !path[len]))
		path += len;
	path += strspn(path, "/");
	return *path ? path : ".";
}

int cgroup_place__open(struct cgroup_place *ret, const char *root, const char *path,
		       const char *unit, struct error *error)
{
	bool full = unit && (is_unit(unit) || ends_with(unit, ".slice"));
	int n;

	*ret = (struct cgroup_place){ .root = -1, .fd = -1 };
	if (unit && (!*unit || strchr(unit, '/') || *unit == '.' || strlen(unit) > 200))
		return error__set(error, -EINVAL,
				  "invalid unit '%s': expected a name such as "
				  "nginx or nginx.service",
				  unit);
	if (unit)
		snprintf(ret->unit, sizeof(ret->unit), "%s%s", unit, full ? "" : ".service");
	n = unit ? 0 : snprintf(ret->path, sizeof(ret->path), "%s", below(root, path));
	if (n >= (int)sizeof(ret->path))
		return error__set(error, -ENAMETOOLONG, "the path of the cgroup is too long");
	ret->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->root < 0)
		return error__set(error, -errno, "cannot open %s: %s", root, strerror(errno));
	cgroup_place__look(ret);
	return 0;
}

void cgroup_place__close(struct cgroup_place *p)
{
	if (p->root >= 0)
		close(p->root);
	if (p->fd >= 0)
		close(p->fd);
	p->root = p->fd = -1;
}

/* Opens a directory below that of `at`: the path cannot leave it, and links are not followed. */
static int open_folder(int at, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}

struct walk {
	/* Called for each folder; whether its folders are visited, too. */
	bool (*enter)(struct walk *w, int at, const char *name);
	unsigned int left; /* how many more are visited */
	char path[4096];   /* of the folder whose entries are visited; empty: the first one */
	void *ctx;
};

/* Visits the folders below that of `fd`, which is closed. */
static void walk(struct walk *w, int fd, unsigned int depth)
{
	DIR *dir = fdopendir(fd);
	size_t len = strlen(w->path);
	struct dirent *entry;
	int child;

	if (!dir) {
		close(fd);
		return;
	}
	while (w->left && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		w->left--;
		if (len + strlen(entry->d_name) + 2 > sizeof(w->path) ||
		    !w->enter(w, dirfd(dir), entry->d_name) || depth >= DEPTH_MAX)
			continue;
		child = openat(dirfd(dir), entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (child < 0)
			continue;
		snprintf(w->path + len, sizeof(w->path) - len, "%s%s", len ? "/" : "",
			 entry->d_name);
		walk(w, child, depth + 1);
		w->path[len] = '\0';
	}
	closedir(dir);
}

/* Only slices are entered: what is inside a unit may belong to another user. */
static bool compare_unit(struct walk *w, int at, const char *name)
{
	struct cgroup_place *p = w->ctx;

	if (strcmp(name, p->unit))
		return ends_with(name, ".slice");
	snprintf(p->path, sizeof(p->path), "%.3000s%s%.255s", w->path, w->path[0] ? "/" : "", name);
	w->left = 0;
	return false;
}

static void find_unit(struct cgroup_place *p)
{
	struct walk w = { .enter = compare_unit, .left = FOLDERS_MAX, .ctx = p };
	int fd = open_folder(p->root, ".");

	p->path[0] = '\0';
	if (fd >= 0)
		walk(&w, fd, 0);
}

bool cgroup_place__look(struct cgroup_place *p)
{
	struct stat st = {};
	int fd = p->path[0] ? open_folder(p->root, p->path) : -1;

	if (fd < 0 && p->unit[0]) {
		find_unit(p);
		fd = p->path[0] ? open_folder(p->root, p->path) : -1;
	}
	if (fd >= 0 && fstat(fd, &st)) {
		close(fd);
		fd = -1;
	}
	if ((fd < 0 && p->fd < 0) || (fd >= 0 && p->fd >= 0 && st.st_ino == p->ino)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (p->fd >= 0)
		close(p->fd);
	p->fd = fd;
	p->ino = st.st_ino;
	return true;
}

struct listing {
	cgroup_fn fn;
	void *ctx;
};

static void list(const struct listing *l, int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;

	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid > 0) /* 0: in another PID namespace */
			l->fn(l->ctx, pid);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

static bool list_child(struct walk *w, int at, const char *name)
{
	char file[512];

	snprintf(file, sizeof(file), "%.300s/cgroup.procs", name);
	list(w->ctx, at, file);
	return true;
}

void cgroup_place__each(const struct cgroup_place *p, cgroup_fn fn, void *ctx)
{
	struct listing l = { fn, ctx };
	struct walk w = { .enter = list_child, .left = FOLDERS_MAX, .ctx = &l };
	int fd = p->fd < 0 ? -1 : openat(p->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	list(&l, p->fd, "cgroup.procs");
	walk(&w, fd, 0);
}
