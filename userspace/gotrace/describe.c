// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace describe: the table of events, our own or the one that a trace brings along.
 *
 * Of our own it also says what no trace needs to: versions, limits, the arguments of control
 * events. Before it: trace/describe.c; of a file: trace/reader.c up to the first generation.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lib/json.h"
#include "lib/unicode.h"
#include "trace/describe.h"
#include "trace/output.h"
#include "trace/private_read.h"

enum form { FORM_TEXT, FORM_JSON, FORM_BINARY };

struct arguments {
	const char *path; /* NULL: our own table */
	const char *output;
	enum form form;
};

enum { OPT_JSON = 256, OPT_BINARY };

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "as JSON", 0 },
	{ "binary", OPT_BINARY, NULL, 0, "in the form that traces have it in", 0 },
	{ "output", 'o', "OUT", 0, "where to (default: -, stdout)", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_JSON:
	case OPT_BINARY:
		if (a->form)
			usage_error("--json or --binary, not both");
		a->form = key == OPT_JSON ? FORM_JSON : FORM_BINARY;
		return 0;
	case 'o':
		a->output = text;
		return 0;
	case ARGP_KEY_ARG:
		if (a->path)
			usage_error("one trace at a time, not \"%s\" as well", text);
		a->path = text;
		return 0;
	default:
		return command__key(key, state, "describe");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"[FILE]",
	"Shows which events there are and what they mean: those that this program knows, or those that "
	"the trace FILE says it has (as traces of gotrace-bpf do).",
	NULL,
	NULL,
	NULL,
};

static const char *const scopes[] = { "goroutine", "thread", "P", "program" };
static const char *const classes[] = { "instant", "range begin", "range end" };
static const char *const types[] = { "uint", "string", "string id", "stack" };
static const char *const arg_types[] = {
	[ARG_TIME] = "time",   [ARG_G] = "goroutine",	[ARG_M] = "thread",
	[ARG_P] = "P",	       [ARG_SEQ] = "counter",	[ARG_STRING] = "string id",
	[ARG_STACK] = "stack", [ARG_STATUS] = "status", [ARG_VALUE] = "value",
	[ARG_BYTES] = "bytes", [ARG_TASK] = "task",	[ARG_GEN] = "generation",
	[ARG_SIZE] = "size",   [ARG_ID] = "id",		[ARG_NS] = "ns",
	[ARG_SEC] = "s",
};
static const char *const experiments[] = { NULL, "AllocFree" };

/* A newer minor version may have more. */
#define NAME_OF(names, i) ((i) < sizeof(names) / sizeof(*(names)) ? (names)[i] : "unknown")

/* A file's text may hold anything; a terminal is to see only characters. */
static void put_text(FILE *out, struct trace_string text)
{
	struct buf b = buf__make(text.data, text.len);
	const void *bytes;
	uint32_t c;
	size_t width;

	while (buf__left(&b)) {
		width = utf8__decode(b.pos, buf__left(&b), &c);
		bytes = buf__take(&b, width);
		if (unicode__is_print(c) && (c != UNICODE_REPLACEMENT || width > 1))
			fwrite(bytes, 1, width, out);
		else
			fputc('?', out);
	}
}

static void put_padded(FILE *out, struct trace_string text, int width)
{
	put_text(out, text);
	for (int i = (int)text.len; i < width; i++)
		fputc(' ', out);
}

/* "instant, of a goroutine", "begins a range …" */
static void print_class(FILE *out, const struct description *d, const struct described_event *ev)
{
	const struct described_event *link = description__event(d, ev->link);

	if (!ev->descriptive) {
		fputs("control", out);
		return;
	}
	fprintf(out, "%s, %s", NAME_OF(classes, ev->class), NAME_OF(scopes, ev->scope));
	if (ev->class != CLASS_INSTANT && link) {
		fputs(ev->class == CLASS_BEGIN ? ", until " : ", since ", out);
		put_text(out, link->name);
	}
}

static void print_own_args(FILE *out, const struct ev_spec *spec)
{
	for (unsigned int i = 0; i < spec->nargs; i++)
		fprintf(out, "      %-16s %-10s %s\n", spec->arg[i].name,
			arg_types[spec->arg[i].type], spec__arg_words(spec->arg[i].name));
	if (spec->blob)
		fprintf(out, "      %-16s %-10s length, and as many bytes\n", "", "data");
	if (spec->frames)
		fprintf(out, "      %-16s %-10s pc, func, file, line of each\n", "", "frames");
}

static void print_args(FILE *out, const struct described_event *ev)
{
	for (unsigned int i = 0; i < ev->nargs; i++) {
		fputs("      ", out);
		put_padded(out, ev->args[i].name, 16);
		fprintf(out, " %-10s ", NAME_OF(types, ev->args[i].type));
		put_text(out, ev->args[i].what);
		fputc('\n', out);
	}
}

static void print_values(FILE *out, const struct described_event *ev)
{
	for (unsigned int i = 0; i < ev->nvalues; i++) {
		fprintf(out, "      %16u ", ev->values[i].value);
		put_padded(out, ev->values[i].name, 16);
		fputc(' ', out);
		put_text(out, ev->values[i].what);
		fputc('\n', out);
	}
}

static void print_text(FILE *out, const struct description *d, bool own)
{
	const struct described_event *ev;
	const struct ev_spec *spec;

	fprintf(out, "%u events, minor version %u\n", d->n, d->minor);
	if (own)
		fprintf(out,
			"limits: batch %d bytes, string %d bytes, stack %d frames, %d arguments\n",
			TRACE_BATCH_MAX, TRACE_STRING_MAX, TRACE_STACK_MAX, EV_ARGS_MAX);
	for (ev = d->events; ev < d->events + d->n; ev++) {
		spec = spec__event(ev->type);
		fprintf(out, "\n%3u  ", ev->type);
		put_text(out, ev->name);
		fputs(" (", out);
		print_class(out, d, ev);
		if (own)
			fprintf(out, "; Go 1.%u to 1.%u", spec->since, spec->until);
		if (own && spec->experiment)
			fprintf(out, "; experiment %s", experiments[spec->experiment]);
		fputs(spec ? ")\n     " : "; not known to this gotrace)\n     ", out);
		put_text(out, ev->what);
		fputc('\n', out);
		if (own)
			print_own_args(out, spec);
		else
			print_args(out, ev);
		print_values(out, ev);
	}
}

static void json_text(struct json *j, const char *name, struct trace_string text)
{
	json__bytes(j, name, text.data, text.len);
}

static void json_args(struct json *j, const struct described_event *ev)
{
	json__open(j, "arguments", '[');
	for (unsigned int i = 0; i < ev->nargs; i++) {
		json__open(j, NULL, '{');
		json_text(j, "name", ev->args[i].name);
		json__string(j, "type", NAME_OF(types, ev->args[i].type));
		json_text(j, "description", ev->args[i].what);
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void json_values(struct json *j, const struct described_event *ev)
{
	json__open(j, "values", '[');
	for (unsigned int i = 0; i < ev->nvalues; i++) {
		json__open(j, NULL, '{');
		json__u64(j, "value", ev->values[i].value);
		json_text(j, "name", ev->values[i].name);
		json_text(j, "description", ev->values[i].what);
		json__close(j, '}');
	}
	json__close(j, ']');
}

/* What only our own table says: how the event stands in a file. */
static void json_layout(struct json *j, const struct ev_spec *spec)
{
	json__open(j, "layout", '{');
	json__u64(j, "since", spec->since);
	json__u64(j, "until", spec->until);
	json__bool(j, "timed", spec->timed);
	json__bool(j, "data", spec->blob);
	json__bool(j, "frames", spec->frames);
	json__string(j, "experiment", experiments[spec->experiment]);
	json__string(j, "start", spec->start ? spec__event(spec->start)->name : NULL);
	json__open(j, "arguments", '[');
	for (unsigned int i = 0; i < spec->nargs; i++) {
		json__open(j, NULL, '{');
		json__string(j, "name", spec->arg[i].name);
		json__string(j, "type", arg_types[spec->arg[i].type]);
		json__close(j, '}');
	}
	json__close(j, ']');
	json__close(j, '}');
}

static void json_event(struct json *j, const struct described_event *ev, bool own)
{
	const struct ev_spec *spec = spec__event(ev->type);

	json__open(j, NULL, '{');
	json__u64(j, "type", ev->type);
	json_text(j, "name", ev->name);
	json_text(j, "description", ev->what);
	json__bool(j, "known", spec);
	json__bool(j, "descriptive", ev->descriptive);
	if (ev->descriptive) {
		json__string(j, "scope", NAME_OF(scopes, ev->scope));
		json__string(j, "class", NAME_OF(classes, ev->class));
		if (ev->class != CLASS_INSTANT)
			json__u64(j, "link", ev->link);
		json_args(j, ev);
	}
	if (ev->nvalues)
		json_values(j, ev);
	if (own)
		json_layout(j, spec);
	json__close(j, '}');
}

static void print_json(FILE *out, const struct description *d, bool own)
{
	struct json j;

	json__init(&j, out, false);
	json__open(&j, NULL, '{');
	json__u64(&j, "minor", d->minor);
	if (own) {
		json__open(&j, "limits", '{');
		json__u64(&j, "batch", TRACE_BATCH_MAX);
		json__u64(&j, "string", TRACE_STRING_MAX);
		json__u64(&j, "stack", TRACE_STACK_MAX);
		json__u64(&j, "arguments", EV_ARGS_MAX);
		json__close(&j, '}');
	}
	json__open(&j, "events", '[');
	for (unsigned int i = 0; i < d->n; i++)
		json_event(&j, &d->events[i], own);
	json__close(&j, ']');
	json__close(&j, '}');
}

static int own_table(struct description **ret, struct error *err)
{
	uint8_t *bytes;
	size_t len;
	int code = description__encode(&bytes, &len);

	if (code)
		return error__set(err, code, "no memory");
	code = description__decode(ret, bytes, len, err);
	free(bytes);
	return code;
}

/* That of the first generation, which must be whole; what comes behind it may be anything. */
static int file_table(const char *path, struct description **ret, struct error *err)
{
	struct trace_event ev = {};
	struct error why = {};
	struct reader *reader;
	int code = open_trace(path, &(struct reader_opts){ .described = true }, &reader, err);

	if (code)
		return code;
	do
		code = reader__next(reader, &ev, &why);
	while (code > 0 && !ev.words); /* the sync that goes before the end, or before an error */
	if (code > 0)
		code = private_read__table(ev.words, ret, &why);
	reader__destroy(reader);
	if (!code)
		return error__set(err, -ENOENT, "%s does not describe its events", path);
	return code < 0 ? error__about(err, code, path, &why) : 0;
}

static int write_out(const char *path, const void *data, size_t len, struct error *err)
{
	struct trace_file *f = NULL;
	int code = output__open(&f, path, FILE_DESCRIPTION, err);

	if (code)
		return code;
	code = trace_file__append(f, data, len);
	if (!code)
		code = trace_file__commit(f);
	trace_file__destroy(f);
	if (code)
		error__set(err, code, "cannot write %s: %s",
			   strcmp(path, "-") ? path : "the standard output", strerror(-code));
	return code;
}

/* Text and JSON are small: they go out in one piece, like the bytes. */
static int show(const struct arguments *a, const struct description *d, struct error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int code;

	if (a->form == FORM_BINARY)
		return write_out(a->output, d->bytes, d->len, err);
	out = open_memstream(&text, &len);
	if (!out)
		return error__set(err, -ENOMEM, "no memory");
	if (a->form == FORM_JSON)
		print_json(out, d, !a->path);
	else
		print_text(out, d, !a->path);
	code = fclose(out) ? error__set(err, -ENOMEM, "no memory") :
			     write_out(a->output, text, len, err);
	free(text);
	return code;
}

int do_describe(int argc, char **argv, struct error *err)
{
	struct arguments a = { .output = "-" };
	struct description *d = NULL;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (a.path && strcmp(a.output, "-"))
		refuse_same_file("FILE", a.path, "-o", a.output);
	code = a.path ? file_table(a.path, &d, err) : own_table(&d, err);
	if (!code)
		code = show(&a, d, err);
	description__destroy(d);
	return code ? EXIT_FAILED : EXIT_DONE;
}
