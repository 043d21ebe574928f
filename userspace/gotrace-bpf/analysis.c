// SPDX-License-Identifier: GPL-2.0
/*
 * Analysis of one program: see analysis.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "capture/clock.h"
#include "lib/log.h"
#include "lib/steps.h"
#include "lib/regular.h"
#include "target/cache.h"

static bool no_cache;

void analysis__no_cache(void)
{
	no_cache = true;
}

void analysis__keep(const struct analysis *a)
{
	if (!no_cache && !a->cached)
		cache__store(a->elf, &a->layout, &a->sites);
}

/* What was found out about the program before; true: nothing else is to be done. */
static bool remember(struct analysis *a)
{
	const struct go_version *version = &a->info.version;

	a->cached = !no_cache && cache__load(a->elf, version, &a->layout, &a->sites);
	if (a->cached && pclntab__open_later(&a->pclntab, a->elf, version, NULL)) {
		site_list__deinit(&a->sites);
		a->cached = false;
	}
	if (a->cached)
		log__debug("this program was analysed before: see FILES in the manual");
	return a->cached;
}

static int find_out(struct analysis *a, struct error *err)
{
	int code = pclntab__open(&a->pclntab, a->elf, &a->info.version, err);
	struct debug_places places = { .exe = a->path };
	char root[64];

	if (a->has_process) {
		snprintf(root, sizeof(root), "/proc/%d/root", a->process.pid);
		places.root = root;
		places.exe = a->process.exe;
	}
	if (!code)
		code = layout__read(a->elf, a->pclntab, &a->info.version, &places, &a->layout, err);
	if (!code)
		code = site_list__find(&a->sites, a->elf, a->pclntab, &a->layout, err);
	return code;
}

static void say_step(const char *path)
{
	const char *slash = strrchr(path, '/');

	steps__say("analysing %s", slash ? slash + 1 : path);
}

/* `fd` may be closed afterwards: the image has its own. */
static int analyse(struct analysis *a, int fd, const char *name, struct error *err)
{
	int code;

	say_step(name);
	code = elf_image__open(&a->elf, fd, name, err);

	if (!code)
		code = buildinfo__read(a->elf, &a->info, err);
	return (code || remember(a)) ? code : find_out(a, err);
}

/* The live checks say that what was kept is not of this program, or that the program is a liar. */
static int find_out_after_all(struct analysis *a, struct error *err)
{
	log__debug("what was kept of this program's analysis is wrong: a new one");
	err->text[0] = 0;
	a->cached = false;
	site_list__deinit(&a->sites);
	pclntab__destroy(a->pclntab);
	a->pclntab = NULL;
	return find_out(a, err);
}

int analysis__of_file(struct analysis *a, const char *path, struct error *err)
{
	int fd = regular__open(path, err), code;

	if (fd < 0)
		return fd;
	a->path = realpath(path, NULL);
	code = analyse(a, fd, path, err);
	close(fd);
	if (!code && a->info.plugin) {
		site_list__deinit(&a->sites);
		code = error__set(err, -ENOTSUP,
				  "%s is a plugin: its runtime is that of the "
				  "program that loads it; record the program that loads it",
				  path);
	}
	return code;
}

/* The program is none of Go's: its Go code is in a shared library. */
static int analyse_library(struct analysis *a, struct error *err)
{
	struct error why = { "" };
	int code;

	elf_image__destroy(a->elf);
	a->elf = NULL;
	code = analyse(a, a->process.exe_fd, a->process.exe, &why);
	if (err)
		err->text[0] = '\0';
	if (code)
		error__set(err, code,
			   "process %d is no Go program: its Go code is in a shared "
			   "library, %.200s, which can't be recorded: %s",
			   a->process.pid, a->process.exe, why.text);
	return code;
}

int analysis__of_beginning(struct analysis *a, pid_t pid, struct error *err)
{
	int code = process__open(&a->process, pid, err);

	if (code)
		return code;
	a->has_process = true;
	code = analyse(a, a->process.exe_fd, a->process.exe, err);
	if (code && code != -ENOTSUP && analysis__is_not_go(a) &&
	    process__use_go_library(&a->process))
		code = analyse_library(a, err);
	if (!code)
		code = process__find_bias(&a->process, a->elf, err);
	return code;
}

static int check_layout(struct analysis *a, struct error *err)
{
	uint64_t begin = clock__now();
	int code;

	steps__say("checking the memory of process %d", a->process.pid);
	code = process__check_layout(&a->process, &a->layout, err);

	a->checks_ns += clock__now() - begin;
	return code;
}

int analysis__of_process(struct analysis *a, pid_t pid, struct error *err)
{
	int code = analysis__of_beginning(a, pid, err);

	if (!code)
		code = check_layout(a, err);
	if (code == -EPROTO && a->cached) {
		code = find_out_after_all(a, err);
		if (!code)
			code = check_layout(a, err);
	}
	if (!code)
		analysis__keep(a);
	return code;
}

bool analysis__is_not_go(const struct analysis *a)
{
	return a->elf && !a->info.version.text[0];
}

void analysis__deinit(struct analysis *a)
{
	site_list__deinit(&a->sites);
	pclntab__destroy(a->pclntab);
	elf_image__destroy(a->elf);
	if (a->has_process)
		process__deinit(&a->process);
	free(a->path);
	*a = (struct analysis){};
}
