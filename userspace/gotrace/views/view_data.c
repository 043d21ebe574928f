// SPDX-License-Identifier: GPL-2.0
/*
 * What gotrace view serves, as JSON: the data of a report of the whole trace, and lanes of a part.
 *
 * Upstream: report.h, which reads the trace once. Parts come from the spans that report/lanes.h has
 * kept in memory. Only if it had to merge those of the length that the part shows, it is cut out of
 * the file (part.c), so that it begins with the state of its time and, with an index, costs as much
 * as its length.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace/views/part.h"
#include "gotrace/views/view.h"
#include "reader/timeline.h"

/* Spans of a part: several per pixel and lane that fits on a screen. */
#define SPANS_PER_PIXEL 100
#define RANGE_SPANS_MIN 20000
#define RANGE_SPANS_MAX 150000

/* ---- the whole ---- */

static bool has_changed(const struct view *v)
{
	struct stat now;

	return stat(v->data->in.path, &now) || now.st_ino != v->stat.st_ino ||
	       now.st_dev != v->stat.st_dev || now.st_size != v->stat.st_size ||
	       now.st_mtim.tv_sec != v->stat.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != v->stat.st_mtim.tv_nsec;
}

static int stale(const struct view *v, struct error *error)
{
	return error__set(error, -ESTALE,
			  "%s has changed since it was read: start 'gotrace view' again",
			  v->data->in.name);
}

/* Of a file that is served: parts of it are read again. */
static int check_file(struct view *v, struct error *error)
{
	const struct trace_args *in = &v->data->in;

	if (stat(in->path, &v->stat))
		return error__set(error, -errno, "%s: %s", in->path, strerror(errno));
	if (!S_ISREG(v->stat.st_mode))
		return error__set(error, -ESPIPE,
				  "%s: not a regular file: parts of the trace are read again",
				  in->path);
	return 0;
}

static int print_whole(struct view *v, struct error *error)
{
	FILE *out = open_memstream(&v->whole.data, &v->whole.len);
	int err = out ? report__print(v->data, out, error) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	return err == -ENOMEM ? error__set(error, err, "out of memory") : err;
}

int view__read(struct view *v, struct error *error)
{
	struct report_data *d = v->data;
	int err = d->in.json ? 0 : check_file(v, error);

	if (err)
		return err;
	if (report__init(d, &v->opts))
		return error__set(error, -ENOMEM, "out of memory");
	err = report__read(d, error) ?: print_whole(v, error);
	v->ns = report_lanes__end(d->lanes);
	report_lanes__keep_store(d->lanes);
	if (!err && !d->in.json && has_changed(v))
		err = stale(v, error);
	return err;
}

void view__deinit(struct view *v)
{
	report__deinit(v->data);
	free(v->whole.data);
}

/* ---- parts ---- */

static int read_steps(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct report_lanes *lanes = context;
	struct timeline_step step = {};
	int err = 0, more = 1;

	(void)r;
	timeline__keep_late_items(t);
	while (!err && (more = timeline__next(t, &step, error)) > 0)
		err = report_lanes__step(lanes, t, &step, error);
	if (!err && more < 0)
		err = more;
	return err ?: report_lanes__finish(lanes, error);
}

/* Writes the object of the page. */
static int print_part(struct report_lanes *lanes, const struct report_strings *strings,
		      struct view_text *ret, struct error *error)
{
	FILE *out = open_memstream(&ret->data, &ret->len);
	struct json j;
	int err;

	if (!out)
		return error__set(error, -ENOMEM, "out of memory");
	json__init(&j, out, true);
	json__open(&j, NULL, '{');
	json__u64(&j, "version", 1);
	json__bool(&j, "live", true);
	json__open(&j, "limits", '[');
	report_lanes__print_limits(lanes, &j);
	json__close(&j, ']');
	err = report_lanes__print_part(lanes, &j, error);
	report_strings__print(strings, &j, "strings");
	json__close(&j, '}');
	if (fclose(out) && !err)
		err = error__set(error, -ENOMEM, "out of memory");
	return err;
}

static struct moment moment_of(const struct view *v, uint64_t time)
{
	return (struct moment){ MOMENT_TRACE, v->data->start + (int64_t)time };
}

/* Returns a descriptor of the part as a trace, or a negative errno with the reason. */
static int cut(const struct view *v, const struct report_lanes_opts *opts, struct error *error)
{
	struct trace_args in = v->data->in;
	int fd;

	in.from = moment_of(v, opts->from);
	in.to = moment_of(v, opts->to);
	in.have_from = in.have_to = true;
	fd = part__cut(&in, error);
	if (!has_changed(v))
		return fd;
	error->text[0] = 0; /* whatever came from reading a file that is being written */
	if (fd >= 0)
		close(fd);
	return stale(v, error);
}

/* Reads a part from the file. The caller destroys *ret. */
static int read_part(struct view *v, const struct report_lanes_opts *opts,
		     struct report_strings *strings, struct report_lanes **ret, struct error *error)
{
	struct trace_args in = v->data->in;
	char path[64];
	int fd, err;

	pthread_mutex_lock(&v->reading);
	fd = cut(v, opts, error);
	pthread_mutex_unlock(&v->reading);
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in.path = in.name = path;
	err = report_lanes__create(ret, opts, strings);
	err = err ? error__set(error, err, "out of memory") :
		    read_timeline(&in, read_steps, *ret, error);
	close(fd);
	return err;
}

/* From memory or, if the spans there are too coarse, from the file. */
static int find_part(struct view *v, const struct report_lanes_opts *opts,
		     struct report_strings *strings, struct report_lanes **ret, struct error *error)
{
	int err = report_lanes__part(v->data->lanes, opts, strings, ret);

	if (err == -ERANGE)
		return read_part(v, opts, strings, ret, error);
	return err ? error__set(error, err, "out of memory") : 0;
}

static uint64_t budget_of(const struct view_range *range)
{
	uint64_t spans = range->width * SPANS_PER_PIXEL;

	return spans < RANGE_SPANS_MIN ? RANGE_SPANS_MIN :
	       spans > RANGE_SPANS_MAX ? RANGE_SPANS_MAX :
					 spans;
}

int view__read_range(struct view *v, const struct view_range *range, struct view_text *ret,
		     struct error *error)
{
	const struct report_lanes_opts opts = {
		.from = range->from,
		.to = range->to,
		.start = v->data->start,
		.has_start = true,
		.only = range->lanes,
		.spans = budget_of(range),
		.pixel = (range->to - range->from) / range->width,
	};
	struct report_strings strings = {};
	struct report_lanes *lanes = NULL;
	int err;

	*ret = (struct view_text){};
	if (has_changed(v))
		return stale(v, error);
	if (report_strings__init(&strings))
		err = error__set(error, -ENOMEM, "out of memory");
	else
		err = find_part(v, &opts, &strings, &lanes, error);
	err = err ?: print_part(lanes, &strings, ret, error);
	report_lanes__destroy(lanes);
	report_strings__deinit(&strings);
	if (err) {
		free(ret->data);
		*ret = (struct view_text){};
	}
	return err;
}
