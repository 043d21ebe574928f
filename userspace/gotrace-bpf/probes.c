// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf probes: lists where probes would be attached in a program, and why there. The sites
 * come from the analysis with which record starts.
 */
#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hits.h"
#include "lib/json.h"
#include "lib/log.h"
#include "lib/steps.h"
#include "lib/unicode.h"
#include "target/probe/call_copies.h"
#include "analysis.h"
#include "command.h"
#include "interrupt.h"

struct arguments {
	int pid;
	const char *exe;
	const char *functions; /* a pattern; NULL: the probes of the runtime */
	bool json;
};

enum { OPT_EXE = 256, OPT_JSON, OPT_FUNCTIONS };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0, "analyse the program of this process", 0 },
	{ "exe", OPT_EXE, "FILE", 0, "analyse this program file", 0 },
	{ "functions", OPT_FUNCTIONS, "PATTERN", 0,
	  "list the functions that 'record --region PATTERN', or --task, would record, with entries "
	  "and exits",
	  0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	LIBRARY_OPTION,
	NO_CACHE_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_LIBRARY:
		analysis__library(text);
		return 0;
	case OPT_NO_CACHE:
		analysis__no_cache();
		return 0;
	case 'p':
		a->pid = parse_pid(text);
		return 0;
	case OPT_EXE:
		a->exe = text;
		return 0;
	case OPT_FUNCTIONS:
		a->functions = text;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->pid || a->exe || !is_number(text))
			usage_error("unexpected argument '%s': expected -p PID or --exe FILE",
				    text);
		a->pid = parse_pid(text);
		return 0;
	default:
		return command__key(key, state, "probes");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"-p PID\n--exe FILE",
	"Shows each place where a probe would be attached: function, instruction, cost of a hit, "
	"and what it represents.",
	NULL,
	NULL,
	NULL,
};

#define PLACE_MAX	128
#define PLACE_WIDTH_MIN 40
#define PLACE_WIDTH_MAX 80

static const char *place_of(const struct site *site, char text[PLACE_MAX])
{
	snprintf(text, PLACE_MAX, "%s+0x%x", site->func, site->func_offset);
	return text;
}

/* Width of the column, in which longer places stand out. */
static int place_width(const struct site *site, size_t n)
{
	size_t width = PLACE_WIDTH_MIN;
	char text[PLACE_MAX];

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(place_of(&site[i], text));

		if (len > width && len <= PLACE_WIDTH_MAX)
			width = len;
	}
	return (int)width;
}

/* Escapes the line: the names of the program in it are untrusted. */
__attribute__((format(printf, 1, 2))) static void print_line(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	utf8__make_printable(line);
	puts(line);
}

static const char *cost(const struct analysis *a, const struct site *site)
{
	if (site__is_derived(&a->sites, &a->layout, site->probe))
		return "derived";
	return site->cost == SITE_EMULATED ? "emulated" : "stepped";
}

/* What a hit takes on this machine in a loop, ns, by enum site_cost; 0: unknown. */
static double measured[SITE_STEPPED + 1];

static void measure(void)
{
	struct error why = {};
	struct hits *trap;

	if (hits__open_trap(&trap, &why)) {
		log__debug("%s", why.text);
		return;
	}
	measured[SITE_EMULATED] = hits__trap_ns();
	measured[SITE_STEPPED] = hits__stepped_ns();
	hits__destroy(trap);
}

/* *text is for a number. */
static const char *short_cost(const struct analysis *a, const struct site *site, char text[16])
{
	if (site__is_derived(&a->sites, &a->layout, site->probe))
		return "derived";
	if (!(measured[site->cost] > 0))
		return cost(a, site);
	snprintf(text, 16, "%.1f us", measured[site->cost] / 1e3);
	return text;
}

static void print_site(const struct analysis *a, const struct site *site, int width)
{
	char place[PLACE_MAX], text[16];

	print_line("%-*s %-28s %-8s %-16s %-8s %-19s %s", width, place_of(site, place), site->text,
		   short_cost(a, site, text), site__probe_name(site->probe),
		   site_set__name(site__set(site->probe)),
		   site__arguments(site->probe, site->cookie), site->why);
}

static void print_sites(const struct analysis *a, const struct site *site, size_t n)
{
	int width = place_width(site, n);

	printf("\n%-*s %-28s %-8s %-16s %-8s %-19s %s\n", width, "function", "instruction", "cost",
	       "probe", "set", "arguments", "observed event");
	for (size_t i = 0; i < n; i++)
		print_site(a, &site[i], width);
}

static void print_modules(const struct analysis *a)
{
	char others[768];

	if (a->libraries.nothers || a->modules_why.text[0])
		putchar('\n');
	if (a->libraries.nothers)
		print_line("not recorded: the Go code of %s: see --library",
			   libraries__format(&a->libraries, 0, others, sizeof(others)));
	if (a->modules_why.text[0])
		print_line("plugins: unknown: %s", a->modules_why.text);
	for (size_t i = 0; i < a->modules.n; i++) {
		const struct go_module *m = a->modules.module[i];

		putchar('\n');
		if (!m->has_sites) {
			print_line("plugin %s is not recorded: %s", go_module__path(m),
				   m->why.text);
			continue;
		}
		print_line("plugin %s, %zu probes", go_module__path(m), m->sites.n);
		print_sites(a, m->sites.site, m->sites.n);
	}
}

static void print(const struct analysis *a)
{
	print_line("%s, %zu probes", a->info.version.text, a->sites.n);
	if (a->layout.warning[0])
		print_line("%s", a->layout.warning);
	print_sites(a, a->sites.site, a->sites.n);
	print_modules(a);
	if (a->sites.nmissing)
		printf("\nmissing:\n");
	for (size_t i = 0; i < a->sites.nmissing; i++) {
		const struct site_missing *m = &a->sites.missing[i];

		print_line("%s: %s (%s)%s", site__probe_name(m->probe), m->why, m->reason,
			   m->needed ? ": required" : "");
	}
}

static void site_json(struct json *j, const struct analysis *a, const struct site *site)
{
	json__open(j, NULL, '{');
	json__string(j, "probe", site__probe_name(site->probe));
	json__string(j, "events", site_set__name(site__set(site->probe)));
	json__string(j, "function", site->func);
	json__u64(j, "function_offset", site->func_offset);
	json__u64(j, "address", site->addr);
	json__u64(j, "file_offset", site->offset);
	json__string(j, "instruction", site->text);
	json__string(j, "cost", cost(a, site));
	if (measured[site->cost] > 0)
		json__double(j, "hit_us", measured[site->cost] / 1e3);
	json__string(j, "arguments", site__arguments(site->probe, site->cookie));
	json__string(j, "why", site->why);
	json__close(j, '}');
}

static void plugins_json(struct json *j, const struct analysis *a)
{
	json__open(j, "plugins", '[');
	for (size_t i = 0; i < a->modules.n; i++) {
		const struct go_module *m = a->modules.module[i];

		json__open(j, NULL, '{');
		json__string(j, "file", m->path);
		json__string(j, "refused", m->has_sites ? NULL : m->why.text);
		json__open(j, "probes", '[');
		for (size_t k = 0; m->has_sites && k < m->sites.n; k++)
			site_json(j, a, &m->sites.site[k]);
		json__close(j, ']');
		json__close(j, '}');
	}
	json__close(j, ']');
}

static void print_json(const struct analysis *a, const char *refused)
{
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__string(&j, "go", a->info.version.text[0] ? a->info.version.text : NULL);
	json__string(&j, "refused", refused);
	json__string(&j, "offsets", a->layout.source[0] ? a->layout.source : NULL);
	json__string(&j, "warning", a->layout.warning[0] ? a->layout.warning : NULL);
	json__open(&j, "probes", '[');
	for (size_t i = 0; i < a->sites.n; i++)
		site_json(&j, a, &a->sites.site[i]);
	json__close(&j, ']');
	plugins_json(&j, a);
	analysis__libraries_json(a, &j);
	json__open(&j, "missing", '[');
	for (size_t i = 0; i < a->sites.nmissing; i++) {
		const struct site_missing *m = &a->sites.missing[i];

		json__open(&j, NULL, '{');
		json__string(&j, "probe", site__probe_name(m->probe));
		json__string(&j, "events", site_set__name(site__set(m->probe)));
		json__bool(&j, "needed", m->needed);
		json__string(&j, "why", m->why);
		json__string(&j, "reason", m->reason);
		json__close(&j, '}');
	}
	json__close(&j, ']');
	json__close(&j, '}');
}

static void print_copies(const struct calls *calls, const struct call_copies *copies)
{
	char into[320];

	for (size_t i = 0; i < calls->n; i++) {
		if (!copies[i].n)
			continue;
		call_copies__format(&copies[i], into, sizeof(into));
		print_line("%s: %zu cop%s that the compiler inlined, in %s: not recorded",
			   calls->func[i].func.name, copies[i].n, copies[i].n == 1 ? "y" : "ies",
			   into);
	}
}

static void copies_json(struct json *j, const struct call_copies *copies)
{
	json__u64(j, "inlined_copies", copies->n);
	json__open(j, "inlined_into", '[');
	for (size_t i = 0; i < CALL_COPIES_INTO && copies->into[i]; i++)
		json__string(j, NULL, copies->into[i]);
	json__close(j, ']');
}

static void print_calls(const struct analysis *a, const struct calls *calls, bool as_json)
{
	struct call_copies copies[CALLS_MAX];
	struct json j;

	call_copies__find(calls, a->pclntab, copies);
	if (!as_json) {
		print_line("%s, %zu function%s", a->info.version.text, calls->n,
			   calls->n == 1 ? "" : "s");
		print_sites(a, calls->site, calls->nsites);
		print_copies(calls, copies);
		return;
	}
	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__string(&j, "go", a->info.version.text);
	json__open(&j, "functions", '[');
	for (size_t i = 0; i < calls->n; i++) {
		const struct call_func *f = &calls->func[i];

		json__open(&j, NULL, '{');
		json__string(&j, "name", f->name);
		json__open(&j, "probes", '[');
		for (size_t k = 0; k < f->n; k++)
			site_json(&j, a, &calls->site[f->first + k]);
		json__close(&j, ']');
		copies_json(&j, &copies[i]);
		json__close(&j, '}');
	}
	json__close(&j, ']');
	json__close(&j, '}');
}

static int list_functions(const struct analysis *a, const struct arguments *args,
			  struct error *error)
{
	struct calls calls = {};
	int err = calls__add(&calls, a->elf, a->pclntab,
			     &(struct call_pattern){ .funcs = args->functions }, error);

	if (err == -ENOENT)
		analysis__name_plugins(a, error);
	if (!err) {
		measure();
		calls__report_skipped(&calls);
		print_calls(a, &calls, args->json);
	}
	calls__deinit(&calls);
	return err;
}

int do_probes(int argc, char **argv, struct error *error)
{
	const struct interrupt how = { .status = EXIT_FAILED };
	struct arguments args = {};
	struct analysis a = {};
	int err;

	command__end_with_reader();
	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &args);
	if (!args.pid == !args.exe)
		usage_error("expected either -p PID or --exe FILE");
	interrupt__allow(&how);
	steps__begin();
	err = args.pid ? analysis__of_process(&a, args.pid, error) :
			 analysis__of_file(&a, args.exe, error);
	steps__end();
	interrupt__forbid();
	if (err)
		error__set(error, err, "%s", strerror(-err));
	if (args.functions && !err)
		err = list_functions(&a, &args, error);
	else if (args.json)
		print_json(&a, err ? error->text : NULL);
	else if (!err || a.sites.n)
		print(&a);
	analysis__deinit(&a);
	return err ? EXIT_FAILED : EXIT_DONE;
}
