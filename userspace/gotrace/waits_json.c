// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace waits --json`: the longest waits, in nanoseconds of the trace's clock.
 *
 * Input: analysis/waits.c and waits_causes.c. path_json.c has the members of causes, lib/json.c
 * writes to stdout.
 */
#include <stdio.h>

#include "path_print.h"
#include "waits.h"

static void put_text(struct json *j, const char *name, const struct longest_waits *l, uint32_t text)
{
	struct trace_string s = waits__text(l->waits, text);

	if (text)
		json__bytes(j, name, s.data, s.len);
	else
		json__null(j, name);
}

static void put_id(struct json *j, const char *name, uint64_t id)
{
	if (id == UINT64_MAX) /* all TRACE_NO_... */
		json__null(j, name);
	else
		json__u64(j, name, id);
}

static void put_causes(struct json *j, const struct longest_waits *l,
		       const struct wait_causes *causes)
{
	if (!causes->known) {
		json__null(j, "causes");
		json__null(j, "other_causes_ns");
		json__null(j, "holders");
		json__null(j, "more_holders");
		return;
	}
	json__open(j, "causes", '[');
	for (uint32_t i = 0; i < causes->n; i++) {
		json__open(j, NULL, '{');
		json__u64(j, "ns", causes->at[i].ns);
		json__u64(j, "count", causes->at[i].count);
		path__put_json_cause(j, l->history, &causes->at[i].like);
		json__close(j, '}');
	}
	json__close(j, ']');
	json__u64(j, "other_causes_ns", causes->others_ns);
	json__open(j, "holders", '[');
	for (unsigned int i = 0; i < PATH_HOLDERS && causes->holders[i] != PATH_NONE; i++)
		json__u64(j, NULL, path_goroutine(l->history, causes->holders[i])->id);
	json__close(j, ']');
	json__bool(j, "more_holders", causes->more_holders);
}

static void put_wait(struct json *j, const struct longest_waits *l, size_t i)
{
	const struct wait *wait = &l->at[i];
	struct trace_string frame;

	json__open(j, NULL, '{');
	json__u64(j, "goroutine", wait->goroutine);
	put_text(j, "function", l, wait->function);
	json__string(j, "kind", wait_names[wait->kind]);
	put_text(j, "reason", l, wait->reason);
	json__i64(j, "from_ns", wait->from);
	json__i64(j, "to_ns", wait->to);
	json__bool(j, "began_before", wait->began_before);
	json__i64(j, "before_ns", wait->before);
	json__bool(j, "goes_on", wait->goes_on);
	json__bool(j, "events_lost", wait->lost);
	json__open(j, "stack", '[');
	for (size_t k = 0; waits__frame(l->waits, wait->stack, k, &frame); k++)
		json__bytes(j, NULL, frame.data, frame.len);
	json__close(j, ']');
	json__string(j, "ended_by", wait__end(l, wait));
	put_id(j, "by_goroutine", wait->by);
	put_text(j, "by_function", l, wait->by_function);
	put_id(j, "by_tid", wait->thread);
	put_id(j, "by_proc", wait->proc);
	put_causes(j, l, &l->causes[i]);
	json__close(j, '}');
}

void waits__print_json(const struct longest_waits *l)
{
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__i64(&j, "start", l->start);
	json__i64(&j, "end", l->end);
	json__bool(&j, "kernel", l->kernel);
	json__open(&j, "waits", '[');
	for (size_t i = 0; i < l->n; i++)
		put_wait(&j, l, i);
	json__close(&j, ']');
	json__close(&j, '}');
}
