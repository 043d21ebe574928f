/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Labels of goroutines: what --label and --by label:KEY (select.h) need of a set.
 *
 * Upstream: logs of category LABELS_CATEGORY, which `gotrace-bpf record` writes when a goroutine gets
 * labels (text/labels.h). Downstream: goroutine_tracker.c, which passes them on to goroutines that
 * are created, and select_events.c of the commands.
 */
#ifndef ANALYSIS_LABELS_H
#define ANALYSIS_LABELS_H

#include "reader/semantics.h"
#include "writer/intern.h"

struct selection;

struct goroutine_labels {
	uint32_t group; /* --by: interned "KEY=VALUE" or "(no KEY)"; 0 without --by */
	bool selected;	/* each --label holds, or there is none */
};

/* Whether the log sets labels. */
bool labels__are_set(const struct semantics *m);

/*
 * Reads a set: the message of a log, or "" for none. 0, -ENOMEM, or -EINVAL with *ret unchanged: the
 * message is no set.
 */
int labels__read(const struct selection *s, struct intern *names, struct trace_string message,
		 struct goroutine_labels *ret);

/* The value in the name of a group: its bytes behind "KEY=". False: the group has no such label. */
bool labels__value(const struct selection *s, struct trace_string group, struct trace_string *ret);

#endif
