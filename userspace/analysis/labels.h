/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Labels of goroutines: what --label and --by label:KEY (select.h) need of a set.
 *
 * Upstream: the labels that `gotrace-bpf record` writes when a goroutine gets others (text/labels.h).
 * Downstream: goroutine_tracker.c, which passes them on to goroutines that are created, and
 * select_events.c of the commands.
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

/*
 * Whether the event sets the labels of its goroutine, and if so, the set. The label of a GC worker is none of
 * these.
 */
bool labels__are_set(const struct semantics *m, struct trace_string *ret);

/*
 * Reads a set: the message of a log, or "" for none. 0, -ENOMEM, or -EINVAL with *ret unchanged: the
 * message is no set.
 */
int labels__read(const struct selection *s, struct intern *names, struct trace_string message,
		 struct goroutine_labels *ret);

/* The value in the name of a group: its bytes behind "KEY=". False: the group has no such label. */
bool labels__value(const struct selection *s, struct trace_string group, struct trace_string *ret);

#endif
