/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A condition of --trigger, as text and parsed: "blocked:300ms:chan receive".
 *
 * Upstream: gotrace-bpf/flight.c. Downstream: trigger.c. TRIGGERS in gotrace-bpf(1) describes each.
 */
#ifndef TRIGGER_CONDITION_H
#define TRIGGER_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

#define CONDITIONS_MAX	   32
#define CONDITION_TEXT_MAX 128

enum trigger_kind {
	TRIGGER_RUNNABLE,   /* limit: ns */
	TRIGGER_BLOCKED,    /* ns; name: a reason, "": any but network and timers */
	TRIGGER_SYSCALL,    /* ns; name: of a system call, "": any */
	TRIGGER_STW,	    /* ns */
	TRIGGER_GC,	    /* ns */
	TRIGGER_RUNQUEUE,   /* ns */
	TRIGGER_GOROUTINES, /* their number */
	TRIGGER_HEAP,	    /* bytes */
	TRIGGER_CPU,	    /* percent of one CPU */
	TRIGGER_FUNC,	    /* name: of a function */
	TRIGGER_REQUEST,    /* ns; name: of requests, "": any */
	TRIGGER_REGION,	    /* name, and ns */
	TRIGGER_STATUS,	    /* name: "5xx", or "503" */
	TRIGGER_EXIT,
	TRIGGER_SIGNAL, /* limit: its number; 0: any */
	TRIGGER_KINDS,
};

struct condition {
	enum trigger_kind kind;
	uint64_t limit;
	char name[CONDITION_TEXT_MAX];
	char text[CONDITION_TEXT_MAX]; /* as given */
};

/* The first word of each kind's text. */
extern const char *const condition_kinds[TRIGGER_KINDS];

/* 0, or -EINVAL and the reason. */
int condition__parse(const char *text, struct condition *ret, struct error *error);

#endif
