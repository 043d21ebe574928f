// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf record: its options and the setup of signals. recording.c does the work, with --follow
 * follow.c, and for several processes targets.c.
 */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blackbox/blackbox_record.h"
#include "capture/sampler.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "target/probe/presets.h"
#include "analysis.h"
#include "blackbox.h"
#include "command.h"
#include "follow.h"
#include "record.h"
#include "recording.h"
#include "targets.h"

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0,
	  "record this process; a NAME must match exactly one process; with --rotate, may be repeated",
	  0 },
	{ "output", 'o', "FILE", 0, "trace file; default: gotrace-PID.trace; - is stdout", 0 },
	{ "duration", 'd', "TIME", 0, "stop after TIME, such as 500ms or 1m30s", 0 },
	{ "follow", OPT_FOLLOW, NULL, 0,
	  "also record Go programs that the process starts or executes later, each to FILE.PID",
	  0 },
	EVENTS_OPTION,
	CPU_PROFILE_OPTION,
	NO_STACKS_OPTION,
	STACK_DEPTH_OPTION,
	{ "tick", OPT_TICK, "1ns|64ns", 0, "time unit of the trace (default: 1ns)", 0 },
	FORMAT_OPTION,
	{ "stats", OPT_STATS, "FILE", 0,
	  "write statistics about the recording and its cost, as JSON", 0 },
	SAVE_INPUT_OPTION,
	RING_SIZE_OPTION,
	{ "blackbox", OPT_BLACKBOX, "NAME", 0,
	  "keep the most recent events in kernel memory, for 'gotrace-bpf recover NAME' (requires "
	  "the kernel module)",
	  0 },
	{ "daemonize", OPT_DAEMONIZE, NULL, 0,
	  "with --blackbox: return when the recording has started, and continue in the background",
	  0 },
	{ "timeout", OPT_TIMEOUT, "TIME", 0,
	  "with --blackbox: how long the buffer is kept after its recorder has ended (default: 24h; "
	  "0: until it is recovered or discarded)",
	  0 },
	PROBES_OPTION,
	CALL_OPTIONS,
	{ "rotate", OPT_ROTATE, "TIME", 0,
	  "record continuously: begin a new file in the directory of -o every TIME, at least 1s",
	  0 },
	{ "keep", OPT_KEEP, "SIZE", 0,
	  "with --rotate or --sample: remove the oldest files so that all take at most SIZE (default: "
	  "4G)",
	  0 },
	{ "sample", OPT_SAMPLE, "WINDOW/PERIOD", 0,
	  "record a window of this length every PERIOD, such as 1s/1000s, each to a file of its own in "
	  "the directory of -o; no probe is attached between windows",
	  0 },
	{ "align-start", OPT_ALIGN_START, NULL, 0,
	  "with --sample: windows begin at multiples of PERIOD by the wall clock (UTC), as on other "
	  "machines",
	  0 },
	MIN_DURATION_OPTION,
	MAX_OVERHEAD_OPTION,
	TARGETS_OPTIONS,
	{ "force-perf-uprobes", OPT_PERF, NULL, 0,
	  "attach each probe with a perf event of its own, as on kernels before 6.10", 0 },
	NO_CACHE_OPTION,
	VERBOSE_OPTION,
	FORCE_OPTION,
	HELP_OPTION,
	{},
};

static unsigned int parse_events(const char *text)
{
	const char *names[SITE_SETS];
	char unknown[64], known[96] = "";
	uint64_t set;
	size_t i, at = 0;

	for (i = 0; i < SITE_SETS; i++) {
		names[i] = site_set__name((enum site_set)i);
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", at ? ", " : "",
				       names[i]);
	}
	if (!opts__list(text, names, SITE_SETS, &set, unknown, sizeof(unknown)))
		usage_error("unknown event set '%s': expected a list of %s", unknown, known);
	return (unsigned int)set;
}

/* --cpu-profile, --cpu-profile=HZ, or --cpu-profile HZ, which getopt does not support. */
static void set_rate(struct record_args *a, const char *text, struct argp_state *state)
{
	if (!text && state->next < state->argc && is_number(state->argv[state->next]))
		text = state->argv[state->next++];
	if (text && !opts__number(text, 1, SAMPLER_HZ_MAX, &a->sample_hz))
		usage_error("invalid rate '%s': must be 1 to %d samples per second", text,
			    SAMPLER_HZ_MAX);
	a->cpu_profile = true;
}

static void add_call(struct record_args *a, const char *text, bool is_task)
{
	const char *name = strrchr(text, '=');

	if (!*text || name == text || (name && !name[1]))
		usage_error("invalid %s '%s': expected FUNC or FUNC=NAME",
			    is_task ? "task" : "region", text);
	if (array__grow(&a->call, a->ncalls, &a->calls_cap, sizeof(*a->call)))
		usage_error("out of memory");
	a->call[a->ncalls++] = (struct call_option){ text, is_task };
}

void record__add_region(struct record_args *a, const char *func)
{
	add_call(a, func, false);
}

static bool has_task(const struct record_args *a)
{
	size_t i = 0;

	while (i < a->ncalls && !a->call[i].is_task)
		i++;
	return i < a->ncalls;
}

static uint64_t parse_requests(const char *text)
{
	char unknown[64], known[96] = "";
	uint64_t set;
	size_t at = 0;

	for (size_t i = 0; i < GT_PRESETS; i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", at ? ", " : "",
				       preset_names[i]);
	if (!strcmp(text, "all"))
		return REQUESTS_ALL;
	if (!opts__list(text, preset_names, GT_PRESETS, &set, unknown, sizeof(unknown)))
		usage_error("unknown kind of requests '%s': expected a list of %s, or all", unknown,
			    known);
	return set;
}

static void parse_sample(const char *text, struct cycle_opts *ret)
{
	const char *slash = strchr(text, '/');
	char window[32] = "";

	if (slash && (size_t)(slash - text) < sizeof(window))
		memcpy(window, text, (size_t)(slash - text));
	if (!opts__duration(window, &ret->window_ns) || !opts__duration(slash + 1, &ret->period_ns))
		usage_error("invalid duty cycle '%s': expected WINDOW/PERIOD, such as 1s/1000s",
			    text);
	if (ret->window_ns < CYCLE_WINDOW_MIN_NS || ret->window_ns >= ret->period_ns ||
	    ret->period_ns > CYCLE_PERIOD_MAX_NS)
		usage_error("invalid duty cycle '%s': the window must be at least 1ms and shorter "
			    "than the period, which must be at most 30 days",
			    text);
}

error_t record__option(int key, char *text, struct argp_state *state)
{
	struct record_args *a = state->input;

	switch (key) {
	case 'p':
	case OPT_EXE:
	case OPT_CGROUP:
	case OPT_UNIT:
		targets__option(a, key, text);
		return 0;
	case 'o':
		a->output = text;
		return 0;
	case 'd':
		if (!opts__duration(text, &a->duration_ns) || !a->duration_ns)
			usage_error("invalid duration '%s': expected a number with a unit, such as "
				    "500ms or 1m30s",
				    text);
		return 0;
	case OPT_NO_CACHE:
		analysis__no_cache();
		return 0;
	case 'v':
		log__set_verbose(true);
		return 0;
	case OPT_EVENTS:
		a->sets = parse_events(text);
		a->sets_given = true;
		return 0;
	case OPT_CPU:
		set_rate(a, text, state);
		return 0;
	case OPT_NO_STACKS:
		a->no_stacks = true;
		return 0;
	case OPT_STACK_DEPTH:
		if (!opts__number(text, 1, GT_STACK_MAX, &a->stack_depth))
			usage_error("invalid stack depth '%s': must be between 1 and %d", text,
				    GT_STACK_MAX);
		return 0;
	case OPT_BLACKBOX:
		if (!blackbox__name_is_valid(text))
			usage_error("invalid flight recorder buffer name '%s': must be 1 to %d "
				    "letters, digits, dots, _ and -",
				    text, GT_NAME_MAX - 1);
		a->blackbox = text;
		return 0;
	case OPT_DAEMONIZE:
		a->daemonize = true;
		return 0;
	case OPT_TIMEOUT:
		if (!opts__duration(text, &a->timeout_ns) ||
		    a->timeout_ns > GT_TIMEOUT_MAX * 1000000000ull)
			usage_error(
				"invalid timeout '%s': expected a duration such as 90m, at most "
				"30 days",
				text);
		a->timeout_given = true;
		return 0;
	case OPT_TICK:
		a->format_given = true;
		a->tick = parse_tick(text);
		return 0;
	case OPT_FORMAT:
		a->format_given = true;
		a->version = spec__parse_version(text);
		if (!a->version)
			usage_error(TRACE_VERSION_UNKNOWN, text);
		return 0;
	case OPT_STATS:
		a->stats = text;
		return 0;
	case OPT_SAVE_INPUT:
		a->raw = text;
		return 0;
	case OPT_FOLLOW:
		a->follow = true;
		return 0;
	case OPT_RING_SIZE:
		if (!opts__size(text, RING_SIZE_MIN, RING_SIZE_MAX, &a->ring_size))
			usage_error("invalid ring size '%s': must be between 16K and 256M", text);
		return 0;
	case OPT_PERF:
		a->force_perf = true;
		return 0;
	case OPT_PROBES:
		a->is_inline = !strcmp(text, "inline");
		if (!a->is_inline && strcmp(text, "uprobe"))
			usage_error("unknown kind of probes '%s': expected uprobe or inline", text);
		return 0;
	case OPT_NO_LABELS:
		a->no_labels = true;
		return 0;
	case OPT_REGION:
	case OPT_TASK:
		add_call(a, text, key == OPT_TASK);
		return 0;
	case OPT_INHERIT:
		a->inherit = true;
		return 0;
	case OPT_REQUESTS:
		a->requests |= parse_requests(text);
		return 0;
	case OPT_MAX_NAMES:
		if (!opts__number(text, 1, REQUEST_NAMES_MAX, &a->max_names))
			usage_error("invalid number of names '%s': must be 1 to %d", text,
				    REQUEST_NAMES_MAX);
		return 0;
	case OPT_ROTATE:
		if (!opts__duration(text, &a->rotate_ns) || a->rotate_ns < ROTATE_MIN_NS)
			usage_error("invalid duration '%s': expected at least 1s, such as 10s",
				    text);
		return 0;
	case OPT_KEEP:
		if (!opts__size(text, ROTATE_KEEP_MIN, INT64_MAX, &a->keep))
			usage_error("invalid size '%s': must be at least 1M, such as 4G", text);
		a->keep_given = true;
		return 0;
	case OPT_SAMPLE:
		parse_sample(text, &a->sample);
		return 0;
	case OPT_ALIGN_START:
		a->sample.is_aligned = true;
		return 0;
	case OPT_MIN_DURATION:
		min_duration__parse(text, &a->min_call_ns);
		return 0;
	case OPT_MAX_OVERHEAD:
		if (!budget__parse(text, &a->budget))
			usage_error("invalid overhead '%s': expected a percentage of a CPU, such "
				    "as 3%%, or of the program's CPU time, such as 3%%target; at "
				    "least 0.1%%",
				    text);
		return 0;
	case ARGP_KEY_ARG: /* 'record PID'; after -- a number is a command */
		if (a->pid || state->quoted || !is_number(text))
			return ARGP_ERR_UNKNOWN;
		targets__option(a, 'p', text);
		return 0;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		state->next = state->argc;
		return 0;
	default:
		return command__key(key, state, "record");
	}
}

static const struct argp parser = {
	options,
	record__option,
	"-p PID\n[--] CMD [ARG...]",
	"Records a Go execution trace of a running process until the time of -d has elapsed, ^C, "
	"SIGTERM, or the exit of the process. With CMD, records a program from its start to its "
	"exit: CMD, or the Go program that CMD executes in its own process.",
	NULL,
	NULL,
	NULL,
};

/*
 * The records stay in the kernel: options of files are those of recover, and samples are
 * unsupported.
 */
static void check_blackbox(const struct record_args *a)
{
	if (!a->blackbox && (a->daemonize || a->timeout_given))
		usage_error("%s requires --blackbox NAME",
			    a->daemonize ? "--daemonize" : "--timeout");
	if (!a->blackbox)
		return;
	if (a->command)
		usage_error("--blackbox requires a running process: -p PID");
	if (a->follow || a->sets & SITE_SET(CPU))
		usage_error("--blackbox cannot be combined with %s",
			    a->follow ? "--follow" : "CPU samples (set cpu)");
	if (a->output || a->raw || a->stats || a->format_given)
		usage_error("--blackbox writes no file and cannot be combined with %s: "
			    "'gotrace-bpf recover %s -o FILE' writes the trace",
			    a->output ? "-o" :
			    a->raw    ? "--save-input" :
			    a->stats  ? "--stats" :
					"--tick or --format-version",
			    a->blackbox);
	if (a->ring_size && a->ring_size < BLACKBOX_RING_MIN)
		usage_error("invalid ring size: with --blackbox it must be at least %dK",
			    BLACKBOX_RING_MIN >> 10);
}

static void check_rotate(const struct record_args *a)
{
	const char *option = a->rotate_ns ? "--rotate" : "--sample";

	if (!a->sample.window_ns && a->sample.is_aligned)
		usage_error("--align-start requires --sample WINDOW/PERIOD");
	if (!a->rotate_ns && !a->sample.window_ns) {
		if (a->keep_given)
			usage_error("--keep requires --rotate TIME or --sample WINDOW/PERIOD");
		return;
	}
	if (!a->output || !strcmp(a->output, "-"))
		usage_error("%s requires a directory for its files: -o DIR", option);
	if (a->follow || a->blackbox || a->raw)
		usage_error("%s cannot be combined with %s", option,
			    a->follow	? "--follow" :
			    a->blackbox ? "--blackbox" :
					  "--save-input");
}

static void check_sample(const struct record_args *a)
{
	if (!a->sample.window_ns)
		return;
	if (a->rotate_ns)
		usage_error(
			"--sample cannot be combined with --rotate: each window has its own file");
	if (a->command)
		usage_error("--sample requires a running process: expected -p PID");
	if (a->is_inline)
		usage_error("--sample cannot be combined with --probes=inline, which would stop "
			    "the program at each window to change its code");
}

void record__check_budget(const struct record_args *a)
{
	if (!a->budget.share)
		return;
	if (a->sample.window_ns || a->blackbox || a->is_inline)
		usage_error("--max-overhead cannot be combined with %s",
			    a->sample.window_ns ? "--sample, which limits the overhead itself" :
			    a->blackbox		? "--blackbox" :
						  "--probes=inline, whose probes cannot be "
						  "removed for a moment");
}

void record__check_min_duration(const struct record_args *a)
{
	if (!a->min_call_ns)
		return;
	if (a->blackbox)
		usage_error("--min-duration cannot be combined with --blackbox, whose buffer "
			    "contains all records: it is an option of 'gotrace-bpf recover'");
	if (!(a->sets & (SITE_SET(SYSCALL) | SITE_SET(KERNEL))))
		usage_error("--min-duration=syscall requires the event set syscall or kernel");
}

void record__check_profile(struct record_args *a)
{
	if (a->cpu_profile) /* in whatever order the options were given */
		a->sets |= SITE_SET(CPU);
}

void record__check_calls(const struct record_args *a)
{
	if (a->inherit && !has_task(a) && !a->requests)
		usage_error("--inherit requires --task or --requests");
	if (a->max_names && !a->requests)
		usage_error("--max-names requires --requests");
	if ((a->ncalls || a->requests) && (a->is_inline || a->follow || a->blackbox))
		usage_error("%s cannot be combined with %s",
			    a->ncalls ? "--region and --task" : "--requests",
			    a->is_inline ?
				    "--probes=inline, which has no probes of its own for calls" :
			    a->follow ? "--follow, since another program has other functions" :
					"--blackbox, whose buffer has no place for the names");
}

static void check_arguments(struct record_args *a)
{
	if (a->pid && a->command)
		usage_error("-p PID cannot be combined with a command: '%s'", a->command[0]);
	record__check_profile(a);
	if (!a->pid && !a->command && !targets__given(a))
		usage_error("no process or command given: expected -p PID or -- CMD");
	if (a->follow && ((a->output && !strcmp(a->output, "-")) ||
			  (a->raw && !strcmp(a->raw, "-")) || (a->stats && !strcmp(a->stats, "-"))))
		usage_error(
			"--follow writes one file per process, and cannot write to standard output");
	check_rotate(a);
	check_sample(a);
	record__check_min_duration(a);
	record__check_budget(a);
	check_blackbox(a);
	if (targets__given(a))
		targets__check(a);
	if (a->is_inline && (a->command || a->follow || a->blackbox))
		usage_error("--probes=inline cannot be combined with %s",
			    a->command ? "a command: it requires a running process, -p PID" :
			    a->follow  ? "--follow" :
					 "--blackbox");
	record__check_calls(a);
	refuse_same_file("-o", a->output, "--stats", a->stats);
	refuse_same_file("-o", a->output, "--save-input", a->raw);
	refuse_same_file("--save-input", a->raw, "--stats", a->stats);
}

#define MESSAGE_WAIT_MS 500 /* the default rings overflow later than that */

void record__prepare_signals(struct launch_signals *before)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL };
	struct sigaction hangup;
	sigset_t blocked;

	sigaction(SIGINT, &normal, &before->sigint);
	sigaction(SIGTERM, &normal, &before->sigterm);
	sigaction(SIGPIPE, &ignore, &before->sigpipe);
	sigaction(SIGXFSZ, &ignore, &before->sigxfsz);
	sigaction(SIGCHLD, &normal, &before->sigchld);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN) /* nohup ignores it on purpose */
		sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, &before->mask);
	log__limit_wait(MESSAGE_WAIT_MS);
}

void record__defaults(struct record_args *ret)
{
	*ret = (struct record_args){
		.sets = SITE_SETS_DEFAULT,
		.stack_depth = GT_STACK_MAX,
		.sample_hz = 100,
		.version = TRACE_VERSION_DEFAULT,
		.tick = 1,
		.keep = ROTATE_KEEP_DEFAULT,
		.timeout_ns = 24 * 3600 * 1000000000ull,
	};
}

int do_record(int argc, char **argv, struct error *error)
{
	struct record_args a;
	struct launch_signals signals;
	int status = EXIT_DONE;
	struct recording one = { .args = &a, .signals = &signals, .started = clock__now() };

	record__defaults(&a);
	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	if (a.daemonize && blackbox__fork(&a, &status, error))
		return status;
	record__prepare_signals(&signals);
	if (a.follow)
		return follow__run(&one, error);
	if (targets__given(&a))
		return targets__run(&one, error);
	recording__run(&one, &status, error);
	return status;
}
