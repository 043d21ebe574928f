// SPDX-License-Identifier: GPL-2.0
/*
 * Analysis of one program: see analysis.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"

/* `fd` may be closed afterwards: the image has its own. */
static int analyse(struct analysis *a, int fd, const char *name, struct error *err)
{
	int code = elf_image__open(&a->elf, fd, name, err);

	if (!code)
		code = buildinfo__read(a->elf, &a->info, err);
	if (!code)
		code = layout__read(a->elf, &a->info.version, &a->layout, err);
	if (!code)
		code = pclntab__open(&a->pclntab, a->elf, &a->info.version, err);
	if (!code)
		code = site_list__find(&a->sites, a->elf, a->pclntab, &a->layout, err);
	return code;
}

int analysis__of_file(struct analysis *a, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code;

	if (fd < 0)
		return error__set(err, -errno, "%s: %s", path, strerror(errno));
	code = analyse(a, fd, path, err);
	close(fd);
	return code;
}

/* Go code in a library of a program that is none of Go's can't be recorded; it is named, though. */
static void name_library(const struct analysis *a, struct error *err)
{
	char library[256];

	if (!err || !analysis__is_not_go(a) ||
	    !process__find_go_library(&a->process, library, sizeof(library)))
		return;
	err->text[0] = '\0';
	error__set(err, -ENOENT,
		   "process %d is no Go program: its Go code is in a shared library, "
		   "%s, which can't be recorded",
		   a->process.pid, library);
}

int analysis__of_beginning(struct analysis *a, pid_t pid, struct error *err)
{
	int code = process__open(&a->process, pid, err);

	if (code)
		return code;
	a->has_process = true;
	code = analyse(a, a->process.exe_fd, a->process.exe, err);
	if (code)
		name_library(a, err);
	if (!code)
		code = process__find_bias(&a->process, a->elf, err);
	return code;
}

int analysis__of_process(struct analysis *a, pid_t pid, struct error *err)
{
	int code = analysis__of_beginning(a, pid, err);

	return code ? code : process__check_layout(&a->process, &a->layout, err);
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
	*a = (struct analysis){};
}
