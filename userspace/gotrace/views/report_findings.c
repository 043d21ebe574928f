// SPDX-License-Identifier: GPL-2.0
/*
 * The findings of a report: sentences about what dominated the time of the requests with the longest
 * time in all, or, in a trace without requests, of goroutines.
 *
 * Upstream: analysis/latency_cause.h. Without requests, what a goroutine was blocked for is mostly
 * idleness: only locks and the garbage collector count, and not for goroutines that were hardly ever
 * anything but blocked. Their other time does count. Goroutines of the runtime do not.
 *
 * A finding links to an example on the timeline: of the slowest requests, that in which its cause took
 * the most time; without requests, the longest single wait of its kind (report/lanes.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "analysis/latency_cause.h"
#include "analysis/summary.h"
#include "gotrace/views/report.h"

#define SHARE_MIN    0.05 /* below, nothing is said */
#define FINDINGS_MAX 6	  /* sentences about causes */
#define IDLE	     100  /* a goroutine that was not blocked for less than this part is idle */
#define NAME_MAX_LEN 200  /* bytes of a name in a sentence */

/* What the findings are about. */
struct subject {
	const struct report_data *d;
	const struct latency *latency;
	const struct latency_stats *stats;
	int64_t base;	/* ns that shares refer to */
	char text[256]; /* "of ..." */
	bool requests;	/* of one name: */
	uint32_t id;	/* requests__name() */
	struct trace_string name;
};

static int cut(struct trace_string s)
{
	return s.len > NAME_MAX_LEN ? NAME_MAX_LEN : (int)s.len;
}

static bool equal(struct trace_string a, struct trace_string b)
{
	return a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
}

static bool is_parked(enum latency_part part)
{
	return part == PART_GO_BLOCKED || part == PART_SYSCALL_BLOCKED;
}

static bool is_idle(const struct latency_stats *stats)
{
	int64_t known = time_sub(stats->total, stats->lost);
	int64_t parked = time_add(stats->part[PART_GO_BLOCKED], stats->part[PART_SYSCALL_BLOCKED]);

	return time_sub(known, parked) <= known / IDLE;
}

/* Without those in which it slept: what remains of such calls is not their duration. */
static void remove_calls(struct durations *calls)
{
	const uint32_t blocked = (uint32_t)PART_SYSCALL_BLOCKED << 16;

	for (uint32_t i = calls->n; i-- > 0;)
		if (latency_reason__part(calls->at[i].kind) != PART_SYSCALL_BLOCKED &&
		    durations__find(calls, blocked | (calls->at[i].kind & UINT16_MAX)))
			durations__remove(calls, &calls->at[i]);
	for (uint32_t i = calls->n; i-- > 0;)
		if (latency_reason__part(calls->at[i].kind) == PART_SYSCALL_BLOCKED)
			durations__remove(calls, &calls->at[i]);
}

/* Leaves the time in which it was not parked. */
static void remove_parked(const struct latency *l, struct latency_stats *stats)
{
	struct durations *reasons = &stats->reasons, *places = &stats->places;

	for (uint32_t i = reasons->n; i-- > 0;)
		if (is_parked(latency_reason__part(reasons->at[i].kind)))
			durations__remove(reasons, &reasons->at[i]);
	for (uint32_t i = places->n; i-- > 0;)
		if (is_parked(latency__place(l, places->at[i].kind).part))
			durations__remove(places, &places->at[i]);
	remove_calls(&stats->calls);
	stats->part[PART_GO_BLOCKED] = stats->part[PART_SYSCALL_BLOCKED] = 0;
}

int report__count(struct report_data *d, const struct latency_goroutine *g)
{
	const struct latency *l = d->latencies.latency;
	struct latency_stats stats;
	int err;

	if (summary__is_system(latency__name(l, g->name)))
		return 0;
	if (!is_idle(&g->stats))
		return latency_stats__add(&d->busy, &g->stats);
	err = latency_stats__copy(&stats, &g->stats);
	if (err)
		return err;
	remove_parked(l, &stats);
	err = latency_stats__add(&d->busy, &stats);
	latency_stats__deinit(&stats);
	return err;
}

/* Whether blocked time for that reason says something about a goroutine without requests. */
static bool counts(const struct subject *s, const struct latency_cause *cause)
{
	return s->requests || cause->part != PART_GO_BLOCKED ||
	       trace_string__equals(cause->reason, "sync");
}

/* ---- sentences ---- */

/* The task in "CPU held by TASK"; empty: the reason is another one. */
static struct trace_string holder_of(struct trace_string reason)
{
	static const char by[] = "CPU held by ";
	const uint32_t n = sizeof(by) - 1;

	if (reason.len <= n || memcmp(reason.data, by, n))
		return (struct trace_string){};
	return (struct trace_string){ reason.data + n, reason.len - n };
}

static void describe(const struct subject *s, const struct latency_cause *c, char *ret, size_t size)
{
	struct trace_string r = trace_string__equals(c->reason, LATENCY_NOT_RECORDED) ?
					(struct trace_string){} :
					c->reason;
	struct trace_string holder = holder_of(r);
	char split[SPLIT_TEXT];

	if (c->call)
		latency_cause__split(c, s->base, split);
	if (c->assist)
		snprintf(ret, size, "was work for the garbage collector (mark assists)");
	else if (c->call)
		snprintf(ret, size, "was in system call %.*s, from entry to exit (%s)", cut(r),
			 r.data, split);
	else if (c->part == PART_GO_RUNNABLE)
		snprintf(ret, size, "was waiting for a P");
	else if (c->part == PART_KERNEL_RUNNABLE && holder.len)
		snprintf(ret, size, "was waiting for a CPU that was held most by %.*s", cut(holder),
			 holder.data);
	else if (c->part == PART_KERNEL_RUNNABLE)
		snprintf(ret, size, "was waiting for a CPU%s%.*s",
			 !r.len				    ? "" :
			 trace_string__equals(r, "yielded") ? ", most of it after its thread " :
							      ", most of it after its thread was ",
			 cut(r), r.data);
	else if (c->part == PART_THROTTLED)
		snprintf(ret, size, "was lost because the CPU quota of the cgroup was used up");
	else if (c->part == PART_KERNEL_BLOCKED)
		snprintf(ret, size, "was running for Go but blocked in the kernel (%.*s)", cut(r),
			 r.data);
	else if (c->part == PART_SYSCALL_BLOCKED)
		snprintf(ret, size, "was blocked in system calls%s%.*s%s", r.len ? " (" : "",
			 cut(r), r.data, r.len ? ")" : "");
	else if (trace_string__equals(r, "sync"))
		snprintf(ret, size, "was waiting for locks or wait groups (sync)");
	else if (trace_string__equals(r, "network"))
		snprintf(ret, size, "was waiting for the network");
	else
		snprintf(ret, size, "was blocked (%.*s)", cut(r), r.data);
}

/* What preempted the threads for the longest time, unless the cause names it. */
static void describe_preemptor(const struct subject *s, const struct latency_cause *c, char *ret,
			       size_t size)
{
	static const char prefix[] = "preempted by ";
	struct trace_string name, longest = {};
	const struct duration *at = s->stats->reasons.at;
	int64_t most = 0;

	for (uint32_t i = 0; i < s->stats->reasons.n; i++) {
		name = latency__reason(s->latency, at[i].kind);
		if (latency_reason__part(at[i].kind) != PART_KERNEL_RUNNABLE || at[i].ns <= most ||
		    name.len <= strlen(prefix) || memcmp(name.data, prefix, strlen(prefix)))
			continue;
		longest = name;
		most = at[i].ns;
	}
	if (most && !equal(longest, c->reason))
		snprintf(ret, size, "; %.3f s of it after it was %.*s", (double)most / 1e9,
			 cut(longest), longest.data);
}

/*
 * What held the CPUs most, unless the cause names it, in a trace that has that; in others with kernel
 * events, what they were given to at first. 0 or -ENOMEM.
 */
static int describe_holder(const struct subject *s, const struct latency_cause *c, char *ret,
			   size_t size)
{
	struct trace_string name;
	struct duration *tasks;
	size_t n;

	ret[0] = 0;
	if (!latency__has_tasks(s->latency)) {
		describe_preemptor(s, c, ret, size);
		return 0;
	}
	tasks = tasks__sorted(s->stats, &n);
	if (!tasks)
		return -ENOMEM;
	if (n && !holder_of(c->reason).len) {
		name = latency__task(s->latency, tasks[0].kind);
		snprintf(ret, size, "; the CPU was held most by %.*s", cut(name), name.data);
	}
	free(tasks);
	return 0;
}

/* ---- links ---- */

/* The time of a cause on the critical path of a request; `c` NULL: that on a CPU. */
static int64_t time_of(const struct subject *s, const struct request_single *request,
		       const struct latency_cause *c)
{
	struct latency_cause causes[LATENCY_CAUSES_MAX];
	size_t n = c ? latency__causes(s->latency, &request->path, causes) : 0;

	for (size_t i = 0; i < n; i++)
		if (causes[i].part == c->part && causes[i].assist == c->assist &&
		    causes[i].call == c->call &&
		    (c->part == PART_KERNEL_RUNNABLE || equal(causes[i].reason, c->reason)))
			return causes[i].ns;
	return c ? 0 : time_sub(request->path.part[PART_ONCPU], request->path.gc_assist);
}

static void put_range(struct json *j, const char *text, uint64_t from, uint64_t to, uint64_t g)
{
	char lane[32];

	snprintf(lane, sizeof(lane), "g:%" PRIu64, g);
	json__open(j, NULL, '{');
	json__string(j, "text", text);
	json__u64(j, "from", from);
	json__u64(j, "to", to);
	if (g != TRACE_NO_G)
		json__string(j, "lane", lane);
}

/* That of the slowest requests of the name in which the cause took the most time. */
static void put_request(const struct subject *s, struct json *j, const struct latency_cause *c)
{
	const struct request_single *worst, *chosen = NULL;
	int64_t most = 0, ns;
	char text[128];
	size_t n;

	worst = requests__worst(s->d->requests, &n);
	for (size_t i = 0; i < n; i++) {
		ns = worst[i].name == s->id ? time_of(s, &worst[i], c) : 0;
		if (ns <= most)
			continue;
		most = ns;
		chosen = &worst[i];
	}
	if (!chosen)
		return;
	snprintf(text, sizeof(text), "example: %.3f ms of %.3f ms in task %" PRIu64,
		 (double)most / 1e6, (double)time_sub(chosen->end, chosen->begin) / 1e6,
		 chosen->id);
	put_range(j, text, report__time(s->d, chosen->begin), report__time(s->d, chosen->end),
		  chosen->creator);
	json__u64(j, "task", chosen->id);
	json__i64(j, "ns", most);
	json__close(j, '}');
}

static enum report_wait wait_of(const struct latency_cause *c)
{
	static const enum report_wait waits[LATENCY_PARTS] = {
		[PART_ONCPU] = REPORT_WAITS,
		[PART_GO_RUNNABLE] = REPORT_WAIT_P,
		[PART_KERNEL_RUNNABLE] = REPORT_WAIT_CPU,
		[PART_THROTTLED] = REPORT_WAITS,
		[PART_KERNEL_BLOCKED] = REPORT_WAITS,
		[PART_SYSCALL_BLOCKED] = REPORT_WAIT_SYSCALL,
		[PART_GO_BLOCKED] = REPORT_WAIT_LOCK,
	};

	if (!c || (c->call && !c->split[PART_SYSCALL_BLOCKED]))
		return REPORT_WAITS;
	return waits[c->part];
}

/* The longest single wait of the kind. */
static void put_wait(const struct subject *s, struct json *j, const struct latency_cause *c)
{
	static const char *const names[REPORT_WAITS] = {
		[REPORT_WAIT_P] = "wait for a P",
		[REPORT_WAIT_CPU] = "wait for a CPU",
		[REPORT_WAIT_SYSCALL] = "system call",
		[REPORT_WAIT_LOCK] = "wait for a lock or wait group",
	};
	enum report_wait kind = wait_of(c);
	struct report_longest longest;
	char text[NAME_MAX_LEN + 128];

	if (kind == REPORT_WAITS || !report_lanes__longest(s->d->lanes, kind, &longest))
		return;
	snprintf(text, sizeof(text), "the longest %s: %.3f ms of G%" PRIu64 " %.*s", names[kind],
		 (double)(longest.to - longest.from) / 1e6, longest.goroutine,
		 cut(longest.function), longest.function.data);
	put_range(j, text, longest.from, longest.to, longest.goroutine);
	json__u64(j, "ns", longest.to - longest.from);
	json__close(j, '}');
}

static void put_links(const struct subject *s, struct json *j, const struct latency_cause *c)
{
	json__open(j, "links", '[');
	if (s->requests)
		put_request(s, j, c);
	else
		put_wait(s, j, c);
	json__open(j, NULL, '{');
	json__string(j, "text", s->requests ? "all requests" : "all goroutines");
	json__string(j, "section", s->requests ? "requests" : "goroutines");
	if (s->requests)
		json__bytes(j, "name", s->name.data, s->name.len);
	json__close(j, '}');
	json__close(j, ']');
}

/* ---- findings ---- */

/* `c` NULL: it is about the time on a CPU. */
static void put_finding(const struct subject *s, struct json *j, const char *text,
			const struct latency_cause *c, int64_t ns)
{
	double share = s->base > 0 ? (double)ns / (double)s->base : 0;
	char line[1536];

	json__open(j, NULL, '{');
	snprintf(line, sizeof(line), "%.0f %% of %s %s.", share * 100, s->text, text);
	json__string(j, "text", line);
	snprintf(line, sizeof(line), "%.6f s of %.6f s", (double)ns / 1e9, (double)s->base / 1e9);
	json__string(j, "detail", line);
	json__double(j, "share", share);
	json__i64(j, "ns", ns);
	put_links(s, j, c);
	json__close(j, '}');
}

static int put_cause(const struct subject *s, struct json *j, const struct latency_cause *c)
{
	struct trace_string place = c->place.function;
	char text[1024], what[500], where[300] = "";
	int err = 0;

	describe(s, c, what, sizeof(what));
	if (c->part == PART_KERNEL_RUNNABLE)
		err = describe_holder(s, c, where, sizeof(where));
	else if (place.len)
		snprintf(where, sizeof(where), ", most of it in %.*s", cut(place), place.data);
	snprintf(text, sizeof(text), "%s%s", what, where);
	put_finding(s, j, text, c, c->ns);
	return err;
}

static void put_sentence(struct json *j, const char *text, const char *detail)
{
	json__open(j, NULL, '{');
	json__string(j, "text", text);
	json__string(j, "detail", detail);
	json__double(j, "share", 0);
	json__open(j, "links", '[');
	json__close(j, ']');
	json__close(j, '}');
}

static int put_causes(const struct subject *s, struct json *j)
{
	struct latency_cause causes[LATENCY_CAUSES_MAX];
	size_t n = latency__causes(s->latency, s->stats, causes), put = 0;
	int64_t oncpu = time_sub(s->stats->part[PART_ONCPU], s->stats->gc_assist);
	int err = 0;

	for (size_t i = 0; !err && i < n && put < FINDINGS_MAX; i++) {
		if (!counts(s, &causes[i]) || (double)causes[i].ns < SHARE_MIN * (double)s->base)
			continue;
		err = put_cause(s, j, &causes[i]);
		put++;
	}
	if (!put)
		put_sentence(j, "Nothing stands out.", "no cause of waiting took 5 % of the time");
	if (!put || (double)oncpu >= SHARE_MIN * (double)s->base)
		put_finding(s, j, s->d->latencies.has_kernel ? "was on a CPU" : "was running", NULL,
			    oncpu);
	return err;
}

/* ---- subjects ---- */

static int about_goroutines(struct report_data *d, struct json *j)
{
	struct latency_cause causes[LATENCY_CAUSES_MAX];
	struct subject s = { .d = d, .latency = d->latencies.latency, .stats = &d->busy };
	size_t n = latency__causes(s.latency, s.stats, causes);

	for (unsigned int part = 0; part < LATENCY_PARTS; part++)
		s.base = time_add(s.base, part == PART_GO_BLOCKED ? 0 : d->busy.part[part]);
	for (size_t i = 0; i < n; i++)
		if (causes[i].part == PART_GO_BLOCKED && counts(&s, &causes[i]))
			s.base = time_add(s.base, causes[i].ns);
		else if (causes[i].assist) /* until there was work for them */
			s.base = time_add(s.base, time_sub(causes[i].ns, d->busy.gc_assist));
	snprintf(s.text, sizeof(s.text), "the time in which goroutines were not idle");
	return put_causes(&s, j);
}

static int about_requests(struct report_data *d, struct json *j, const struct request_name *n)
{
	struct request_sum sum;
	struct subject s = {
		.d = d,
		.latency = requests__latency(d->requests),
		.stats = &sum.path,
		.requests = true,
		.id = n->name,
		.name = requests__name(d->requests, n->name),
	};
	int err = request_name__sum(n, &sum);

	if (err)
		return err;
	s.base = sum.path.total;
	snprintf(s.text, sizeof(s.text), "the critical path of requests \"%.*s\"", cut(s.name),
		 s.name.data);
	if (s.base)
		err = put_causes(&s, j);
	else
		put_sentence(j, "The critical path of the requests is not known.",
			     "their goroutines did too much to be kept");
	request_sum__deinit(&sum);
	return err;
}

int report__print_findings(struct report_data *d, struct json *j)
{
	const struct request_name **names;
	size_t n;
	int err;

	names = requests__sorted(d->requests, LENGTHS_TOTAL, &n);
	if (!names)
		return -ENOMEM;
	json__open(j, "findings", '[');
	if (n && names[0]->lengths.count)
		err = about_requests(d, j, names[0]);
	else
		err = about_goroutines(d, j);
	if (d->lossy || d->go_lossy)
		put_sentence(j, "Events were lost, so figures may be wrong.",
			     "'gotrace stat' shows when");
	json__close(j, ']');
	free(names);
	return err;
}
