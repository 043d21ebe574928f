/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the fold share (path_fold.c has goroutines, path_threads.c threads), and those of
 * the walk (path_walk.c goes, path_causes.c says who held what).
 */
#ifndef TRACE_PATH_IMPL_H
#define TRACE_PATH_IMPL_H

#include "trace/path.h"

/* path_fold.c: 0 or -ENOMEM; an id of UINT64_MAX is nobody's: PATH_NONE. */
int path_fold__intern(struct path_fold *f, const char *data, size_t len, uint32_t *ret);
int path_fold__get(uint32_t (*find)(struct path_history *h, uint64_t id), struct path_fold *f,
		   uint64_t id, uint32_t *ret);

/* path_threads.c: a generation begins: what its table says of threads that no item has told of. */
int path_fold__threads(struct path_fold *f, const struct kernel_threads *threads);

static inline bool path_run__is_asleep(uint8_t run) /* enum kernel_run */
{
	return run == KERNEL_SLEEPING || run == KERNEL_BLOCKED || run == KERNEL_STOPPED;
}

struct position { /* a goroutine, or, if that is PATH_NONE, a thread without one */
	uint32_t goroutine, thread;
	uint32_t depth;
};

struct frame { /* where to go on when what a wait was for has been told */
	struct position at;
	int64_t lo;
};

struct walk {
	const struct path_history *h;
	struct path *path; /* newest first */
	struct frame *frames;
	uint32_t n, cap;
	struct position at;
	int64_t time;	   /* all after it is told */
	int64_t lo;	   /* up to where the position's goroutine is to be followed */
	unsigned int hops; /* jumps since time went on */
	uint64_t *held;	   /* by goroutine, to add up in: all 0 */
};

/* path_causes.c: */

/* Says who it was: a thread that is not the target's; its name may be known from elsewhere. */
void path_walk__process(const struct path_history *h, uint32_t tid, uint32_t pid, uint32_t name,
			struct path_segment *seg);

/*
 * Who had the core that a runnable thread waited for, just before the position's time, and since
 * when, but not before `since`. `next`: what the thread did then, or NULL.
 */
int64_t path_walk__core(const struct walk *w, const struct path_run *run,
			const struct path_run *next, int64_t since, struct path_segment *seg);

/*
 * Who gave up the P that a runnable goroutine then got (`next`, or NULL: is what it did then). If nobody
 * had it, who had the core that the P's thread waited for just before the position's time. Since when it
 * is so, but not before `since`.
 */
int64_t path_walk__proc(const struct walk *w, const struct path_state *st,
			const struct path_state *next, int64_t since, struct path_segment *seg);
/* Who had Ps from `since` to the position's time. */
void path_walk__holders(const struct walk *w, int64_t since, struct path_segment *seg);

/*
 * The system call that a thread had entered last before the position's time, since its goroutine went into a
 * call for Go at `since`; KERNEL_NO_CALL: none yet. Go takes all of a call of C for one. Returns when it
 * entered this one; INT64_MIN if it is the first.
 */
int64_t path_walk__call(const struct walk *w, uint32_t thread, int64_t since, uint32_t *ret_number);

/* Whose goroutine the waker's thread had when it ended a thread's sleep; PATH_NONE: nobody's. */
uint32_t path_walk__waker(const struct path_history *h, const struct path_list *runs,
			  const struct path_run *sleep);

/*
 * A signal, such as the runtime sends to preempt a goroutine, cuts a system call short, which then goes
 * on at once: one wait in several sleeps. Of the n-th of a thread's runs, a sleep that is over: the
 * sleep that ends such a wait, and when the first of them began.
 */
const struct path_run *path_walk__sleep_end(const struct path_history *h,
					    const struct path_list *runs, uint32_t n);
int64_t path_walk__sleep_begin(const struct path_history *h, const struct path_list *runs,
			       uint32_t n);

/* What a wait for that reason ends by, if not by a goroutine. */
enum path_cause path_walk__scheduler(const struct path_history *h, uint32_t reason);

/*
 * The sleep of a thread that ended before `time`, with no goroutine on the thread since, and when it
 * ended. NULL: there was none.
 */
const struct path_run *path_walk__last_sleep(const struct path_history *h, uint32_t thread,
					     int64_t time, int64_t *ret_woken);

#endif
