// SPDX-License-Identifier: GPL-2.0
/*
 * The analysis of one program: see analysis.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/regular.h"
#include "lib/steps.h"
#include "target/process/cache.h"
#include "analysis.h"

static bool no_cache;
static const char *library; /* of analysis__library() */

void analysis__no_cache(void)
{
	no_cache = true;
}

void analysis__library(const char *which)
{
	library = which;
}

void analysis__keep(const struct analysis *a)
{
	if (!no_cache && !a->cached)
		cache__store(a->elf, &a->layout, &a->sites);
}

/* True: the result was in the cache, and nothing else is to be done. */
static bool load_cached(struct analysis *a)
{
	const struct go_version *version = &a->info.version;

	a->cached = !no_cache && cache__load(a->elf, version, &a->layout, &a->sites);
	if (a->cached && pclntab__open_later(&a->pclntab, a->elf, version, NULL)) {
		site_list__deinit(&a->sites);
		a->cached = false;
	}
	if (a->cached)
		log__debug("using the cached analysis of this program: see FILES in the manual");
	return a->cached;
}

static int find_all(struct analysis *a, struct error *error)
{
	int err = pclntab__open(&a->pclntab, a->elf, &a->info.version, error);
	struct debug_places places = { .exe = a->path };
	char root[64];

	if (a->has_process) {
		snprintf(root, sizeof(root), "/proc/%d/root", a->process.pid);
		places.root = root;
		places.exe = a->process.exe;
	}
	if (!err)
		err = layout__read(a->elf, a->pclntab, &a->info.version, &places, &a->layout,
				   error);
	if (!err)
		err = site_list__find(&a->sites, a->elf, a->pclntab, &a->layout, error);
	return err;
}

static void show_step(const char *path)
{
	const char *slash = strrchr(path, '/');

	steps__say("analysing %s", slash ? slash + 1 : path);
}

/* The caller may close `fd` afterwards: the image has a copy. */
static int analyse(struct analysis *a, int fd, const char *name, struct error *error)
{
	int err;

	show_step(name);
	err = elf_image__open(&a->elf, fd, name, error);

	if (!err)
		err = buildinfo__read(a->elf, &a->info, error);
	return (err || load_cached(a)) ? err : find_all(a, error);
}

/*
 * The live checks failed: the cached result is not of this program, or the program cannot be
 * recorded.
 */
static int find_all_again(struct analysis *a, struct error *error)
{
	log__debug("the cached analysis of this program is invalid: analysing it again");
	error->text[0] = 0;
	a->cached = false;
	site_list__deinit(&a->sites);
	pclntab__destroy(a->pclntab);
	a->pclntab = NULL;
	return find_all(a, error);
}

/* As analyse(). The message that this is not a Go program begins with the name of the file. */
static int analyse_named(struct analysis *a, int fd, const char *name, struct error *error)
{
	struct error why = { "" };
	int err = analyse(a, fd, name, &why);

	if (err && analysis__is_not_go(a))
		return error__about(error, err, name, &why);
	return err ? error__set(error, err, "%s", why.text) : 0;
}

int analysis__of_file(struct analysis *a, const char *path, struct error *error)
{
	int fd = regular__open(path, error), err;

	if (fd < 0)
		return fd;
	a->path = realpath(path, NULL);
	err = analyse_named(a, fd, path, error);
	close(fd);
	if (!err && a->info.plugin) {
		site_list__deinit(&a->sites);
		err = error__set(error, -ENOTSUP,
				 "%s is a plugin: it runs in the runtime of the program that "
				 "loads it; record the program that loads it",
				 path);
	}
	return err;
}

static int analyse_library(struct analysis *a, struct error *error)
{
	struct error why = { "" };
	int err;

	elf_image__destroy(a->elf);
	a->elf = NULL;
	err = analyse(a, a->process.exe_fd, a->process.exe, &why);
	if (error)
		error->text[0] = '\0';
	if (err)
		error__set(error, err,
			   "process %d%s: its Go code is in a shared "
			   "library, %.200s, which cannot be recorded: %s",
			   a->process.pid, library ? "" : " is not a Go program", a->process.exe,
			   why.text);
	return err;
}

/* The library that the user has chosen, whatever the program is. */
static int analyse_chosen(struct analysis *a, struct error *error)
{
	char others[256]; /* the remedy must fit, too */

	if (libraries__choose(&a->libraries, &a->process, library))
		return analyse_library(a, error);
	libraries__format(&a->libraries, 0, others, sizeof(others));
	return error__set(error, -ENOENT,
			  "process %d has no Go library '%s'%s%s: record it once it is loaded; a "
			  "plugin is recorded with the program that loads it",
			  a->process.pid, library, others[0] ? ", but " : "", others);
}

/* The program; or, if it is not a Go program, the first shared library with Go code that it has loaded. */
static int analyse_program(struct analysis *a, struct error *error)
{
	int err = analyse_named(a, a->process.exe_fd, a->process.exe, error);

	if (err && err != -ENOTSUP && analysis__is_not_go(a) &&
	    libraries__choose(&a->libraries, &a->process, NULL))
		err = analyse_library(a, error);
	return err;
}

int analysis__of_new_program(struct analysis *a, pid_t pid, struct error *error)
{
	int err = process__open(&a->process, pid, error);

	if (err)
		return err;
	a->has_process = true;
	err = library ? analyse_chosen(a, error) : analyse_program(a, error);
	if (!err)
		err = process__find_bias(&a->process, a->elf, error);
	return err;
}

static int check_layout(struct analysis *a, struct error *error)
{
	uint64_t begin = clock__now();
	struct error why = {};
	int err;

	steps__say("checking the memory of process %d", a->process.pid);
	err = process__check_layout(&a->process, &a->layout, &why);
	a->checks_ns += clock__now() - begin;
	if (err && process__check_same(&a->process, error))
		return -ESRCH;
	return err ? error__set(error, err, "%s", why.text) : 0;
}

static void find_modules(struct analysis *a)
{
	const struct go_program program = { &a->process, a->pclntab, &a->layout, &a->sites };
	int n = modules__read(&a->modules, &program, &a->modules_why);

	if (n < 0)
		error__set(&a->modules_why, n, "%s", strerror(-n));
	libraries__read(&a->libraries, &a->process, &a->modules);
}

int analysis__of_process(struct analysis *a, pid_t pid, struct error *error)
{
	int err = analysis__of_new_program(a, pid, error);

	if (!err)
		err = check_layout(a, error);
	if (err == -EPROTO && a->cached) {
		err = find_all_again(a, error);
		if (!err)
			err = check_layout(a, error);
	}
	if (err)
		return err;
	analysis__keep(a);
	find_modules(a);
	return 0;
}

bool analysis__is_not_go(const struct analysis *a)
{
	return a->elf && !a->info.version.text[0];
}

void analysis__name_plugins(const struct analysis *a, struct error *error)
{
	const size_t size = sizeof(error->text);
	size_t used = strlen(error->text);

	if (!a->sites.has[GT_PROBE_PLUGIN_MAPPED])
		return;
	used += snprintf(error->text + used, size - used, "; functions in plugins are not found%s",
			 a->modules.n ? ": " : "");
	for (size_t i = 0; i < a->modules.n && used < size; i++)
		used += snprintf(error->text + used, size - used, "%s%s", i ? ", " : "",
				 go_module__name(a->modules.module[i]));
}

void analysis__libraries_json(const struct analysis *a, struct json *j)
{
	json__open(j, "libraries", '[');
	for (size_t i = 0; i < a->libraries.nothers && i < LIBRARIES_MAX; i++)
		json__string(j, NULL, a->libraries.other[i] ?: "?");
	json__close(j, ']');
}

void analysis__deinit(struct analysis *a)
{
	site_list__deinit(&a->sites);
	modules__deinit(&a->modules);
	libraries__deinit(&a->libraries);
	pclntab__destroy(a->pclntab);
	elf_image__destroy(a->elf);
	if (a->has_process)
		process__deinit(&a->process);
	free(a->path);
	*a = (struct analysis){};
}
