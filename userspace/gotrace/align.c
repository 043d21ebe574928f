// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace align: merges a trace with the scheduler events of a perf.data file.
 *
 * align/side.c and align/perfdata.c read the two inputs, align/alignment.c aligns their clocks,
 * and align/write.c writes the result. The trace is read twice: to determine what to add, and to
 * copy it; standard input is copied to a temporary file for this purpose.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/write.h"
#include "gotrace/version.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/progress.h"
#include "writer/output.h"
#include "command.h"

struct arguments {
	struct trace_args in;
	const char *perf;
};

enum { OPT_PERF = 256 };

static const struct argp_option options[] = {
	{ "perf", OPT_PERF, "PERF.DATA", 0,
	  "output of perf sched record, or of perf record -e sched:...", 0 },
	{ "output", 'o', "OUT", 0, "output file", 0 },
	{ "json", OPT_JSON, NULL, 0, "print the report as JSON", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_PERF:
		a->perf = text;
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE --perf PERF.DATA -o OUT",
	"Merges a trace with scheduler events that perf recorded at the same time: which tasks "
	"occupied the CPUs and, if the trace has no kernel "
	"events, the context switches and wake-ups of the target's threads. Timestamps of a clock other "
	"than CLOCK_MONOTONIC are aligned by the context switches that both files contain; this "
	"requires a trace of gotrace-bpf record --events kernel.",
};

/* ---- reading ---- */

/* Copy standard input to a file that can be opened twice and vanishes when `keep` is closed. */
static int keep_stdin(FILE **keep, char *path, size_t size, struct error *error)
{
	const unsigned char *data;
	struct input *in;
	size_t len;
	int err = input__open(&in, "-", error);

	if (err)
		return err;
	*keep = tmpfile();
	if (!*keep)
		err = error__set(error, -errno, "cannot create a temporary file: %s",
				 strerror(errno));
	while (!err && !(err = input__need(in, 1, &data, &len, error)) && len) {
		if (fwrite(data, 1, len, *keep) != len)
			err = error__set(error, -errno, "cannot write a temporary file: %s",
					 strerror(errno));
		input__consume(in, len);
	}
	if (!err && fflush(*keep))
		err = error__set(error, -errno, "cannot write a temporary file: %s",
				 strerror(errno));
	input__destroy(in);
	if (!err)
		snprintf(path, size, "/proc/self/fd/%d", fileno(*keep));
	return err;
}

static int read_both(const struct arguments *a, const char *trace, struct alignment *ret,
		     struct error *error)
{
	struct perf_data *perf;
	struct reader *reader;
	struct error why = {};
	struct side side;
	int err = perf_data__open_path(&perf, a->perf, error);

	if (err)
		return err;
	err = open_trace(trace, &(struct reader_opts){ .described = true }, &reader, error);
	if (!err) {
		err = side__read(&side, reader, &why);
		reader__destroy(reader);
		if (err)
			error__about(error, err, a->in.name, &why);
	}
	if (err) {
		perf_data__close(perf);
		return err;
	}
	return alignment__make(ret, &side, perf, error);
}

/* ---- writing ---- */

/* A number in the alignment record of the output file, as text. */
struct number {
	char text[32];
};

__attribute__((format(printf, 2, 3))) static const char *put_number(struct number *to,
								    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to->text, sizeof(to->text), fmt, ap);
	va_end(ap);
	return to->text;
}

static int write_out(const struct arguments *args, const char *trace, const struct alignment *a,
		     struct align_added *ret, struct error *error)
{
	const char *name = strcmp(args->in.out, "-") ? args->in.out : "standard output";
	const struct fit *fit = &a->join.clock;
	struct number number[6];
	const struct align_pair pairs[] = {
		{ "tool", "gotrace " GOTRACE_VERSION },
		{ "file", args->perf },
		{ "perf", perf_data__describe(a->perf) },
		{ "clock", alignment__clock(a) },
		{ "fitted", a->fitted ? "yes" : "no" },
		{ "offset_ns", put_number(&number[0], "%" PRId64, fit__offset(fit)) },
		{ "drift_ppm", put_number(&number[1], "%.6f", fit->drift * 1e6) },
		{ "matched", put_number(&number[2], "%" PRIu64, fit->matched) },
		{ "residual_p50_ns", put_number(&number[3], "%" PRIu64, fit->p50) },
		{ "residual_p99_ns", put_number(&number[4], "%" PRIu64, fit->p99) },
		{ "residual_max_ns", put_number(&number[5], "%" PRIu64, fit->max) },
	};
	struct align_job job = { .alignment = a,
				 .pairs = pairs,
				 .npairs = sizeof(pairs) / sizeof(*pairs) };
	struct trace_file *file = NULL;
	int err = output__open(&file, args->in.out, FILE_TRACE, error);

	if (err)
		return err;
	err = input__open(&job.trace, trace, error);
	if (!err) {
		err = align__write(&job, file, name, ret, error);
		input__destroy(job.trace);
		if (!err && (err = trace_file__commit(file)))
			error__set(error, err, "cannot write %s: %s", name, strerror(-err));
	}
	trace_file__destroy(file);
	return err;
}

/* ---- report ---- */

static void print_json(FILE *out, const struct alignment *a, const struct align_added *added)
{
	const struct fit *fit = &a->join.clock;
	uint64_t all, covered = alignment__covered(a, &all);
	struct json j;

	json__init(&j, out, false);
	json__open(&j, NULL, '{');
	json__string(&j, "perf", perf_data__describe(a->perf));
	json__string(&j, "clock", alignment__clock(a));
	json__bool(&j, "fitted", a->fitted);
	json__i64(&j, "offset_ns", fit__offset(fit));
	json__double(&j, "drift_ppm", fit->drift * 1e6);
	json__u64(&j, "matched", fit->matched);
	json__u64(&j, "in_trace", fit->in_ours);
	json__u64(&j, "in_perf", fit->in_theirs);
	json__open(&j, "residual_ns", '{');
	json__u64(&j, "p50", fit->p50);
	json__u64(&j, "p99", fit->p99);
	json__u64(&j, "max", fit->max);
	json__close(&j, '}');
	json__u64(&j, "trace_ns", all);
	json__u64(&j, "covered_ns", covered);
	json__u64(&j, "perf_lost", perf_data__lost(a->perf));
	json__open(&j, "added", '{');
	json__u64(&j, "cpus", added->cpus);
	json__u64(&j, "switches", added->switches);
	json__u64(&j, "wakings", added->wakings);
	json__u64(&j, "threads", added->threads);
	json__u64(&j, "bytes", added->bytes);
	json__close(&j, '}');
	json__close(&j, '}');
}

static void print_text(FILE *out, const struct alignment *a, const struct align_added *added)
{
	const struct fit *fit = &a->join.clock;
	uint64_t all, covered = alignment__covered(a, &all);

	fprintf(out, "perf file     %s, clock %s\n", perf_data__describe(a->perf),
		alignment__clock(a));
	if (a->fitted)
		fprintf(out, "aligned       offset %" PRId64 " ns, drift %.3f ppm\n",
			fit__offset(fit), fit->drift * 1e6);
	if (fit->matched)
		fprintf(out,
			"matched       %" PRIu64 " switches, of %" PRIu64
			" in the trace and %" PRIu64 " in the perf file\nresidual      %" PRIu64
			" ns (p50), %" PRIu64 " ns (p99), %" PRIu64 " ns (max)\n",
			fit->matched, fit->in_ours, fit->in_theirs, fit->p50, fit->p99, fit->max);
	fprintf(out, "covered       %.3f s of the trace's %.3f s\n", (double)covered / 1e9,
		(double)all / 1e9);
	if (perf_data__lost(a->perf))
		fprintf(out, "lost by perf  %" PRIu64 " events\n", perf_data__lost(a->perf));
	fprintf(out, "added         %" PRIu64 " switches to other tasks, %" PRIu64 " bytes\n",
		added->cpus, added->bytes);
	if (!a->side.has_kernel)
		fprintf(out,
			"              %" PRIu64 " switches and %" PRIu64 " wake-ups of the "
			"target's threads\n",
			added->switches, added->wakings);
}

static int run(const struct arguments *args, const char *trace, struct error *error)
{
	FILE *out = strcmp(args->in.out, "-") ? stdout : stderr;
	struct align_added added = {};
	struct alignment a;
	int err = read_both(args, trace, &a, error);

	if (err)
		return err;
	err = write_out(args, trace, &a, &added, error);
	if (!err && perf_data__lost(a.perf))
		log__msg("perf lost %" PRIu64 " events, so the output is incomplete at those "
			 "times; increase perf's buffer, for example with perf record -m 16M",
			 perf_data__lost(a.perf));
	if (!err && !a.side.has_kernel && a.gaps.lacking * 50 > a.gaps.switches)
		log__msg("the perf file lacks %" PRIu64 " switches of the target's threads and "
			 "has %" PRIu64 ", so part of the time on a CPU is shown as sleep; "
			 "record the trace with event set kernel to avoid this",
			 a.gaps.lacking, a.gaps.switches);
	progress__end();
	if (!err)
		(args->in.json ? print_json : print_text)(out, &a, &added);
	if (!err)
		output__suggest(args->in.out);
	alignment__deinit(&a);
	return err;
}

int do_align(int argc, char **argv, struct error *error)
{
	struct arguments a = { .in.verb = "align" };
	FILE *keep = NULL;
	char path[32];
	int err = 0;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a.in);
	if (!a.perf)
		usage_error("missing option --perf PERF.DATA");
	if (!a.in.out)
		usage_error("missing option -o OUT");
	refuse_same_file("FILE", a.in.path, "--perf", a.perf);
	if (strcmp(a.perf, "-"))
		refuse_same_file("--perf", a.perf, "-o", a.in.out);
	if (!strcmp(a.in.path, "-"))
		err = keep_stdin(&keep, path, sizeof(path), error);
	err = err ?: run(&a, keep ? path : a.in.path, error);
	if (keep)
		fclose(keep);
	return err ? EXIT_FAILED : EXIT_DONE;
}
