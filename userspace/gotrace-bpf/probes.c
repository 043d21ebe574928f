// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf probes: where a program would be probed, and why there.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "command.h"

struct arguments {
	int pid;
	const char *exe;
};

enum { OPT_EXE = 256 };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "of this process's program", 0 },
	{ "exe", OPT_EXE, "FILE", 0, "of this program", 0 },
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'p':
		a->pid = parse_pid(text);
		return 0;
	case OPT_EXE:
		a->exe = text;
		return 0;
	case ARGP_KEY_ARG:
		usage_error("what is \"%s\"? A program is given by --exe", text);
	default:
		return command__key(key, state, "probes");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"-p PID\n--exe FILE",
	"Shows each probe: the function, the instruction, what a hit costs and what it means.",
	NULL,
	NULL,
	NULL,
};

static void print(const struct analysis *a)
{
	const struct site *site;
	char place[128];
	int width = 40;
	size_t i;

	printf("%s, %zu probes\n\n", a->info.version.text, a->sites.n);
	printf("%-*s %-28s %-8s %-16s %-19s %s\n", width, "function", "instruction", "cost", "probe",
	       "arguments", "why");
	for (i = 0; i < a->sites.n; i++) {
		site = &a->sites.site[i];
		snprintf(place, sizeof(place), "%s+0x%x", site->func, site->func_offset);
		printf("%-*s %-28s %-8s %-16s %-19s %s\n", width, place, site->text,
		       site->cost == SITE_EMULATED ? "0.4 us" : "4 us",
		       site__probe_name(site->probe),
		       site__arguments(site->probe, site->cookie), site->why);
	}
	if (a->sites.missing[0])
		printf("\nmissing: %s\n", a->sites.missing);
}

int do_probes(int argc, char **argv, struct error *err)
{
	struct arguments args = {};
	struct analysis a = {};
	int code;

	argp_parse(&parser, argc, argv, ARGP_NO_HELP, NULL, &args);
	if (!args.pid == !args.exe)
		usage_error("probes of what? Either -p PID or --exe FILE");
	code = args.pid ? analysis__of_process(&a, args.pid, err)
			: analysis__of_file(&a, args.exe, err);
	if (!code)
		print(&a);
	analysis__deinit(&a);
	if (!code)
		return EXIT_DONE;
	error__set(err, code, "%s", strerror(-code));
	return EXIT_FAILED;
}
