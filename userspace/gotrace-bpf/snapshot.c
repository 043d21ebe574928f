// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf snapshot: finds the running flight recorder of a process and sends it SIGUSR1. One of
 * several processes (targets.c) has a recorder for each of them, and without -p all get the signal.
 *
 * The default action of SIGUSR1 ends a process, so it is sent only to a process that runs this
 * program's own file, with the verb flight or serve, and blocks that signal. A pidfd ensures that the signal
 * goes to the process that was examined; the recorder's own pidfd shows which process it records.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/process/process.h"
#include "command.h"
#include "recorders.h"

#define COMMAND_LINE_MAX 8192

struct snapshot_args {
	int pid; /* of the recorded process; 0: any */
};

struct flight_recorder {
	int pid, target, pidfd;
	int group; /* the process that has started it, if that runs flight, too; else its own */
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0,
	  "the recorded process; may be omitted if there is only one flight recorder, and if that "
	  "records several processes, a snapshot of each is written",
	  0 },
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

	return len > 0 && verb < (size_t)len &&
	       (!strcmp(line + verb, "flight") || !strcmp(line + verb, "serve"));
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

/* Whether it is a flight recorder, or the process that has started those of several processes. */
static bool runs_flight(int pid)
{
	return process__runs_this_program(pid) && is_flight(pid) && blocks_signal(pid);
}

static bool examine(int pid, struct flight_recorder *ret)
{
	char parent[32];

	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ret->pidfd < 0)
		return false;
	ret->pid = pid;
	ret->target = runs_flight(pid) ? target_of(pid) : 0;
	if (!ret->target) {
		close(ret->pidfd);
		return false;
	}
	ret->group = pid;
	if (process__status(pid, "status", "PPid", parent, sizeof(parent)) &&
	    runs_flight(atoi(parent)))
		ret->group = atoi(parent);
	return true;
}

/*
 * Fills ret[RECORDERS_MAX] with the recorders that match, which must be of one group. Returns their
 * number, whose descriptors are the caller's; or a negative errno and the reason.
 */
static int find(const struct snapshot_args *a, struct flight_recorder *ret, struct error *error)
{
	struct flight_recorder found = {};
	struct dirent *entry;
	int n = 0, kept;
	bool several = false;
	DIR *proc = opendir("/proc");

	if (!proc)
		return error__set(error, -errno, "cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(proc))) {
		if (!is_number(entry->d_name) || atoi(entry->d_name) == getpid() ||
		    !examine(atoi(entry->d_name), &found))
			continue;
		if (a->pid && found.target != a->pid) {
			close(found.pidfd);
			continue;
		}
		several |= n && found.group != ret[0].group;
		if (n < RECORDERS_MAX)
			ret[n] = found;
		else
			close(found.pidfd);
		n++;
	}
	closedir(proc);
	kept = n < RECORDERS_MAX ? n : RECORDERS_MAX;
	if (n && !several)
		return kept;
	while (kept)
		close(ret[--kept].pidfd);
	return error__set(error, n ? -ENOTUNIQ : -ESRCH,
			  n	 ? "there are %d flight recorders: choose one with -p PID" :
			  a->pid ? "there is no running 'gotrace-bpf flight' of that process" :
				   "there is no running 'gotrace-bpf flight'",
			  n);
}

static int request(const struct flight_recorder *r, struct error *error)
{
	int err = syscall(SYS_pidfd_send_signal, r->pidfd, SIGUSR1, NULL, 0) ? -errno : 0;

	if (err)
		return error__set(error, err, "cannot signal process %d: %s", r->pid,
				  strerror(-err));
	log__msg("the flight recorder of process %d (process %d) writes a snapshot", r->target,
		 r->pid);
	return 0;
}

int do_snapshot(int argc, char **argv, struct error *error)
{
	struct flight_recorder recorder[RECORDERS_MAX];
	struct snapshot_args a = {};
	int n, err = 0;

	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, &a);
	n = find(&a, recorder, error);
	for (int i = 0; i < n; i++) {
		err = request(&recorder[i], error) ?: err;
		close(recorder[i].pidfd);
	}
	return n < 0 || err ? EXIT_FAILED : EXIT_DONE;
}
