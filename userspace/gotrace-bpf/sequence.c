// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf sequence: a raw file through the sequencer, as the recorder would have done it.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lib/log.h"
#include "sequence.h"
#include "target/layout.h"

struct arguments {
	const char *raw;
	struct sink_opts sink;
};

static const struct argp_option options[] = {
	SEQUENCE_OPTIONS,
	FORCE_OPTION,
	HELP_OPTION,
	{},
};

int sequence__option(struct sink_opts *opts, int key, char *text)
{
	switch (key) {
	case 'o':
		opts->path = text;
		return 0;
	case SEQUENCE_TICK:
		opts->tick_ns = parse_tick(text);
		return 0;
	case SEQUENCE_FORMAT:
		opts->version = parse_version(text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	if (sequence__option(&a->sink, key, text) != ARGP_ERR_UNKNOWN)
		return 0;
	switch (key) {
	case ARGP_KEY_ARG:
		if (a->raw)
			usage_error("one raw file at a time, not \"%s\" as well", text);
		a->raw = text;
		return 0;
	default:
		return command__key(key, state, "sequence");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"RAWFILE -o FILE",
	"Makes a trace of the records that `gotrace-bpf record --raw RAWFILE` saved.",
	NULL,
	NULL,
	NULL,
};

int sequence__replay(const struct sink_opts *opts, struct replay *r, const char *name,
		     struct error *err)
{
	const struct raw_header *facts = replay__header(r);
	struct private_meta meta = {
		.tool = "gotrace-bpf " GOTRACE_VERSION,
		.command = facts->command,
		.command_len = strlen(facts->command),
		.build_id = facts->build_id,
		.clock = "CLOCK_MONOTONIC",
		.go_version = facts->go_version,
	};
	struct sink_opts how = *opts;
	struct symbolizer symbolizer;
	struct go_version version;
	struct layout layout = {};
	struct sink *sink = NULL;
	int code;

	if (!go_version__parse(facts->go_version, &version))
		return error__set(err, -EINVAL, "%s: recorded from \"%s\", which is no Go version",
				  name, facts->go_version);
	code = layout__for_version(&version, &layout, err);
	how.stacks = facts->stacks;
	how.no_syscalls = facts->no_syscalls;
	if (!code)
		code = sink__open(&sink, &how, err);
	replay__symbolizer(r, &symbolizer);
	if (!code)
		code = sink__create_sequencer(sink, &layout, &symbolizer, &meta);
	if (!code)
		code = sink__commit(sink, replay__run(r, sink__sequencer(sink)), err);
	sink__destroy(sink);
	return code;
}

static int replay(struct arguments *a, struct replay *r, struct error *err)
{
	int code = sequence__replay(&a->sink, r, a->raw, err);

	if (!code && !replay__ended(r))
		log__msg("%s has no end: its recorder was killed, and there are no symbols in it",
			 a->raw);
	return code;
}

int do_sequence(int argc, char **argv, struct error *err)
{
	struct arguments a = { .sink = { .version = 25, .tick_ns = 1 } };
	struct replay *r = NULL;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.raw || !a.sink.path)
		usage_error("RAWFILE and -o FILE are both needed");
	if (strcmp(a.raw, "-")) /* from stdin to stdout is well */
		refuse_same_file("RAWFILE", a.raw, "-o", a.sink.path);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	code = replay__open(&r, a.raw, err);
	if (!code)
		code = replay(&a, r, err);
	replay__destroy(r);
	if (!code)
		return EXIT_DONE;
	error__set(err, code, "%s: %s", a.raw, strerror(-code));
	return EXIT_FAILED;
}
