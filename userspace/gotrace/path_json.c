// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace path --json`: the segments and the summary, in nanoseconds of the trace's clock.
 *
 * Input: analysis/path_walk.c. lib/json.c writes to stdout.
 */
#include <errno.h>
#include <stdlib.h>

#include "path_print.h"

static void put_string(struct json *j, const char *name, struct trace_string s)
{
	if (s.len)
		json__bytes(j, name, s.data, s.len);
	else
		json__null(j, name);
}

static void put_goroutine(struct json *j, const struct path_history *h, const char *id,
			  const char *function, uint32_t index)
{
	if (index == PATH_NONE) {
		json__null(j, id);
		json__null(j, function);
		return;
	}
	json__u64(j, id, path_goroutine(h, index)->id);
	put_string(j, function, intern__text_at(h->texts, path_goroutine(h, index)->name));
}

static void put_call(struct json *j, const struct path_history *h, uint32_t call)
{
	struct trace_string name = path__call(h, call);

	if (call == KERNEL_NO_CALL)
		json__string(j, "syscall", NULL);
	else if (name.len)
		json__bytes(j, "syscall", name.data, name.len);
	else
		json__u64(j, "syscall", call);
}

static void put_number(struct json *j, const char *name, uint32_t number)
{
	if (number)
		json__u64(j, name, number);
	else
		json__null(j, name);
}

typedef void (*put_goroutine_fn)(struct json *j, const struct path_history *h, const char *id,
				 const char *function, uint32_t index);

/* The members that all segments of one cause share. */
static void put_cause_of(struct json *j, const struct path_history *h,
			 const struct path_segment *seg, put_goroutine_fn put)
{
	json__string(j, "kind", path__kind(seg->kind));
	put(j, h, "goroutine", "function", seg->goroutine);
	json__string(j, "cause", path__cause(seg->cause));
	put(j, h, "by_goroutine", "by_function", seg->by);
	put_string(j, "process", intern__text_at(h->texts, seg->other_name));
	put_number(j, "process_id", seg->other_pid);
	put_string(j, "reason", path__reason(h, seg));
	put_call(j, h, seg->call);
	json__string(j, "interrupt", path__interrupt(seg));
	json__bool(j, "held_cpu", path_cause__held_cpu(seg));
	json__bool(j, "got_cpu_first", seg->got_first);
}

void path__put_json_cause(struct json *j, const struct path_history *h,
			  const struct path_segment *seg)
{
	put_cause_of(j, h, seg, put_goroutine);
}

static void put_thread(struct json *j, const struct path_history *h, uint32_t thread)
{
	if (thread == PATH_NONE)
		json__null(j, "tid");
	else
		json__u64(j, "tid", path_thread(h, thread)->id);
}

static void put_segment(struct json *j, const struct path_history *h,
			const struct path_segment *seg)
{
	json__open(j, NULL, '{');
	json__i64(j, "from_ns", seg->from);
	json__i64(j, "to_ns", seg->to);
	path__put_json_cause(j, h, seg);
	put_thread(j, h, seg->thread);
	put_number(j, "by_tid", seg->other);
	json__u64(j, "depth", seg->depth);
	json__open(j, "holders", '[');
	for (unsigned int i = 0; i < PATH_HOLDERS; i++)
		if (seg->holders[i] != PATH_NONE)
			json__u64(j, NULL, path_goroutine(h, seg->holders[i])->id);
	json__close(j, ']');
	json__bool(j, "more_holders", seg->more_holders);
	json__bool(j, "gc_assist", seg->notes & PATH_NOTE_ASSIST);
	json__bool(j, "stop_the_world", seg->notes & PATH_NOTE_STOPPED);
	json__close(j, '}');
}

static void put_totals(struct json *j, const struct path_history *h,
		       const struct path_cause_total *all, size_t n)
{
	json__open(j, "summary", '[');
	for (size_t i = 0; i < n; i++) {
		json__open(j, NULL, '{');
		json__u64(j, "ns", all[i].ns);
		json__u64(j, "count", all[i].count);
		path__put_json_cause(j, h, all[i].like);
		put_thread(j, h, path_cause__own_thread(all[i].like));
		put_number(j, "by_tid", path_cause__thread(all[i].like));
		json__close(j, '}');
	}
	json__close(j, ']');
}

int path__print_json(struct json *j, const struct path_history *h, uint32_t goroutine,
		     const struct path *p, const struct selection *select)
{
	struct path_cause_total *all;
	size_t n;
	int err = path__summary(p, &all, &n);

	if (err)
		return err;
	json__open(j, NULL, '{');
	put_goroutine(j, h, "goroutine", "function", goroutine);
	json__i64(j, "from_ns", p->from);
	json__i64(j, "to_ns", p->to);
	json__bool(j, "kernel", h->kernel);
	json__open(j, "segments", '[');
	for (size_t i = 0; i < p->n; i++)
		put_segment(j, h, &p->segments[i]);
	json__close(j, ']');
	put_totals(j, h, all, selection__top(select, n));
	json__close(j, '}');
	free(all);
	return 0;
}

/* ---- sums of paths ---- */

/* A goroutine stands for its start function, and has no ID unless that is unknown. */
static void put_function(struct json *j, const struct path_history *h, const char *id,
			 const char *function, uint32_t index)
{
	uint32_t name = index == PATH_NONE ? 0 : path_goroutine(h, index)->name;

	if (name) {
		json__null(j, id);
		put_string(j, function, intern__text_at(h->texts, name));
	} else {
		put_goroutine(j, h, id, function, index);
	}
}

static void put_sum(struct json *j, const struct path_history *h, const struct path_sum *sum)
{
	json__open(j, NULL, '{');
	json__u64(j, "ns", sum->ns);
	json__u64(j, "count", sum->count);
	json__u64(j, "paths", sum->paths);
	json__bool(j, "own", sum->own);
	json__bool(j, "by_own", sum->by_own);
	put_cause_of(j, h, &sum->like, put_function);
	put_thread(j, h, path_cause__own_thread(&sum->like));
	put_number(j, "by_tid", path_cause__thread(&sum->like));
	json__close(j, '}');
}

/* System calls as a whole, and the kinds of their time */
static void put_calls(struct json *j, const struct path_history *h,
		      const struct path_call_sum *calls, size_t n)
{
	json__open(j, "calls", '[');
	for (size_t i = 0; i < n; i++) {
		json__open(j, NULL, '{');
		put_call(j, h, calls[i].call);
		json__u64(j, "ns", calls[i].ns);
		json__open(j, "split", '[');
		for (unsigned int kind = 0; kind < PATH_KINDS; kind++) {
			if (!calls[i].kinds[kind])
				continue;
			json__open(j, NULL, '{');
			json__string(j, "kind", path__kind((uint8_t)kind));
			json__u64(j, "ns", calls[i].kinds[kind]);
			json__close(j, '}');
		}
		json__close(j, ']');
		json__close(j, '}');
	}
	json__close(j, ']');
}

int path__print_sums_json(struct json *j, const struct path_sums *s,
			  const struct path_windows *windows, const struct selection *select)
{
	const struct path_window *w = windows->at;
	struct path_call_sum *calls;
	size_t n;
	int err = path_sums__calls(s, &calls, &n);

	if (err)
		return err;

	json__open(j, NULL, '{');
	json__open(j, "paths", '[');
	for (size_t i = 0; i < windows->n; i++, w++) {
		json__open(j, NULL, '{');
		put_goroutine(j, s->h, "goroutine", "function", w->goroutine);
		json__i64(j, "from_ns", w->from);
		json__i64(j, "to_ns", w->to);
		json__close(j, '}');
	}
	json__close(j, ']');
	json__u64(j, "ns", s->ns);
	json__bool(j, "kernel", s->h->kernel);
	json__open(j, "summary", '[');
	for (size_t i = 0; i < selection__top(select, s->n); i++)
		put_sum(j, s->h, &s->at[i]);
	json__close(j, ']');
	put_calls(j, s->h, calls, n);
	json__close(j, '}');
	free(calls);
	return 0;
}
