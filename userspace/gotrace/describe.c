// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace describe: prints the event table of this program, or the one that a trace contains.
 *
 * For its own table it also prints what traces do not contain: versions, limits, and the arguments
 * of control events. Input: format/describe.c, and for a file reader/reader.c up to the first
 * generation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/describe.h"
#include "format/private_read.h"
#include "lib/json.h"
#include "lib/unicode.h"
#include "writer/output.h"
#include "command.h"

enum form { FORM_TEXT, FORM_JSON, FORM_BINARY };

struct arguments {
	struct trace_args in; /* no path: the built-in table */
	enum form form;
};

enum { OPT_BINARY = 256 };

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ "binary", OPT_BINARY, NULL, 0, "print the binary form that is stored in traces", 0 },
	{ "output", 'o', "OUT", 0, "output file (default: -, standard output)", 0 },
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
			usage_error("--json and --binary cannot be combined");
		a->form = key == OPT_JSON ? FORM_JSON : FORM_BINARY;
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"[FILE]",
	"Lists the event types with number, name, semantics and arguments: those that this "
	"program supports or, with FILE, those that the trace describes, as traces of "
	"gotrace-bpf do.",
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

/* Values beyond the known ones come from a newer minor version. */
#define NAME_OF(names, i) ((i) < sizeof(names) / sizeof(*(names)) ? (names)[i] : "unknown")

/* Text of a file may contain anything: escape whatever a terminal would interpret. */
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

/* Such as "instant, goroutine" or "range begin, P, until …". */
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
			arg_types[spec->arg[i].type], spec__arg_doc(spec->arg[i].name));
	if (spec->blob)
		fprintf(out, "      %-16s %-10s the length, followed by that many bytes\n", "",
			"data");
	if (spec->frames)
		fprintf(out, "      %-16s %-10s pc, func, file and line of each frame\n", "",
			"frames");
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
		fputs(spec ? ")\n     " : "; not supported by this version of gotrace)\n     ",
		      out);
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

/* Only for the built-in table: the layout of the event in a file. */
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

static int own_table(struct description **ret, struct error *error)
{
	uint8_t *bytes;
	size_t len;
	int err = description__encode(&bytes, &len);

	if (err)
		return error__set(error, err, "out of memory");
	err = description__decode(ret, bytes, len, error);
	free(bytes);
	return err;
}

/* Table of the first generation, which must be complete; later generations are not read. */
static int file_table(const char *path, struct description **ret, struct error *error)
{
	struct trace_event ev = {};
	struct error why = {};
	struct reader *reader;
	int err = open_trace(path, &(struct reader_opts){ .described = true }, &reader, error);

	if (err)
		return err;
	do
		err = reader__next(reader, &ev, &why);
	while (err > 0 && !ev.dictionary); /* the sync that precedes the end, or an error */
	if (err > 0)
		err = private_read__table(ev.dictionary, ret, &why);
	reader__destroy(reader);
	if (!err)
		return error__set(error, -ENOENT, "%s: the trace contains no event descriptions",
				  path);
	return err < 0 ? error__about(error, err, path, &why) : 0;
}

static int write_out(const char *path, const void *data, size_t len, struct error *error)
{
	struct trace_file *f = NULL;
	int err = output__open(&f, path, FILE_DESCRIPTION, error);

	if (err)
		return err;
	err = trace_file__append(f, data, len);
	if (!err)
		err = trace_file__commit(f);
	trace_file__destroy(f);
	if (err)
		error__set(error, err, "cannot write %s: %s",
			   strcmp(path, "-") ? path : "standard output", strerror(-err));
	return err;
}

/* Text and JSON are small, so they are written at once, like the binary form. */
static int show(const struct arguments *a, const struct description *d, struct error *error)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int err;

	if (a->form == FORM_BINARY)
		return write_out(a->in.out, d->bytes, d->len, error);
	out = open_memstream(&text, &len);
	if (!out)
		return error__set(error, -ENOMEM, "out of memory");
	if (a->form == FORM_JSON)
		print_json(out, d, !a->in.path);
	else
		print_text(out, d, !a->in.path);
	err = fclose(out) ? error__set(error, -ENOMEM, "out of memory") :
			    write_out(a->in.out, text, len, error);
	free(text);
	return err;
}

int do_describe(int argc, char **argv, struct error *error)
{
	struct arguments a = { .in = { .verb = "describe", .out = "-" } };
	struct description *d = NULL;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (a.in.path && strcmp(a.in.out, "-"))
		refuse_same_file("FILE", a.in.path, "-o", a.in.out);
	err = a.in.path ? file_table(a.in.path, &d, error) : own_table(&d, error);
	if (!err)
		err = show(&a, d, error);
	description__destroy(d);
	return err ? EXIT_FAILED : EXIT_DONE;
}
