/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the critical path share: path_fold.c (goroutines) and path_threads.c (threads),
 * which fill the history, path_walk.c and path_causes.c (the causes of waits), which follow it.
 */
#ifndef TRACE_PATH_IMPL_H
#define TRACE_PATH_IMPL_H

#include "analysis/path.h"

/* path_fold.c: the index of an id, PATH_NONE if that is UINT64_MAX. 0 or -ENOMEM. */
int path_fold__get(struct path_fold *f, struct path_table *t, uint64_t id, uint32_t *ret);

/* path_threads.c: applies a generation's table of threads, as far as no kernel event has. */
int path_fold__threads(struct path_fold *f, const struct kernel_threads *threads);

static inline bool path_run__is_asleep(uint8_t run) /* enum kernel_run */
{
	return run == KERNEL_SLEEPING || run == KERNEL_BLOCKED || run == KERNEL_STOPPED;
}

/* a goroutine, or, if that is PATH_NONE, a thread without one */
struct position {
	uint32_t goroutine, thread;
	uint32_t depth;
};

/* where to continue when the cause of a wait has been followed */
struct frame {
	struct position at;
	int64_t lo;
};

/* a wait for a P, whose segments have the same holders */
struct runnable {
	uint32_t goroutine;
	int64_t begin, left; /* what is before `left` is not in the path yet */
	uint32_t holders[PATH_HOLDERS];
	bool more;
};

/* changes of a thread's state from a signal to the system call again, at most */
#define RETRY_STEPS 16

struct walk {
	const struct path_history *h;
	struct path *path; /* newest first */
	struct frame *frames;
	size_t n, cap;
	struct position at;
	int64_t time;		  /* all after it is in the path */
	int64_t lo;		  /* up to where the position's goroutine is to be followed */
	unsigned int hops;	  /* jumps since time went on */
	uint64_t *held;		  /* by goroutine, to add up in: all 0 */
	struct runnable runnable; /* the latest one */
	uint64_t steps;		  /* of path_walk__sleep_begin() and _end() */
	uint64_t taken;		  /* other steps, for path__walk_next() */
};

/* path_causes.c: */

/* Sets the cause to a thread of another process; its name may be known from another event. */
void path_walk__process(const struct path_history *h, uint32_t tid, uint32_t pid, uint32_t name,
			struct path_segment *seg);

/*
 * Sets the cause to the thread that had the CPU for which a runnable thread waited, just before the
 * position's time. Returns since when, but not before `since`. `next`: the thread's next state, or
 * NULL.
 */
int64_t path_walk__cpu(const struct walk *w, const struct path_thread *thread,
		       const struct path_run *run, const struct path_run *next, int64_t since,
		       struct path_segment *seg);

/*
 * Of the P that a runnable goroutine then got (`next`: its next state, or NULL), sets the cause to the
 * goroutine that had it just before the position's time. If the thread of that goroutine then did not run, or,
 * if the P was idle, the one that then took it: to what kept that thread from a CPU. Returns since when, but
 * not before `since`.
 */
int64_t path_walk__proc(const struct walk *w, const struct path_state *st,
			const struct path_state *next, int64_t since, struct path_segment *seg);
/* Finds the goroutines that had Ps from w->runnable.begin to the position's time. */
void path_walk__holders(struct walk *w);

/*
 * The system call that a thread had entered last before the position's time, since its goroutine
 * went into a call for Go at `since`; KERNEL_NO_CALL: none yet. For Go, all of a call of C is one.
 * Returns when it entered this one; INT64_MIN if it is the first.
 */
int64_t path_walk__call(const struct walk *w, uint32_t thread, int64_t since, uint32_t *ret_number);

/* The goroutine that the waker's thread had when it ended a thread's sleep; PATH_NONE: none. */
uint32_t path_walk__waker(const struct path_history *h, const struct path_list *runs,
			  const struct path_run *sleep);

/*
 * A signal, such as the runtime sends to preempt a goroutine, cuts a system call short, which then
 * goes on at once: one wait in several sleeps. Of the n-th of a thread's runs, a sleep that is
 * over: the sleep that ends such a wait, and when the first of them began, not before `since`.
 */
const struct path_run *path_walk__sleep_end(struct walk *w, const struct path_list *runs,
					    uint32_t n);
int64_t path_walk__sleep_begin(struct walk *w, const struct path_list *runs, uint32_t n,
			       int64_t since);

/*
 * The sleep of a thread that ended before `time`, with no goroutine on the thread since, and when
 * it ended. NULL: there was none.
 */
const struct path_run *path_walk__last_sleep(const struct path_history *h, uint32_t thread,
					     int64_t time, int64_t *ret_woken);

#endif
