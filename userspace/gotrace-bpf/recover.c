// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf recover: the trace of a black box, whoever recorded it having ended in whatever way.
 *
 * The session is claimed, so that no one else takes it, and released when the trace is on the disk; if
 * this process fails or is killed, the module keeps it for the next try. Before it: record --blackbox.
 * After it: sequence.c.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox_list.h"
#include "capture/blackbox.h"
#include "capture/kmod.h"
#include "command.h"
#include "lib/log.h"
#include "lib/regular.h"
#include "sequence.h"
#include "target/elf.h"
#include "target/layout.h"
#include "target/pclntab.h"
#include "trace/output.h"

enum { OPT_RAW = 256, OPT_LIST, OPT_JSON, OPT_DISCARD };

struct arguments {
	const char *name, *raw;
	struct sink_opts sink;
	bool list, json, discard;
};

static const struct argp_option options[] = {
	SEQUENCE_OPTIONS,
	{ "raw", OPT_RAW, "FILE", 0, "save the records, too, for `gotrace-bpf sequence`", 0 },
	{ "list", OPT_LIST, NULL, 0, "show all black boxes", 0 },
	{ "json", OPT_JSON, NULL, 0, "the list as JSON", 0 },
	{ "discard", OPT_DISCARD, NULL, 0, "free the black box without reading it", 0 },
	FORCE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	if (sequence__option(&a->sink, key, text) != ARGP_ERR_UNKNOWN)
		return 0;
	switch (key) {
	case OPT_RAW:
		a->raw = text;
		return 0;
	case OPT_LIST:
		a->list = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_DISCARD:
		a->discard = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->name)
			usage_error("one black box at a time, not \"%s\" as well", text);
		a->name = text;
		return 0;
	default:
		return command__key(key, state, "recover");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"NAME -o FILE\nNAME --discard\n--list [--json]",
	"Writes the trace of what `gotrace-bpf record --blackbox NAME` recorded last, and frees it.",
	NULL,
	NULL,
	NULL,
};

static void check_arguments(const struct arguments *a)
{
	if (a->json && !a->list)
		usage_error("--json is for --list");
	if (a->list && (a->name || a->sink.path || a->discard))
		usage_error("--list shows all black boxes, and does nothing else");
	if (a->list)
		return;
	if (!a->name)
		usage_error("no black box given: NAME -o FILE, or --list");
	if (a->discard && (a->sink.path || a->raw))
		usage_error("either -o FILE or --discard: what is discarded is not read");
	if (!a->discard && !a->sink.path)
		usage_error("no -o FILE given");
	refuse_same_file("-o", a->sink.path, "--raw", a->raw);
}

/* ---- symbols that no checkpoint has ---- */

struct program_file {
	struct elf_image *elf;
	struct pclntab *pclntab;
};

/* The program, if it is there still and not another: NULL symbols otherwise. */
static const struct symbolizer *find_program(const struct raw_header *facts,
					     struct program_file *program, struct symbolizer *ret)
{
	int fd = regular__open_below(NULL, facts->exe, NULL), code;
	struct go_version version;
	struct error why = {};
	const char *build_id;

	code = fd < 0 ? fd : elf_image__open(&program->elf, fd, facts->exe, &why);
	if (fd >= 0)
		close(fd);
	if (code)
		return NULL;
	build_id = elf_image__any_build_id(program->elf);
	if (!build_id || strncmp(build_id, facts->build_id, sizeof(facts->build_id) - 1) ||
	    !go_version__parse(facts->go_version, &version) ||
	    pclntab__open(&program->pclntab, program->elf, &version, &why))
		return NULL;
	pclntab__symbolizer(program->pclntab, facts->bias, ret);
	return ret;
}

/* ---- reading ---- */

static int save_raw(const char *path, const void *data, size_t size, struct error *err)
{
	struct trace_file *file;
	int code = output__open(&file, path, FILE_RAW, err);

	if (code)
		return code;
	code = trace_file__append(file, data, size);
	if (!code)
		code = trace_file__commit(file);
	trace_file__destroy(file);
	return code ? error__set(err, code, "%s: %s", path, strerror(-code)) : 0;
}

static void tell(const struct arguments *a, const struct blackbox_facts *facts)
{
	log__msg("recovered %.3f s of black box %s: %llu records, %llu stacks%s",
		 (double)(facts->t1 - facts->t0) / 1e9, a->name, (unsigned long long)facts->records,
		 (unsigned long long)facts->stacks,
		 facts->overwritten ? "; what was before has been overwritten" : "");
	if (facts->headless)
		log__msg(
			"no checkpoint could be read: which program this was is not known, and its "
			"functions have no names");
	else if (!facts->snapshots)
		log__msg("no checkpoint has goroutines: those without an event are missing");
	else if (facts->stale)
		log__msg("the last checkpoint is %.3f s older than the window: goroutines without "
			 "an event are those that waited then; a larger --ring-size makes the "
			 "window longer",
			 (double)(facts->t0 - facts->snapshots) / 1e9);
	if (facts->lost || facts->stacks_lost)
		log__msg(
			"%llu records of the window were lost, and since the black box was made %llu "
			"stacks",
			(unsigned long long)facts->lost, (unsigned long long)facts->stacks_lost);
	if (facts->broken || facts->stacks_gone)
		log__msg("%u pieces were not written to their end, %llu stacks were overwritten",
			 facts->broken, (unsigned long long)facts->stacks_gone);
}

static int write_trace(const struct arguments *a, struct rawfile *raw, struct error *err)
{
	struct replay *r;
	size_t size;
	const void *data = rawfile__bytes(raw, &size);
	int code = a->raw ? save_raw(a->raw, data, size, err) : 0;

	if (!code)
		code = replay__open_memory(&r, data, size, a->name, err);
	if (code)
		return code;
	code = sequence__replay(&a->sink, r, a->name, err);
	replay__destroy(r);
	return code;
}

static int read_image(struct kmod *kmod, struct blackbox_image *ret, struct error *err)
{
	unsigned int i;
	int code = kmod__freeze(kmod, err);

	*ret = (struct blackbox_image){ .memory = kmod__memory(kmod), .bytes = kmod__bytes(kmod) };
	for (i = 0; !code && i < 2; i++) {
		struct error why = {};
		void *data = NULL;
		size_t bytes = 0;

		code = kmod__read_checkpoint(kmod, i, &data, &bytes, NULL, &why);
		ret->checkpoint[i].data = data;
		ret->checkpoint[i].bytes = bytes;
		if (code == -ENODATA) /* its recorder had not come so far */
			code = 0;
		if (code)
			error__set(err, code, "%s", why.text);
	}
	return code;
}

static int recover(const struct arguments *a, struct kmod *kmod, struct error *err)
{
	const struct symbolizer *more = NULL;
	struct blackbox_facts facts;
	struct program_file program = {};
	struct blackbox_image image;
	struct symbolizer symbolizer;
	struct rawfile *raw = NULL;
	struct raw_header header;
	int code = read_image(kmod, &image, err);

	if (!code && blackbox__header(&image, &header))
		more = find_program(&header, &program, &symbolizer);
	if (!code)
		code = blackbox__read(&image, more, &raw, &facts, err);
	if (!code)
		code = write_trace(a, raw, err);
	if (!code)
		tell(a, &facts);
	rawfile__destroy(raw);
	pclntab__destroy(program.pclntab);
	elf_image__destroy(program.elf);
	free((void *)image.checkpoint[0].data);
	free((void *)image.checkpoint[1].data);
	return code;
}

static int claim(const struct arguments *a, struct kmod *kmod, struct error *err)
{
	struct error why = {};
	int code = kmod__claim(kmod, a->name, &why), owner;
	bool ended;

	if (code != -EBUSY)
		return code ? error__set(err, code, "%s", why.text) : 0;
	owner = blackbox__owner(kmod, a->name, &ended);
	if (owner && ended)
		return error__set(err, code, "black box %s is being read by process %d", a->name,
				  owner);
	if (owner)
		return error__set(
			err, code,
			"black box %s is in use by process %d: end it (kill %d), and try again",
			a->name, owner, owner);
	return error__set(err, code, "%s", why.text);
}

static int take(const struct arguments *a, struct kmod *kmod, struct error *err)
{
	int code = claim(a, kmod, err);
	struct error why = {};

	if (code)
		return code;
	if (!a->discard)
		code = recover(a, kmod, &why);
	if (!code)
		return kmod__release(kmod, err);
	error__set(&why, code, "%s: %s", a->sink.path, strerror(-code));
	return error__set(
		err, code,
		"%.300s; black box %s stays: try again, or `gotrace-bpf recover %s --discard`",
		why.text, a->name, a->name);
}

int do_recover(int argc, char **argv, struct error *err)
{
	struct arguments a = { .sink = { .version = 25, .tick_ns = 1 } };
	struct kmod *kmod = NULL;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (a.list)
		command__end_with_reader();
	code = kmod__open(&kmod, err);
	if (!code)
		code = a.list ? blackbox__list(kmod, a.json, err) : take(&a, kmod, err);
	kmod__close(kmod);
	return code ? EXIT_FAILED : EXIT_DONE;
}
