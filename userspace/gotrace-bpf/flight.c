// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf flight: its options. The recording is that of record (recording.c), whose sink keeps
 * the latest generations in memory (flight/flight.c) instead of writing them.
 */
#include <signal.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/opts.h"
#include "analysis.h"
#include "command.h"
#include "record.h"

#define SECOND 1000000000ull

enum {
	OPT_WINDOW = OPT_RECORD_END,
	OPT_MAX_SIZE,
	OPT_TAIL,
	OPT_TRIGGER,
	OPT_TRIGGER_INTERVAL,
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0, "record this process; a NAME must match exactly one process",
	  0 },
	{ "output", 'o', "DIR", 0, "directory for the snapshots; created if it does not exist", 0 },
	{ "window", OPT_WINDOW, "TIME", 0, "keep the events of the last TIME (default: 30s)", 0 },
	{ "max-size", OPT_MAX_SIZE, "SIZE", 0,
	  "keep at most SIZE bytes of events, as encoded in a file (default: 64M)", 0 },
	{ "tail", OPT_TAIL, "TIME", 0,
	  "how long to record after the cause of a snapshot (default: 500ms)", 0 },
	{ "trigger", OPT_TRIGGER, "COND", 0,
	  "write a snapshot when COND is met, such as runnable:5ms, blocked:300ms, gc:100ms, "
	  "heap:2G, func:main.foo, request:200ms, status:5xx, cpu:180%, signal:SIGSEGV (see "
	  "TRIGGERS in the manual); may be repeated",
	  0 },
	{ "trigger-interval", OPT_TRIGGER_INTERVAL, "TIME", 0,
	  "least time between two snapshots of one trigger (default: 1s)", 0 },
	{ "keep", OPT_KEEP, "SIZE", 0,
	  "remove the oldest snapshots so that all take at most SIZE (default: 4G)", 0 },
	{ "duration", 'd', "TIME", 0, "stop after TIME, such as 500ms or 1m30s", 0 },
	EVENTS_OPTION,
	CPU_PROFILE_OPTION,
	NO_STACKS_OPTION,
	STACK_DEPTH_OPTION,
	FORMAT_OPTION,
	RING_SIZE_OPTION,
	PROBES_OPTION,
	CALL_OPTIONS,
	NO_CACHE_OPTION,
	VERBOSE_OPTION,
	HELP_OPTION,
	{},
};

static void parse_time(const char *text, uint64_t min, uint64_t *ret)
{
	if (!opts__duration(text, ret) || *ret < min || *ret > INT64_MAX)
		usage_error("invalid duration '%s': expected a number with a unit, such as 500ms "
			    "or 30s%s",
			    text, min ? ", at least 1s" : "");
}

static void add_trigger(struct record_args *a, const char *text)
{
	struct error error = {};

	if (a->triggers.n == CONDITIONS_MAX)
		usage_error("too many triggers: at most %d", CONDITIONS_MAX);
	if (condition__parse(text, &a->condition[a->triggers.n++], &error))
		usage_error("%s", error.text);
}

/* What the conditions on calls need to be recorded: a function as with --region, and requests. */
static void add_calls_of_triggers(struct record_args *a)
{
	for (size_t i = 0; i < a->triggers.n; i++) {
		const struct condition *c = &a->condition[i];

		if (c->kind == TRIGGER_FUNC)
			record__add_region(a, c->name);
		if ((c->kind == TRIGGER_REQUEST || c->kind == TRIGGER_STATUS) && !a->requests)
			a->requests = REQUESTS_ALL;
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct record_args *a = state->input;

	switch (key) {
	case OPT_WINDOW:
		parse_time(text, SECOND, &a->flight.window_ns);
		return 0;
	case OPT_TAIL:
		parse_time(text, 0, &a->flight.tail_ns);
		return 0;
	case OPT_TRIGGER:
		add_trigger(a, text);
		return 0;
	case OPT_TRIGGER_INTERVAL:
		parse_time(text, 0, &a->triggers.interval_ns);
		return 0;
	case OPT_MAX_SIZE:
		if (!opts__size(text, FLIGHT_BYTES_MIN, INT64_MAX, &a->flight.max_bytes))
			usage_error("invalid size '%s': must be at least 1M, such as 64M", text);
		return 0;
	case ARGP_KEY_ARG:
	case ARGP_KEY_ARGS:
		return ARGP_ERR_UNKNOWN;
	case 'p':
	case 'o':
	case 'd':
	case 'v':
	case OPT_KEEP:
	case OPT_EVENTS:
	case OPT_NO_STACKS:
	case OPT_STACK_DEPTH:
	case OPT_FORMAT:
	case OPT_RING_SIZE:
	case OPT_PROBES:
	case OPT_CPU:
	case OPT_REGION:
	case OPT_TASK:
	case OPT_INHERIT:
	case OPT_REQUESTS:
	case OPT_MAX_NAMES:
	case OPT_NO_LABELS:
	case OPT_NO_CACHE:
		return record__option(key, text, state);
	default:
		return command__key(key, state, "flight");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"-p PID -o DIR",
	"Records a running process, and keeps the latest events in memory. They are written to a "
	"file in DIR on SIGUSR1, which 'gotrace-bpf snapshot' sends, and when the process ends.",
	NULL,
	NULL,
	NULL,
};

int do_flight(int argc, char **argv, struct error *error)
{
	struct record_args a;
	struct launch_signals signals;
	int status = EXIT_DONE;
	struct recording one = { .args = &a, .signals = &signals, .started = clock__now() };
	sigset_t request;

	record__defaults(&a);
	a.flight = (struct flight_opts){ .window_ns = 30 * SECOND,
					 .max_bytes = 64 << 20,
					 .tail_ns = SECOND / 2 };
	a.triggers.interval_ns = SECOND;
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, &a);
	if (!a.pid)
		usage_error("no process given: expected -p PID");
	if (!a.output || !strcmp(a.output, "-"))
		usage_error("no directory given: expected -o DIR");
	record__check_profile(&a);
	add_calls_of_triggers(&a);
	record__check_calls(&a);
	a.flight.dir = a.output;
	a.flight.keep = a.keep;
	record__prepare_signals(&signals);
	sigemptyset(&request);
	sigaddset(&request, SIGUSR1);
	sigprocmask(SIG_BLOCK, &request, NULL);
	recording__run(&one, &status, error);
	return status;
}
