// SPDX-License-Identifier: GPL-2.0
/*
 * The options that record, flight and serve have in common: their parser and defaults, and the
 * checks of combinations that apply to all three. Which of them a verb accepts is in its own table.
 *
 * Used by record.c, and by flight.c for flight and serve.
 */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "blackbox/blackbox_record.h"
#include "capture/sampler.h"
#include "lib/array.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "target/probe/presets.h"
#include "analysis.h"
#include "command.h"
#include "record.h"
#include "targets.h"

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

/* Which processes, and for how long. */
static bool parse_target(struct record_args *a, int key, char *text)
{
	switch (key) {
	case 'p':
	case OPT_EXE:
	case OPT_CGROUP:
	case OPT_UNIT:
		targets__option(a, key, text);
		return true;
	case 'd':
		if (!opts__duration(text, &a->duration_ns) || !a->duration_ns)
			usage_error("invalid duration '%s': expected a number with a unit, such as "
				    "500ms or 1m30s",
				    text);
		return true;
	case OPT_FOLLOW:
		a->follow = true;
		return true;
	}
	return false;
}

/* Which events, and how they are observed. */
static bool parse_contents(struct record_args *a, int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPT_EVENTS:
		a->sets = parse_events(text);
		a->sets_given = true;
		return true;
	case OPT_CPU:
		set_rate(a, text, state);
		return true;
	case OPT_NO_STACKS:
		a->no_stacks = true;
		return true;
	case OPT_STACK_DEPTH:
		if (!opts__number(text, 1, GT_STACK_MAX, &a->stack_depth))
			usage_error("invalid stack depth '%s': must be between 1 and %d", text,
				    GT_STACK_MAX);
		return true;
	case OPT_RING_SIZE:
		if (!opts__size(text, RING_SIZE_MIN, RING_SIZE_MAX, &a->ring_size))
			usage_error("invalid ring size '%s': must be between 16K and 256M", text);
		return true;
	case OPT_PERF:
		a->force_perf = true;
		return true;
	case OPT_PROBES:
		a->is_inline = !strcmp(text, "inline");
		if (!a->is_inline && strcmp(text, "uprobe"))
			usage_error("unknown kind of probes '%s': expected uprobe or inline", text);
		return true;
	case OPT_NO_LABELS:
		a->no_labels = true;
		return true;
	case OPT_MIN_DURATION:
		min_duration__parse(text, &a->min_call_ns);
		return true;
	case OPT_MAX_OVERHEAD:
		if (!budget__parse(text, &a->budget))
			usage_error("invalid overhead '%s': expected a percentage of a CPU, such "
				    "as 3%%, or of the program's CPU time, such as 3%%target; at "
				    "least 0.1%%",
				    text);
		return true;
	}
	return false;
}

static bool parse_calls(struct record_args *a, int key, char *text)
{
	switch (key) {
	case OPT_REGION:
	case OPT_TASK:
		add_call(a, text, key == OPT_TASK);
		return true;
	case OPT_INHERIT:
		a->inherit = true;
		return true;
	case OPT_REQUESTS:
		a->requests |= parse_requests(text);
		return true;
	case OPT_MAX_NAMES:
		if (!opts__number(text, 1, REQUEST_NAMES_MAX, &a->max_names))
			usage_error("invalid number of names '%s': must be 1 to %d", text,
				    REQUEST_NAMES_MAX);
		return true;
	}
	return false;
}

/* What is written, and where. */
static bool parse_files(struct record_args *a, int key, char *text)
{
	switch (key) {
	case 'o':
		a->output = text;
		return true;
	case OPT_TICK:
		a->format_given = true;
		a->tick = parse_tick(text);
		return true;
	case OPT_FORMAT:
		a->format_given = true;
		a->version = spec__parse_version(text);
		if (!a->version)
			usage_error(TRACE_VERSION_UNKNOWN, text);
		return true;
	case OPT_STATS:
		a->stats = text;
		return true;
	case OPT_SAVE_INPUT:
		a->raw = text;
		return true;
	case OPT_ROTATE:
		if (!opts__duration(text, &a->rotate_ns) || a->rotate_ns < ROTATE_MIN_NS)
			usage_error("invalid duration '%s': expected at least 1s, such as 10s",
				    text);
		return true;
	case OPT_KEEP:
		if (!opts__size(text, ROTATE_KEEP_MIN, INT64_MAX, &a->keep))
			usage_error("invalid size '%s': must be at least 1M, such as 4G", text);
		a->keep_given = true;
		return true;
	case OPT_SAMPLE:
		parse_sample(text, &a->sample);
		return true;
	case OPT_ALIGN_START:
		a->sample.is_aligned = true;
		return true;
	}
	return false;
}

static bool parse_blackbox(struct record_args *a, int key, char *text)
{
	switch (key) {
	case OPT_BLACKBOX:
		if (!blackbox__name_is_valid(text))
			usage_error("invalid flight recorder buffer name '%s': must be 1 to %d "
				    "letters, digits, dots, _ and -",
				    text, GT_NAME_MAX - 1);
		a->blackbox = text;
		return true;
	case OPT_DAEMONIZE:
		a->daemonize = true;
		return true;
	case OPT_TIMEOUT:
		if (!opts__duration(text, &a->timeout_ns) ||
		    a->timeout_ns > GT_TIMEOUT_MAX * 1000000000ull)
			usage_error(
				"invalid timeout '%s': expected a duration such as 90m, at most "
				"30 days",
				text);
		a->timeout_given = true;
		return true;
	}
	return false;
}

error_t record__option(int key, char *text, struct argp_state *state, const char *verb)
{
	struct record_args *a = state->input;

	switch (key) {
	case OPT_LIBRARY:
		analysis__library(text);
		return 0;
	case OPT_NO_CACHE:
		analysis__no_cache();
		return 0;
	case 'v':
		log__set_verbose(true);
		return 0;
	}
	if (parse_target(a, key, text) || parse_contents(a, key, text, state) ||
	    parse_calls(a, key, text) || parse_files(a, key, text) || parse_blackbox(a, key, text))
		return 0;
	return command__key(key, state, verb);
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

void record__defaults(struct record_args *ret)
{
	*ret = (struct record_args){
		.sets = SITE_SETS_DEFAULT,
		.stack_depth = GT_STACK_MAX,
		.sample_hz = SAMPLER_HZ_DEFAULT,
		.tick = 1,
		.keep = ROTATE_KEEP_DEFAULT,
		.timeout_ns = 24 * 3600 * 1000000000ull,
	};
}
