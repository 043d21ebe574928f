/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that slices of a timeline show: names, meanings and colors.
 *
 * This is the only table of them. Exports take the names of slices from it, and `gotrace report` and
 * `gotrace view` the colors of the lanes, the legend and the bars.
 */
#ifndef EXPORT_STATES_H
#define EXPORT_STATES_H

/*
 * The states of one lane are of one group of STATE_SLOTS successive numbers: goroutines, Ps, the GC and
 * tasks have the first group, threads and CPUs, as the kernel sees them, the second one.
 */
#define STATE_SLOTS 8

enum state {
	STATE_RUNNING,
	STATE_RUNNABLE,
	STATE_WAITING,
	STATE_SYSCALL,
	STATES_OF_GOROUTINES,
	STATE_GC = STATES_OF_GOROUTINES,
	STATE_STW,
	STATE_TASK,
	STATE_UNKNOWN, /* of a goroutine, after a loss */
	STATE_ON_CPU = STATE_SLOTS,
	STATE_CPU_WAIT,
	STATE_THROTTLED,
	STATE_SLEEPING,
	STATE_BLOCKED,
	STATE_STOPPED,
	STATE_OTHER_PROCESS,  /* on a CPU */
	STATE_KERNEL_UNKNOWN, /* of a thread or CPU, after a loss */
	STATES
};

struct state_row {
	const char *name;	  /* for users, and of slices */
	const char *kind;	  /* the same in the data of a report; unique */
	const char *meaning;	  /* a sentence fragment */
	const char *light, *dark; /* color in either theme: "#rrggbb" */
	const char *part;	  /* the part of a goroutine's time that it is; NULL: none */
};

/* By enum state. */
extern const struct state_row state_table[STATES];

#endif
