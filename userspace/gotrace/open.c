// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that several commands of gotrace share: parse their common options, and open the trace.
 * Points in time are parsed by moment.c. Downstream: lib/input.c and reader/reader.c.
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
#include "reader/timeline.h"
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

void report_gaps(const char *name, const struct gaps *gaps)
{
	double ns = 0;

	for (size_t i = 0; i < gaps->n; i++)
		ns += (double)gaps->at[i].to - (double)gaps->at[i].from;
	if (gaps->any)
		log__msg(
			"%s: records were lost in %zu gap%s, %.6f s in all: what goroutines did "
			"there, and until their next events, is unknown; 'gotrace stat' shows when",
			name, gaps->n, gaps->n == 1 ? "" : "s", ns / 1e9);
}

void report_short_calls(const char *name, const struct private_short *sum)
{
	if (sum->min_ns)
		log__msg("%s: system calls below %g ms are not in the trace, and their time counts "
			 "as running; 'gotrace stat' shows the sum",
			 name, (double)sum->min_ns / 1e6);
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
	if (!selection__option(&args->select, key, text))
		return 0;
	switch (key) {
	case OPT_FROM:
		moment__parse("--from", text, &args->from);
		args->have_from = true;
		return 0;
	case OPT_TO:
		moment__parse("--to", text, &args->to);
		args->have_to = true;
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
	if (args->have_from && args->have_to && args->from.clock == args->to.clock &&
	    args->from.ns >= args->to.ns)
		usage_error("--from must be before --to");
	if (!args->wall_clock && ((args->have_from && args->from.clock == MOMENT_WALL) ||
				  (args->have_to && args->to.clock == MOMENT_WALL)))
		usage_error("this command does not accept dates for --from and --to");
	if (strcmp(args->path, "-")) /* reading stdin and writing stdout is fine */
		refuse_same_file("FILE", args->path, "-o", args->out);
}

int read_timeline(struct trace_args *in, read_timeline_fn read, void *context, struct error *error)
{
	struct timeline *t = NULL;
	struct error why = {};
	struct reader *r;
	int err = trace_args__resolve(in, error);

	if (!err)
		err = open_trace(in->path, &in->reader, &r, error);
	if (err)
		return err;
	err = timeline__create(&t, r);
	if (err)
		error__set(&why, err, "out of memory");
	else
		err = read(context, t, r, &why);
	if (!err)
		report_short_calls(in->name, timeline__short(t));
	if (!err)
		report_omissions(in->name, r);
	timeline__destroy(t);
	reader__destroy(r);
	return err ? error__about(error, err, in->name, &why) : 0;
}
