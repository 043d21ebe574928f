// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf replay: passes a raw file to the sequencer, exactly as the recorder did. Upstream:
 * rawfile/replay.c. Downstream: capture/sink.c.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/version.h"
#include "lib/log.h"
#include "target/layout/layout.h"
#include "writer/output.h"
#include "command.h"
#include "replay.h"

struct arguments {
	const char *raw;
	struct sink_opts sink;
};

static const struct argp_option options[] = {
	REPLAY_OPTIONS,
	FORCE_OPTION,
	HELP_OPTION,
	{},
};

int replay__option(struct sink_opts *opts, int key, char *text)
{
	switch (key) {
	case 'o':
		opts->path = text;
		return 0;
	case REPLAY_TICK:
		opts->tick_ns = parse_tick(text);
		return 0;
	case REPLAY_FORMAT:
		opts->version = spec__parse_version(text);
		if (!opts->version)
			usage_error(TRACE_VERSION_UNKNOWN, text);
		return 0;
	case REPLAY_MIN_DURATION:
		min_duration__parse(text, &opts->min_call_ns);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	if (replay__option(&a->sink, key, text) != ARGP_ERR_UNKNOWN)
		return 0;
	switch (key) {
	case ARGP_KEY_ARG:
		if (a->raw)
			usage_error("more than one RAWFILE given: '%s'", text);
		a->raw = text;
		return 0;
	default:
		return command__key(key, state, "replay");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"RAWFILE -o FILE",
	"Makes a trace of the records that 'gotrace-bpf record --save-input RAWFILE' saved.",
	NULL,
	NULL,
	NULL,
};

static int play(struct sink *sink, struct replay *r, const struct flight_cause *cause)
{
	struct sequencer *seq = sink__sequencer(sink);
	uint64_t end;
	int err;

	if (!cause)
		return replay__run(r, seq);
	err = replay__play(r, seq, &end);
	if (!err) /* so that the last generation is open, for the cause */
		err = sequencer__watermark(seq, end);
	if (err)
		return err;
	sink__request(sink, cause);
	return sink__finish(sink, end);
}

int replay__write_trace(const struct sink_opts *opts, struct replay *r, const char *name,
			const struct flight_cause *cause, struct error *error)
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
	int err;

	if (!go_version__parse(facts->go_version, &version))
		return error__set(error, -EINVAL, "%s: invalid Go version '%s'", name,
				  facts->go_version);
	err = layout__for_version(&version, &layout, error);
	how.no_syscalls = facts->no_syscalls;
	how.version = how.version ?: spec__version_for(version.minor);
	if (!err)
		err = sink__open(&sink, &how, error);
	replay__symbolizer(r, &symbolizer);
	if (!err)
		err = sink__create_sequencer(sink, &layout, &symbolizer, &meta);
	if (!err)
		err = sink__start_files(sink, facts);
	if (!err)
		err = sink__commit(sink, play(sink, r, cause), error);
	if (!err && cause && !sink__snapshots(sink))
		err = error__set(error, -ENODATA, "there are no events in the window");
	sink__destroy(sink);
	return err;
}

static int replay(struct arguments *a, struct replay *r, struct error *error)
{
	int err = replay__write_trace(&a->sink, r, a->raw, NULL, error);

	if (!err && !replay__ended(r))
		log__msg("%s is truncated: the recorder was killed before it wrote symbols",
			 a->raw);
	if (!err)
		output__suggest(a->sink.path);
	return err;
}

int do_replay(int argc, char **argv, struct error *error)
{
	struct arguments a = { .sink = { .tick_ns = 1 } };
	struct replay *r = NULL;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.raw || !a.sink.path)
		usage_error(a.raw ? "missing option -o FILE" : "missing argument RAWFILE");
	if (strcmp(a.raw, "-")) /* from stdin to stdout is permitted */
		refuse_same_file("RAWFILE", a.raw, "-o", a.sink.path);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	err = replay__open(&r, a.raw, error);
	if (!err)
		err = replay(&a, r, error);
	replay__destroy(r);
	if (!err)
		return EXIT_DONE;
	error__set(error, err, "%s: %s", a.raw, strerror(-err));
	return EXIT_FAILED;
}
