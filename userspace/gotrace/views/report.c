// SPDX-License-Identifier: GPL-2.0
/*
 * The data of gotrace report and gotrace view: what their page shows of a trace.
 *
 * One pass of reader/timeline.c feeds the timeline (report/lanes.h), the parts of goroutines
 * (analysis/latency.h) and requests (analysis/requests.h). report_tables.c and report_findings.c
 * write them as JSON; report_page.c puts it into a page, and view_server.c serves it.
 */
#include "gotrace/views/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gotrace/version.h"
#include "profile/profile.h"
#include "report/flames.h"

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
		if (!d->begun)
			d->start = step->event->time;
		d->begun = true;
		d->events += trace_event__is_of_file(step->event);
		d->now = step->event->time;
		/* A sync without tables is the end of the trace; traces of Go 1.21 have no number. */
		d->generations += step->event->type == EV_SYNC && step->event->dictionary &&
				  step->event->sync->generation;
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

int report__read(struct report_data *d, struct error *error)
{
	return read_timeline(&d->in, read_trace, d, error);
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

int report__print(struct report_data *d, FILE *out, struct error *error)
{
	struct json j;
	int err;

	json__init(&j, out, true);
	json__open(&j, NULL, '{');
	json__u64(&j, "version", 1);
	json__bool(&j, "live", d->live);
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

/* ---- life ---- */

int report__init(struct report_data *d, const struct report_lanes_opts *lanes)
{
	const struct latency_opts opts = {
		.from = INT64_MIN,
		.to = INT64_MAX,
		.done = goroutine_done,
		.context = d,
		.places = true,
	};
	struct profile_opts profile = {};
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
	err = err ?: report_lanes__create(&d->lanes, lanes, &d->strings);
	return d->latencies.latency && d->requests ? err : -ENOMEM;
}

void report__deinit(struct report_data *d)
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
}
