/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What doctor found out: lines for a person, or, with --json, the same and facts of the target.
 *
 * Filled by doctor.c (this machine) and doctor_target.c (a process), printed by doctor_print.c.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis.h"
#include "lib/json.h"

enum verdict { GOOD, NOTE, BAD };

struct finding {
	enum verdict verdict;
	const char *what;
	char text[900];
};

struct doctor {
	int pid;
	bool json;
	bool bad; /* something makes recording impossible */
	struct finding *finding;
	size_t n;
};

/* Notes a finding; `what` stays the caller's. */
__attribute__((format(printf, 4, 5))) void doctor__say(struct doctor *d, enum verdict verdict,
						       const char *what, const char *fmt, ...);

/* Of a running process: more than its analysis. */
struct target_facts {
	bool deleted, replaced; /* its program's file, since it was started */
	bool other_pid_ns, other_mnt_ns, other_user_ns;
	bool counted; /* what follows is known */
	size_t goroutines, threads;
	unsigned int processors;
};

/* What is said of a process, and what --json adds. */
void doctor__target(struct doctor *d, struct analysis *a, struct target_facts *facts);
void doctor__target_json(struct json *j, const struct analysis *a,
			 const struct target_facts *facts);

/* All findings as lines of at most 100 columns, or as JSON (`a` NULL: no target). */
void doctor__print(const struct doctor *d, const struct analysis *a,
		   const struct target_facts *facts);

/* How a program was built: words such as "PIE" or "stripped". For probes, too. */
struct build_word {
	const char *name; /* in JSON */
	const char *text;
	bool is;
};
#define BUILD_WORDS 9
void build__words(const struct analysis *a, struct build_word *ret);

#endif
