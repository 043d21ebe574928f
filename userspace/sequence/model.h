/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequencer's model of the target: every G, M and P, their state, and what the trace contains
 * about them so far. model.c creates, finds and frees them.
 *
 * Shared by the files of userspace/sequence only. state*.c change the model according to records,
 * repair.c and resync.c after losses; initial.c sets it up; boundary.c saves it when a generation
 * begins.
 *
 * Invariants (Go's reader checks them, docs/trace-format.md):
 * - a G that is RUNNING or SYSCALL has its M, and that M has it; no other G has an M;
 * - a P that is RUNNING or SYSCALL has its M, and that M has it; an IDLE P has none;
 * - an M's G runs only while the M has a RUNNING P.
 */
#ifndef SEQUENCE_MODEL_H
#define SEQUENCE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/spec.h"
#include "gotrace/record.h"
#include "lib/arena.h"
#include "lib/map.h"
#include "sequence/short_calls.h"

struct fix;
struct held;
struct label_set;
struct regions;
struct sequencer;
struct stack;

/* Limits memory: forged records of goroutines, unlike real ones, cost the target nothing. */
#define MODEL_GOROUTINES_MAX (8u << 20)

/* The state in which a record finds its goroutine: a column of gotrace/kinds.h. */
enum {
	FOUND_NONE,
	FOUND_RUNNABLE = GO_RUNNABLE,
	FOUND_RUNNING = GO_RUNNING,
	FOUND_SYSCALL = GO_SYSCALL,
	FOUND_WAITING = GO_WAITING,
	FOUND_NEW,
};

/*
 * Times are CLOCK_MONOTONIC, ns. States have the numbers of the trace format; 0: does not exist.
 * There may be a million goroutines: 104 bytes each, from a pool.
 */
struct goroutine {
	uint64_t addr; /* of its g struct; 0 once another goroutine has that struct */
	uint64_t id;   /* goid */
	struct thread *m;
	struct regions *regions; /* open user regions; NULL: never had one */
	struct stack *parked;	 /* while it waits or is in a system call; NULL: unknown */
	uint32_t start;		 /* start function: stacks__start() */
	/* in the trace */
	uint32_t seq;	   /* last sequence number, in generation `numbered` */
	uint32_t numbered; /* generation in which it has a status or was created */
	uint32_t saved;	   /* generation at whose start `start_*` were saved */
	uint32_t start_tid;
	uint8_t start_state;
	uint8_t state;	 /* enum trace_go_status, 0: ended */
	uint8_t reason;	 /* while it waits: model__reason(); 0: unknown */
	bool gc_worker;	 /* unblocked as a GC mark worker of its P */
	bool in_stw;	 /* its STW range cannot be closed any more: no other is opened */
	bool in_assist;	 /* its mark assist range is open */
	bool in_network; /* it waits for the network, or, since before the window, for anything */
	/* resync.c */
	uint8_t seen;	    /* in which snapshots of the pair: bits 0 and 1 */
	uint8_t seen_state; /* state in the first one */
	uint32_t seen_tid;
	uint32_t change;	   /* number of its pending correction, 0: none */
	uint64_t last_record;	   /* time of the latest record about it */
	uint64_t first_seen;	   /* when it was added to the model */
	uint64_t earliest_pending; /* time of the first held record that does not fit; 0: none */
	/* state_request.c */
	uint64_t given; /* when came what its creator had read last; 0: nothing */
	uint64_t
		network_ready; /* when it was made runnable after a wait for the network; 0: never */
	struct served *served; /* NULL: it has read no connection and served no request */
};

struct proc {
	uint64_t addr;
	struct thread *m;
	uint32_t id;
	uint32_t gc_mode;     /* p.gcMarkWorkerMode: label of the next goroutine on it; 0: none */
	uint64_t last_record; /* time of the latest record that named its thread */
	uint32_t state;	      /* enum trace_proc_status */
	bool may_sweep;	      /* a sweep range opens with the next span */
	bool in_sweep;	      /* it is open */
	uint64_t swept, reclaimed;     /* bytes, of that range */
	uint64_t seq, numbered, saved; /* as of a goroutine */
	uint32_t start_state;
	uint32_t start_tid;
};

struct thread {
	uint32_t tid;
	uint32_t resize_stack; /* stack number of its last PROCS record */
	struct gt_span swept;  /* its last SWEEP_SPAN, which a SWEEP_LEFT completes */
	bool lost_p;	       /* SYSCALL_LOST seen: its P was taken during a system call */
	bool returns;	       /* off the CPU since exit_time, not in user mode yet */
	uint8_t off_at;	       /* enum gt_off_at: what its next record shows happened by off_time */
	uint64_t off_time;
	struct goroutine *g;
	struct proc *p;
	struct proc *last_p;	  /* the P it had before; repair tries it first */
	uint64_t exit_time;	  /* time of a tentative system call exit; 0: none */
	struct held_begin begin;  /* of its system call */
	uint64_t last_record;	  /* time of its latest record that was applied */
	uint64_t heard;		  /* the same, held ones included */
	uint64_t searched;	  /* ahead.c: the watermark of a search for its next hit */
	bool silent;		  /* ... which found none */
	struct label_set *labels; /* of its goroutine, until all of its records came; or NULL */
	struct fix *fix;	  /* its pending correction: resync.c */
	struct held *head, *tail; /* its held records, oldest first: hold.c */
	struct thread *next_held; /* in the list of threads with held records */
};

#define PARKED_REASONS 64

/* Constant texts why goroutines wait, in the order in which they were first needed. */
struct parked_reasons {
	const char *text[PARKED_REASONS];
	unsigned int n;
};

struct model {
	struct arena pool;	/* memory of goroutines */
	struct goroutine *free; /* of the pool, linked by `m` */
	struct map by_addr;	/* g address: live goroutines */
	struct map by_id;	/* goid: the same, and goroutines whose end was lost */
	struct map ended;	/* goid: ended in the open generation */
	size_t goroutines_max;	/* limit of by_id: MODEL_GOROUTINES_MAX, less in tests */
	struct map procs;	/* by p address */
	struct map threads;	/* by tid */
	struct parked_reasons reasons;
};

/* The thread, created if unknown. NULL: invalid tid, or no memory (s->error is set). */
struct thread *model__thread(struct sequencer *s, uint32_t tid);
struct proc *model__proc(struct sequencer *s, uint64_t addr, uint32_t id);
/* The P with the lowest id in this state; state 0: in any. NULL: none. */
struct proc *model__first_proc(const struct sequencer *s, uint32_t state);
int model__expect(struct sequencer *s, size_t n); /* reserves room for n goroutines: 0 or -ENOMEM */
/* Adds a goroutine. NULL: no memory, or the limit is reached (counted in stats.dropped). */
struct goroutine *model__goroutine(struct sequencer *s, uint64_t addr, uint64_t goid);
void model__forget(struct sequencer *s, struct goroutine *g);	/* at its end: frees it */
void model__orphan(struct sequencer *s, struct goroutine *g);	/* its g struct was reused */
bool model__id_valid(uint64_t goid);				/* within the format's range */
bool model__id_taken(const struct sequencer *s, uint64_t goid); /* a new goroutine would collide */
void model__boundary(struct sequencer *s, uint64_t time);	/* a new generation begins */
/* A number for a constant text; 0: NULL, or there are too many. */
uint8_t model__reason(struct sequencer *s, const char *text);
void model__deinit(struct sequencer *s);

#endif
