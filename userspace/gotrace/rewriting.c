// SPDX-License-Identifier: GPL-2.0
/*
 * The common part of the commands cut, convert and anonymize: see rewriting.h.
 *
 * Input: reader/reader.h, which may start in the middle (at.h); rewrite/rewrite.h writes. The
 * output file appears only when it is complete.
 */
#include "rewriting.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/durations.h"
#include "lib/log.h"
#include "rewrite/rewrite.h"
#include "writer/output.h"
#include "at.h"

struct run {
	const struct rewriting *a;
	struct reader *reader;
	struct rewrite *rewrite;
	struct trace_file *file;
	unsigned int version; /* of the output */
	int64_t start;	      /* of the trace */
	int64_t from, to;
	bool reached; /* `from` was reached */
};

error_t rewriting__parse(int key, char *text, struct argp_state *state)
{
	struct rewriting *a = state->input;

	if (key == OPT_EXACT) {
		a->outside_gc = false;
		return 0;
	}
	if (key != OPT_FORMAT)
		return trace_args__option(&a->in, key, text, state);
	a->version = spec__parse_version(text);
	if (!a->version)
		usage_error(TRACE_VERSION_UNKNOWN, text);
	return 0;
}

static int no_memory(struct error *error)
{
	return error__set(error, -ENOMEM, "out of memory");
}

static const char *out_name(const struct run *run)
{
	return strcmp(run->a->in.out, "-") ? run->a->in.out : "standard output";
}

static int cannot_write(const struct run *run, int err, struct error *error)
{
	if (err == -ENOMEM)
		return no_memory(error);
	if (err == -ERANGE)
		return error__set(error, err, "%s: its timestamps exceed the range of the format",
				  run->a->in.name);
	return error__set(error, err, "cannot write %s: %s", out_name(run), strerror(-err));
}

/* Copy the private data of the first generation, which describes the whole file. */
static int keep_private(struct run *run, struct error *error)
{
	struct trace_event ev;
	struct reader *r;
	int err = open_trace(run->a->in.path, &run->a->in.reader, &r, error);

	if (err)
		return err;
	err = reader__next(r, &ev, error);
	if (err > 0)
		err = ev.dictionary ? rewrite__keep_private(run->rewrite, ev.dictionary) : 0;
	reader__destroy(r);
	return err == -ENOMEM ? no_memory(error) : err;
}

/* To be called when the start of the trace, and with it the requested part, is known. */
static int begin(struct run *run, int64_t start, struct error *error)
{
	const struct rewriting *a = run->a;
	const bool v1 = !reader__order(run->reader);
	struct rewrite_opts opts = { .repair = v1, .names = a->names };
	int err;

	run->start = start;
	run->version = a->version ? a->version :
		       v1	  ? TRACE_VERSION_OLDEST :
				    reader__version(run->reader);
	opts.version = run->version;
	run->from = opts.from = a->in.have_from ? moment__time(&a->in.from, start) : INT64_MIN;
	run->to = a->in.have_to ? moment__time(&a->in.to, start) : INT64_MAX;
	opts.to = a->in.have_to ? run->to : 0;
	if (run->from >= run->to)
		return error__set(error, -EINVAL, "--from must be before --to");
	if (run->to <= start)
		return error__set(error, -ENODATA,
				  "%s: no events before --to: the trace begins at @%" PRId64,
				  run->a->in.name, start);
	opts.outside_gc = a->outside_gc && a->in.have_from;
	err = rewrite__create(&run->rewrite, run->file, &opts);
	return err ? cannot_write(run, err, error) : 0;
}

static int rewrite_all(struct run *run, struct error *error)
{
	struct trace_event ev = {};
	int err;

	while ((err = reader__next(run->reader, &ev, error)) > 0 && ev.time < run->to) {
		if (!run->rewrite) {
			err = begin(run, ev.time, error);
			if (err)
				return err;
		}
		run->reached |= ev.time >= run->from;
		err = rewrite__event(run->rewrite, &ev);
		if (err)
			return cannot_write(run, err, error);
	}
	if (err < 0)
		return err;
	if (!run->rewrite)
		return error__set(error, -ENODATA, "%s: the trace has no events", run->a->in.name);
	run->reached |= err > 0;
	if (!run->reached)
		return error__set(error, -ENODATA,
				  "%s: no events after --from: the trace ends at @%" PRId64
				  ", %.6f s after its start",
				  run->a->in.name, ev.time,
				  (double)time_sub(ev.time, run->start) / 1e9);
	err = rewrite__end(run->rewrite);
	if (err == -EAGAIN)
		return error__set(error, err,
				  "%s: a garbage collection lasts for the whole time range; "
				  "--exact begins the trace during it",
				  run->a->in.name);
	if (err)
		return cannot_write(run, err, error);
	if (!trace_file__size(run->file))
		return error__set(error, -ENODATA, "%s: %s", run->a->in.name,
				  run->a->in.have_from || run->a->in.have_to ?
					  "no events in the requested time" :
					  "the trace has no events");
	return 0;
}

static void report_changes(const struct run *run)
{
	const struct rewrite_stats *s = rewrite__stats(run->rewrite);
	int64_t from = rewrite__from(run->rewrite);

	if (from > run->from)
		log__msg("%s: the result begins %.3f ms after --from, because a garbage collection "
			 "was in progress; --exact begins it at --from",
			 run->a->in.name, (double)(from - run->from) / 1e6);
	if (s->experimental && run->version == 22)
		log__msg("%s: %" PRIu64 " experimental events were omitted: version 1.22 does not "
			 "have them",
			 run->a->in.name, s->experimental);
	if (s->experimental && run->a->names)
		log__msg("%s: the names of the types of experimental events were removed",
			 run->a->in.name);
	if (s->inserted || s->left_out)
		log__msg("%s: %" PRIu64 " events that this version cannot express were omitted; "
			 "%" PRIu64 " were inserted to keep the others valid",
			 run->a->in.name, s->left_out, s->inserted);
	report_omissions(run->a->in.name, run->reader);
}

static int write_out(struct run *run, int64_t start, struct start_functions *functions,
		     struct error *error)
{
	struct error reason = {};
	int err = output__open(&run->file, run->a->in.out, FILE_TRACE, error);

	if (err)
		return err;
	if (start != INT64_MIN) {
		err = begin(run, start, error);
		err = err ?: keep_private(run, error);
		if (!err && rewrite__begin_at(run->rewrite, reader__order(run->reader), functions))
			err = no_memory(error);
	}
	if (err)
		return err;
	err = rewrite_all(run, &reason);
	if (err == -EBADMSG)
		return error__about(error, err, run->a->in.name, &reason);
	if (err)
		return error__set(error, err, "%s", reason.text);
	err = trace_file__commit(run->file);
	if (err)
		return cannot_write(run, err, error);
	report_changes(run);
	output__suggest(run->a->in.out);
	return 0;
}

int rewriting__run(struct rewriting *a, struct error *error)
{
	struct run run = { .a = a, .from = INT64_MIN, .to = INT64_MAX };
	struct start_functions functions = {};
	int64_t start;
	int err;

	trace_args__check(&a->in);
	if (!a->in.out)
		usage_error("missing option -o OUT");
	err = trace_args__resolve(&a->in, error);
	if (err)
		return err;
	err = open_trace_at(&a->in, a->in.have_from ? &a->in.from : NULL, &run.reader, &start,
			    &functions, error);
	if (err)
		return err;
	err = write_out(&run, start, &functions, error);
	rewrite__destroy(run.rewrite);
	trace_file__destroy(run.file);
	reader__destroy(run.reader);
	start_functions__deinit(&functions);
	return err;
}
