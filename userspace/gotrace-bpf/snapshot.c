// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf snapshot: finds the running flight recorder of a process and sends it SIGUSR1.
 *
 * The default action of SIGUSR1 ends a process, so it is sent only to a process that runs this
 * program's own file, with the verb flight, and blocks that signal. A pidfd ensures that the signal
 * goes to the process that was examined; the recorder's own pidfd shows which process it records.
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

static bool is_flight(int pid)
{
	char line[COMMAND_LINE_MAX];
	ssize_t len = process__read_file(pid, "cmdline", line, sizeof(line));
	size_t verb = len > 0 ? strlen(line) + 1 : 0;

	return len > 0 && verb < (size_t)len && !strcmp(line + verb, "flight");
}

/* The process that the descriptor refers to; 0: it has ended, or this is no pidfd. */
static int process_of(int pid, const char *fd)
{
	char name[64], value[32];
	int target;

	snprintf(name, sizeof(name), "fdinfo/%.20s", fd);
	target = process__status(pid, name, "Pid", value, sizeof(value)) ? atoi(value) : 0;
	return target > 0 ? target : 0;
}

/*
 * The process that the recorder has open. The name in its command line may be that of several
 * processes by now, and its PID may have been reused.
 */
static int target_of(int pid)
{
	struct dirent *entry;
	char path[64];
	int target = 0;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	fds = opendir(path);
	while (fds && !target && (entry = readdir(fds)))
		if (is_number(entry->d_name))
			target = process_of(pid, entry->d_name);
	if (fds)
		closedir(fds);
	return target;
}

static bool examine(int pid, struct flight_recorder *ret)
{
	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ret->pidfd < 0)
		return false;
	ret->pid = pid;
	ret->target =
		runs_this_program(pid) && is_flight(pid) && blocks_signal(pid) ? target_of(pid) : 0;
	if (!ret->target)
		close(ret->pidfd);
	return ret->target;
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
