// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf snapshot: finds the running flight recorder of a process and sends it SIGUSR1.
 *
 * The default action of SIGUSR1 ends a process, so it is sent only to a process that runs this
 * program's own file, with the verb flight, and blocks that signal. A pidfd ensures that the signal
 * goes to the process that was examined.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/process/process.h"
#include "command.h"

#define COMMAND_LINE_MAX 8192

struct snapshot_args {
	int pid; /* of the recorded process; 0: any */
};

struct flight_recorder {
	int pid, target, pidfd;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0,
	  "the process that is recorded; may be omitted if there is only one flight recorder", 0 },
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct snapshot_args *a = state->input;

	switch (key) {
	case 'p':
		a->pid = parse_pid(text);
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN;
	default:
		return command__key(key, state, "snapshot");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"[-p PID]",
	"Makes the running 'gotrace-bpf flight' of a process write a snapshot to a file.",
	NULL,
	NULL,
	NULL,
};

static bool runs_this_program(int pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !stat("/proc/self/exe", &own) && !stat(path, &other) && own.st_ino == other.st_ino &&
	       own.st_dev == other.st_dev;
}

static bool blocks_signal(int pid)
{
	char blocked[32];

	return process__status(pid, "status", "SigBlk", blocked, sizeof(blocked)) &&
	       strtoull(blocked, NULL, 16) & 1ull << (SIGUSR1 - 1);
}

/* The value of -p in the command line of a flight recorder; NULL: it is that of another program. */
static const char *target_in(char *line, size_t len)
{
	const char *verb = NULL, *value = NULL;

	for (size_t at = strlen(line) + 1; at < len; at += strlen(line + at) + 1) {
		const char *arg = line + at;
		const char *next = at + strlen(arg) + 1 < len ? arg + strlen(arg) + 1 : NULL;

		if (!verb)
			verb = arg;
		else if ((!strcmp(arg, "-p") || !strcmp(arg, "--pid")) && next)
			value = next;
		else if (!strncmp(arg, "--pid=", 6))
			value = arg + 6;
		else if (!strncmp(arg, "-p", 2))
			value = arg + 2;
	}
	return verb && !strcmp(verb, "flight") ? value : NULL;
}

static bool examine(int pid, struct flight_recorder *ret)
{
	char line[COMMAND_LINE_MAX];
	const char *target;
	ssize_t len;

	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ret->pidfd < 0)
		return false;
	len = runs_this_program(pid) ? process__read_file(pid, "cmdline", line, sizeof(line)) : 0;
	target = len > 0 ? target_in(line, (size_t)len) : NULL;
	if (!target || !blocks_signal(pid)) {
		close(ret->pidfd);
		return false;
	}
	ret->pid = pid;
	ret->target = is_number(target) ? atoi(target) : 0;
	if (!ret->target)
		ret->target = parse_pid(target);
	return true;
}

/* Finds the flight recorder, which must be the only one that matches; ret->pidfd is the caller's. */
static int find(const struct snapshot_args *a, struct flight_recorder *ret, struct error *error)
{
	struct flight_recorder found = {};
	struct dirent *entry;
	int n = 0;
	DIR *proc = opendir("/proc");

	if (!proc)
		return error__set(error, -errno, "cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(proc))) {
		if (!is_number(entry->d_name) || atoi(entry->d_name) == getpid() ||
		    !examine(atoi(entry->d_name), &found))
			continue;
		if ((a->pid && found.target != a->pid) || n++) {
			close(found.pidfd);
			continue;
		}
		*ret = found;
	}
	closedir(proc);
	if (n == 1)
		return 0;
	if (n)
		close(ret->pidfd);
	return error__set(error, n ? -ENOTUNIQ : -ESRCH,
			  n	 ? "there are %d flight recorders: choose one with -p PID" :
			  a->pid ? "there is no running 'gotrace-bpf flight' of that process" :
				   "there is no running 'gotrace-bpf flight'",
			  n);
}

int do_snapshot(int argc, char **argv, struct error *error)
{
	struct snapshot_args a = {};
	struct flight_recorder recorder = {};

	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, &a);
	if (find(&a, &recorder, error))
		return EXIT_FAILED;
	if (syscall(SYS_pidfd_send_signal, recorder.pidfd, SIGUSR1, NULL, 0)) {
		error__set(error, -errno, "cannot signal process %d: %s", recorder.pid,
			   strerror(errno));
		close(recorder.pidfd);
		return EXIT_FAILED;
	}
	close(recorder.pidfd);
	log__msg("the flight recorder of process %d (process %d) writes a snapshot",
		 recorder.target, recorder.pid);
	return EXIT_DONE;
}
