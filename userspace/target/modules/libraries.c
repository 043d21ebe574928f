// SPDX-License-Identifier: GPL-2.0
/* Finds the Go runtimes of a process by the files that it has mapped: see libraries.h. */
#include "target/modules/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hash.h"
#include "lib/regular.h"
#include "target/infer/buildinfo.h"
#include "target/process/mapped_file.h"

static bool is_plugin(const struct go_modules *plugins, const char *name)
{
	for (size_t i = 0; plugins && i < plugins->n; i++)
		if (!strcmp(go_module__path(plugins->module[i]), name))
			return true;
	return false;
}

/* The loader maps the code from its first page on. A file that is only read is not mapped like that. */
static bool is_loaded(const struct elf_image *elf, const struct mapped_file *m)
{
	uint64_t vaddr, offset, page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	return elf_image__text_segment(elf, &vaddr, &offset) && m->offset == (offset & ~page);
}

/* Without the section, which all but plugins up to 1.20 have, the search would read all of .data. */
static bool has_runtime(int fd, const struct mapped_file *m)
{
	struct elf_image *elf = NULL;
	struct go_buildinfo info = {};
	struct elf_section sec;
	bool has = !elf_image__open(&elf, fd, m->name, NULL) && is_loaded(elf, m) &&
		   elf_image__section(elf, ".go.buildinfo", &sec) &&
		   (buildinfo__read(elf, &info, NULL) || !info.plugin);

	elf_image__destroy(elf);
	return has;
}

static bool is_recorded(const struct process *proc, int fd)
{
	struct stat a, b;

	return !regular__stat(fd, NULL, &a) && !regular__stat(proc->exe_fd, NULL, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Opens a file with a Go runtime; -1: it was examined before, has none, or cannot be opened. */
static int open_new(struct go_libraries *l, const struct process *proc, const struct mapped_file *m)
{
	uint64_t hash = hash__bytes(m->name, strlen(m->name)) ^ hash__word(m->inode) ^
			hash__word(~m->offset);
	int fd;

	for (size_t i = 0; i < l->nexamined; i++)
		if (l->examined[i] == hash)
			return -1;
	if (m->name[0] != '/' || l->nexamined == LIBRARIES_EXAMINED)
		return -1;
	l->examined[l->nexamined++] = hash;
	fd = mapped_file__open(proc, m);
	if (fd < 0 || has_runtime(fd, m))
		return fd;
	close(fd);
	return -1;
}

static void add(struct go_libraries *l, const char *name)
{
	if (l->nothers < LIBRARIES_MAX)
		l->other[l->nothers] = strdup(name);
	l->nothers++;
}

/* Calls `found` for each file with a Go runtime that is new. It gets the descriptor. */
static void walk(struct go_libraries *l, const struct process *proc,
		 void (*found)(void *ctx, const char *name, int fd), void *ctx)
{
	struct mapped_file m;
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", proc->pid);
	f = fopen(path, "re");
	while (f && getline(&line, &room, f) > 0) {
		fd = mapped_file__parse(line, &m) ? open_new(l, proc, &m) : -1;
		if (fd >= 0)
			found(ctx, m.name, fd);
	}
	free(line);
	if (f)
		fclose(f);
}

struct reading {
	struct go_libraries *l;
	const struct process *proc;
	const struct go_modules *plugins;
};

static void note(void *ctx, const char *name, int fd)
{
	const struct reading *r = ctx;

	if (!is_recorded(r->proc, fd) && !is_plugin(r->plugins, name))
		add(r->l, name);
	close(fd);
}

void libraries__read(struct go_libraries *l, const struct process *proc,
		     const struct go_modules *plugins)
{
	struct reading r = { l, proc, plugins };

	walk(l, proc, note, &r);
}

struct choice {
	struct go_libraries *l;
	const char *which;
	char name[sizeof(((struct process *)NULL)->exe)];
	int fd; /* -1: none yet */
};

/* The kernel adds " (deleted)" to the path of a file that was deleted or replaced. */
static bool is_named(const char *path, const char *which)
{
	const char *name = which && strchr(which, '/') ? path : basename(path);
	size_t len = which ? strlen(which) : 0;

	return !which ||
	       (!strncmp(name, which, len) && (!name[len] || !strcmp(name + len, " (deleted)")));
}

static void choose(void *ctx, const char *name, int fd)
{
	struct choice *c = ctx;

	if (c->fd < 0 && is_named(name, c->which)) {
		snprintf(c->name, sizeof(c->name), "%s", name);
		c->fd = fd;
		return;
	}
	add(c->l, name);
	close(fd);
}

bool libraries__choose(struct go_libraries *l, struct process *proc, const char *which)
{
	struct choice c = { .l = l, .which = which, .fd = -1 };

	walk(l, proc, choose, &c);
	if (c.fd < 0)
		return false;
	close(proc->exe_fd);
	proc->exe_fd = c.fd;
	snprintf(proc->exe, sizeof(proc->exe), "%s", c.name);
	snprintf(proc->attach_path, sizeof(proc->attach_path), "/proc/self/fd/%d", c.fd);
	return true;
}

const char *libraries__format(const struct go_libraries *l, size_t first, char *buf, size_t size)
{
	size_t kept = l->nothers < LIBRARIES_MAX ? l->nothers : LIBRARIES_MAX, i, used = 0;

	*buf = '\0';
	for (i = first; i < kept && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s", i > first ? ", " : "",
				 l->other[i] ?: "?");
	if (i < l->nothers && used < size)
		snprintf(buf + used, size - used, "%s%zu more", i > first ? ", " : "",
			 l->nothers - i);
	return buf;
}

void libraries__deinit(struct go_libraries *l)
{
	for (size_t i = 0; i < l->nothers && i < LIBRARIES_MAX; i++)
		free(l->other[i]);
	*l = (struct go_libraries){};
}
