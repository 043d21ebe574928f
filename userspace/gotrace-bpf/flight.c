// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf flight: its options. The recording is that of record (recording.c), whose sink keeps
 * the latest generations in memory (flight/flight.c) instead of writing them; with --blackbox the
 * window is in the kernel (blackbox.c).
 */
#include <signal.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/opts.h"
#include "trigger/needs.h"
#include "analysis.h"
#include "command.h"
#include "flight_args.h"
#include "targets.h"

#define SECOND 1000000000ull

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0,
	  "record this process; a NAME must match exactly one process; may be repeated", 0 },
	TARGETS_OPTIONS,
	{ "output", 'o', "DIR", 0, "directory for the snapshots; created if it does not exist", 0 },
	FLIGHT_OPTIONS,
	{ "blackbox", OPT_BLACKBOX, "NAME", 0,
	  "keep the events in the kernel, in a flight recorder buffer of --max-size, instead of "
	  "the recorder's memory (requires the kernel module)",
	  0 },
	{ "timeout", OPT_TIMEOUT, "TIME", 0,
	  "with --blackbox: how long the buffer is kept if the recorder is killed (default: 24h; "
	  "0: until it is recovered or discarded)",
	  0 },
	{ "duration", 'd', "TIME", 0, "stop after TIME, such as 500ms or 1m30s", 0 },
	EVENTS_OPTION,
	CPU_PROFILE_OPTION,
	NO_STACKS_OPTION,
	STACK_DEPTH_OPTION,
	FORMAT_OPTION,
	RING_SIZE_OPTION,
	PROBES_OPTION,
	MIN_DURATION_OPTION,
	MAX_OVERHEAD_OPTION,
	CALL_OPTIONS,
	LIBRARY_OPTION,
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

static void check_triggers(const struct record_args *a)
{
	struct error error = {};

	for (size_t i = 0; i < a->triggers.n; i++)
		if (condition__check(&a->condition[i], a->sets, &error))
			usage_error("%s", error.text);
	for (size_t i = 0; i < a->triggers.n; i++)
		if (a->condition[i].kind == TRIGGER_SYSCALL &&
		    a->condition[i].limit < a->min_call_ns)
			usage_error(
				"--trigger %s is shorter than --min-duration, which would leave "
				"the system call out of the snapshot",
				a->condition[i].text);
}

/* Makes the recording contain what conditions on calls require: regions of functions, and requests. */
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

error_t flight_args__option(int key, char *text, struct argp_state *state, const char *verb)
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
	default:
		return record__option(key, text, state, verb);
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	return flight_args__option(key, text, state, "flight");
}

static const struct argp parser = {
	options,
	parse_option,
	"-p PID -o DIR",
	"Records a running process, and keeps the latest events in memory. They are written to a "
	"file in DIR on SIGUSR1, which 'gotrace-bpf snapshot' sends, when the process ends, and "
	"with --trigger when a condition is met.",
	NULL,
	NULL,
	NULL,
};

/*
 * With --blackbox this process reads no event. A cause of a snapshot that is found in the events
 * must be rejected here; one that is known without them calls blackbox_flight__request().
 */
static void check_blackbox(const struct record_args *a)
{
	if (!a->blackbox && a->timeout_given)
		usage_error("--timeout requires --blackbox NAME");
	if (!a->blackbox)
		return;
	if (a->triggers.n)
		usage_error("--blackbox cannot be combined with --trigger: with --blackbox the "
			    "recorder reads no events");
	if (a->ring_size)
		usage_error("--blackbox cannot be combined with --ring-size: --max-size is the "
			    "size of all rings together");
	if (a->is_inline || a->sets & SITE_SET(CPU))
		usage_error("--blackbox cannot be combined with %s",
			    a->is_inline ? "--probes=inline" : "CPU samples (set cpu)");
}

void flight_args__defaults(struct record_args *a)
{
	record__defaults(a);
	a->flight = (struct flight_opts){ .window_ns = 30 * SECOND,
					  .max_bytes = 64 << 20,
					  .tail_ns = SECOND / 2 };
	a->triggers.interval_ns = SECOND;
}

void flight_args__check(struct record_args *a)
{
	record__check_profile(a);
	record__check_min_duration(a);
	record__check_budget(a);
	check_triggers(a);
	check_blackbox(a);
	add_calls_of_triggers(a);
	record__check_calls(a);
	a->flight.dir = a->output;
	a->flight.keep = a->keep;
}

int do_flight(int argc, char **argv, struct error *error)
{
	struct record_args a;
	struct launch_signals signals;
	int status = EXIT_DONE;
	struct recording one = { .args = &a, .signals = &signals, .started = clock__now() };
	sigset_t request;

	flight_args__defaults(&a);
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, &a);
	if (!a.pid && !targets__given(&a))
		usage_error("no process given: expected -p PID, --exe, --cgroup or --unit");
	if (!a.output || !strcmp(a.output, "-"))
		usage_error("no directory given: expected -o DIR");
	flight_args__check(&a);
	if (targets__given(&a))
		targets__check(&a);
	record__prepare_signals(&signals);
	sigemptyset(&request);
	sigaddset(&request, SIGUSR1);
	sigprocmask(SIG_BLOCK, &request, NULL);
	if (targets__given(&a))
		return targets__run(&one, error);
	recording__run(&one, &status, error);
	return status;
}
