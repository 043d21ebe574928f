// SPDX-License-Identifier: GPL-2.0
/*
 * The processes that a recording selects: see selection.h.
 *
 * Executables are compared by the link /proc/PID/exe, which the process cannot change, unlike its name
 * (comm). In a container that is the path in its file system.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selection/cgroup.h"
#include "selection/selection.h"

struct selection {
	/* Each executable that was given; for a path, also what it refers to if it is a link */
	char *exe[2 * SELECTION_NAMES];
	unsigned int nexe;
	struct cgroup_place cgroup;
	bool has_cgroup;
};

static int add_executable(struct selection *s, char *name, struct error *error)
{
	if (!name)
		return error__set(error, -ENOMEM, "out of memory");
	s->exe[s->nexe++] = name;
	return 0;
}

static int add_executables(struct selection *s, const char *given, struct error *error)
{
	const char *slash = strrchr(given, '/');
	char *real;
	int err = 0;

	if (!*given || (slash && !slash[1]))
		return error__set(error, -EINVAL,
				  "invalid executable '%s': expected the name or "
				  "the path of a file",
				  given);
	real = slash ? realpath(given, NULL) : NULL;
	if (!slash || *given == '/')
		err = add_executable(s, strdup(given), error);
	else if (!real)
		err = error__set(error, -errno, "cannot find the executable %s: %s", given,
				 strerror(errno));
	if (!err && real && strcmp(real, given))
		return add_executable(s, real, error);
	free(real);
	return err;
}

static int open_cgroup(struct selection *s, const struct selection_opts *opts, struct error *error)
{
	const char *root = cgroup__root();
	int err;

	s->has_cgroup = true;
	if (!root)
		return error__set(
			error, -ENOENT,
			"this machine has no cgroup v2 hierarchy at /sys/fs/cgroup, which "
			"--cgroup and --unit require");
	err = cgroup_place__open(&s->cgroup, root, opts->cgroup, opts->unit, error);
	if (!err && opts->unit && s->cgroup.fd < 0 && access("/run/systemd/system", F_OK))
		err = error__set(error, -ENOENT,
				 "there is no unit %s: systemd does not run on this machine; use "
				 "--cgroup PATH",
				 s->cgroup.unit);
	return err;
}

int selection__create(struct selection **ret, const struct selection_opts *opts,
		      struct error *error)
{
	struct selection *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return error__set(error, -ENOMEM, "out of memory");
	s->cgroup.root = s->cgroup.fd = -1;
	for (unsigned int i = 0; !err && i < opts->nexe; i++)
		err = add_executables(s, opts->exe[i], error);
	if (!err && (opts->cgroup || opts->unit))
		err = open_cgroup(s, opts, error);
	if (err) {
		selection__destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

void selection__destroy(struct selection *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nexe; i++)
		free(s->exe[i]);
	cgroup_place__close(&s->cgroup);
	free(s);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool selection__has_executable(const struct selection *s, pid_t pid)
{
	static const char deleted[] = " (deleted)";
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0) /* it has ended, or is a thread of the kernel */
		return false;
	path[n] = '\0';
	if ((size_t)n > strlen(deleted) && !strcmp(path + n - strlen(deleted), deleted))
		path[(size_t)n - strlen(deleted)] = '\0';
	for (unsigned int i = 0; i < s->nexe; i++)
		if (!strcmp(strchr(s->exe[i], '/') ? path : file_name(path), s->exe[i]))
			return true;
	return !s->nexe;
}

struct each {
	const struct selection *s;
	selection_fn fn;
	void *ctx;
};

static void compare(void *ctx, pid_t pid)
{
	const struct each *e = ctx;

	if (selection__has_executable(e->s, pid))
		e->fn(e->ctx, pid);
}

void selection__each(const struct selection *s, selection_fn fn, void *ctx)
{
	struct each e = { s, fn, ctx };
	struct dirent *entry;
	DIR *proc;

	if (s->has_cgroup) {
		cgroup_place__each(&s->cgroup, compare, &e);
		return;
	}
	proc = s->nexe ? opendir("/proc") : NULL;
	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			compare(&e, atoi(entry->d_name));
	if (proc)
		closedir(proc);
}

const char *selection__name(const struct selection *s, unsigned int i)
{
	return i < s->nexe ? file_name(s->exe[i]) : NULL;
}

bool selection__look_for_cgroup(struct selection *s, int *ret_fd)
{
	bool changed = s->has_cgroup && cgroup_place__look(&s->cgroup);

	*ret_fd = s->cgroup.fd;
	return changed;
}

bool selection__has_cgroup(const struct selection *s)
{
	return s->has_cgroup;
}
