// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace align: a trace and what perf has recorded of the scheduler, joined into one trace.
 *
 * Before it: align/side.c and align/perfdata.c, which read the two; align/alignment.c brings them
 * together, align/write.c writes. The trace is read twice: to see what to add, and to copy it; of stdin
 * there is a copy in a temporary file meanwhile.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/alignment.h"
#include "align/write.h"
#include "command.h"
#include "lib/json.h"
#include "lib/log.h"
#include "trace/output.h"

struct arguments {
	const char *trace, *perf, *out;
	bool json;
};

enum { OPT_PERF = 256, OPT_JSON };

static const struct argp_option options[] = {
	{ "perf", OPT_PERF, "PERF.DATA", 0,
	  "what perf sched record, or perf record -e sched:..., wrote", 0 },
	{ "output", 'o', "OUT", 0, "where to", 0 },
	{ "json", OPT_JSON, NULL, 0, "say how they fit as JSON", 0 },
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
	case 'o':
		a->out = text;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->trace)
			usage_error("one trace at a time, not \"%s\" as well", text);
		a->trace = text;
		return 0;
	default:
		return command__key(key, state, "align");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE --perf PERF.DATA -o OUT",
	"Adds to a trace what perf has seen of the scheduler at the same time: who held the cores that "
	"the program's threads waited for and, if the trace has no kernel's side, the switches and "
	"wake-ups of those threads. A perf.data of another clock than CLOCK_MONOTONIC is fitted by the "
	"switches that it and a trace of gotrace-bpf record --events kernel both hold.",
	NULL,
	NULL,
	NULL,
};

/* ---- reading ---- */

/* stdin as a file that can be opened twice: it is gone when `keep` is closed. */
static int keep_stdin(FILE **keep, char *path, size_t size, struct error *err)
{
	const unsigned char *data;
	struct input *in;
	size_t len;
	int code = input__open(&in, "-", err);

	if (code)
		return code;
	*keep = tmpfile();
	if (!*keep)
		code = error__set(err, -errno, "cannot make a temporary file: %s", strerror(errno));
	while (!code && !(code = input__need(in, 1, &data, &len, err)) && len) {
		if (fwrite(data, 1, len, *keep) != len)
			code = error__set(err, -errno, "cannot write a temporary file: %s",
					  strerror(errno));
		input__consume(in, len);
	}
	if (!code && fflush(*keep))
		code = error__set(err, -errno, "cannot write a temporary file: %s",
				  strerror(errno));
	input__destroy(in);
	if (!code)
		snprintf(path, size, "/proc/self/fd/%d", fileno(*keep));
	return code;
}

static int read_both(const struct arguments *a, const char *trace, struct alignment *ret,
		     struct error *err)
{
	const char *name = strcmp(a->trace, "-") ? a->trace : "stdin";
	struct perf_data *perf;
	struct reader *reader;
	struct error why = {};
	struct side side;
	int code = perf_data__open_path(&perf, a->perf, err);

	if (code)
		return code;
	code = open_trace(trace, &(struct reader_opts){ .described = true }, &reader, err);
	if (!code) {
		code = side__read(&side, reader, &why);
		reader__destroy(reader);
		if (code)
			error__about(err, code, name, &why);
	}
	if (code) {
		perf_data__close(perf);
		return code;
	}
	return alignment__make(ret, &side, perf, err);
}

/* ---- writing ---- */

struct number {
	char text[32];
};

#define PAIRS 11

/* What is kept of it in the file; numbers as text. */
static size_t describe(const struct alignment *a, const char *perf, struct number *number,
		       struct align_pair *pair)
{
	const struct fit *fit = &a->join.clock;
	const struct {
		const char *name;
		uint64_t value;
	} counts[] = {
		{ "matched", fit->matched },
		{ "residual_p50_ns", fit->p50 },
		{ "residual_p99_ns", fit->p99 },
		{ "residual_max_ns", fit->max },
	};
	size_t n = 0, k = 0;

	pair[n++] = (struct align_pair){ "tool", "gotrace " GOTRACE_VERSION };
	pair[n++] = (struct align_pair){ "file", perf };
	pair[n++] = (struct align_pair){ "perf", perf_data__describe(a->perf) };
	pair[n++] = (struct align_pair){ "clock", alignment__clock(a) };
	pair[n++] = (struct align_pair){ "fitted", a->fitted ? "yes" : "no" };
	snprintf(number[k].text, sizeof(number->text), "%" PRId64, fit__offset(fit));
	pair[n++] = (struct align_pair){ "offset_ns", number[k++].text };
	snprintf(number[k].text, sizeof(number->text), "%.6f", fit->drift * 1e6);
	pair[n++] = (struct align_pair){ "drift_ppm", number[k++].text };
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++, k++) {
		snprintf(number[k].text, sizeof(number->text), "%" PRIu64, counts[i].value);
		pair[n++] = (struct align_pair){ counts[i].name, number[k].text };
	}
	return n;
}

static int write_out(const struct arguments *args, const char *trace, const struct alignment *a,
		     struct align_added *ret, struct error *err)
{
	const char *name = strcmp(args->out, "-") ? args->out : "the standard output";
	struct number number[PAIRS];
	struct align_pair pair[PAIRS];
	struct align_job job = { .side = &a->side,
				 .perf = &a->join,
				 .target = &a->target,
				 .wanted = a->wanted,
				 .pairs = pair };
	struct trace_file *file = NULL;
	int code = output__open(&file, args->out, FILE_TRACE, err);

	if (code)
		return code;
	job.npairs = describe(a, args->perf, number, pair);
	code = input__open(&job.trace, trace, err);
	if (!code) {
		code = align__write(&job, file, name, ret, err);
		input__destroy(job.trace);
		if (!code && (code = trace_file__commit(file)))
			error__set(err, code, "cannot write %s: %s", name, strerror(-code));
	}
	trace_file__destroy(file);
	return code;
}

/* ---- what came out ---- */

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
	json__u64(&j, "cores", added->cores);
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

	fprintf(out, "perf's file   %s, clock %s\n", perf_data__describe(a->perf),
		alignment__clock(a));
	if (a->fitted)
		fprintf(out, "fitted        offset %" PRId64 " ns, drift %.3f ppm\n",
			fit__offset(fit), fit->drift * 1e6);
	if (fit->matched)
		fprintf(out,
			"in both       %" PRIu64 " switches, of %" PRIu64
			" in the trace and %" PRIu64 " of perf's\n"
			"apart         %" PRIu64 " ns (p50), %" PRIu64 " ns (p99), %" PRIu64
			" ns (max)\n",
			fit->matched, fit->in_ours, fit->in_theirs, fit->p50, fit->p99, fit->max);
	fprintf(out, "covers        %.3f s of the trace's %.3f s\n", (double)covered / 1e9,
		(double)all / 1e9);
	if (perf_data__lost(a->perf))
		fprintf(out, "lost by perf  %" PRIu64 " events\n", perf_data__lost(a->perf));
	fprintf(out,
		"added         %" PRIu64 " times that another one got a core, %" PRIu64 " bytes\n",
		added->cores, added->bytes);
	if (!a->side.has_kernel)
		fprintf(out,
			"and of the trace's threads %" PRIu64 " switches, %" PRIu64 " wake-ups\n",
			added->switches, added->wakings);
}

static int run(const struct arguments *args, const char *trace, struct error *err)
{
	FILE *out = strcmp(args->out, "-") ? stdout : stderr;
	struct align_added added = {};
	struct alignment a;
	int code = read_both(args, trace, &a, err);

	if (code)
		return code;
	code = write_out(args, trace, &a, &added, err);
	if (!code && perf_data__lost(a.perf))
		log__msg("perf lost %" PRIu64
			 " events: of what was there then the joined trace tells "
			 "too little; give perf record more memory, as by -m 16M",
			 perf_data__lost(a.perf));
	if (!code && !a.side.has_kernel && a.gaps.lacking * 50 > a.gaps.switches)
		log__msg("perf has not seen %" PRIu64 " switches of the trace's threads beside "
			 "%" PRIu64 ": some of their time on cores is told as asleep; gotrace-bpf "
			 "sees more",
			 a.gaps.lacking, a.gaps.switches);
	if (!code)
		(args->json ? print_json : print_text)(out, &a, &added);
	alignment__deinit(&a);
	return code;
}

int do_align(int argc, char **argv, struct error *err)
{
	struct arguments a = {};
	FILE *keep = NULL;
	char path[32];
	int code = 0;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.trace)
		a.trace = default_input();
	if (!a.perf)
		usage_error("no --perf PERF.DATA given");
	if (!a.out)
		usage_error("no -o OUT given");
	refuse_same_file("FILE", a.trace, "--perf", a.perf);
	if (strcmp(a.trace, "-")) /* from stdin to stdout is well */
		refuse_same_file("FILE", a.trace, "-o", a.out);
	if (strcmp(a.perf, "-"))
		refuse_same_file("--perf", a.perf, "-o", a.out);
	if (!strcmp(a.trace, "-"))
		code = keep_stdin(&keep, path, sizeof(path), err);
	code = code ?: run(&a, keep ? path : a.trace, err);
	if (keep)
		fclose(keep);
	return code ? EXIT_FAILED : EXIT_DONE;
}
