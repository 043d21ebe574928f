// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf serve: its options. It records the selected processes without writing files, and answers
 * requests: by HTTP for their traces and metrics. With -o it is a flight recorder, too.
 *
 * targets.c finds the processes and starts their recorders, supervisor.c answers.
 */
#include <signal.h>
#include <string.h>

#include "lib/clock.h"
#include "service/config.h"
#include "analysis.h"
#include "command.h"
#include "flight_args.h"
#include "supervisor.h"
#include "targets.h"

enum {
	OPT_HTTP = OPT_FLIGHT_END,
	OPT_CONFIG,
	OPT_CONTROL,
	OPT_USER,
};

struct serve_args {
	struct record_args record; /* first: flight_args__option() gets a pointer to it */
	struct supervisor_opts supervisor;
	int flight_option; /* key of the last one that requires -o; 0: none */
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0,
	  "record this process; a NAME must match exactly one process; may be repeated", 0 },
	TARGETS_OPTIONS,
	{ "http", OPT_HTTP, "HOST:PORT", 0,
	  "answer HTTP requests at this loopback address, such as 127.0.0.1:6070, or unix:PATH: "
	  "/metrics, /targets, /debug/pprof/trace?seconds=N",
	  0 },
	{ "user", OPT_USER, "USER", 0,
	  "answer HTTP requests as this user, which must not run any other process (default: "
	  "gotrace-bpf, or an unused one)",
	  0 },
	{ "config", OPT_CONFIG, "FILE", 0,
	  "read more options from FILE: one per line, as in 'exe = NAME' (see CONFIGURATION FILE in "
	  "the manual)",
	  0 },
	{ "control", OPT_CONTROL, "PATH", 0,
	  "control socket, for 'gotrace-bpf status' (default: " CONTROL_PATH
	  "); 'none' creates none",
	  0 },
	{ "output", 'o', "DIR", 0,
	  "also keep the latest events in memory, as flight, and write snapshots of them to DIR",
	  0 },
	FLIGHT_OPTIONS,
	{ "duration", 'd', "TIME", 0, "stop after TIME, such as 500ms or 1m30s", 0 },
	EVENTS_OPTION,
	CPU_PROFILE_OPTION,
	NO_STACKS_OPTION,
	STACK_DEPTH_OPTION,
	FORMAT_OPTION,
	RING_SIZE_OPTION,
	MIN_DURATION_OPTION,
	MAX_OVERHEAD_OPTION,
	CALL_OPTIONS,
	LIBRARY_OPTION,
	NO_CACHE_OPTION,
	VERBOSE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct serve_args *a = state->input;

	switch (key) {
	case OPT_HTTP:
		a->supervisor.http = text;
		return 0;
	case OPT_USER:
		a->supervisor.user = text;
		return 0;
	case OPT_CONFIG:
		return 0; /* config__parse() has read it */
	case OPT_CONTROL:
		a->supervisor.control.path = strcmp(text, "none") ? text : NULL;
		a->supervisor.control.is_required = true;
		return 0;
	case OPT_WINDOW:
	case OPT_MAX_SIZE:
	case OPT_TAIL:
	case OPT_TRIGGER:
	case OPT_TRIGGER_INTERVAL:
	case OPT_KEEP:
		a->flight_option = key;
		break;
	}
	return flight_args__option(key, text, state, "serve");
}

static const struct argp parser = {
	options,
	parse_option,
	"--exe NAME --http 127.0.0.1:PORT",
	"Records the selected processes and those that start later, without writing files, and answers "
	"requests for their traces and metrics until SIGTERM. Programs need no net/http/pprof.",
	NULL,
	NULL,
	NULL,
};

static const char *option_name(int key)
{
	const struct argp_option *o = options;

	while (o->key != key)
		o++;
	return o->name;
}

static void check(struct serve_args *a)
{
	if (!a->record.selection.npids && !targets__given(&a->record))
		usage_error("no process given: expected -p PID, --exe, --cgroup or --unit");
	if (!a->supervisor.http && !a->supervisor.control.path)
		usage_error(
			"no way to send requests: expected --http HOST:PORT, or a control socket");
	if (a->supervisor.user && !a->supervisor.http)
		usage_error("--user requires --http");
	if (a->record.output && !strcmp(a->record.output, "-"))
		usage_error("-o requires a directory");
	if (a->flight_option && !a->record.output)
		usage_error("--%s requires -o DIR", option_name(a->flight_option));
	flight_args__check(&a->record);
	a->record.serves = true;
	targets__check(&a->record);
}

/* With a blocked SIGUSR1, 'gotrace-bpf snapshot' takes this process for a flight recorder. */
static void handle_requests(const struct serve_args *a)
{
	sigset_t request;

	sigemptyset(&request);
	sigaddset(&request, SIGUSR1);
	if (a->record.output)
		sigprocmask(SIG_BLOCK, &request, NULL);
	else
		signal(SIGUSR1, SIG_IGN);
}

int do_serve(int argc, char **argv, struct error *error)
{
	struct serve_args a = { .supervisor.control.path = CONTROL_PATH };
	struct launch_signals signals;
	struct recording one = { .args = &a.record, .signals = &signals, .started = clock__now() };
	int status;

	flight_args__defaults(&a.record);
	if (config__parse(&parser, OPT_CONFIG, argc, argv, &a, error))
		return EXIT_FAILED;
	check(&a);
	record__prepare_signals(&signals);
	handle_requests(&a);
	if (supervisor__create(&one.supervisor, &a.supervisor, error))
		return EXIT_FAILED;
	status = targets__run(&one, error);
	supervisor__destroy(one.supervisor);
	return status;
}
