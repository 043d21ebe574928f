// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the traces that a continuous recording writes: see file_name.h.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flight/file_name.h"

#define PART_MAX 60
#define SUFFIX	 ".trace"
#define LETTERS	 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_."

/* The traced process chooses the name of its program: only plain characters of it are kept. */
static void copy_part(char ret[PART_MAX + 1], const char *text)
{
	size_t len = strnlen(text, PART_MAX);

	memcpy(ret, text, len);
	ret[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!strchr(LETTERS, ret[i]) || (!i && ret[i] == '.'))
			ret[i] = '_';
}

/* A deleted program is "/path/name (deleted)" in /proc/PID/exe. */
static void copy_program(char ret[PART_MAX + 1], const char *path)
{
	static const char deleted[] = " (deleted)";
	const char *slash = strrchr(path, '/');
	char name[FILE_NAME_SIZE];
	size_t len;

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	len = strlen(name);
	if (len >= sizeof(deleted) && !strcmp(name + len + 1 - sizeof(deleted), deleted))
		name[len + 1 - sizeof(deleted)] = '\0';
	copy_part(ret, name);
}

void file_name__make(char ret[FILE_NAME_SIZE], const struct file_target *target, uint64_t wall_ns,
		     const char *cause)
{
	char host[65] = "", part[3][PART_MAX + 1], date[32] = "";
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	copy_part(part[0], host[0] ? host : "host");
	copy_program(part[1], target->program);
	copy_part(part[2], cause);
	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &tm);
	snprintf(ret, FILE_NAME_SIZE, "%s-%s-%d-%s.%03uZ%s%s" SUFFIX, part[0], part[1], target->pid,
		 date, (unsigned int)(wall_ns / 1000000 % 1000), part[2][0] ? "-" : "", part[2]);
}

bool file_name__is_ours(const char *name)
{
	size_t len = strlen(name);

	return len < FILE_NAME_SIZE && len > strlen(SUFFIX) && name[0] != '.' && name[0] != '-' &&
	       strspn(name, LETTERS "-") == len && !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}
