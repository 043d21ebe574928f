// SPDX-License-Identifier: GPL-2.0
/*
 * Records of system calls: a goroutine enters one, and leaves it with its P, another, or none.
 * Includes threads created by C, whose goroutines appear and disappear as if in a system call.
 * Upstream: state.c. Downstream: transition.c.
 */
#include "sequence/repair.h"
#include "sequence/transition.h"
#include "sequence/state_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define LOST_P_NS  1000000ull /* on a CPU: a lost P is reported within microseconds */
#define SETTLED_NS 5000u      /* since a hit: what it reported is done */

enum apply_result apply_syscall_enter(struct step *st)
{
	const struct layout_skips *skips = &st->s->opts.layout->skips;

	go__syscall_begin(st->s, st->t, st->time,
			  step__stack(st, st->rec->kind == GT_SYSCALL_BLOCK ? skips->syscall_block :
									      skips->syscall));
	return DONE;
}

/*
 * A thread created by C calls Go. The M that it gets may still own the P with which it last left
 * Go, and then sends no record about it: state__exit_kept() and syscall_exit() use last_p. The
 * goroutine had its id before.
 */
enum apply_result apply_create_syscall(struct step *st)
{
	const struct gt_create_syscall *create = st->payload;
	struct sequencer *s = st->s;
	struct thread *t = st->t;
	struct goroutine *g;
	struct proc *p = map__get(&s->model.procs, create->p);

	if (!create->goid || !st->rec->object)
		return step__drop(st);
	if (st->g || t->g || t->p || map__get(&s->model.by_id, create->goid)) {
		if (!st->force)
			return WAIT;
		if (st->g)
			step__evict(st, st->g);
		repair__free_thread(s, t, st->time);
		if (t->p)
			proc__stop(s, t, st->time);
		if (t->g || map__get(&s->model.by_id, create->goid))
			return step__drop(st);
	}
	if (!model__id_valid(create->goid))
		return step__drop(st);
	map__remove(&s->model.ended, create->goid);
	g = model__goroutine(s, st->rec->object, create->goid);
	if (!g)
		return DONE;
	go__create_syscall(s, t, st->time, g);
	if (p)
		t->last_p = p;
	return DONE;
}

/* The system call ends, and the thread has no P: takes away one that it has in the model. */
static void leave_without_proc(struct step *st)
{
	struct thread *t = st->t;

	t->exit_time = 0;
	if (t->p)
		t->p->last_record = st->time;
	if (t->p && t->p->state == PROC_SYSCALL)
		proc__steal(st->s, t, st->time, t->p);
	else if (t->p)
		proc__stop(st->s, t, st->time);
}

/*
 * The thread returns to C: it may end, and its id may be reused. So the P of its last call, if it
 * was not taken yet, is taken here, as Go's reader does implicitly.
 */
enum apply_result apply_destroy_syscall(struct step *st)
{
	const struct gt_destroy *destroy = st->payload;
	struct thread *t = st->t;

	if (!st->g)
		return DONE;
	if (step__is_other(st->g, destroy->goid) || st->g->state != GO_SYSCALL || st->g->m != t) {
		if (!st->force || step__is_other(st->g, destroy->goid))
			return st->force ? step__drop(st) : WAIT;
		if (!repair__running(st->s, t, st->time, st->g))
			return step__drop(st);
		go__destroy(st->s, t, st->time);
		return DONE;
	}
	leave_without_proc(st);
	go__destroy_syscall(st->s, t, st->time);
	return DONE;
}

/* The goroutine leaves its system call with a P other than that it entered with. */
void state__resume_on_other_proc(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct goroutine *g = t->g;

	go__syscall_end_blocked(s, t, time);
	go__start(s, t, time, g);
}

/*
 * The goroutine has a P: that it entered with, that of the latest P_START, or (<= 1.25,
 * exitsyscallfast_reacquired) its old one again, after others had used it and left it in system
 * calls of theirs. Their thread may have noticed that already, and then the P is idle.
 */
static bool syscall_exit(struct sequencer *s, struct thread *t, uint64_t time, bool force)
{
	struct proc *p = t->p ? t->p : t->last_p;

	if (p)
		p->last_record = time;
	if (t->p && t->p->state == PROC_SYSCALL) {
		go__syscall_end(s, t, time);
		return true;
	}
	if (!t->p) {
		if (!force && !(p && p->state != PROC_RUNNING))
			return false;
		if (p && p->state == PROC_SYSCALL)
			proc__steal(s, t, time, p);
		if (p && p->state == PROC_IDLE)
			proc__start(s, t, time, p);
		else if (!repair__need_proc(s, t, time))
			return false;
	}
	state__resume_on_other_proc(s, t, time);
	return true;
}

void state__exit_kept(struct sequencer *s, struct thread *t)
{
	uint64_t time = t->exit_time;

	t->exit_time = 0;
	if (t->g && t->g->state == GO_SYSCALL)
		syscall_exit(s, t, time, true);
}

void state__switched(struct sequencer *s, const struct gt_record *rec)
{
	struct thread *t = map__get(&s->model.threads, rec->tid);
	const struct gt_off_cpu *off = (const void *)(rec + 1);

	if (!t)
		return;
	if (rec->kind == GT_CPU_ON) {
		if (t->exit_time && t->returns)
			t->exit_time = rec->time;
		t->returns = false;
	} else if (off->at == GT_OFF_AT_CALL) {
		t->returns = t->exit_time;
	} else if (off->at && off->at != t->off_at && rec->time > t->last_record + SETTLED_NS &&
		   !(t->exit_time && off->at == GT_OFF_AT_BEGIN)) { /* maybe not past its end yet */
		t->off_at = off->at;
		t->off_time = rec->time;
	}
}

/* What the record shows has happened by the time at which its thread left a CPU. */
static uint8_t reported_late(const struct gt_record *rec)
{
	const struct gt_park *park = (const void *)(rec + 1);

	if (rec->kind == GT_SYSCALL_ENTER)
		return GT_OFF_AT_BEGIN;
	return rec->kind == GT_ENDED || (rec->kind == GT_PARK && park->derived) ? GT_OFF_AT_LEFT :
										  GT_OFF_AT_UNKNOWN;
}

uint64_t state__time(const struct sequencer *s, const struct thread *t, const struct gt_record *rec)
{
	uint64_t tick = sequencer__tick(s);
	uint64_t off = (t->off_time + tick - 1) / tick * tick; /* not before the switch */
	bool is_late = t->off_at && t->off_at == reported_late(rec) && off < rec->time;

	return is_late ? off : rec->time;
}

/* Whether the thread has been on a CPU for longer than it takes to report that its P was lost. */
static bool has_continued(const struct sequencer *s, const struct thread *t, uint64_t time)
{
	const struct kernel_thread *k = kernel_threads__find(&s->kernel.threads, t->tid);
	uint64_t since;

	if (!k)
		return false;
	since = k->since > t->exit_time ? k->since : t->exit_time;
	return k->run == KERNEL_RUNNING && time > since + LOST_P_NS;
}

void state__settle_exits(struct sequencer *s, uint64_t time, bool final)
{
	size_t n;
	struct map_slot *m = map__sorted(&s->model.threads, &n);

	if (!m)
		s->error = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct thread *t = m[i].value;

		if (!t->exit_time || t->head || time <= t->exit_time + LOST_P_NS)
			continue;
		if (final || has_continued(s, t, time))
			state__exit_kept(s, t);
	}
	free(m);
}

enum apply_result apply_syscall_exit(struct step *st)
{
	struct thread *t = st->t;

	if (!st->g || st->g->state != GO_SYSCALL || st->g->m != t) {
		if (!st->force)
			return WAIT;
		if (step__is_running(st)) /* the begin was lost: nothing to end */
			return step__drop(st);
		if (!repair__running(st->s, t, st->time, st->g))
			return step__drop(st);
		return DONE;
	}
	if (st->rec->kind == GT_SYSCALL_TRY_EXIT) {
		t->exit_time = st->time;
		t->returns = false;
		return DONE;
	}
	return syscall_exit(st->s, t, st->time, st->force) ? DONE :
	       st->force				   ? step__drop(st) :
							     WAIT;
}

enum apply_result apply_syscall_lost(struct step *st)
{
	st->t->exit_time = 0;
	st->t->lost_p = st->t->g && st->t->g->state == GO_SYSCALL;
	return DONE;
}

enum apply_result apply_syscall_no_p(struct step *st)
{
	struct thread *t = st->t;

	if (!st->g || st->g->state != GO_SYSCALL || st->g->m != t) {
		if (!st->force)
			return WAIT;
		if (!repair__runnable(st->s, t, st->time, st->g))
			return step__drop(st);
		return DONE;
	}
	leave_without_proc(st);
	go__syscall_end_blocked(st->s, t, st->time);
	return DONE;
}
