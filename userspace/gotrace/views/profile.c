// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace profile: which stacks took the time that goroutines spent in one way.
 *
 * reader/timeline.c reads the trace, profile/profile.c makes the samples. profile/pprof.c writes
 * them to a file for `go tool pprof`, profile_print.c prints a table, export/stacks.c folded stacks.
 */
#include "gotrace/views/profile.h"

#include <errno.h>
#include <string.h>

#include "export/stacks.h"
#include "format/about.h"
#include "gotrace/command.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "profile/pprof.h"
#include "reader/timeline.h"
#include "writer/output.h"

enum { OPT_TEXT = 256, OPT_FOLDED, OPT_LABELS, OPT_RATE };

#define KINDS	 "net, sync, syscall, sched, cpu, wall, offcpu, region, task or gc"
#define RATE_MAX 10000 /* the highest that can be recorded */
#define SECOND	 1000000000

struct arguments {
	struct trace_args in;
	bool have_kind, text, folded, labels;
	uint64_t rate; /* of CPU samples, per second; 0: not given */
	struct profile_opts of;
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "write the profile for pprof to this file (- is stdout)", 0 },
	{ "text", OPT_TEXT, NULL, 0, "print a table of functions (the default without -o)", 0 },
	{ "folded", OPT_FOLDED, NULL, 0, "print one line per stack, for flame graphs", 0 },
	{ "labels", OPT_LABELS, "NAMES", 0,
	  "labels of samples in OUT, comma-separated: goroutine, function (start function), "
	  "thread and task",
	  0 },
	{ "rate", OPT_RATE, "HZ", 0,
	  "cpu: rate at which samples were taken, per second; by default that in the trace, which "
	  "traces of the Go runtime do not contain",
	  0 },
	TOP_OPTION("print only the N functions with the most time"),
	GOROUTINE_OPTION("only this goroutine"),
	FUNCTION_OPTION,
	{ "from", OPT_FROM, "T", 0, "only what lies after T: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "only what lies before T", 0 },
	FORCE_OPTION,
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

/* ---- command line ---- */

static void parse_kind(const char *text, struct arguments *a)
{
	unsigned int kind = 0;

	while (kind < PROFILE_KINDS && strcmp(profile_names[kind].kind, text))
		kind++;
	if (kind == PROFILE_KINDS)
		usage_error("unknown kind of profile '%s': must be " KINDS, text);
	a->of.kind = kind;
	a->have_kind = true;
}

static void parse_labels(const char *text, struct profile_opts *of)
{
	const struct {
		const char *name;
		bool *wanted;
	} labels[] = { { "goroutine", &of->by_goroutine },
		       { "function", &of->by_function },
		       { "thread", &of->by_thread },
		       { "task", &of->by_task } };
	const size_t nlabels = sizeof(labels) / sizeof(*labels);
	size_t len, i;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < nlabels; i++)
			if (strlen(labels[i].name) == len && !memcmp(labels[i].name, text, len))
				break;
		if (i == nlabels)
			usage_error("unknown label '%.*s' for --labels: must be goroutine, "
				    "function, thread or task",
				    (int)(len < 99 ? len : 99), text);
		*labels[i].wanted = true;
		if (!text[len])
			return;
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_TEXT:
		a->text = true;
		return 0;
	case OPT_FOLDED:
		a->folded = true;
		return 0;
	case OPT_LABELS:
		parse_labels(text, &a->of);
		a->labels = true;
		return 0;
	case OPT_RATE:
		if (!opts__number(text, 1, RATE_MAX, &a->rate))
			usage_error("invalid rate '%s': must be 1 to %d samples per second", text,
				    RATE_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (!a->have_kind) {
			parse_kind(text, a);
			return 0;
		}
		return trace_args__option(&a->in, key, text, state);
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"KIND FILE [-o OUT]",
	"Shows which stacks took the time that goroutines were blocked on the network (net) or on "
	"channels and locks (sync), in system calls (syscall), or waiting for a P (sched); of CPU "
	"samples (cpu); of all goroutines, by state (wall); of threads without a CPU, by the "
	"kernel's reason (offcpu); of the program's regions (region) and tasks (task); "
	"or of the garbage collector: mark assists, sweeping, pauses and mark workers (gc). With -o "
	"it writes a profile for 'go tool pprof'; the first four kinds are equal to 'go tool trace "
	"-pprof=KIND'.",
};

static void check_arguments(struct arguments *a)
{
	struct selection *select = &a->in.select;

	if (!a->have_kind)
		usage_error("missing argument KIND: " KINDS);
	trace_args__check(&a->in);
	if (a->text && a->folded)
		usage_error("--text and --folded cannot be combined");
	if (a->in.out && (a->text || a->folded))
		usage_error("-o writes a profile for pprof; it cannot be combined with --%s",
			    a->text ? "text" : "folded");
	if (select->top && (a->in.out || a->folded))
		usage_error("--top requires a table of functions");
	if (!a->in.out && a->labels)
		usage_error("--labels requires -o OUT");
	if (a->rate && a->of.kind != PROFILE_CPU)
		usage_error("--rate requires the kind cpu");
	a->of.sample_ns = a->rate ? SECOND / (int64_t)a->rate : 0;
	if (selection__by_goroutine(select))
		a->of.select = select;
}

/* ---- reading ---- */

struct reading {
	const struct arguments *a;
	struct profile *profile;
	struct about about;
	struct pprof_opts pprof;
	bool sampled, lossy;
};

static void set_wall_clock(struct reading *r, const struct trace_sync *sync)
{
	const struct trace_clock *clock = &sync->clock;

	if (clock->known && clock->sec < INT64_MAX / 1000000000)
		r->pprof.time_ns = clock->sec * 1000000000 + clock->nsec;
}

static int begin(struct reading *r, const struct trace_event *first)
{
	const struct trace_args *in = &r->a->in;

	profile__set_window(r->profile,
			    in->have_from ? moment__time(&in->from, first->time) : INT64_MIN,
			    in->have_to ? moment__time(&in->to, first->time) : INT64_MAX);
	if (first->type != EV_SYNC || !first->dictionary)
		return 0;
	set_wall_clock(r, first->sync);
	return about__read(&r->about, first->dictionary);
}

static int feed(struct reading *r, const struct timeline *t, const struct timeline_step *step)
{
	r->lossy |= step->loss;
	if (step->event)
		r->sampled |= step->event->type == EV_CPU_SAMPLE;
	return profile__step(r->profile, t, step);
}

static void report(const struct reading *r, const struct timeline *t)
{
	const char *name = r->a->in.name;

	if (r->a->of.kind == PROFILE_CPU && !r->sampled)
		log__msg("%s: the trace has no CPU samples; record them with record "
			 "--cpu-profile, or with a CPU profile of the Go runtime at the same time",
			 name);
	if (profile__samples(r->profile)->counted)
		log__msg("%s: the trace does not contain the rate of its CPU samples, so they are "
			 "counted; --rate HZ shows times",
			 name);
	if (r->a->of.kind == PROFILE_OFFCPU && !timeline__has_kernel(t))
		log__msg("%s: the trace has no kernel events, which offcpu requires", name);
	report_gaps(name, timeline__gaps(t));
	if (r->a->of.kind == PROFILE_OFFCPU && timeline__has_kernel(t) && r->lossy)
		log__msg("%s: some kernel events were lost; 'gotrace stat' shows when", name);
}

/*
 * Intervals count when they have ended, so with --to the trace is read to its end, too: what began
 * before that point may end after it.
 */
static int read_trace(void *context, struct timeline *t, const struct reader *reader,
		      struct error *error)
{
	struct reading *r = context;
	struct timeline_step step = {};
	int64_t start = 0, end = 0;
	bool started = false;
	int err, failed = 0;

	while ((err = timeline__next(t, &step, error)) > 0) {
		if (step.event && !started) {
			start = step.event->time;
			failed = begin(r, step.event);
			started = true;
		}
		if (step.event)
			end = step.event->time;
		failed = failed ?: feed(r, t, &step);
		if (failed)
			return stacks__too_much(failed, error);
	}
	if (err < 0)
		return err;
	failed = started ? trace_args__check_window(&r->a->in, start, end, error) : 0;
	if (failed)
		return failed;
	if (end > start)
		r->pprof.duration_ns = (uint64_t)end - (uint64_t)start;
	failed = profile__finish(r->profile);
	if (failed)
		return stacks__too_much(failed, error);
	report(r, t);
	return 0;
}

/* ---- writing ---- */

static int write_profile(struct reading *r, struct error *error)
{
	const char *path = r->a->in.out;
	struct samples *s = profile__samples(r->profile);
	struct trace_file *file = NULL;
	struct outbuf out;
	int err = output__open(&file, path, FILE_PROFILE, error);

	if (err)
		return err;
	output__buffer(&out, file, path);
	r->pprof.kind = r->a->of.kind;
	r->pprof.period =
		r->a->of.kind == PROFILE_CPU ? (uint64_t)profile__sample_ns(r->profile) : 1;
	r->pprof.build_id = r->about.build_id[0] ? r->about.build_id : NULL;
	r->pprof.program = r->about.program[0] ? r->about.program : NULL;
	err = pprof__write(s, &r->pprof, &out, error);
	if (!err)
		err = output__commit(&out, file, error);
	if (!err)
		output__suggest_use(path, "'go tool pprof -http=: ", "' (in a browser)");
	outbuf__deinit(&out);
	trace_file__destroy(file);
	return err;
}

static int show(struct reading *r, struct error *error)
{
	const struct samples *s = profile__samples(r->profile);
	int err;

	if (r->a->in.out)
		return write_profile(r, error);
	err = r->a->folded ?
		      stacks__print_folded(out__stdout(), s) :
		      profile__print_table(s, &profile_names[r->a->of.kind], r->a->in.select.top);
	return err ? error__set(error, err, "out of memory") : 0;
}

int do_profile(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "profile", .reader.described = true, .wall_clock = true }
	};
	struct reading reading = { .a = &a };
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	reading.profile = profile__create(&a.of);
	err = reading.profile ? read_timeline(&a.in, read_trace, &reading, error) :
				error__set(error, -ENOMEM, "out of memory");
	if (!err)
		err = show(&reading, error);
	profile__destroy(reading.profile);
	return err ? EXIT_FAILED : EXIT_DONE;
}
