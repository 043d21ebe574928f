// SPDX-License-Identifier: GPL-2.0
/*
 * What several verbs of gotrace begin with: the trace that they read, and the moments of it that
 * the command line names. Before lib/input.c and trace/reader.c in an event's way.
 */
#include <argp.h>
#include <inttypes.h>

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

static bool parse_moment(const char *text, struct moment *ret)
{
	bool absolute = text[0] == '@';
	uint64_t ns;

	if (absolute ? !opts__number(text + 1, 0, INT64_MAX, &ns) : !opts__duration(text, &ns))
		return false;
	*ret = (struct moment){ .absolute = absolute, .ns = (int64_t)ns };
	return true;
}

bool read_moment(const char *option, const char *text, struct moment *ret)
{
	if (!parse_moment(text, ret))
		usage_error("%s \"%s\": a time since the start (1.5s) or @NANOSECONDS", option,
			    text);
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
	return __builtin_add_overflow(start, moment->ns, &time) ? INT64_MAX : time;
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
		source->name = strcmp(text, "-") ? text : "stdin";
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
