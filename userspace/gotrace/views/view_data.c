// SPDX-License-Identifier: GPL-2.0
/*
 * What gotrace view serves, as JSON: the lanes of the whole trace, and those of a part of it.
 *
 * Upstream: report/lanes.h. A part is cut out first (part.c), so that it begins with the state of
 * its time and, with an index, costs as much as its length.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace/views/part.h"
#include "gotrace/views/view.h"
#include "gotrace/version.h"
#include "reader/timeline.h"

/* Spans of a part: several per pixel and lane that fits on a screen. */
#define SPANS_PER_PIXEL 100
#define RANGE_SPANS_MIN 20000
#define RANGE_SPANS_MAX 300000

struct reading {
	struct view *view;
	struct report_lanes *lanes;
};

static int read_steps(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct reading *reading = context;
	struct timeline_step step = {};
	int err = 0, more = 1;

	(void)r;
	while (!err && (more = timeline__next(t, &step, error)) > 0)
		err = report_lanes__step(reading->lanes, t, &step, error);
	if (!err && more < 0)
		err = more;
	return err ?: report_lanes__finish(reading->lanes, error);
}

static void print_trace(const struct view *v, struct json *j)
{
	json__open(j, "trace", '{');
	json__string(j, "file", v->name);
	json__i64(j, "start", v->start);
	json__u64(j, "ns", v->ns);
	json__u64(j, "bytes", (uint64_t)v->stat.st_size);
	json__string(j, "tool", "gotrace " GOTRACE_VERSION);
	json__close(j, '}');
}

/* Writes the object of the page. */
static int print(struct view *v, struct report_lanes *lanes, struct report_strings *strings,
		 bool whole, FILE *out, struct error *error)
{
	struct json j;
	int err;

	json__init(&j, out, true);
	json__open(&j, NULL, '{');
	json__u64(&j, "version", 1);
	json__bool(&j, "live", true);
	if (whole)
		print_trace(v, &j);
	json__open(&j, "limits", '[');
	report_lanes__print_limits(lanes, &j);
	json__close(&j, ']');
	err = report_lanes__print(lanes, &j, error);
	report_strings__print(strings, &j, "strings");
	json__close(&j, '}');
	return err;
}

/* Reads the trace *in into an object. */
static int read_object(struct view *v, struct trace_args *in, const struct report_lanes_opts *opts,
		       bool whole, struct view_text *ret, struct error *error)
{
	struct report_strings strings = {};
	struct reading reading = { .view = v };
	FILE *out = NULL;
	int err = report_strings__init(&strings);

	*ret = (struct view_text){};
	err = err ?: report_lanes__create(&reading.lanes, opts, &strings);
	if (!err)
		out = open_memstream(&ret->data, &ret->len);
	if (!out)
		err = error__set(error, -ENOMEM, "out of memory");
	err = err ?: read_timeline(in, read_steps, &reading, error);
	if (!err && whole) {
		v->start = report_lanes__start(reading.lanes);
		v->ns = report_lanes__end(reading.lanes);
	}
	err = err ?: print(v, reading.lanes, &strings, whole, out, error);
	if (out && fclose(out) && !err)
		err = error__set(error, -ENOMEM, "out of memory");
	report_lanes__destroy(reading.lanes);
	report_strings__deinit(&strings);
	if (err) {
		free(ret->data);
		*ret = (struct view_text){};
	}
	return err;
}

int view__read(struct view *v, struct error *error)
{
	if (strcmp(v->in.path, "-") && stat(v->in.path, &v->stat))
		return error__set(error, -errno, "%s: %s", v->in.path, strerror(errno));
	return read_object(v, &v->in, &v->opts, true, &v->whole, error);
}

static bool has_changed(const struct view *v)
{
	struct stat now;

	return stat(v->in.path, &now) || now.st_ino != v->stat.st_ino ||
	       now.st_dev != v->stat.st_dev || now.st_size != v->stat.st_size ||
	       now.st_mtim.tv_sec != v->stat.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != v->stat.st_mtim.tv_nsec;
}

static int stale(const struct view *v, struct error *error)
{
	return error__set(error, -ESTALE,
			  "%s has changed since it was read: start 'gotrace view' again", v->name);
}

static struct moment moment_of(const struct view *v, uint64_t time)
{
	return (struct moment){ MOMENT_TRACE, v->start + (int64_t)time };
}

int view__read_range(struct view *v, const struct view_range *range, struct view_text *ret,
		     struct error *error)
{
	struct trace_args in = v->in;
	uint64_t spans = range->width * SPANS_PER_PIXEL;
	struct report_lanes_opts opts = {
		.from = range->from,
		.to = range->to,
		.start = v->start,
		.has_start = true,
		.only = range->lanes,
		.spans = spans < RANGE_SPANS_MIN ? RANGE_SPANS_MIN :
			 spans > RANGE_SPANS_MAX ? RANGE_SPANS_MAX :
						   spans,
	};
	char path[64];
	int fd, err;

	if (has_changed(v))
		return stale(v, error);
	in.from = moment_of(v, range->from);
	in.to = moment_of(v, range->to);
	in.have_from = in.have_to = true;
	fd = part__cut(&in, error);
	if (has_changed(v)) {
		error->text[0] = 0; /* whatever came from reading a file that is being written */
		if (fd >= 0)
			close(fd);
		return stale(v, error);
	}
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in.path = in.name = path;
	in.have_from = in.have_to = false;
	err = read_object(v, &in, &opts, false, ret, error);
	close(fd);
	return err;
}
