// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace: reads and converts Go execution traces, offline. The table of its commands.
 */
#include <signal.h>

#include "command.h"

static const struct command commands[] = {
	{ "check", do_check, "check that a trace is valid, by the rules of Go's own reader" },
	{ "text", do_text, "show what is in a trace file, as text" },
	{ "raw", do_raw, "make a trace file of such a text" },
	{ "events", do_events, "show the events in the order in which they happened" },
	{ "stat", do_stat, "count what is in a trace" },
	{ "goroutines", do_goroutines, "show what each goroutine did with its time" },
	{ "latency", do_latency, "show where goroutines' time went on the machine" },
	{ "path", do_path, "show who made a goroutine wait" },
	{ "cut", do_cut, "make a trace of a part of a trace" },
	{ "index", do_index, "write FILE.idx, by which events and cut find a moment at once" },
	{ "describe", do_describe,
	  "show which events there are, and what a trace says of its own" },
	{ "convert", do_convert,
	  "make a trace of another version of the format, also of one of Go 1.5 to 1.21" },
	{ "align", do_align, "join a trace with what perf has seen of the scheduler" },
};

static const char *const recorder_verbs[] = { "record", "sequence", "recover",
					      "probes", "doctor",   NULL };

static const struct program program = {
	.name = "gotrace",
	.what = "Reads, checks and converts Go execution traces of any version. FILE may be -, and "
		"packed by\ngzip or zstd.",
	.more = "`gotrace VERB --help` has the options.",
	.ask = "missing command",
	.limit_memory = true,
	.commands = commands,
	.ncommands = sizeof(commands) / sizeof(*commands),
	.sibling = "gotrace-bpf",
	.sibling_verbs = recorder_verbs,
};

int main(int argc, char **argv)
{
	command__end_with_reader();
	signal(SIGXFSZ, SIG_IGN); /* arrives as the EFBIG of a write */
	return program__main(&program, argc, argv);
}
