/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sequencer's picture of the traced program: every G, M and P, and what the file says of them.
 *
 * Shared by the files of userspace/sequence only. state.c moves it by records, repair.c by force,
 * checkpoint.c remembers it at each generation's start and numbers sequenced events, initial.c
 * sets it up.
 *
 * Rules that everything here obeys (seed: trace-format, section 5):
 *  - a G that is RUNNING or SYSCALL has its M, and that M has it; no other G has an M;
 *  - a P that is RUNNING or SYSCALL has its M, and that M has it; an IDLE P has none;
 *  - an M's G runs only while the M has a RUNNING P.
 */
#ifndef SEQUENCE_MODEL_H
#define SEQUENCE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/blocks.h"
#include "lib/map.h"
#include "sequence/merge.h"
#include "sequence/once.h"
#include "sequence/sequencer.h"
#include "sequence/stacks.h"
#include "sequence/texts.h"
#include "trace/kernel.h"

/* A program pays for each goroutine with memory of its own, but what it makes its probes say is free. */
#define MODEL_GOROUTINES_MAX (8u << 20)

/*
 * States have the file's own numbers; 0 stands for "not there". There may be a million: 96 bytes,
 * from a pool.
 */
struct goroutine {
	uint64_t addr; /* of its g struct; 0 once the struct has another goroutine */
	uint64_t id;   /* goid */
	struct thread *m;
	struct regions *regions; /* the program's own, open; NULL: none yet */
	uint32_t start;		 /* function that names it: stacks__start() */
	/* the file's side */
	uint32_t seq;	   /* last sequence number, in generation `numbered` */
	uint32_t numbered; /* generation in which it has a status or was created */
	uint32_t saved;	   /* generation whose start `start_*` describes */
	uint32_t start_tid;
	uint8_t start_state;
	uint8_t state;	/* enum trace_go_status, 0: ended */
	bool gc_worker; /* woken as a mark worker of its P */
	bool in_stw;	/* its STW range can't be closed any more: none is opened */
	bool in_assist; /* it helps marking: its range is open */
	/* resnapshot.c */
	uint8_t seen;	    /* by which of the pair's snapshots: bits 0 and 1 */
	uint8_t seen_state; /* in the first one, as */
	uint32_t seen_tid;
	uint32_t change; /* number of the correction due, 0: none */
	uint64_t told;	 /* time of the latest record about it */
	uint64_t born;	 /* when the model met it */
	uint64_t awaits; /* of the first one that waits, which does not fit; 0: none */
};

struct proc {
	uint64_t addr;
	struct thread *m;
	uint32_t id;
	uint32_t gc_mode;	       /* p.gcMarkWorkerMode: labels what starts on it; 0: none */
	uint64_t told;		       /* when a record last said whose it is */
	uint32_t state;		       /* enum trace_proc_status */
	bool may_sweep;		       /* what is swept now belongs to a range */
	bool in_sweep;		       /* which is open: something was */
	uint64_t swept, reclaimed;     /* bytes, of that range */
	uint64_t seq, numbered, saved; /* as of a goroutine */
	uint32_t start_state;
	uint32_t start_tid;
};

struct held {
	struct held *next;
	uint64_t deadline;    /* stream time by which it is forced */
	struct gt_record rec; /* and its payload */
	unsigned char payload[24];
};

struct thread {
	uint32_t tid;
	uint32_t resize_stack; /* stack number of its last PROCS record */
	struct gt_span swept;  /* its last SWEEP_SPAN, of which SWEEP_LEFT will tell */
	bool lost_p;	       /* SYSCALL_LOST seen: its P was taken while in a system call */
	struct goroutine *g;
	struct proc *p;
	struct proc *last_p;	  /* the P it had before; repair asks for it first */
	uint64_t exit_time;	  /* a tentative system call exit, 0: none */
	uint64_t told;		  /* time of its latest record */
	struct fix *fix;	  /* resnapshot.c: what it is to be put right to */
	struct held *head, *tail; /* records that wait for a causally earlier one */
	struct thread *next_held; /* list of threads with such records, oldest first */
};

/* Losses that are not yet in the file: see losses.c. */
struct losses {
	uint64_t counted;	       /* by the probes or the merge, of a kind each */
	uint64_t located;	       /* by missing ring numbers */
	uint64_t from, to;	       /* of the located ones */
	uint64_t since;		       /* watermark at which the first of them was seen, 0: none */
	uint64_t counted_from;	       /* no counted one is earlier */
	uint64_t ahead;		       /* counted and reported, but not located so far */
	uint64_t by_kind[GT_KIND_END]; /* reported so far */
	uint64_t seen;		       /* sequencer__losses() */
	uint64_t wrong;		       /* sequencer__go_losses() */
	unsigned int unexplained;      /* watermarks since a gap that no counter tells of */
	unsigned int tries;	       /* of pairs since the latest loss */
	bool watching;		       /* another pair may come: strays are noted */
	uint64_t last;		       /* watermark at which the latest loss was seen */
};

struct sequencer {
	struct sequencer_opts opts;
	struct sequencer_stats stats;
	struct merge *merge;
	struct stacks *stacks;
	struct blocks *goroutines; /* memory of all that there ever were at once */
	struct goroutine *free_g;  /* of it what ended ones have left, linked by `m` */
	struct texts *texts;
	size_t open_bytes;     /* of open regions: state_user.c */
	struct once sampled;   /* PCs of samples that are in the merge */
	uint64_t last_sample;  /* time of the latest one written */
	uint64_t *task_named;  /* bits of TASK_WINDOW ids: state_user.c */
	uint64_t task_max;     /* the greatest id named, 0: none */
	bool task_begun;       /* a task began in the window */
	struct map g;	       /* by g address: live goroutines */
	struct map id;	       /* by goid: those, and zombies whose end was lost */
	struct map ended;      /* by goid: ended in the open generation */
	size_t goroutines_max; /* of `id`: MODEL_GOROUTINES_MAX, less in tests */
	struct goroutine *stw; /* has the open STW range */
	uint32_t stw_name;
	struct map p;	     /* by p address */
	struct map m;	     /* by tid */
	struct thread *held; /* threads with held records */
	struct held *free_held;
	uint64_t t0, wall0, t1;
	uint64_t now;		      /* time of the latest record applied */
	struct kernel_writer *kernel; /* items of the open generation */
	bool no_kernel;
	struct kernel_threads threads; /* as the items so far leave them: not those of `m` */
	struct losses losses;
	uint64_t overflow[GT_KIND_END]; /* records that the merge had no room for */
	struct snapshot again[2];	/* copies of the pair that is due, if any */
	bool has_again;
	struct map strays;    /* after a loss, g address: the latest record of one not known */
	uint64_t strays_from; /* none is missing since */
	uint64_t emitted;     /* events */
	uint64_t watermark;
	uint64_t gc_seq;
	uint64_t generation; /* number of the open one, 0: none yet */
	uint64_t gen_start;
	uint64_t last_time;	       /* of the latest event written, or gen_start */
	uint32_t last_tid;	       /* its thread; 0: none in this generation */
	uint32_t procs_due;	       /* ProcsChange to write with the first running goroutine */
	uint32_t procs;		       /* the number last written, or due */
	struct snapshot first, second; /* copies, until the initial state is known */
	bool has_first, has_second, snapshots_given;
	bool started, ready; /* ready: initial state known, records flow */
	bool gc_running;
	bool gc_active_due; /* it runs since another generation: this one is to say so */
	int error;	    /* of the writer: sticky */
};

/* state.c */
enum verdict { DONE, WAIT };
/*
 * Moves the model by one record of thread t and writes what follows. WAIT: it doesn't fit yet and
 * nothing was changed. With `force`, repairs what stands against it first and never waits.
 */
enum verdict state__apply(struct sequencer *s, struct thread *t, const struct gt_record *rec,
			  bool force);
/* Settles a tentative system call exit: it kept its P. */
void state__exit_kept(struct sequencer *s, struct thread *t);
/*
 * The same of all threads that have said nothing since, though they had the time to, as the kernel's
 * records tell: at a boundary. At the end those of which it is not known, too.
 */
void state__settle_exits(struct sequencer *s, uint64_t time, bool final);

/* state_user.c: a goroutine's open regions, none of which will be ended. */
void regions__free(struct sequencer *s, struct goroutine *g);

/* state_heap.c: the range that the thread's goroutine, or its P, has open, if any, ends. */
void range__end_assist(struct sequencer *s, struct thread *t, uint64_t time);
void range__end_sweep(struct sequencer *s, struct thread *t, uint64_t time);

/* transition.c: model and file move together. The caller has checked the rules. */
void go__create(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g,
		bool blocked, uint32_t start, uint32_t stack);
void go__create_syscall(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
void go__destroy_syscall(struct sequencer *s, struct thread *t, uint64_t time);
void go__start(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
void go__stop(struct sequencer *s, struct thread *t, uint64_t time, const char *why,
	      uint32_t stack);
void go__block(struct sequencer *s, struct thread *t, uint64_t time, const char *why,
	       uint32_t stack);
void go__unblock(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g,
		 uint32_t stack);
void go__destroy(struct sequencer *s, struct thread *t, uint64_t time);
void go__switch(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *next,
		bool exits);
void go__syscall_begin(struct sequencer *s, struct thread *t, uint64_t time, uint32_t stack);
void go__syscall_end_blocked(struct sequencer *s, struct thread *t, uint64_t time);
void go__syscall_end(struct sequencer *s, struct thread *t, uint64_t time);
void proc__count(struct sequencer *s, struct thread *t, uint64_t time);
void proc__start(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p);
void proc__stop(struct sequencer *s, struct thread *t, uint64_t time);
void proc__steal(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p);

/* repair.c: makes one condition true by the smallest transitions that do it. */
void repair__free_thread(struct sequencer *s, struct thread *t, uint64_t time); /* t has no G */
void repair__free_proc(struct sequencer *s, struct thread *t, uint64_t time, struct proc *p);
bool repair__need_proc(struct sequencer *s, struct thread *t, uint64_t time);
bool repair__runnable(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
bool repair__waiting(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
bool repair__running(struct sequencer *s, struct thread *t, uint64_t time, struct goroutine *g);
struct goroutine *repair__unknown(struct sequencer *s, struct thread *t, uint64_t time,
				  uint64_t addr, uint64_t goid);
void repair__end_stw(struct sequencer *s, uint64_t time); /* before a boundary or another STW */

/* checkpoint.c */
void checkpoint__save_g(struct sequencer *s, struct goroutine *g); /* before it changes */
void checkpoint__save_p(struct sequencer *s, struct proc *p);
uint64_t checkpoint__g_seq(struct sequencer *s, struct goroutine *g); /* its next number */
uint64_t checkpoint__p_seq(struct sequencer *s, struct proc *p);
void checkpoint__full(struct sequencer *s); /* every G and P into the open generation's prologue */
int checkpoint__open(struct sequencer *s, uint64_t time);	      /* a generation, now */
int checkpoint__roll(struct sequencer *s, uint64_t time, bool force); /* next generation if due */
void checkpoint__emit(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		      unsigned int nargs, const uint64_t *args);

/* model.c */
struct thread *model__thread(struct sequencer *s, uint32_t tid); /* made when new; NULL: ENOMEM */
struct proc *model__proc(struct sequencer *s, uint64_t addr, uint32_t id);
/* The P of the lowest id in this state, or 0: in any. NULL: none. */
struct proc *model__first_proc(const struct sequencer *s, uint32_t state);
int model__expect(struct sequencer *s, size_t n); /* so many goroutines: 0 or -ENOMEM */
/* NULL: -ENOMEM, or there are as many as there may be (counted in stats.dropped). */
struct goroutine *model__goroutine(struct sequencer *s, uint64_t addr, uint64_t goid);
void model__forget(struct sequencer *s, struct goroutine *g);	/* ended: frees it */
void model__orphan(struct sequencer *s, struct goroutine *g);	/* its address has another one */
bool model__id_valid(uint64_t goid);				/* it may be one */
bool model__id_taken(const struct sequencer *s, uint64_t goid); /* a create would collide */
void model__boundary(struct sequencer *s, uint64_t time);	/* a new generation begins */
void model__deinit(struct sequencer *s);

/* initial.c */
/*
 * The state at the window's start from the two snapshots and the `n` records, in order, up to a time
 * not before the second. Opens the first generation. 0 or a negative errno.
 */
int initial__resolve(struct sequencer *s, const struct gt_record *const *rec, size_t n);
/* What a snapshot's goroutine is to the tracer: enum trace_go_status, 0: not there. */
uint32_t initial__state(const struct layout *layout, const struct snapshot_g *g);

/* losses.c */
void losses__located(struct sequencer *s, uint64_t count, uint64_t from, uint64_t to);
void losses__counted(struct sequencer *s, unsigned int kind, uint64_t count);
/* At a watermark: what is known of losses by now goes to the open generation; all of it if `final`. */
void losses__report(struct sequencer *s, uint64_t time, bool final);

/* snapshots.c */
void snapshots__free(struct snapshot *snap); /* it is empty then */

/* kernel.c */
/* A record of a kind from GT_CPU_ON on: becomes an item of the open generation. 0 or -ENOMEM. */
int kernel__record(struct sequencer *s, const struct gt_record *rec);
/* One from before the window: only what it says of its thread counts. */
int kernel__record_before(struct sequencer *s, const struct gt_record *rec);
int kernel__begin(struct sequencer *s, uint64_t time); /* a generation */
/* Of such records some are missing, none after `time`. */
void kernel__lost(struct sequencer *s, uint64_t time);

/* resnapshot.c */
/* From when on (stream time) the pair can be held against the model. */
uint64_t resnapshot__due(const struct sequencer *s);
void resnapshot__apply(struct sequencer *s, uint64_t time);
/* After a loss: a record about a goroutine that isn't known, or that it has ended. */
void resnapshot__note_stray(struct sequencer *s, uint64_t addr, unsigned int kind, uint64_t time);

#endif
