// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace report: one HTML page about a trace, which needs no network.
 *
 * One pass of reader/timeline.c feeds the timeline (report/lanes.h), the parts of goroutines
 * (analysis/latency.h) and requests (analysis/requests.h). report_tables.c and report_findings.c
 * write them as JSON, and report/page.h is the page that the JSON is put into.
 */
#include "gotrace/views/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gotrace/version.h"
#include "profile/profile.h"
#include "report/flames.h"
#include "report/page.h"
#include "writer/output.h"

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "output file (default: -, standard output)", 0 },
	{ "json", OPT_JSON, NULL, 0, "write only the data of the page", 0 },
	FORCE_OPTION,
	READING_OPTIONS,
	{},
};

static const struct argp parser = {
	options,
	trace_args__parse,
	"FILE -o OUT.html",
	"Writes one HTML page about a trace, which needs no network: what dominated, requests and "
	"goroutines. Its data contain the timeline, too, in which short intervals are merged; 'gotrace "
	"view' serves it in full.",
};

static const enum profile_kind profile_kinds[REPORT_PROFILES] = {
	PROFILE_CPU,
	PROFILE_OFFCPU,
	PROFILE_WALL,
};

/* ---- reading ---- */

/* A profile with too many stacks is left out. 0 or -ENOMEM. */
static int check_profile(struct report_data *d, unsigned int i, int err)
{
	if (err != -E2BIG)
		return err;
	profile__destroy(d->profiles[i]);
	d->profiles[i] = NULL;
	d->more_stacks = true;
	return 0;
}

static int feed_profiles(struct report_data *d, const struct timeline *t,
			 const struct timeline_step *step)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < REPORT_PROFILES; i++)
		if (d->profiles[i])
			err = check_profile(d, i, profile__step(d->profiles[i], t, step));
	return err;
}

static int finish_profiles(struct report_data *d)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < REPORT_PROFILES; i++)
		if (d->profiles[i])
			err = check_profile(d, i, profile__finish(d->profiles[i]));
	return err;
}

static int goroutine_done(void *context, const struct latency_goroutine *g)
{
	return report__add(context, g);
}

static int take_step(struct report_data *d, const struct timeline *t,
		     const struct timeline_step *step, struct error *error)
{
	int err;

	if (step->event) {
		if (!d->events++)
			d->start = step->event->time;
		d->now = step->event->time;
		d->generations += step->event->type == EV_SYNC;
		d->lossy |= timeline__lossy(t);
	}
	err = report_lanes__step(d->lanes, t, step, error);
	err = err ?: latency__step(d->latencies.latency, t, step, error);
	err = err ?: requests__step(d->requests, t, step, error);
	if (!err && feed_profiles(d, t, step))
		err = error__set(error, -ENOMEM, "out of memory");
	return err;
}

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct report_data *d = context;
	struct timeline_step step = {};
	int err = 0, more = 1;

	while (!err && (more = timeline__next(t, &step, error)) > 0)
		err = take_step(d, t, &step, error);
	if (!err && more < 0)
		err = more;
	if (err)
		return err;
	d->version = reader__version(r);
	d->left_out = reader__left_out(r);
	d->latencies.has_kernel = timeline__has_kernel(t);
	d->go_lossy = timeline__go_lost_to(t) != INT64_MIN;
	err = report_lanes__finish(d->lanes, error);
	err = err ?: latency__finish(d->latencies.latency, error);
	if (!err && (requests__finish(d->requests) || finish_profiles(d)))
		err = error__set(error, -ENOMEM, "out of memory");
	return err;
}

/* ---- data ---- */

static void put_limit(struct json *j, bool holds, const char *text)
{
	if (holds)
		json__string(j, NULL, text);
}

static void print_limits(struct report_data *d, struct json *j)
{
	char text[128];

	json__open(j, "limits", '[');
	put_limit(j, d->lossy, "Some kernel events were lost.");
	put_limit(j, d->go_lossy, "Some events of Go were lost.");
	put_limit(j, d->left_out, "The end of the trace was corrupt and left out.");
	if (d->latencies.count > REPORT_GOROUTINES_MAX) {
		snprintf(text, sizeof(text), "The list has the %u longest of %llu goroutines.",
			 REPORT_GOROUTINES_MAX, (unsigned long long)d->latencies.count);
		json__string(j, NULL, text);
	}
	if (d->more_functions) {
		snprintf(text, sizeof(text),
			 "Only the %u start functions with the longest time are shown.",
			 REPORT_FUNCTIONS_MAX);
		json__string(j, NULL, text);
	}
	put_limit(j, d->more_stacks, "A profile has too many stacks and is left out.");
	report_lanes__print_limits(d->lanes, j);
	json__close(j, ']');
}

static void print_trace(const struct report_data *d, struct json *j)
{
	char go[16];

	snprintf(go, sizeof(go), "1.%u", d->version);
	json__open(j, "trace", '{');
	json__string(j, "file", d->in.name);
	report_lanes__print_about(d->lanes, j);
	json__string(j, "go", d->version ? go : NULL);
	json__i64(j, "start", d->start);
	json__u64(j, "ns", report__time(d, d->now));
	json__u64(j, "events", d->events);
	json__u64(j, "bytes", d->bytes);
	json__u64(j, "generations", d->generations);
	json__bool(j, "kernel", d->latencies.has_kernel);
	json__string(j, "tool", "gotrace " GOTRACE_VERSION);
	json__close(j, '}');
}

static int print_profiles(struct report_data *d, struct json *j)
{
	int err = 0;

	json__open(j, "profiles", '[');
	for (unsigned int i = 0; !err && i < REPORT_PROFILES; i++)
		if (d->profiles[i])
			err = flames__print(profile__samples(d->profiles[i]),
					    profile_names[profile_kinds[i]].kind, &d->strings, j);
	json__close(j, ']');
	return err;
}

static int print_data(struct report_data *d, FILE *out, struct error *error)
{
	struct json j;
	int err;

	json__init(&j, out, true);
	json__open(&j, NULL, '{');
	json__u64(&j, "version", 1);
	json__bool(&j, "live", false);
	print_trace(d, &j);
	err = report__print_findings(d, &j);
	err = err ?: report__print_goroutines(d, &j);
	print_limits(d, &j);
	err = err ?: report__print_requests(d, &j);
	err = err ?: print_profiles(d, &j);
	if (err)
		error__set(error, err, "%s: %s", d->in.name, strerror(-err));
	err = err ?: report_lanes__print(d->lanes, &j, error);
	report_strings__print(&d->strings, &j, "strings");
	json__close(&j, '}');
	return err;
}

/* ---- output ---- */

/* No text in the data can end the element that they are in: a "<" is only in strings. */
static int put_escaped(struct outbuf *o, const char *data, size_t len, struct error *error)
{
	static const char escaped[] = "\\u003c";
	const char *end = data + len, *next;
	int err = 0;

	while (!err && data < end) {
		next = memchr(data, '<', (size_t)(end - data)) ?: end;
		err = outbuf__put(o, data, (size_t)(next - data), error);
		if (!err && next < end)
			err = outbuf__put(o, escaped, sizeof(escaped) - 1, error);
		data = next + 1;
	}
	return err;
}

static int put_page(struct outbuf *o, const char *data, size_t len, struct error *error)
{
	const char *at = strstr(report_page, REPORT_PAGE_DATA) + strlen(REPORT_PAGE_DATA);
	int err = outbuf__put(o, report_page, (size_t)(at - report_page), error);

	err = err ?: put_escaped(o, data, len, error);
	return err ?: outbuf__put(o, at, (size_t)(report_page_end - at), error);
}

static int write_output(const struct report_data *d, const char *data, size_t len,
			struct error *error)
{
	struct trace_file *file = NULL;
	struct outbuf out;
	int err = output__open(&file, d->in.out, d->in.json ? FILE_ANY : FILE_REPORT, error);

	if (err)
		return err;
	output__buffer(&out, file, d->in.out);
	err = d->in.json ? outbuf__put(&out, data, len, error) : put_page(&out, data, len, error);
	if (!err)
		err = output__commit(&out, file, error);
	outbuf__deinit(&out);
	trace_file__destroy(file);
	return err;
}

static int make_report(struct report_data *d, struct error *error)
{
	char *data = NULL;
	size_t len = 0;
	FILE *out;
	int err = read_timeline(&d->in, read_trace, d, error);

	if (err)
		return err;
	out = open_memstream(&data, &len);
	if (!out)
		return error__set(error, -ENOMEM, "out of memory");
	err = print_data(d, out, error);
	if (fclose(out) && !err)
		err = error__set(error, -ENOMEM, "out of memory");
	err = err ?: write_output(d, data, len, error);
	free(data);
	return err;
}

/* ---- command line ---- */

static int init(struct report_data *d)
{
	const struct latency_opts opts = {
		.from = INT64_MIN,
		.to = INT64_MAX,
		.done = goroutine_done,
		.context = d,
		.places = true,
	};
	const struct report_lanes_opts lanes = {};
	struct profile_opts profile = { .sample_ns = PROFILE_SAMPLE_NS };
	struct stat st;
	int err;

	if (strcmp(d->in.path, "-") && !stat(d->in.path, &st) && S_ISREG(st.st_mode))
		d->bytes = (uint64_t)st.st_size;
	d->latencies.select = &d->in.select;
	d->latencies.sort = BY_TOTAL;
	d->latencies.latency = latency__create(&opts);
	d->requests = requests__create(REPORT_WORST);
	for (unsigned int i = 0; i < REPORT_PROFILES; i++) {
		profile.kind = profile_kinds[i];
		d->profiles[i] = profile__create(&profile);
		if (!d->profiles[i])
			return -ENOMEM;
	}
	err = report_strings__init(&d->strings);
	err = err ?: report_lanes__create(&d->lanes, &lanes, &d->strings);
	return d->latencies.latency && d->requests ? err : -ENOMEM;
}

static void deinit(struct report_data *d)
{
	for (size_t i = 0; i < d->latencies.nfunctions; i++)
		latency_stats__deinit(&d->latencies.functions[i].stats);
	free(d->latencies.functions);
	latency_stats__deinit(&d->busy);
	latency__destroy(d->latencies.latency);
	requests__destroy(d->requests);
	for (unsigned int i = 0; i < REPORT_PROFILES; i++)
		profile__destroy(d->profiles[i]);
	report_lanes__destroy(d->lanes);
	report_strings__deinit(&d->strings);
	selection__deinit(&d->in.select);
	free(d);
}

int do_report(int argc, char **argv, struct error *error)
{
	struct report_data *d = calloc(1, sizeof(*d)); /* too large for the stack */
	int err;

	if (!d) {
		error__set(error, -ENOMEM, "out of memory");
		return EXIT_FAILED;
	}
	d->in = (struct trace_args){ .verb = "report", .out = "-", .reader.described = true };
	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &d->in);
	trace_args__check(&d->in);
	if (!d->in.json && !strcmp(d->in.out, "-") && isatty(STDOUT_FILENO))
		usage_error("a page is not written to a terminal: use -o OUT.html");
	err = init(d);
	if (err)
		error__set(error, err, "out of memory");
	else
		err = make_report(d, error);
	deinit(d);
	return err ? EXIT_FAILED : EXIT_DONE;
}
