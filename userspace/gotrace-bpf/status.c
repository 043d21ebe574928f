// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf status: asks the running 'gotrace-bpf serve' for the state of its targets, by the control
 * socket, and prints it as a table or as JSON.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "print/print.h"
#include "service/control.h"
#include "service/status.h"
#include "command.h"

#define PATIENCE (10 * 1000000000ull) /* for the answer, ns */

enum { OPT_JSON = 256, OPT_CONTROL };

struct status_args {
	const char *control;
	bool json;
};

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "print JSON, with all figures", 0 },
	{ "control", OPT_CONTROL, "PATH", 0,
	  "control socket of 'gotrace-bpf serve' (default: " CONTROL_PATH ")", 0 },
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct status_args *a = state->input;

	switch (key) {
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_CONTROL:
		a->control = text;
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN;
	default:
		return command__key(key, state, "status");
	}
}

static const struct argp parser = {
	options, parse_option,
	NULL,	 "Shows what a running 'gotrace-bpf serve' records, and what that costs.",
	NULL,	 NULL,
	NULL,
};

/* ---- the table ---- */

/* "512", "1.5K", "12.3M", in 10 columns. */
static void put_size(struct out *o, double bytes)
{
	static const char units[] = "KMGT";
	size_t i = 0;

	if (bytes < 1024) {
		out__format(o, "%10.0f", bytes);
		return;
	}
	for (bytes /= 1024; bytes >= 1024 && i + 2 < sizeof(units); i++)
		bytes /= 1024;
	out__format(o, "%9.1f%c", bytes, units[i]);
}

/* "42s", "12m", "3.5h", "8.2d" */
static void put_age(struct out *o, double s)
{
	if (s < 120)
		out__format(o, "%7.0fs", s);
	else if (s < 7200)
		out__format(o, "%7.0fm", s / 60);
	else if (s < 2 * 86400)
		out__format(o, "%7.1fh", s / 3600);
	else
		out__format(o, "%7.1fd", s / 86400);
}

/* Of one CPU; '-' while it is unknown. */
static void put_percent(struct out *o, const struct status *s, uint64_t first, uint64_t last,
			bool known)
{
	if (known && s->last.time > s->first.time)
		out__format(o, "%7.1f%%", status__rate(s, first, last) / 1e7);
	else
		out__format(o, "%8s", "-");
}

static void put_rates(struct out *o, const struct status *s)
{
	if (s->last.time > s->first.time) {
		out__format(o, "%10.0f", status__rate(s, s->first.events, s->last.events));
		put_size(o, status__rate(s, s->first.bytes, s->last.bytes));
	} else {
		out__format(o, "%10s%10s", "-", "-");
	}
	out__format(o, "%12" PRIu64 "%8" PRIu64, s->now.events, s->now.lost);
	put_percent(o, s, s->first.cost_ns, s->last.cost_ns, s->trap_ns);
	put_percent(o, s, s->first.cpu_ns, s->last.cpu_ns, true);
}

static void put_window(struct out *o, const struct status *s)
{
	if (!s->is_flight) {
		out__format(o, "%8s%10s%10s", "-", "-", "-");
		return;
	}
	put_age(o, (double)(s->window_to - s->window_from) / 1e9);
	put_size(o, (double)s->window_bytes);
	out__format(o, "%10" PRIu64, s->snapshots);
}

static void put_target(struct out *o, const struct status *s, uint64_t now)
{
	out__format(o, "%8d", s->pid);
	if (s->state == STATUS_RECORDING) {
		put_age(o, now > s->started ? (double)(now - s->started) / 1e9 : 0);
		put_rates(o, s);
		put_size(o, (double)(s->memory + s->kernel_memory));
		put_window(o, s);
	} else {
		out__format(o, "  %-102s", status__state(s));
	}
	out__text(o, "  ");
	out__ascii(o, s->name, strlen(s->name));
	out__char(o, '\n');
}

static void print_table(const struct status *s, size_t n, uint64_t now)
{
	struct out *o = out__table();

	out__format(o, "%8s%8s%10s%10s%12s%8s%8s%8s%10s%8s%10s%10s  %s\n", "PID", "AGE", "EVENTS/S",
		    "BYTES/S", "EVENTS", "LOST", "COST", "CPU", "MEMORY", "WINDOW", "SIZE",
		    "SNAPSHOTS", "NAME");
	for (size_t i = 0; i < n; i++)
		put_target(o, &s[i], now);
	out__flush(o);
}

/* ---- the request ---- */

static int read_status(const char *path, struct status **ret, size_t *n, struct error *error)
{
	struct channel_request request = { .kind = CHANNEL_STATS, .id = 1 };
	int socket = control__connect(path, error), memory, err;

	if (socket < 0)
		return socket;
	memory = channel__memory();
	err = memory < 0 ? error__set(error, memory, "memfd_create: %s", strerror(-memory)) :
			   control__ask(socket, &request, memory, PATIENCE, error);
	if (!err) {
		err = status__read(memory, ret, n);
		if (err)
			error__set(error, err,
				   "the answer of 'gotrace-bpf serve' is invalid: it may be of "
				   "another version");
	}
	if (memory >= 0)
		close(memory);
	close(socket);
	return err;
}

int do_status(int argc, char **argv, struct error *error)
{
	struct status_args a = { .control = CONTROL_PATH };
	struct status *s;
	size_t n;

	argp_parse(&parser, argc, argv, ARGP_IN_ORDER | COMMAND_FLAGS, NULL, &a);
	command__end_with_reader();
	if (read_status(a.control, &s, &n, error))
		return EXIT_FAILED;
	if (a.json)
		status__print_json(stdout, s, n, clock__now());
	else if (n)
		print_table(s, n, clock__now());
	else
		log__msg("'gotrace-bpf serve' is running, and no process is being recorded");
	free(s);
	return EXIT_DONE;
}
