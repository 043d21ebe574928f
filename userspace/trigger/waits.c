// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers runnable, blocked and syscall: see waits.h.
 *
 * A goroutine is in one state at a time, and so in one of three lists. A wait begins with an event:
 * one that began before the recording has none, and does not count. The name of a system call is
 * that of the first one that the thread enters after the goroutine's event; without kernel events
 * there is none.
 */
#include "trigger/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sequence/sequencer.h"
#include "trigger/wait_list.h"
#include "writer/intern.h"

#define NO_CALL	  UINT32_MAX
#define CALLS_MAX 65536 /* threads whose system calls have names */

/* The system call of a thread. */
struct call {
	uint64_t entered;  /* when the thread entered it */
	uint32_t number;   /* or NO_CALL */
	bool of_goroutine; /* a goroutine on the thread is in a system call */
};

struct wait_triggers {
	struct triggers *t;
	struct wait_table table; /* by goid */
	struct wait_list runnable, blocked, in_call;
	struct map calls; /* tid to struct call */
};

/* Without a name these reasons do not count: they are those of an idle program. */
static bool is_idle_reason(const char *reason)
{
	return !strcmp(reason, "network") || !strcmp(reason, "sleep") ||
	       !strcmp(reason, "system goroutine wait") ||
	       !strcmp(reason, "GC background sweeper wait");
}

/* Goroutines of the standard library that wait in the runtime, as if in a system call. */
static bool is_idle_function(const char *function)
{
	return !strcmp(function, "os/signal.loop") ||
	       !strcmp(function, "runtime/pprof.profileWriter");
}

static const char *text_of(const struct wait_triggers *w, uint32_t id, char ret[CONDITION_TEXT_MAX])
{
	struct trace_string text = intern__text_at(w->t->intern, id);

	snprintf(ret, CONDITION_TEXT_MAX, "%.*s", (int)text.len, text.data ? text.data : "");
	return ret;
}

static const char *name_of_call(const struct wait_triggers *w, const struct wait *wait)
{
	const struct call *call = map__get(&w->calls, wait->tid);
	const char *name = call && call->number != NO_CALL ? kernel__syscall(call->number) : NULL;

	return name ? name : "";
}

/*
 * The thread may have left the system call without a sign that it had to wait for a P, which is
 * certain only with its next record.
 */
static bool has_left(const struct wait_triggers *w, const struct wait *wait, uint64_t limit)
{
	uint64_t left = sequencer__left_call(w->t->sequencer, wait->tid);

	return left && left < wait->since + limit;
}

/* `function`: the name of the goroutine's start function, or "". */
static bool counts(const struct wait_triggers *w, const struct condition *c,
		   const struct wait *wait, const char *function, bool is_runtime)
{
	char reason[CONDITION_TEXT_MAX];

	switch (c->kind) {
	case TRIGGER_BLOCKED:
		text_of(w, wait->reason, reason);
		return *c->name ? !strcmp(reason, c->name) : !is_runtime && !is_idle_reason(reason);
	case TRIGGER_SYSCALL:
		if (has_left(w, wait, c->limit))
			return false;
		return *c->name ? !strcmp(name_of_call(w, wait), c->name) :
				  !is_runtime && !is_idle_function(function);
	default:
		return !is_runtime;
	}
}

static bool evaluate(void *ctx, const struct condition *c, const struct wait *wait,
		     char ret[WAIT_TEXT_MAX])
{
	const struct wait_triggers *w = ctx;
	bool is_runtime;
	struct trace_string start =
		sequencer__start_function(w->t->sequencer, wait->key, &is_runtime);
	char function[CONDITION_TEXT_MAX], what[CONDITION_TEXT_MAX] = "runnable";
	double ms = (double)c->limit / 1e6;

	snprintf(function, sizeof(function), "%.*s", (int)start.len, start.data ? start.data : "");
	if (!counts(w, c, wait, function, is_runtime))
		return false;
	if (c->kind == TRIGGER_BLOCKED)
		text_of(w, wait->reason, what);
	else if (c->kind == TRIGGER_SYSCALL)
		snprintf(what, sizeof(what), "%s", name_of_call(w, wait));
	snprintf(ret, WAIT_TEXT_MAX, "goroutine %llu%s%.70s%s %s%.40s for %.1f ms",
		 (unsigned long long)wait->key, *function ? " (" : "", function,
		 *function ? ")" : "",
		 c->kind == TRIGGER_BLOCKED ? "blocked on " :
		 c->kind == TRIGGER_SYSCALL ? (*what ? "in system call " : "in a system call") :
					      "",
		 what, ms);
	return true;
}

int wait_triggers__create(struct wait_triggers **ret, struct triggers *t)
{
	struct wait_triggers *w = calloc(1, sizeof(*w));

	*ret = w;
	if (!w)
		return -ENOMEM;
	w->t = t;
	wait_table__init(&w->table, t, evaluate, w);
	wait_list__watch(&w->runnable, t, TRIGGER_RUNNABLE);
	wait_list__watch(&w->blocked, t, TRIGGER_BLOCKED);
	wait_list__watch(&w->in_call, t, TRIGGER_SYSCALL);
	if (w->runnable.n || w->blocked.n || w->in_call.n)
		return 0;
	wait_triggers__destroy(w);
	*ret = NULL;
	return 0;
}

void wait_triggers__destroy(struct wait_triggers *w)
{
	if (!w)
		return;
	wait_table__deinit(&w->table);
	map__free(&w->calls);
	free(w);
}

/* NULL: none, and there is no room for it. */
static struct call *call_of(struct wait_triggers *w, uint32_t tid)
{
	struct call *call = map__get(&w->calls, tid);

	if (call || w->calls.n >= CALLS_MAX)
		return call;
	call = map__put_new(&w->calls, tid, sizeof(*call));
	if (call)
		call->number = NO_CALL;
	else
		w->t->error = -ENOMEM;
	return call;
}

static void enter_call(struct wait_triggers *w, const struct watch_event *ev)
{
	struct wait *wait = wait_table__begin(&w->table, &w->in_call, ev->goid, ev->time, 0);
	struct call *call = wait ? call_of(w, ev->tid) : NULL;

	if (wait)
		wait->tid = ev->tid;
	if (!call)
		return;
	call->of_goroutine = true;
	if (call->entered < ev->time)
		call->number = NO_CALL;
}

/* The end is evaluated by the name; the thread's next system call is not the goroutine's. */
static void leave_call(struct wait_triggers *w, uint32_t tid)
{
	struct call *call = map__get(&w->calls, tid);

	if (call)
		call->of_goroutine = false;
}

void wait_triggers__kernel(struct wait_triggers *w, const struct kernel_item *item)
{
	struct call *call;

	if (!w->in_call.n)
		return;
	if (item->kind == KERNEL_ENDED)
		free(map__remove(&w->calls, item->tid));
	if (item->kind != KERNEL_SYS_ENTER)
		return;
	call = call_of(w, item->tid);
	if (!call || (call->of_goroutine && call->number != NO_CALL))
		return;
	call->number = item->number;
	call->entered = item->time;
}

void wait_triggers__event(struct wait_triggers *w, const struct watch_event *ev)
{
	switch (ev->type) {
	case EV_GO_CREATE:
	case EV_GO_UNBLOCK:
		wait_table__begin(&w->table, &w->runnable, ev->args[0], ev->time, 0);
		break;
	case EV_GO_STOP:
		wait_table__begin(&w->table, &w->runnable, ev->goid, ev->time, 0);
		break;
	case EV_GO_BLOCK:
		wait_table__begin(&w->table, &w->blocked, ev->goid, ev->time,
				  (uint32_t)ev->args[0]);
		break;
	case EV_GO_SYSCALL_BEGIN:
		enter_call(w, ev);
		break;
	case EV_GO_SYSCALL_END:
		wait_table__end(&w->table, ev->goid, ev->time);
		leave_call(w, ev->tid);
		break;
	case EV_GO_SYSCALL_END_BLOCKED:
		wait_table__begin(&w->table, &w->runnable, ev->goid, ev->time, 0);
		leave_call(w, ev->tid);
		break;
	case EV_GO_START:
	case EV_GO_SWITCH: /* from a goroutine that runs: it has no wait to end */
		wait_table__end(&w->table, ev->args[0], ev->time);
		break;
	case EV_GO_SWITCH_DESTROY:
		wait_table__end(&w->table, ev->args[0], ev->time);
		wait_table__forget(&w->table, ev->goid, ev->time);
		break;
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
		wait_table__forget(&w->table, ev->goid, ev->time);
		break;
	default:
		break;
	}
}

void wait_triggers__watermark(struct wait_triggers *w, uint64_t time)
{
	struct wait_list *const lists[] = { &w->runnable, &w->blocked, &w->in_call };

	wait_table__watermark(&w->table, lists, 3, triggers__doubts(w->t), time);
}
