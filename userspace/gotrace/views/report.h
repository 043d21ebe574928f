/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of gotrace report, and used by gotrace view: report.c reads the trace and
 * writes the data, report_tables.c goroutines and requests, report_findings.c what dominated their
 * time; report_page.c is the command line of gotrace report and writes the page.
 */
#ifndef VIEWS_REPORT_H
#define VIEWS_REPORT_H

#include "analysis/latency.h"
#include "analysis/requests.h"
#include "gotrace/command.h"
#include "gotrace/latency.h"
#include "lib/json.h"
#include "report/lanes.h"

#define REPORT_GOROUTINES_MAX 2000u /* in the list: those with the longest time */
#define REPORT_FUNCTIONS_MAX  1000u /* start functions: those with the longest time */
#define REPORT_WORST	      100u  /* requests in the lists of the longest */

/* A goroutine of the list. Times of the trace's clock, ns. */
struct report_goroutine {
	uint64_t id;
	uint32_t name; /* latency__name() */
	int64_t from, to;
	int64_t total, lost;
	int64_t part[LATENCY_PARTS];
};

#define REPORT_PROFILES 3u

struct report_data {
	struct trace_args in;
	struct report_strings strings;
	struct report_lanes *lanes;
	struct requests *requests;
	struct profile *profiles[REPORT_PROFILES]; /* NULL: it had too many stacks */
	struct latencies latencies;		   /* per start function */
	/* The longest goroutines so far, of which the first REPORT_GOROUTINES_MAX remain. */
	struct report_goroutine list[2 * REPORT_GOROUTINES_MAX];
	size_t nlist;
	struct latency_stats busy; /* the time that findings without requests are about */
	int64_t start, now;	   /* of the first event, and of the latest one */
	uint64_t events, generations, bytes;
	unsigned int version; /* reader__version() */
	bool begun;	      /* there was an event */
	bool lossy;	      /* kernel events were lost */
	bool go_lossy;	      /* events of Go were lost */
	bool more_stacks;     /* than a profile may have */
	bool more_functions;  /* than REPORT_FUNCTIONS_MAX */
	bool left_out;	      /* a corrupt tail was left out */
	bool live;	      /* ranges can be requested: gotrace view */
};

/* ---- report.c ---- */

/* Sets all but d->in and d->live, which the caller has set. 0 or -ENOMEM. */
int report__init(struct report_data *d, const struct report_lanes_opts *lanes);
void report__deinit(struct report_data *d); /* also after an error of report__init() */
/* Reads the trace d->in. 0 or a negative errno with the reason. */
int report__read(struct report_data *d, struct error *error);
/* Writes the data as one line of JSON: docs/report.md. 0 or a negative errno with the reason. */
int report__print(struct report_data *d, FILE *out, struct error *error);

/* ---- report_tables.c ---- */

/* Adds a goroutine that has ended, at d->now, or was alive at the end of the trace. 0 or -ENOMEM. */
int report__add(struct report_data *d, const struct latency_goroutine *g);
/* Write the members "goroutines" and "requests" of an open object. 0 or -ENOMEM. */
int report__print_goroutines(struct report_data *d, struct json *j);
int report__print_requests(struct report_data *d, struct json *j);
/* Time of the trace's clock as ns since its first event. */
uint64_t report__time(const struct report_data *d, int64_t time);

/* ---- report_findings.c ---- */

/*
 * Adds the time of a goroutine that counts in findings without requests: not that of the runtime's,
 * nor the blocked time of idle ones. 0 or -ENOMEM.
 */
int report__count(struct report_data *d, const struct latency_goroutine *g);
/* Writes the member "findings": what dominated, the largest share first. 0 or -ENOMEM. */
int report__print_findings(struct report_data *d, struct json *j);

#endif
