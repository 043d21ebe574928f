/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The findings of doctor: lines of text, and with --json the same lines and facts of the target.
 *
 * doctor.c (this machine) and doctor_target.c (a process) add findings, doctor_print.c prints them.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/hits.h"
#include "lib/json.h"
#include "analysis.h"

enum finding_level { GOOD, NOTE, BAD };

struct finding {
	enum finding_level level;
	const char *what;
	char text[900];
};

struct doctor {
	int pid;
	bool json;
	uint64_t measure_ns; /* 0: do not measure */
	bool bad;	     /* something prevents recording */
	struct finding *finding;
	size_t n;
};

/* Adds a finding. `what` is borrowed. */
__attribute__((format(printf, 4, 5))) void
doctor__report(struct doctor *d, enum finding_level level, const char *what, const char *fmt, ...);

/* The result of --measure. */
struct measured {
	unsigned int sets;	      /* bits, by enum site_set: those counted */
	uint64_t hits[GT_HITS_COUNT]; /* during `seconds` */
	double seconds, cpus;	      /* cpus: used by the process when nothing was attached */
	double own_ns;		      /* its CPU time during `seconds`, without that of the hits */
	double loop_ns, trap_ns;      /* what a counted hit takes: in a loop, and in the process */
	double stepped_ns;	      /* in a loop, if the kernel single-steps the instruction */
};

/* Measures for d->measure_ns. A negative errno with the reason on failure: *ret is zero. */
int doctor__measure(const struct doctor *d, const struct analysis *a, struct measured *ret,
		    struct error *error);
/* Hits per second of the probes of a set. */
double measured__rate(const struct measured *m, unsigned int set);
/* CPU time with a recording of these sets (bits), relative to that without. */
double measured__ratio(const struct measured *m, unsigned int sets, bool stacks);
void measured__report(struct doctor *d, const struct measured *m);
void measured__json(struct json *j, const struct measured *m); /* the member "measured" */

/* Facts of a running process that are not in its analysis. */
struct target_facts {
	bool deleted, replaced; /* the file of its program, since the start */
	bool other_pid_ns, other_mnt_ns, other_user_ns;
	bool counted; /* the following members are known */
	size_t goroutines, threads;
	unsigned int procs;
	struct measured measured; /* .seconds 0: not measured */
	bool inline_checked;	  /* the following members are known */
	uint64_t inline_probes;	  /* bits, by enum gt_probe: those that can be inline */
	struct error
		inline_refused; /* why record --probes=inline would refuse; empty: it would not */
};

/* Adds the findings of a process; and prints the member "target" of the JSON. */
void doctor__target(struct doctor *d, struct analysis *a, struct target_facts *facts);
void doctor__target_json(struct json *j, const struct analysis *a,
			 const struct target_facts *facts);

/* All findings as lines of at most 100 columns, or as JSON (`a` NULL: no target). */
void doctor__print(const struct doctor *d, const struct analysis *a,
		   const struct target_facts *facts);

#endif
