// SPDX-License-Identifier: GPL-2.0
/*
 * What several verbs of gotrace begin with: the trace that they read, and the moments of it that
 * the command line names. Before lib/input.c and trace/reader.c in an event's way.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "trace/describe.h"

int open_trace(const char *path, const struct reader_opts *opts, struct reader **ret,
	       struct error *err)
{
	struct input *in;
	int code = input__open(&in, path, err);

	return code ? code : reader__open(ret, in, opts, err);
}

const char *default_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) ||
	    !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode)))
		usage_error("no FILE given");
	return "-";
}

void say_what_is_missing(const char *name, const struct reader *r)
{
	const struct described_event *ev;
	uint64_t n;

	for (unsigned int type = 0; type < 256; type++) {
		n = reader__passed_over(r, (uint8_t)type, &ev);
		if (n)
			log__msg("%s: passed over %" PRIu64 " event%s of a type newer than this "
				 "program, %u: %.*s (%.*s)",
				 name, n, n == 1 ? "" : "s", type, (int)ev->name.len, ev->name.data,
				 (int)ev->what.len, ev->what.data);
	}
	if (reader__left_out(r))
		log__msg("%s: left out the rest: %s", name, reader__left_out(r));
}

/* As verbs print times: with a unit, or, as events and path do, as seconds without one. */
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
	bool before = text[0] == '-'; /* the start: events --fixup prints such */
	uint64_t ns;

	if (absolute ? !opts__number(text + 1, 0, INT64_MAX, &ns) :
		       !parse_since_start(text + before, &ns))
		return false;
	*ret = (struct moment){ .absolute = absolute, .ns = before ? -(int64_t)ns : (int64_t)ns };
	return true;
}

bool read_moment(const char *option, const char *text, struct moment *ret)
{
	if (!parse_moment(text, ret))
		usage_error("%s '%s': not a time; expected seconds since the start (1.5), a "
			    "time with its unit (1500ms) or @NANOSECONDS of the trace's clock",
			    option, text);
	return true;
}

void check_moments(const struct moment *from, const struct moment *to)
{
	if (from->absolute == to->absolute && from->ns >= to->ns)
		usage_error("--from is not before --to");
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

int trace_source__option(struct trace_source *source, int key, char *text)
{
	switch (key) {
	case SOURCE_FROM:
		source->have_from = read_moment("--from", text, &source->from);
		return 0;
	case SOURCE_TO:
		source->have_to = read_moment("--to", text, &source->to);
		return 0;
	case SOURCE_LENIENT:
		source->reader.lenient = true;
		return 0;
	case SOURCE_BINARY:
		source->reader.binary = text;
		return 0;
	case ARGP_KEY_ARG:
		if (source->path)
			usage_error("one trace at a time, not \"%s\" as well", text);
		source->path = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void trace_source__check(struct trace_source *source)
{
	if (!source->path)
		source->path = default_input();
	source->name = strcmp(source->path, "-") ? source->path : "stdin";
	if (source->have_from && source->have_to)
		check_moments(&source->from, &source->to);
}
