// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that several commands of gotrace share: open the trace, and parse the points in time of
 * the command line. Downstream: lib/input.c and reader/reader.c.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/describe.h"
#include "lib/log.h"
#include "lib/memory_limit.h"
#include "lib/opts.h"
#include "command.h"

#define JOBS_USUAL 4   /* generations at once: memory grows with them */
#define JOBS_MAX   256 /* of -j */

int open_trace(const char *path, const struct reader_opts *opts, struct reader **ret,
	       struct error *error)
{
	struct input *in;
	int err = input__open(&in, path, error);

	return err ? err : reader__open(ret, in, opts, error);
}

const char *default_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) ||
	    !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode)))
		usage_error("missing argument FILE");
	return "-";
}

void report_omissions(const char *name, const struct reader *r)
{
	const struct described_event *ev;
	uint64_t n;

	for (unsigned int type = 0; type < 256; type++) {
		n = reader__skipped(r, (uint8_t)type, &ev);
		if (n)
			log__msg("%s: skipped %" PRIu64 " event%s of type %u, which is newer "
				 "than this program: %.*s (%.*s)",
				 name, n, n == 1 ? "" : "s", type, (int)ev->name.len, ev->name.data,
				 (int)ev->what.len, ev->what.data);
	}
	if (reader__left_out(r))
		log__msg("%s: the rest was left out: %s", name, reader__left_out(r));
}

/* In the forms in which commands print times: with a unit, or in seconds without one. */
static bool parse_since_start(const char *text, uint64_t *ret)
{
	char seconds[64];

	if (text[strspn(text, "0123456789.")] || strlen(text) > sizeof(seconds) - 2)
		return opts__duration(text, ret);
	snprintf(seconds, sizeof(seconds), "%ss", text);
	return opts__duration(seconds, ret);
}

static bool parse_moment(const char *text, struct moment *ret)
{
	bool absolute = text[0] == '@';
	bool before = text[0] == '-'; /* before the start: events --fixup can print such times */
	uint64_t ns;

	if (absolute ? !opts__number(text + 1, 0, INT64_MAX, &ns) :
		       !parse_since_start(text + before, &ns))
		return false;
	*ret = (struct moment){ .absolute = absolute, .ns = before ? -(int64_t)ns : (int64_t)ns };
	return true;
}

/* Returns true; an invalid `text` is a usage_error() that names the option. */
static bool read_moment(const char *option, const char *text, struct moment *ret)
{
	if (!parse_moment(text, ret))
		usage_error("invalid time '%s' for %s: expected seconds since the start (1.5), a "
			    "time with a unit (1500ms), or @NANOSECONDS of the trace's clock",
			    text, option);
	return true;
}

int64_t moment__time(const struct moment *moment, int64_t start)
{
	int64_t time;

	if (moment->absolute)
		return moment->ns;
	if (__builtin_add_overflow(start, moment->ns, &time))
		return moment->ns < 0 ? INT64_MIN : INT64_MAX;
	return time;
}

unsigned int default_jobs(void)
{
	cpu_set_t cpus;
	int n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	if (memory_limit__is_set())
		return 1;
	return (unsigned int)(n < JOBS_USUAL ? n : JOBS_USUAL);
}

unsigned int read_jobs(const char *text)
{
	uint64_t n;

	if (!opts__number(text, 1, JOBS_MAX, &n))
		usage_error("invalid number '%s' for -j: expected 1 to %d", text, JOBS_MAX);
	return (unsigned int)n;
}

error_t trace_args__option(struct trace_args *args, int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPT_FROM:
		args->have_from = read_moment("--from", text, &args->from);
		return 0;
	case OPT_TO:
		args->have_to = read_moment("--to", text, &args->to);
		return 0;
	case OPT_LENIENT:
		args->reader.lenient = true;
		return 0;
	case OPT_PROGRAM:
		args->reader.binary = text;
		return 0;
	case OPT_JSON:
		args->json = true;
		return 0;
	case 'o':
		args->out = text;
		return 0;
	case ARGP_KEY_ARG:
		if (args->path)
			usage_error("unexpected argument '%s': only one file is accepted", text);
		args->path = text;
		return 0;
	default:
		return command__key(key, state, args->verb);
	}
}

error_t trace_args__parse(int key, char *text, struct argp_state *state)
{
	return trace_args__option(state->input, key, text, state);
}

void trace_args__check(struct trace_args *args)
{
	if (!args->path)
		args->path = default_input();
	args->name = strcmp(args->path, "-") ? args->path : "stdin";
	if (args->have_from && args->have_to && args->from.absolute == args->to.absolute &&
	    args->from.ns >= args->to.ns)
		usage_error("--from must be before --to");
	if (strcmp(args->path, "-")) /* reading stdin and writing stdout is fine */
		refuse_same_file("FILE", args->path, "-o", args->out);
}
