// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace check: validates traces by the rules of Go's own reader.
 *
 * reader/reader.c does all of the work; this file only counts events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "lib/log.h"
#include "lib/memory_limit.h"
#include "lib/progress.h"
#include "reader/parallel.h"
#include "command.h"

struct arguments {
	char **paths;
	int n;
	unsigned int jobs;
	struct trace_args common; /* --lenient and --json */
};

static const struct argp_option options[] = {
	LENIENT_OPTION, { "json", OPT_JSON, NULL, 0, "print one JSON object per trace", 0 },
	JOBS_OPTION,	MEMORY_OPTION,
	HELP_OPTION,	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* all at once follow */
	case ARGP_KEY_ARGS:
		a->paths = state->argv + state->next;
		a->n = state->argc - state->next;
		return 0;
	case 'j':
		a->jobs = read_jobs(text);
		return 0;
	default:
		return trace_args__option(&a->common, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE...",
	"Validates traces: checks that Go's own reader, and therefore go tool trace, would read "
	"them to the end.",
};

/* events: as stored in the file, see trace_event__is_of_file() */
struct counts {
	uint64_t generations, events, goroutines;
	int64_t start, end; /* trace time, ns */
	uint64_t delivered; /* with syncs and derived events */
};

/*
 * Types that may introduce a goroutine or a generation. Events of other types are only counted:
 * this runs once per event.
 */
static const bool counted[EV_END] = {
	[EV_GO_CREATE] = true, [EV_GO_CREATE_BLOCKED] = true, [EV_GO_CREATE_SYSCALL] = true,
	[EV_GO_STATUS] = true, [EV_GO_STATUS_STACK] = true,   [EV_SYNC] = true,
};

static void count_first(const struct trace_event *ev, struct counts *n)
{
	switch (ev->type) {
	case EV_SYNC:
		n->generations += !!ev->sync->generation;
		n->events--;
		return;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		n->goroutines += ev->old == GO_STATE_UNDETERMINED;
		return;
	default:
		n->goroutines++;
	}
}

static int count(void *ret, struct reader *r, struct error *error)
{
	struct counts n = {};
	struct trace_event ev = {};
	int err;

	while ((err = reader__next(r, &ev, error)) > 0) {
		if (!n.delivered++)
			n.start = ev.time;
		n.end = ev.time; /* the reader may change the rest of ev after the last event */
		n.events += !ev.extra;
		if (__builtin_expect(counted[ev.type], 0))
			count_first(&ev, &n);
	}
	*(struct counts *)ret = n;
	return err;
}

static uint64_t delivered(const void *part)
{
	return ((const struct counts *)part)->delivered;
}

static void add_counts(void *total, const void *part, int64_t end)
{
	const struct counts *from = part;
	struct counts *to = total;

	to->generations += from->generations;
	to->events += from->events;
	to->goroutines += from->goroutines;
	if (!to->delivered)
		to->start = from->start;
	if (from->delivered)
		to->end = end;
	to->delivered += from->delivered;
}

static const struct parallel_ops counting = { sizeof(struct counts), count, delivered, add_counts };

/* The format of the trace, in a buffer of 16 bytes. */
static const char *format_of(const struct reader *r, char *buf)
{
	if (!reader__version(r))
		return "gotrace";
	snprintf(buf, 16, "go1.%u", reader__version(r));
	return buf;
}

static void print_line(const char *name, const struct reader *r, const struct counts *n)
{
	char buf[16];

	progress__end();
	printf("%s: ok, %s format, ", name, format_of(r, buf));
	if (n->generations) /* traces before Go 1.22 have no generations */
		printf("%" PRIu64 " generation%s, ", n->generations,
		       n->generations == 1 ? "" : "s");
	printf("%" PRIu64 " event%s, %" PRIu64 " goroutine%s\n", n->events,
	       n->events == 1 ? "" : "s", n->goroutines, n->goroutines == 1 ? "" : "s");
}

static void print_json(const char *name, const struct reader *r, const struct counts *n,
		       const char *reason)
{
	struct json j;
	char buf[16];

	json__init(&j, stdout, true);
	json__open(&j, NULL, '{');
	json__string(&j, "file", name);
	json__bool(&j, "ok", !reason);
	if (reason) {
		json__string(&j, "reason", reason);
	} else {
		json__string(&j, "format", format_of(r, buf));
		json__u64(&j, "generations", n->generations);
		json__u64(&j, "events", n->events);
		json__u64(&j, "goroutines", n->goroutines);
		json__i64(&j, "start", n->start);
		json__i64(&j, "end", n->end);
		json__string(&j, "left_out", reader__left_out(r));
	}
	json__close(&j, '}');
}

static bool check_one(const char *path, const struct arguments *a)
{
	struct counts n = {};
	struct error err = {}, line = {};
	struct reader *r = NULL;
	const char *left_out, *name = strcmp(path, "-") ? path : "stdin";
	int code = open_trace(path, &a->common.reader, &r, &err);

	if (!code)
		code = parallel__read(r, a->jobs, &counting, &n, &err);
	if (code) {
		memory_limit__explain(&err, name);
		error__about(&line, code, name, &err);
		log__msg("%s", line.text);
	}
	left_out = code ? NULL : reader__left_out(r);
	if (left_out)
		log__msg("%s: the rest was left out: %s", name, left_out);
	if (a->common.json)
		print_json(name, r, &n, code ? err.text : NULL);
	else if (!code)
		print_line(name, r, &n);
	reader__destroy(r);
	return !code;
}

int do_check(int argc, char **argv, struct error *error)
{
	char *default_path;
	struct arguments a = { .jobs = default_jobs(), .common.verb = "check" };
	int status = EXIT_DONE;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.n) {
		default_path = (char *)default_input();
		a.paths = &default_path;
		a.n = 1;
	}
	for (int i = 0; i < a.n; i++)
		if (!check_one(a.paths[i], &a))
			status = EXIT_FAILED;
	return status;
}
