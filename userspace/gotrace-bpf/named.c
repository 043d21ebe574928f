// SPDX-License-Identifier: GPL-2.0
/*
 * Finds a process by its name: see named.h. One pass over /proc.
 *
 * Names and command lines are untrusted: they are compared as bytes, truncated, and printed only by
 * log.c, which escapes them. Of processes that this user may not inspect, only comm is known.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/suggest.h"
#include "target/process/process.h"
#include "command.h"
#include "named.h"

#define LISTED	  10 /* matching processes; further ones are counted */
#define COMMAND	  80 /* bytes shown of a command line */
#define NAME_SIZE 256

struct names {
	char comm[32], exe[NAME_SIZE]; /* exe: the file name without directories; empty: unknown */
};

struct search {
	const char *name;
	unsigned int found;
	pid_t pid[LISTED];
	char similar[NAME_SIZE]; /* the most similar name of another process; empty: none */
};

/* False: it has ended, or has no program (a kernel thread, a zombie). */
static bool read_names(pid_t pid, struct names *ret)
{
	static const char deleted[] = " (deleted)";
	char path[64], file[4096], *base;
	ssize_t n = process__read_file(pid, "comm", ret->comm, sizeof(ret->comm));

	if (n <= 0)
		return false;
	ret->comm[strcspn(ret->comm, "\n")] = '\0';
	ret->exe[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, file, sizeof(file) - 1);
	if (n < 0)
		return errno == EACCES || errno == EPERM;
	file[n] = '\0';
	if ((size_t)n > strlen(deleted) && !strcmp(file + n - strlen(deleted), deleted))
		file[(size_t)n - strlen(deleted)] = '\0';
	base = strrchr(file, '/');
	snprintf(ret->exe, sizeof(ret->exe), "%.*s", NAME_SIZE - 1, base ? base + 1 : file);
	return true;
}

static void compare(struct search *s, pid_t pid)
{
	struct names names;
	const char *all[] = { names.comm, names.exe }, *similar;

	if (pid == getpid() || !read_names(pid, &names))
		return;
	if (!strcmp(s->name, names.comm) || !strcmp(s->name, names.exe)) {
		if (s->found < LISTED)
			s->pid[s->found] = pid;
		s->found++;
		return;
	}
	similar = suggest__word(s->name, all, 2);
	if (!similar || (s->similar[0] && suggest__distance(s->name, similar) >=
						  suggest__distance(s->name, s->similar)))
		return;
	snprintf(s->similar, sizeof(s->similar), "%s", similar);
}

/* Prints the PID and the command line, whose arguments are separated by NULs. */
static void show(pid_t pid)
{
	char text[COMMAND + 1];
	ssize_t n = process__read_file(pid, "cmdline", text, sizeof(text));

	for (ssize_t i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	log__msg("  %d  %s%s", pid, n > 0 ? text : "(command line unavailable)",
		 n == COMMAND ? "..." : "");
}

static _Noreturn void fail(const struct search *s)
{
	if (!s->found && s->similar[0])
		log__msg("no process is named '%s'; the most similar name is '%s'", s->name,
			 s->similar);
	else if (!s->found)
		log__msg("no process is named '%s'", s->name);
	if (!s->found)
		exit(EXIT_FAILED);
	log__msg("%u processes are named '%s'; give the PID of one:", s->found, s->name);
	for (unsigned int i = 0; i < s->found && i < LISTED; i++)
		show(s->pid[i]);
	if (s->found > LISTED)
		log__msg("  and %u more", s->found - LISTED);
	exit(EXIT_FAILED);
}

pid_t named__find(const char *name)
{
	struct search s = { .name = name };
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			compare(&s, atoi(entry->d_name));
	if (proc)
		closedir(proc);
	if (s.found != 1)
		fail(&s);
	return s.pid[0];
}
