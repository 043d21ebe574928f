// SPDX-License-Identifier: GPL-2.0
/*
 * The findings of a report: sentences about what dominated the time of the requests with the longest
 * time in all, or, in a trace without requests, of goroutines.
 *
 * Upstream: analysis/latency_cause.h. Without requests, what a goroutine was blocked for is mostly
 * idleness: only locks and the garbage collector count, and neither do goroutines of the runtime nor
 * those that were hardly ever anything but blocked.
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
	struct trace_string name;
};

static int cut(struct trace_string s)
{
	return s.len > NAME_MAX_LEN ? NAME_MAX_LEN : (int)s.len;
}

static bool is(struct trace_string s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

bool report__is_busy(const struct report_data *d, const struct latency_goroutine *g)
{
	const int64_t *part = g->stats.part;
	int64_t blocked = time_add(part[PART_GO_BLOCKED], part[PART_SYSCALL_BLOCKED]);

	return !summary__is_system(latency__name(d->latencies.latency, g->name)) &&
	       time_sub(g->stats.total, blocked) > g->stats.total / IDLE;
}

/* Whether blocked time for that reason says something about a goroutine without requests. */
static bool counts(const struct subject *s, const struct latency_cause *cause)
{
	return s->requests || cause->part != PART_GO_BLOCKED || is(cause->reason, "sync");
}

/* ---- sentences ---- */

static void describe(const struct subject *s, const struct latency_cause *c, char *ret, size_t size)
{
	struct trace_string r = is(c->reason, "unknown") ? (struct trace_string){} : c->reason;

	if (c->assist)
		snprintf(ret, size, "was work for the garbage collector (mark assists)");
	else if (c->part == PART_GO_RUNNABLE)
		snprintf(ret, size, "was waiting for a P");
	else if (c->part == PART_KERNEL_RUNNABLE)
		snprintf(ret, size, "was waiting for a CPU%s%.*s", r.len ? ", most of it: " : "",
			 cut(r), r.data);
	else if (c->part == PART_THROTTLED)
		snprintf(ret, size, "was lost because the CPU quota of the cgroup was used up");
	else if (c->part == PART_KERNEL_BLOCKED)
		snprintf(ret, size, "was running for Go but blocked in the kernel (%.*s)", cut(r),
			 r.data);
	else if (c->part == PART_SYSCALL_BLOCKED)
		snprintf(ret, size, "was blocked in system calls%s%.*s%s", r.len ? " (" : "",
			 cut(r), r.data, r.len ? ")" : "");
	else if (is(r, "sync"))
		snprintf(ret, size, "was waiting for locks or wait groups (sync)");
	else if (is(r, "network"))
		snprintf(ret, size, "was waiting for the network");
	else
		snprintf(ret, size, "was blocked (%.*s)", cut(r), r.data);
}

/* What held the CPUs most, in a trace that has that. 0 or -ENOMEM. */
static int describe_holder(const struct subject *s, char *ret, size_t size)
{
	struct trace_string name;
	struct duration *tasks;
	size_t n;

	ret[0] = 0;
	if (!latency__is_aligned(s->latency))
		return 0;
	tasks = tasks__sorted(s->stats, &n);
	if (!tasks)
		return -ENOMEM;
	if (n) {
		name = latency__task(s->latency, tasks[0].kind);
		snprintf(ret, size, "; the CPU was held most by %.*s", cut(name), name.data);
	}
	free(tasks);
	return 0;
}

static void put_link(const struct subject *s, struct json *j)
{
	json__open(j, "links", '[');
	json__open(j, NULL, '{');
	json__string(j, "text", s->requests ? "requests" : "goroutines");
	json__string(j, "section", s->requests ? "requests" : "goroutines");
	if (s->requests)
		json__bytes(j, "name", s->name.data, s->name.len);
	json__close(j, '}');
	json__close(j, ']');
}

static void put_finding(const struct subject *s, struct json *j, const char *text, int64_t ns)
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
	put_link(s, j);
	json__close(j, '}');
}

static int put_cause(const struct subject *s, struct json *j, const struct latency_cause *c)
{
	struct trace_string place = c->place.function;
	char text[1024], what[300], where[300] = "";
	int err = 0;

	describe(s, c, what, sizeof(what));
	if (c->part == PART_KERNEL_RUNNABLE)
		err = describe_holder(s, where, sizeof(where));
	else if (place.len)
		snprintf(where, sizeof(where), ", most of it in %.*s", cut(place), place.data);
	snprintf(text, sizeof(text), "%s%s", what, where);
	put_finding(s, j, text, c->ns);
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
		put_finding(s, j, s->d->latencies.has_kernel ? "was on a CPU" : "was running",
			    oncpu);
	return err;
}

/* ---- subjects ---- */

static int about_goroutines(struct report_data *d, struct json *j)
{
	struct latency_cause causes[LATENCY_CAUSES_MAX];
	struct subject s = { .d = d, .latency = d->latencies.latency, .stats = &d->busy };
	size_t n = latency__causes(s.latency, s.stats, causes);

	s.base = d->busy.part[PART_ONCPU];
	s.base = time_sub(s.base, d->busy.gc_assist);
	for (size_t i = 0; i < n; i++)
		if (counts(&s, &causes[i]))
			s.base = time_add(s.base, causes[i].ns);
	snprintf(s.text, sizeof(s.text), "the time of goroutines that were not idle");
	return put_causes(&s, j);
}

static int about_requests(struct report_data *d, struct json *j, const struct request_name *n)
{
	struct request_sum sum;
	struct subject s = {
		.d = d,
		.latency = requests__latency(d->requests),
		.stats = &sum.time,
		.requests = true,
		.name = requests__name(d->requests, n->name),
	};
	int err = request_name__sum(n, &sum);

	if (err)
		return err;
	s.base = sum.time.total;
	snprintf(s.text, sizeof(s.text), "the goroutines' time in requests \"%.*s\"", cut(s.name),
		 s.name.data);
	err = put_causes(&s, j);
	latency_stats__deinit(&sum.time);
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
