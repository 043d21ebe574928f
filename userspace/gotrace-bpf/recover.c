// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf recover: writes the trace of a flight recorder buffer, in whatever way its recorder
 * ended.
 *
 * The session is claimed, so that no other process can take it, and released once the trace is on
 * disk. If this process fails or is killed, the module keeps it for the next attempt. Upstream:
 * record --blackbox. Downstream: replay.c.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "blackbox/blackbox.h"
#include "capture/kmod.h"
#include "lib/log.h"
#include "lib/regular.h"
#include "target/elf/elf.h"
#include "target/symbols/pclntab.h"
#include "writer/output.h"
#include "blackbox_image.h"
#include "blackbox_list.h"
#include "command.h"
#include "replay.h"

enum { OPT_LIST = 256, OPT_JSON, OPT_DISCARD };

struct arguments {
	const char *name, *raw;
	struct sink_opts sink;
	bool list, json, discard;
};

static const struct argp_option options[] = {
	REPLAY_OPTIONS,
	SAVE_INPUT_OPTION,
	{ "list", OPT_LIST, NULL, 0, "list all flight recorder buffers", 0 },
	{ "json", OPT_JSON, NULL, 0, "print the list as JSON", 0 },
	{ "discard", OPT_DISCARD, NULL, 0, "free the buffer without reading it", 0 },
	FORCE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	if (replay__option(&a->sink, key, text) != ARGP_ERR_UNKNOWN)
		return 0;
	switch (key) {
	case OPT_SAVE_INPUT:
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
			usage_error("more than one NAME given: '%s'", text);
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
	"Writes the trace of the most recent events that 'gotrace-bpf record --blackbox NAME' "
	"recorded, and frees the flight recorder buffer.",
	NULL,
	NULL,
	NULL,
};

static void check_arguments(const struct arguments *a)
{
	if (a->json && !a->list)
		usage_error("--json requires --list");
	if (a->list && (a->name || a->sink.path || a->discard))
		usage_error("--list cannot be combined with NAME, -o FILE or --discard");
	if (a->list)
		return;
	if (!a->name)
		usage_error("no flight recorder buffer given: expected NAME -o FILE, or --list");
	if (a->discard && (a->sink.path || a->raw))
		usage_error("--discard cannot be combined with -o or --save-input");
	if (!a->discard && !a->sink.path)
		usage_error("missing option -o FILE");
	refuse_same_file("-o", a->sink.path, "--save-input", a->raw);
}

/* ---- symbols that are in no checkpoint ---- */

struct program_file {
	struct elf_image *elf;
	struct pclntab *pclntab;
};

/* Symbols of the program's file; NULL if it no longer exists or has another build ID. */
static const struct symbolizer *find_program(const struct raw_header *facts,
					     struct program_file *program, struct symbolizer *ret)
{
	int fd = regular__open_below(NULL, facts->exe, NULL), err;
	struct go_version version;
	struct error why = {};
	const char *build_id;

	err = fd < 0 ? fd : elf_image__open(&program->elf, fd, facts->exe, &why);
	if (fd >= 0)
		close(fd);
	if (err)
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

static int save_raw(const char *path, const void *data, size_t size, struct error *error)
{
	struct trace_file *file;
	int err = output__open(&file, path, FILE_RAW, error);

	if (err)
		return err;
	err = trace_file__append(file, data, size);
	if (!err)
		err = trace_file__commit(file);
	trace_file__destroy(file);
	return err ? error__set(error, err, "%s: %s", path, strerror(-err)) : 0;
}

static void report(const struct arguments *a, const struct blackbox_facts *facts)
{
	log__msg("recovered %.3f s of flight recorder buffer %s: %llu records, %llu stacks%s",
		 (double)(facts->t1 - facts->t0) / 1e9, a->name, (unsigned long long)facts->records,
		 (unsigned long long)facts->stacks,
		 facts->overwritten ? "; older records had been overwritten" : "");
	blackbox_image__report(facts, "--ring-size");
}

static int write_trace(const struct arguments *a, struct rawfile *raw, struct error *error)
{
	size_t size;
	const void *data = rawfile__bytes(raw, &size);
	int err = a->raw ? save_raw(a->raw, data, size, error) : 0;

	return err ? err : blackbox_image__write(raw, a->name, &a->sink, NULL, error);
}

static int read_image(struct kmod *kmod, struct blackbox_image *ret, struct error *error)
{
	int err = kmod__freeze(kmod, error);

	*ret = (struct blackbox_image){ .memory = kmod__memory(kmod), .bytes = kmod__bytes(kmod) };
	return err ? err : blackbox_image__read_checkpoints(kmod, ret, error);
}

static int recover(const struct arguments *a, struct kmod *kmod, struct error *error)
{
	const struct symbolizer *more = NULL;
	struct blackbox_facts facts;
	struct program_file program = {};
	struct blackbox_image image;
	struct symbolizer symbolizer;
	struct rawfile *raw = NULL;
	struct raw_header header;
	int err = read_image(kmod, &image, error);

	if (!err && blackbox__header(&image, &header))
		more = find_program(&header, &program, &symbolizer);
	if (!err)
		err = blackbox__read(&image, more, &raw, &facts, error);
	if (!err)
		err = write_trace(a, raw, error);
	if (!err) {
		report(a, &facts);
		output__suggest(a->sink.path);
	}
	rawfile__destroy(raw);
	pclntab__destroy(program.pclntab);
	elf_image__destroy(program.elf);
	blackbox_image__free_checkpoints(&image);
	return err;
}

static int claim(const struct arguments *a, struct kmod *kmod, struct error *error)
{
	struct error why = {};
	int err = kmod__claim(kmod, a->name, &why), owner;
	bool ended;

	if (err != -EBUSY)
		return err ? error__set(error, err, "%s", why.text) : 0;
	owner = blackbox__owner(kmod, a->name, &ended);
	if (owner && ended)
		return error__set(error, err,
				  "flight recorder buffer %s is being read by process %d", a->name,
				  owner);
	if (owner)
		return error__set(
			error, err,
			"flight recorder buffer %s is in use by process %d: end it (kill %d)",
			a->name, owner, owner);
	return error__set(error, err, "%s", why.text);
}

static int take(const struct arguments *a, struct kmod *kmod, struct error *error)
{
	int err = claim(a, kmod, error);
	struct error why = {};

	if (err)
		return err;
	if (!a->discard)
		err = recover(a, kmod, &why);
	if (!err)
		return kmod__release(kmod, error);
	error__set(&why, err, "%s: %s", a->sink.path, strerror(-err));
	return error__set(
		error, err,
		"%.300s; flight recorder buffer %s is kept: try again, or free it with 'gotrace-bpf "
		"recover %s --discard'",
		why.text, a->name, a->name);
}

int do_recover(int argc, char **argv, struct error *error)
{
	struct arguments a = { .sink = { .tick_ns = 1 } };
	struct kmod *kmod = NULL;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (a.list)
		command__end_with_reader();
	err = kmod__open(&kmod, error);
	if (!err)
		err = a.list ? blackbox__list(kmod, a.json, error) : take(&a, kmod, error);
	kmod__close(kmod);
	return err ? EXIT_FAILED : EXIT_DONE;
}
