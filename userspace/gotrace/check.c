// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace check: is it a valid trace? By the rules of Go's own reader.
 *
 * trace/reader.c does all of the work; here events are only counted.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/memory_limit.h"

enum { OPT_LENIENT = 256, OPT_JSON };

struct arguments {
	char **paths;
	int n;
	struct reader_opts reader;
	bool json;
};

static const struct argp_option options[] = {
	{ "lenient", OPT_LENIENT, NULL, 0,
	  "let a broken or cut end of the trace be, and say what was left out", 0 },
	{ "json", OPT_JSON, NULL, 0, "a JSON object a trace", 0 },
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_LENIENT:
		a->reader.lenient = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		a->paths = state->argv + state->next;
		a->n = state->argc - state->next;
		return 0;
	default:
		return command__key(key, state, "check");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE...",
	"Checks that traces are valid: that Go's own reader, and with it `go tool trace`, would read "
	"them to the end.",
	NULL,
	NULL,
	NULL,
};

struct counts { /* events: those of the file, see trace_event__is_of_file() */
	char format[16];
	uint64_t generations, events, goroutines;
	int64_t start, end; /* ns of the trace */
};

/* Types that may be the first that is heard of a goroutine, or of a generation. All others are
   only counted, since this runs once an event. */
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

static int count(struct reader *r, struct counts *ret, struct error *err)
{
	struct counts n = {};
	struct trace_event ev = {};
	bool any = false;
	int code;

	while ((code = reader__next(r, &ev, err)) > 0) {
		if (!any)
			n.start = ev.time;
		any = true;
		n.events += !ev.extra;
		if (__builtin_expect(counted[ev.type], 0))
			count_first(&ev, &n);
	}
	n.end = any ? ev.time : 0;
	if (reader__version(r))
		snprintf(n.format, sizeof(n.format), "go1.%u", reader__version(r));
	else
		strcpy(n.format, "gotrace");
	*ret = n;
	return code;
}

static void print_line(const char *name, const struct counts *n)
{
	printf("%s: ok, %s format, ", name, n->format);
	if (n->generations) /* those before Go 1.22 have none */
		printf("%" PRIu64 " generation%s, ", n->generations,
		       n->generations == 1 ? "" : "s");
	printf("%" PRIu64 " event%s, %" PRIu64 " goroutine%s\n", n->events,
	       n->events == 1 ? "" : "s", n->goroutines, n->goroutines == 1 ? "" : "s");
}

static void print_json(const char *name, const struct counts *n, const char *left_out,
		       const char *reason)
{
	struct json j;

	json__init(&j, stdout, true);
	json__open(&j, NULL, '{');
	json__string(&j, "file", name);
	json__bool(&j, "ok", !reason);
	if (reason) {
		json__string(&j, "reason", reason);
	} else {
		json__string(&j, "format", n->format);
		json__u64(&j, "generations", n->generations);
		json__u64(&j, "events", n->events);
		json__u64(&j, "goroutines", n->goroutines);
		json__i64(&j, "start", n->start);
		json__i64(&j, "end", n->end);
		json__string(&j, "left_out", left_out);
	}
	json__close(&j, '}');
}

static bool check_one(const char *path, const struct arguments *a)
{
	struct counts n = {};
	struct error err = {}, line = {};
	struct reader *r = NULL;
	const char *left_out, *name = strcmp(path, "-") ? path : "stdin";
	int code = open_trace(path, &a->reader, &r, &err);

	if (!code)
		code = count(r, &n, &err);
	if (code) {
		memory_limit__explain(&err, name);
		error__about(&line, code, name, &err);
		log__msg("%s", line.text);
	}
	left_out = code ? NULL : reader__left_out(r);
	if (left_out)
		log__msg("%s: left out the rest: %s", name, left_out);
	if (a->json)
		print_json(name, &n, left_out, code ? err.text : NULL);
	else if (!code)
		print_line(name, &n);
	reader__destroy(r);
	return !code;
}

int do_check(int argc, char **argv, struct error *err)
{
	char *default_path;
	struct arguments a = {};
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
