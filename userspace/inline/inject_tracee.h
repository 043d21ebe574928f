/* SPDX-License-Identifier: GPL-2.0 */
/* A traced thread: what inject_tracee.c asks of the process that traces it (inject_tracer.c). */
#ifndef INLINE_INJECT_TRACEE_H
#define INLINE_INJECT_TRACEE_H

#include <signal.h>

#include "inline/inject_impl.h"

#define TRACEE_SIGNALS 64

enum job { JOB_HOLD, JOB_PEEK, JOB_CALL, JOB_BATCH, JOB_RESTORE, JOB_RELEASE, JOB_END };

/* One packet. */
struct tracee_request {
	enum job job;
	pid_t tid;	 /* JOB_HOLD */
	bool has_filter; /* JOB_HOLD */
	long number;	 /* JOB_CALL */
	uint64_t addr;	 /* JOB_PEEK */
	uint64_t stub;
	struct user_regs_struct call; /* JOB_CALL, JOB_BATCH: registers that it begins with */
};

struct tracee_answer {
	long result;
	bool can_batch;		      /* JOB_HOLD */
	uint64_t word;		      /* JOB_PEEK */
	struct user_regs_struct regs; /* JOB_HOLD: at the stop; JOB_BATCH: at its end */
	uint64_t time; /* JOB_HOLD: of the stop; JOB_RELEASE: when the thread goes on */
};

/* In the process that traces. */
struct traced {
	pid_t pid, tid;
	int pidfd;			  /* of process `pid` */
	int socket;			  /* to the one who asks */
	bool held;			  /* seized and in a ptrace stop */
	bool has_filter;		  /* of seccomp */
	bool can_batch;			  /* see tracee__can_batch() */
	struct user_regs_struct regs;	  /* at the stop of job__hold() */
	uint64_t time;			  /* of that stop, then when it goes on */
	siginfo_t signal[TRACEE_SIGNALS]; /* suppressed; sent again at the release */
	unsigned int signals;
	/* of the current job */
	long number;
	uint64_t addr, word, stub;
	struct user_regs_struct call;
};

/*
 * The socket of a new thread of the tracing process, which traces threads of process `pid`; a negative
 * errno. If there is no tracing process for it yet, starts it.
 */
int tracer__connect(pid_t pid);
/* Whether the connection was closed, so that the result of the job is not needed. */
bool tracer__is_abandoned(const struct traced *t);

/* The jobs. 0 or a negative errno; job__call(): as injection__call(); job__batch(): t->call has the
 * registers at its end. */
long job__hold(struct traced *t);
long job__peek(struct traced *t);
long job__call(struct traced *t);
long job__batch(struct traced *t);
long job__restore(struct traced *t);
long job__release(struct traced *t);

#endif
