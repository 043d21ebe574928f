// SPDX-License-Identifier: GPL-2.0
/*
 * What the verbs cut and convert share: see rewriting.h.
 *
 * Between trace/reader.h, which may begin in the middle (at.h), and trace/rewrite.h. The output has
 * all of it or does not come into being.
 */
#include "rewriting.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "at.h"
#include "lib/log.h"
#include "trace/output.h"
#include "trace/rewrite.h"

struct run {
	const struct rewriting *a;
	const char *name; /* of the input, for messages */
	struct reader *reader;
	struct rewrite *rewrite;
	struct trace_file *file;
	unsigned int version; /* of the output */
	int64_t from, to;
	bool reached; /* `from` */
};

int rewriting__option(struct rewriting *a, int key, char *text)
{
	switch (key) {
	case 'o':
		a->out = text;
		return 0;
	case OPT_FORMAT:
		a->version = parse_version(text);
		return 0;
	case ARGP_KEY_ARG:
		if (a->path)
			usage_error("one trace at a time, not \"%s\" as well", text);
		a->path = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int no_memory(struct error *err)
{
	return error__set(err, -ENOMEM, "no memory");
}

static const char *out_name(const struct run *run)
{
	return strcmp(run->a->out, "-") ? run->a->out : "the standard output";
}

static int cannot_write(const struct run *run, int code, struct error *err)
{
	if (code == -ENOMEM)
		return no_memory(err);
	if (code == -ERANGE)
		return error__set(err, code, "%s: its times are more than the format can hold",
				  run->name);
	return error__set(err, code, "cannot write %s: %s", out_name(run), strerror(-code));
}

/* The words of the first generation say things of the whole file, wherever reading begins. */
static int keep_private(struct run *run, struct error *err)
{
	struct trace_event ev;
	struct reader *r;
	int code = open_trace(run->a->path, &run->a->reader, &r, err);

	if (code)
		return code;
	code = reader__next(r, &ev, err);
	if (code > 0)
		code = ev.words ? rewrite__keep_private(run->rewrite, ev.words) : 0;
	reader__destroy(r);
	return code == -ENOMEM ? no_memory(err) : code;
}

/* Once the trace's start is known, and with it the part that is asked for. */
static int begin(struct run *run, int64_t start, struct error *err)
{
	const struct rewriting *a = run->a;
	const bool v1 = !reader__order(run->reader);
	struct rewrite_opts opts = { .repair = v1 };
	int code;

	run->version = a->version ? a->version : v1 ? 22 : reader__version(run->reader);
	opts.version = run->version;
	run->from = opts.from = a->have_from ? moment__time(&a->from, start) : INT64_MIN;
	run->to = a->have_to ? moment__time(&a->to, start) : INT64_MAX;
	opts.to = a->have_to ? run->to : 0;
	if (run->from >= run->to)
		return error__set(err, -EINVAL, "--from is not before --to");
	if (run->to <= start)
		return error__set(err, -ENODATA, "%s begins after that, at @%" PRId64, run->name,
				  start);
	code = rewrite__create(&run->rewrite, run->file, &opts);
	return code ? cannot_write(run, code, err) : 0;
}

static int rewrite_all(struct run *run, struct error *err)
{
	struct trace_event ev = {};
	int code;

	while ((code = reader__next(run->reader, &ev, err)) > 0 && ev.time < run->to) {
		if (!run->rewrite) {
			code = begin(run, ev.time, err);
			if (code)
				return code;
		}
		run->reached |= ev.time >= run->from;
		code = rewrite__event(run->rewrite, &ev);
		if (code)
			return cannot_write(run, code, err);
	}
	if (code < 0)
		return code;
	if (!run->rewrite)
		return error__set(err, -ENODATA, "%s has no events", run->name);
	run->reached |= code > 0;
	if (!run->reached)
		return error__set(err, -ENODATA, "%s ends before that, at @%" PRId64, run->name,
				  ev.time);
	code = rewrite__end(run->rewrite);
	if (code)
		return cannot_write(run, code, err);
	if (!trace_file__size(run->file))
		return error__set(err, -ENODATA, "%s has no events", run->name);
	return 0;
}

static void tell(const struct run *run)
{
	const struct rewrite_stats *s = rewrite__stats(run->rewrite);

	if (s->experimental)
		log__msg("%s: %" PRIu64 " experimental events are %s", run->name, s->experimental,
			 run->version == 22 ? "left out: version 1.22 has none" :
					      "kept, but not the batches that explain them");
	if (s->inserted || s->left_out)
		log__msg("%s: %" PRIu64 " events are left out, which fit nowhere; %" PRIu64
			 " are inserted, so that others do",
			 run->name, s->left_out, s->inserted);
	say_what_is_missing(run->name, run->reader);
}

static int write_out(struct run *run, int64_t start, struct origins *origins, struct error *err)
{
	struct error reason = {};
	int code = output__open(&run->file, run->a->out, FILE_TRACE, err);

	if (code)
		return code;
	if (start != INT64_MIN) {
		code = begin(run, start, err);
		code = code ?: keep_private(run, err);
		if (!code && rewrite__begin_at(run->rewrite, reader__order(run->reader), origins))
			code = no_memory(err);
	}
	if (code)
		return code;
	code = rewrite_all(run, &reason);
	if (code == -EBADMSG)
		return error__about(err, code, run->name, &reason);
	if (code)
		return error__set(err, code, "%s", reason.text);
	code = trace_file__commit(run->file);
	if (code)
		return cannot_write(run, code, err);
	tell(run);
	return 0;
}

int rewriting__run(const struct rewriting *a, struct error *err)
{
	struct run run = { .a = a, .from = INT64_MIN, .to = INT64_MAX };
	struct origins origins;
	int64_t start;
	int code;

	run.name = strcmp(a->path, "-") ? a->path : "stdin";
	if (strcmp(a->path, "-")) /* from stdin to stdout is well */
		refuse_same_file("FILE", a->path, "-o", a->out);
	code = open_trace_with_origins(a->path, &a->reader, a->have_from, &a->from, &run.reader,
				       &start, &origins, err);
	if (code)
		return code;
	code = write_out(&run, start, &origins, err);
	rewrite__destroy(run.rewrite);
	trace_file__destroy(run.file);
	reader__destroy(run.reader);
	if (start != INT64_MIN)
		origins__deinit(&origins);
	return code;
}
