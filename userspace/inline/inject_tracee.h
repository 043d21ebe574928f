/* SPDX-License-Identifier: GPL-2.0 */
/* A traced thread, shared by the thread that traces it (inject_jobs_x86.c) and its caller. */
#ifndef INLINE_INJECT_TRACEE_H
#define INLINE_INJECT_TRACEE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "inline/inject_impl.h"

#define TRACEE_SIGNALS 64

struct tracee {
	pid_t pid, tid;
	bool held;			  /* seized and in a ptrace stop */
	bool has_filter;		  /* of seccomp */
	bool can_batch;			  /* see tracee__can_batch() */
	struct user_regs_struct regs;	  /* at the stop of tracee__hold() */
	siginfo_t signal[TRACEE_SIGNALS]; /* suppressed; sent again at the release */
	unsigned int signals;
	/* of the current job */
	long number;
	uint64_t addr, word, stub;
	struct user_regs_struct call;
	/* between the two threads */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	long (*job)(struct tracee *); /* NULL: none; under `lock`, as the following */
	long result;
	bool quit, orphan; /* the thread frees */
	bool ended;	   /* there is no such thread any more */
	atomic_bool late;  /* the caller has given up */
};

/* Jobs of the tracing thread. 0 or a negative errno; job__call(): as injection__call();
 * job__batch(): t->call has the registers at its end. */
long job__hold(struct tracee *t);
long job__peek(struct tracee *t);
long job__call(struct tracee *t);
long job__batch(struct tracee *t);
long job__restore(struct tracee *t);
long job__release(struct tracee *t);

#endif
