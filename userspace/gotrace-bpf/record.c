// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf record: its options and the setup of signals. record_options.c parses the options,
 * recording.c does the work, with --follow follow.c, and for several processes targets.c.
 */
#include <argp.h>
#include <signal.h>
#include <string.h>

#include "blackbox/blackbox_record.h"
#include "lib/clock.h"
#include "lib/log.h"
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
	LIBRARY_OPTION,
	NO_CACHE_OPTION,
	VERBOSE_OPTION,
	FORCE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct record_args *a = state->input;

	switch (key) {
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
		return record__option(key, text, state, "record");
	}
}

static const struct argp parser = {
	options,
	parse_option,
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
