/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filters of `gotrace events`: which events and kernel events are printed.
 *
 * select.h has the options. An event matches if it matches each filter. It belongs to the goroutine
 * on which it happened, and to the one that it concerns: the one that it unblocks, for example.
 * Other commands find the goroutines of --function with select_goroutines().
 */
#ifndef SELECT_EVENTS_H
#define SELECT_EVENTS_H

#include "analysis/goroutine_tracker.h"
#include "command.h"
#include "print/print.h"
#include "writer/intern.h"

struct event_filter {
	struct selection *select;
	bool active;	       /* there is a filter; otherwise every event matches */
	struct map goroutines; /* with --function: IDs of those that match */
	/* with --label: */
	struct goroutine_tracker tracker;
	struct intern *names;
	bool labeled;	       /* goroutines of the event have the labels before or after it */
	uint64_t found;	       /* bit i: an event has the i-th reason of --reason */
	struct intern *others; /* reasons of events that were not requested */
};

/*
 * With --function, reads the trace and puts the IDs of the goroutines that match into *ret, which is
 * empty and the caller's: the name of a goroutine may become known late. args->path becomes that of
 * the second pass. Without --function does nothing. 0 or a negative errno with the reason.
 */
int select_goroutines(struct trace_args *args, struct map *ret, struct error *error);

/* The same for commands that fail without any: -ENOENT, with the reason. */
int find_goroutines(struct trace_args *args, struct map *ret, struct error *error);

/* Calls select_goroutines(). 0 or a negative errno with the reason. */
int event_filter__init(struct event_filter *f, struct trace_args *args, struct error *error);
void event_filter__deinit(struct event_filter *f);

/*
 * With --label, to be called for each event of the trace, before the function below: follows the
 * labels of goroutines. 0 or -ENOMEM.
 */
int event_filter__follow(struct event_filter *f, const struct trace_event *ev);

/* 1: it matches, 0: it does not, or -ENOMEM. */
int event_filter__event(struct event_filter *f, const struct trace_event *ev);
int event_filter__item(struct event_filter *f, const struct print_item *i);

/*
 * To be called at the end: reports each reason of --reason that no event has, with a similar one, and
 * returns whether there is one. `name` is that of the trace, `where` " in the requested time" or "".
 */
bool event_filter__report(const struct event_filter *f, const char *name, const char *where);

#endif
