// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace path`: a summary of the causes, and one line per segment, in the order of time; or only the
 * summary of several paths.
 *
 * Input: analysis/path_walk.c and path_summary.c. print.c writes to stdout; path_json.c is the JSON equivalent.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "path_print.h"
#include "print/table.h"

#define KIND_WIDTH    17
#define SUMMARY_LINES 30
#define CALL_LINES    5
#define DEPTH_SHOWN   8

const char *path__kind(uint8_t kind)
{
	static const char *const names[PATH_KINDS] = {
		[PATH_UNKNOWN] = "unknown",
		[PATH_ON_CPU] = "on-CPU",
		[PATH_RUNNING] = "running",
		[PATH_SYSCALL] = "syscall",
		[PATH_GO_RUNNABLE] = "Go-runnable",
		[PATH_KERNEL_RUNNABLE] = "kernel-runnable",
		[PATH_THROTTLED] = "throttled",
		[PATH_KERNEL_BLOCKED] = "kernel-blocked",
		[PATH_SYSCALL_BLOCKED] = "syscall-blocked",
		[PATH_GO_BLOCKED] = "Go-blocked",
	};

	return names[kind];
}

const char *path__cause(uint8_t cause)
{
	static const char *const names[PATH_CAUSES] = {
		[PATH_CAUSE_GOROUTINE] = "goroutine", [PATH_CAUSE_PROCESS] = "process",
		[PATH_CAUSE_THREAD] = "thread",	      [PATH_CAUSE_INTERRUPT] = "interrupt",
		[PATH_CAUSE_IDLE] = "idle",	      [PATH_CAUSE_TIMER] = "timer",
		[PATH_CAUSE_NETPOLL] = "netpoll",     [PATH_CAUSE_SCHEDULER] = "scheduler",
		[PATH_CAUSE_CGROUP] = "cgroup",	      [PATH_CAUSE_PENDING] = "pending",
	};

	return names[cause];
}

struct trace_string path__call(const struct path_history *h, uint32_t number)
{
	const char *name = number == KERNEL_NO_CALL ? NULL : kernel__syscall(number);
	uint32_t id = name ? 0 : (uint32_t)(uintptr_t)map__get(&h->calls, number);

	return id ? intern__text_at(h->texts, id) :
		    (struct trace_string){ name ? name : "", name ? (uint32_t)strlen(name) : 0 };
}

struct trace_string path__reason(const struct path_history *h, const struct path_segment *seg)
{
	const char *text = "";

	if (seg->kind == PATH_GO_BLOCKED)
		return intern__text_at(h->texts, seg->reason);
	if (seg->kind == PATH_KERNEL_BLOCKED || seg->kind == PATH_SYSCALL_BLOCKED)
		text = kernel__sleep(seg->fault ? GT_SLEEP_PAGE : seg->sleep) ?:
										kernel__why(seg->why);
	return (struct trace_string){ .data = text ? text : "", .len = text ? strlen(text) : 0 };
}

const char *path__interrupt(const struct path_segment *seg)
{
	static const char *const timed[] = { "nanosleep", "clock_nanosleep", "futex" };
	static const char *const network[] = { "recvfrom", "recvmsg", "recvmmsg",
					       "sendto",   "sendmsg", "accept",
					       "accept4",  "connect", "sendmmsg" };
	const char *call = seg->call == KERNEL_NO_CALL ? NULL : kernel__syscall(seg->call);

	if (seg->cause != PATH_CAUSE_INTERRUPT)
		return NULL;
	if (seg->why == GT_OFF_DISK)
		return "disk";
	for (size_t i = 0; call && i < sizeof(timed) / sizeof(*timed); i++)
		if (!strcmp(call, timed[i]))
			return "timer";
	for (size_t i = 0; call && i < sizeof(network) / sizeof(*network); i++)
		if (!strcmp(call, network[i]))
			return "network";
	return NULL;
}

/* ---- text ---- */

static void put_string(struct out *o, struct trace_string s)
{
	out__unicode(o, s.data, s.len);
}

void path__put_goroutine(struct out *o, const struct path_history *h, uint32_t index)
{
	const struct path_goroutine *g = path_goroutine(h, index);

	out__format(o, "g%" PRIu64, g->id);
	if (g->name) {
		out__char(o, ' ');
		put_string(o, intern__text_at(h->texts, g->name));
	}
}

/* How goroutines are named: NULL, by ID and function; in a sum of paths, by function. */
static void put_who(struct out *o, const struct path_history *h, uint32_t index,
		    const struct path_sum *sum, bool own)
{
	uint32_t name = path_goroutine(h, index)->name;

	if (sum && name)
		put_string(o, intern__text_at(h->texts, name));
	else
		path__put_goroutine(o, h, index);
	if (sum && own)
		out__text(o, " (itself)");
}

/* "stress[123]", or "process 123" */
static void put_process(struct out *o, const struct path_history *h, const struct path_segment *seg)
{
	uint32_t id = seg->other_pid ? seg->other_pid : seg->other;

	if (seg->other_name) {
		put_string(o, intern__text_at(h->texts, seg->other_name));
		out__format(o, "[%" PRIu32 "]", id);
	} else {
		out__format(o, "process %" PRIu32, id);
	}
}

static void put_holders(struct out *o, const struct path_history *h, const struct path_segment *seg)
{
	bool any = false;

	for (unsigned int i = 0; i < PATH_HOLDERS; i++) {
		if (seg->holders[i] == PATH_NONE || seg->holders[i] == seg->by)
			continue;
		out__format(o, "%s%" PRIu64, any ? ", g" : "; also ran: g",
			    path_goroutine(h, seg->holders[i])->id);
		any = true;
	}
	if (seg->more_holders)
		out__text(o, ", and others");
}

/* Without perf's events it is unknown how long another process occupied the CPU. */
static const char *before_cause(const struct path_segment *seg)
{
	switch (seg->kind) {
	case PATH_GO_RUNNABLE:
		if (seg->cause == PATH_CAUSE_CGROUP)
			return "the P's thread was throttled by ";
		if (!seg->other)
			return "the P was held by ";
		return seg->got_first ? "the P's thread waited for a CPU, which was given to " :
					"the P's thread waited for a CPU, which was occupied by ";
	case PATH_KERNEL_RUNNABLE:
		return seg->got_first ? "the CPU was given to " : "the CPU was occupied by ";
	case PATH_THROTTLED:
		return "by ";
	default:
		return "ended by ";
	}
}

static void put_cause(struct out *o, const struct path_history *h, const struct path_segment *seg,
		      const struct path_sum *sum)
{
	const char *interrupt = path__interrupt(seg);

	switch (seg->cause) {
	case PATH_CAUSE_NONE:
		return;
	case PATH_CAUSE_IDLE:
		out__text(o, seg->kind == PATH_GO_RUNNABLE ? ", the P was idle" :
							     ", the CPU was idle");
		return;
	case PATH_CAUSE_PENDING:
		out__text(o, ", does not end in this trace");
		return;
	}
	out__text(o, ", ");
	out__text(o, before_cause(seg));
	switch (seg->cause) {
	case PATH_CAUSE_GOROUTINE:
		put_who(o, h, seg->by, sum, sum && sum->by_own);
		break;
	case PATH_CAUSE_PROCESS:
		put_process(o, h, seg);
		break;
	case PATH_CAUSE_THREAD:
		out__format(o, "thread %" PRIu32, seg->other);
		break;
	case PATH_CAUSE_INTERRUPT:
		out__format(o, "%s interrupt", interrupt ? interrupt : "an");
		break;
	case PATH_CAUSE_CGROUP:
		out__text(o, "its cgroup");
		break;
	case PATH_CAUSE_SCHEDULER:
		out__text(o, "Go's scheduler");
		break;
	default:
		out__text(o, path__cause(seg->cause));
	}
	if (seg->kind == PATH_GO_BLOCKED && seg->other) {
		out__text(o, ", woken by ");
		put_process(o, h, seg);
	}
}

/*
 * Everything but the times: kind, goroutine and cause. `full`: with threads and notes. `sum`: of
 * several paths, or NULL.
 */
static void put_what(struct out *o, const struct path_history *h, const struct path_segment *seg,
		     bool full, const struct path_sum *sum)
{
	struct trace_string reason = path__reason(h, seg), call = path__call(h, seg->call);

	out__format(o, "%-*s", KIND_WIDTH, path__kind(seg->kind));
	for (uint32_t i = 0; full && i < seg->depth && i < DEPTH_SHOWN; i++)
		out__text(o, "  ");
	if (seg->goroutine != PATH_NONE)
		put_who(o, h, seg->goroutine, sum, sum && sum->own);
	else
		out__text(o, "no goroutine");
	if ((full || seg->goroutine == PATH_NONE) && seg->thread != PATH_NONE)
		out__format(o, ", thread %" PRIu64, path_thread(h, seg->thread)->id);
	if (seg->call != KERNEL_NO_CALL) {
		out__text(o, ", in ");
		if (call.len)
			put_string(o, call);
		else
			out__format(o, "system call %" PRIu32, seg->call);
	}
	if (reason.len) {
		out__text(o, ", ");
		put_string(o, reason);
	}
	put_cause(o, h, seg, sum);
	if (!full)
		return;
	put_holders(o, h, seg);
	if (seg->notes & PATH_NOTE_ASSIST)
		out__text(o, " (GC mark assist)");
	if (seg->notes & PATH_NOTE_STOPPED)
		out__text(o, " (stop-the-world)");
}

void path__put_cause(struct out *o, const struct path_history *h, const struct path_segment *seg)
{
	put_what(o, h, seg, false, NULL);
}

void path__put_offset(struct out *o, int64_t time, int64_t start, int width)
{
	uint64_t ns = (uint64_t)time_sub(time, start);

	out__format(o, "%*" PRIu64 ".%09" PRIu64, width, ns / 1000000000, ns % 1000000000);
}

static void put_segment(struct out *o, const struct path_history *h, const struct path_segment *seg,
			int64_t start)
{
	path__put_offset(o, seg->from, start, 5);
	table__time(o, time_sub(seg->to, seg->from), 11);
	out__text(o, "  ");
	put_what(o, h, seg, true, NULL);
	out__char(o, '\n');
}

static void put_total(struct out *o, uint64_t ns, int64_t whole)
{
	table__time(o, (int64_t)ns, 11);
	table__share(o, (int64_t)ns, whole);
}

/* Of `n` causes only the first `lines` were printed; the others take `rest` ns. */
static void put_rest(struct out *o, uint64_t rest, int64_t whole, size_t n, size_t lines)
{
	if (!rest)
		return;
	put_total(o, rest, whole);
	out__format(o, "%8zu   other causes\n", n - lines);
}

static int put_summary(struct out *o, const struct path_history *h, const struct path *p,
		       size_t lines)
{
	int64_t whole = time_sub(p->to, p->from);
	struct path_cause_total *all;
	uint64_t rest = 0;
	size_t n;
	int err = path__summary(p, &all, &n);

	if (err)
		return err;
	out__text(o, "\ncauses:\n");
	for (size_t i = 0; i < n; i++) {
		if (i >= lines) {
			rest += all[i].ns;
			continue;
		}
		put_total(o, all[i].ns, whole);
		out__format(o, "%8" PRIu64 "x  ", all[i].count);
		put_what(o, h, all[i].like, false, NULL);
		out__char(o, '\n');
	}
	put_rest(o, rest, whole, n, lines);
	free(all);
	return 0;
}

static size_t lines_of(const struct selection *select)
{
	return select->top ? selection__top(select, SIZE_MAX) : SUMMARY_LINES;
}

int path__print(const struct path_history *h, uint32_t goroutine, const struct path *p,
		int64_t start, const struct selection *select)
{
	struct out *o = out__table();
	int err;

	path__put_goroutine(o, h, goroutine);
	out__text(o, ": ");
	path__put_offset(o, p->from, start, 0);
	out__text(o, "s + ");
	table__time(o, time_sub(p->to, p->from), 0);
	out__char(o, '\n');
	err = put_summary(o, h, p, lines_of(select));
	out__text(o, "\n    SECONDS   DURATION      KIND             GOROUTINE\n");
	for (size_t i = 0; i < p->n; i++)
		put_segment(o, h, &p->segments[i], start);
	out__flush(o);
	return err;
}

static void put_call(struct out *o, const struct path_sums *s, const struct path_call_sum *call)
{
	struct trace_string name = path__call(s->h, call->call);
	const char *before = " (";

	put_total(o, call->ns, (int64_t)s->ns);
	if (name.len) {
		out__text(o, "  ");
		put_string(o, name);
	} else {
		out__format(o, "  system call %" PRIu32, call->call);
	}
	for (uint8_t kind = 0; kind < PATH_KINDS; kind++) {
		if (!call->kinds[kind])
			continue;
		out__format(o, "%s%s ", before, path__kind(kind));
		table__time(o, (int64_t)call->kinds[kind], 0);
		before = ", ";
	}
	out__text(o, ")\n");
}

/* What each system call took as a whole: the causes divide it. */
static int put_calls(struct out *o, const struct path_sums *s)
{
	struct path_call_sum *calls;
	size_t n;
	int err = path_sums__calls(s, &calls, &n);

	if (err)
		return err;
	if (n)
		out__text(o, "system calls as a whole:\n");
	for (size_t i = 0; i < n && i < CALL_LINES; i++)
		put_call(o, s, &calls[i]);
	if (n)
		out__char(o, '\n');
	free(calls);
	return 0;
}

int path__print_sums(const struct path_sums *s, const struct selection *select)
{
	struct out *o = out__table();
	size_t lines = lines_of(select);
	uint64_t rest = 0;
	int err;

	out__format(o, "%" PRIu64 " goroutine%s, ", s->paths, s->paths == 1 ? "" : "s");
	table__time(o, (int64_t)s->ns, 0);
	out__text(o, " in total\n\n");
	err = put_calls(o, s);
	out__text(o, "   DURATION   SHARE    COUNT   PATHS  KIND             GOROUTINE\n");
	for (size_t i = 0; i < s->n; i++) {
		if (i >= lines) {
			rest += s->at[i].ns;
			continue;
		}
		put_total(o, s->at[i].ns, (int64_t)s->ns);
		out__format(o, "%8" PRIu64 "x%8" PRIu64 "  ", s->at[i].count, s->at[i].paths);
		put_what(o, s->h, &s->at[i].like, false, &s->at[i]);
		out__char(o, '\n');
	}
	put_rest(o, rest, (int64_t)s->ns, s->n, lines);
	out__flush(o);
	return err;
}
