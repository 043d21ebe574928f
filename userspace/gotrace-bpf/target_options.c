// SPDX-License-Identifier: GPL-2.0
/* The options that select several processes: see targets.h. */
#include "command.h"
#include "record.h"
#include "targets.h"

static void add_pid(struct record_args *a, int pid)
{
	struct selection_opts *s = &a->selection;

	a->pid = pid;
	for (unsigned int i = 0; i < s->npids; i++)
		if (s->pid[i] == pid)
			return;
	if (s->npids == SELECTION_PIDS)
		usage_error("too many processes: at most %d", SELECTION_PIDS);
	s->pid[s->npids++] = pid;
}

void targets__option(struct record_args *a, int key, const char *text)
{
	struct selection_opts *s = &a->selection;

	if (key == 'p') {
		add_pid(a, parse_pid(text));
	} else if (key == OPT_EXE) {
		if (s->nexe == SELECTION_NAMES)
			usage_error("too many executables: at most %d", SELECTION_NAMES);
		s->exe[s->nexe++] = text;
	} else if (s->cgroup || s->unit) {
		usage_error("only one of --cgroup and --unit is possible");
	} else if (key == OPT_CGROUP) {
		s->cgroup = text;
	} else {
		s->unit = text;
	}
}

bool targets__given(const struct record_args *a)
{
	return selection__is_open(&a->selection) || a->selection.npids > 1;
}

void targets__check(const struct record_args *a)
{
	const char *what = a->selection.nexe   ? "--exe" :
			   a->selection.cgroup ? "--cgroup" :
			   a->selection.unit   ? "--unit" :
						 "several -p";

	if (a->command)
		usage_error("%s cannot be combined with a command: '%s'", what, a->command[0]);
	if (!a->rotate_ns && !a->flight.dir && !a->serves)
		usage_error("%s requires --rotate TIME, or gotrace-bpf flight", what);
	if (a->stats || a->is_inline || a->blackbox)
		usage_error("%s cannot be combined with %s", what,
			    a->stats	 ? "--stats" :
			    a->is_inline ? "--probes=inline" :
					   "--blackbox, whose buffer has one name");
}
