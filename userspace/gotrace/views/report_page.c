// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace report: one HTML page about a trace, which needs no network.
 *
 * report.c reads the trace and writes the data; report/page.h is the page that they are put into.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace/views/report.h"
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
	if (!err && !d->in.json)
		output__suggest_use(d->in.out, "open ", " in a browser");
	outbuf__deinit(&out);
	trace_file__destroy(file);
	return err;
}

static int make_report(struct report_data *d, struct error *error)
{
	char *data = NULL;
	size_t len = 0;
	FILE *out;
	int err = report__read(d, error);

	if (err)
		return err;
	out = open_memstream(&data, &len);
	if (!out)
		return error__set(error, -ENOMEM, "out of memory");
	err = report__print(d, out, error);
	if (fclose(out) && !err)
		err = error__set(error, -ENOMEM, "out of memory");
	err = err ?: write_output(d, data, len, error);
	free(data);
	return err;
}

int do_report(int argc, char **argv, struct error *error)
{
	struct report_data *d = calloc(1, sizeof(*d)); /* too large for the stack */
	const struct report_lanes_opts lanes = {};
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
	err = report__init(d, &lanes);
	if (err)
		error__set(error, err, "out of memory");
	else
		err = make_report(d, error);
	report__deinit(d);
	free(d);
	return err ? EXIT_FAILED : EXIT_DONE;
}
