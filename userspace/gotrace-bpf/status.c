// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf status: asks the running 'gotrace-bpf serve' for the state of its targets, by the control
 * socket, and prints it as a table or as JSON.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
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

#define COLUMNS(X)                                                                                 \
	X(PID, "PID", 8)                                                                           \
	X(AGE, "AGE", 8)                                                                           \
	X(EVENTS_RATE, "EVENTS/S", 10)                                                             \
	X(BYTES_RATE, "BYTES/S", 10)                                                               \
	X(EVENTS, "EVENTS", 12)                                                                    \
	X(LOST, "LOST", 8)                                                                         \
	X(COST, "COST", 8)                                                                         \
	X(CPU, "CPU", 8)                                                                           \
	X(MEMORY, "MEMORY", 10)                                                                    \
	X(WINDOW, "WINDOW", 8)                                                                     \
	X(SIZE, "SIZE", 10)                                                                        \
	X(SNAPSHOTS, "SNAPSHOTS", 10)

#define NAME(name, title, width) name,
enum column { COLUMNS(NAME) NCOLUMNS };

#define ROW(name, title, width) { title, width },
static const struct {
	const char *title;
	int width;
} columns[] = { COLUMNS(ROW) };

#define NAME_ROOM 14 /* for the name, with the space before it */

struct table {
	struct out *o;
	bool hidden[NCOLUMNS];
	unsigned int width; /* of the columns that are shown */
};

/* On a terminal, hides columns until there is space for the name. */
static void fit(struct table *t)
{
	static const enum column expendable[] = { SNAPSHOTS, SIZE, EVENTS, BYTES_RATE, WINDOW };
	unsigned int room = t->o->screen.width;

	for (unsigned int i = 0; i < NCOLUMNS; i++)
		t->width += (unsigned int)columns[i].width;
	for (size_t i = 0;
	     room && i < sizeof(expendable) / sizeof(*expendable) && t->width + NAME_ROOM > room;
	     i++) {
		t->hidden[expendable[i]] = true;
		t->width -= (unsigned int)columns[expendable[i]].width;
	}
}

__attribute__((format(printf, 3, 4))) static void put(const struct table *t, enum column column,
						      const char *fmt, ...)
{
	char text[32];
	va_list ap;

	if (t->hidden[column])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out__format(t->o, "%*s", columns[column].width, text);
}

/* "512", "1.5K", "12.3M" */
static void put_size(const struct table *t, enum column column, double bytes)
{
	static const char units[] = "KMGT";
	size_t i = 0;

	if (bytes < 1024) {
		put(t, column, "%.0f", bytes);
		return;
	}
	for (bytes /= 1024; bytes >= 1024 && i + 2 < sizeof(units); i++)
		bytes /= 1024;
	put(t, column, "%.1f%c", bytes, units[i]);
}

/* "42s", "12m", "3.5h", "8.2d" */
static void put_age(const struct table *t, enum column column, double s)
{
	if (s < 120)
		put(t, column, "%.0fs", s);
	else if (s < 7200)
		put(t, column, "%.0fm", s / 60);
	else if (s < 2 * 86400)
		put(t, column, "%.1fh", s / 3600);
	else
		put(t, column, "%.1fd", s / 86400);
}

/* Of one CPU; '-' while it is unknown. */
static void put_percent(const struct table *t, enum column column, const struct status *s,
			uint64_t first, uint64_t last, bool known)
{
	if (known && s->last.time > s->first.time)
		put(t, column, "%.1f%%", status__rate(s, first, last) / 1e7);
	else
		put(t, column, "-");
}

static void put_rates(const struct table *t, const struct status *s)
{
	if (s->last.time > s->first.time) {
		put(t, EVENTS_RATE, "%.0f", status__rate(s, s->first.events, s->last.events));
		put_size(t, BYTES_RATE, status__rate(s, s->first.bytes, s->last.bytes));
	} else {
		put(t, EVENTS_RATE, "-");
		put(t, BYTES_RATE, "-");
	}
	put(t, EVENTS, "%" PRIu64, s->now.events);
	put(t, LOST, "%" PRIu64, s->now.lost);
	put_percent(t, COST, s, s->first.cost_ns, s->last.cost_ns, s->trap_ns);
	put_percent(t, CPU, s, s->first.cpu_ns, s->last.cpu_ns, true);
}

static void put_window(const struct table *t, const struct status *s)
{
	if (!s->is_flight) {
		put(t, WINDOW, "-");
		put(t, SIZE, "-");
		put(t, SNAPSHOTS, "-");
		return;
	}
	put_age(t, WINDOW, (double)(s->window_to - s->window_from) / 1e9);
	put_size(t, SIZE, (double)s->window_bytes);
	put(t, SNAPSHOTS, "%" PRIu64, s->snapshots);
}

static void put_target(const struct table *t, const struct status *s, uint64_t now)
{
	put(t, PID, "%d", s->pid);
	if (s->state == STATUS_RECORDING) {
		put_age(t, AGE, now > s->started ? (double)(now - s->started) / 1e9 : 0);
		put_rates(t, s);
		put_size(t, MEMORY, (double)(s->memory + s->kernel_memory));
		put_window(t, s);
	} else {
		out__format(t->o, "  %-*s", (int)t->width - columns[PID].width - 2,
			    status__state(s));
	}
	out__text(t->o, "  ");
	out__ascii(t->o, s->name, strlen(s->name));
	out__char(t->o, '\n');
}

static void put_hidden(const struct table *t)
{
	const char *separator = "\nNot shown (terminal too narrow): ";

	for (unsigned int i = 0; i < NCOLUMNS; i++)
		if (t->hidden[i]) {
			out__text(t->o, separator);
			out__text(t->o, columns[i].title);
			separator = ", ";
		}
	if (*separator == ',')
		out__char(t->o, '\n');
}

static void print_table(const struct status *s, size_t n, uint64_t now)
{
	struct table t = { .o = out__table() };

	fit(&t);
	for (unsigned int i = 0; i < NCOLUMNS; i++)
		put(&t, i, "%s", columns[i].title);
	out__text(t.o, "  NAME\n");
	for (size_t i = 0; i < n; i++)
		put_target(&t, &s[i], now);
	put_hidden(&t);
	out__flush(t.o);
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
