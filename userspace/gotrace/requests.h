/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace requests`: requests.c reads the trace, requests_table.c prints
 * tables, requests_json.c JSON, and requests_worst.c single requests.
 */
#ifndef GOTRACE_REQUESTS_H
#define GOTRACE_REQUESTS_H

#include "analysis/requests.h"
#include "annotations.h"

struct request_report {
	struct trace_args in;
	struct annotation_sort sort;
	struct map goroutines; /* of --function */
	off_t input;	       /* with --worst: the offset at which standard input begins */
	uint64_t worst;	       /* how many single requests are printed */
	struct requests *requests;
	struct analysed_time time;
	bool has_kernel;		   /* the trace has kernel events */
	const struct request_name **names; /* sorted */
	size_t n;
};

/* Print to stdout. 0 or a negative errno with the reason; what is printed is complete. */
int requests_table__print(const struct request_report *report, struct error *error);
int requests_json__print(const struct request_report *report, struct error *error);
/*
 * Where time went: lines, or the members "time", "critical_path" and "top_cause". 0 or
 * -ENOMEM.
 */
int requests_table__time(struct out *o, const struct request_report *report,
			 const struct latency_stats *time, const struct latency_stats *path);
int requests_json__time(struct json *j, const struct request_report *report,
			const struct latency_stats *time, const struct latency_stats *path);

/*
 * requests_worst.c: --worst. Print the longest requests with their paths, as text or as a member of an
 * open object. 0 or a negative errno with the reason; the output is complete, without the paths that
 * failed.
 */
int requests_worst__print(const struct request_report *report, struct error *error);
int requests_worst__print_json(struct json *j, const struct request_report *report,
			       struct error *error);

#endif
