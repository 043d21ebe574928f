// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel says of the target's threads: records to items of the open generation.
 *
 * They go beside the model: whatever Go does on a thread, it has a core or it has none. Before: merge.c,
 * in the order of time with all other records. After: trace/kernel_write.c. A generation begins with
 * the threads as they are then; one that is met later in it was there before, and its first item tells
 * what it was.
 */
#include "trace/kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "sequence/model.h"

static struct trace_string name_of(const char comm[16])
{
	return (struct trace_string){ comm, (uint32_t)strnlen(comm, 16) };
}

static bool take_thread(const struct gt_record *rec, struct kernel_item *ret)
{
	const struct gt_thread *thread = (const void *)(rec + 1);

	switch (thread->what) {
	case GT_THREAD_CREATED:
		ret->kind = KERNEL_CREATED;
		ret->other = (uint32_t)rec->object;
		break;
	case GT_THREAD_ENDED:
		ret->kind = KERNEL_ENDED;
		return true;
	case GT_THREAD_NAMED:
		ret->kind = KERNEL_NAMED;
		break;
	default:
		return false;
	}
	ret->name = name_of(thread->comm);
	return true;
}

static bool take_off(const struct gt_record *rec, struct kernel_item *ret)
{
	const struct gt_off_cpu *off = (const void *)(rec + 1);

	ret->kind = KERNEL_OFF;
	ret->why = off->why;
	ret->other = (uint32_t)rec->object;
	if (ret->other) {
		ret->other_pid = off->next_tgid;
		ret->name = name_of(off->next_comm);
	}
	return off->why < GT_OFF_END;
}

/* False: it makes no sense, or is no item. */
static bool item_of(const struct gt_record *rec, struct kernel_item *ret)
{
	const struct gt_waking *waking = (const void *)(rec + 1);
	const struct gt_value *value = (const void *)(rec + 1);

	*ret = (struct kernel_item){ .time = rec->time, .tid = rec->tid, .cpu = rec->cpu };
	switch (rec->kind) {
	case GT_CPU_ON:
		ret->kind = KERNEL_ON;
		ret->other = (uint32_t)rec->object;
		return true;
	case GT_CPU_OFF:
		return take_off(rec, ret);
	case GT_WAKING:
		ret->kind = KERNEL_WAKING;
		ret->other = (uint32_t)rec->object;
		ret->other_pid = ret->other ? waking->tgid : 0;
		ret->interrupt = waking->interrupt;
		return true;
	case GT_SYS_ENTER:
		ret->kind = KERNEL_SYS_ENTER;
		ret->number = (uint32_t)rec->object;
		return true;
	case GT_SYS_EXIT:
		ret->kind = KERNEL_SYS_EXIT;
		ret->number = (uint32_t)rec->object;
		ret->value = value->value;
		return true;
	case GT_THREAD:
		return take_thread(rec, ret);
	case GT_FAULT_BEGIN:
		ret->kind = KERNEL_FAULT_BEGIN;
		ret->value = rec->object;
		return true;
	case GT_FAULT_END:
		ret->kind = KERNEL_FAULT_END;
		return true;
	}
	return false;
}

/*
 * A system call by the number -1. One that ends so is the one that began: a tracer refused it, or it is
 * rt_sigreturn, which puts back all registers of what a signal interrupted, so that its result is none.
 */
static void find_call(const struct sequencer *s, struct kernel_item *item)
{
	const struct kernel_thread *thread = kernel_threads__find(&s->threads, item->tid);
	bool begins = item->kind == KERNEL_SYS_ENTER;

	if ((!begins && item->kind != KERNEL_SYS_EXIT) || item->number != UINT32_MAX)
		return;
	item->number = begins					? KERNEL_BAD_CALL :
		       thread && thread->call != KERNEL_NO_CALL ? thread->call :
								  SYS_rt_sigreturn;
	if (item->number == SYS_rt_sigreturn)
		item->value = 0;
}

/* What the first item of a thread tells of the time before. False: it was not there. */
static bool was(const struct kernel_item *item, struct kernel_thread *ret)
{
	*ret = (struct kernel_thread){ .tid = item->tid, .cpu = item->cpu, .call = KERNEL_NO_CALL };
	switch (item->kind) {
	case KERNEL_CREATED:
		return false;
	case KERNEL_ON: /* its wake-up would have come first */
		ret->run = KERNEL_RUNNABLE;
		break;
	case KERNEL_WAKING: /* on the waker's core */
		ret->cpu = 0;
		break;
	case KERNEL_NAMED: /* maybe by another one */
		break;
	case KERNEL_SYS_EXIT:
		ret->call = item->number;
		ret->run = KERNEL_RUNNING;
		break;
	default:
		ret->in_fault = item->kind == KERNEL_FAULT_END;
		ret->run = KERNEL_RUNNING;
		break;
	}
	return true;
}

/* What a look at the thread said while recording began. */
static struct kernel_thread present(const struct gt_record *rec)
{
	static const uint8_t run[GT_OFF_END] = {
		[GT_OFF_PREEMPTED] = KERNEL_RUNNABLE,  [GT_OFF_YIELDED] = KERNEL_RUNNABLE,
		[GT_OFF_THROTTLED] = KERNEL_THROTTLED, [GT_OFF_SLEEPING] = KERNEL_SLEEPING,
		[GT_OFF_DISK] = KERNEL_BLOCKED,	       [GT_OFF_STOPPED] = KERNEL_STOPPED,
		[GT_OFF_DEAD] = KERNEL_GONE,
	};
	const struct gt_thread *thread = (const void *)(rec + 1);
	struct trace_string name = name_of(thread->comm);
	struct kernel_thread ret = { .tid = rec->tid, .cpu = rec->cpu, .call = KERNEL_NO_CALL };

	ret.run = thread->on_cpu	   ? KERNEL_RUNNING :
		  thread->why < GT_OFF_END ? run[thread->why] :
					     KERNEL_UNKNOWN;
	if (rec->object)
		ret.call = (uint32_t)(rec->object - 1);
	memcpy(ret.name, name.data, name.len);
	ret.name_len = (uint8_t)name.len;
	return ret;
}

static bool is_present(const struct gt_record *rec)
{
	const struct gt_thread *thread = (const void *)(rec + 1);

	return rec->kind == GT_THREAD && thread->what == GT_THREAD_PRESENT;
}

static int add(struct sequencer *s, const struct kernel_item *item)
{
	int err = kernel_writer__add(s->kernel, item);

	return err ? err : kernel_threads__apply(&s->threads, item);
}

/*
 * Records outrank a look, which says only what they did not: of a thread that none was of, or at most its
 * new name, everything; else its name, and the system call that it went to sleep in.
 */
static int add_present(struct sequencer *s, const struct gt_record *rec, bool in_window)
{
	struct kernel_thread *known = kernel_threads__find(&s->threads, rec->tid);
	struct kernel_thread thread = present(rec);
	struct kernel_item named = { .time = rec->time,
				     .kind = KERNEL_NAMED,
				     .tid = rec->tid,
				     .cpu = rec->cpu,
				     .name = { thread.name, thread.name_len } };
	int err;

	if (!known || known->run == KERNEL_UNKNOWN) {
		err = in_window ? kernel_writer__was(s->kernel, &thread) : 0;
		return err ? err : kernel_threads__set(&s->threads, &thread);
	}
	if (known->call == KERNEL_NO_CALL && known->run == thread.run)
		known->call = thread.call;
	if (known->name_len || !thread.name_len)
		return 0;
	return in_window ? add(s, &named) : kernel_threads__apply(&s->threads, &named);
}

int kernel__record(struct sequencer *s, const struct gt_record *rec)
{
	struct kernel_thread before;
	struct kernel_item item;
	int err = 0;

	if (is_present(rec))
		return add_present(s, rec, true);
	if (!item_of(rec, &item)) {
		s->stats.dropped++;
		return 0;
	}
	find_call(s, &item);
	if (!kernel_threads__find(&s->threads, item.tid) && was(&item, &before))
		err = kernel_writer__was(s->kernel, &before);
	return err ? err : add(s, &item);
}

int kernel__record_before(struct sequencer *s, const struct gt_record *rec)
{
	struct kernel_item item;

	if (is_present(rec))
		return add_present(s, rec, false);
	if (!item_of(rec, &item))
		return 0;
	find_call(s, &item);
	return kernel_threads__apply(&s->threads, &item);
}

int kernel__begin(struct sequencer *s, uint64_t time)
{
	kernel_threads__forget_gone(&s->threads);
	return kernel_writer__begin(s->kernel, time, &s->threads);
}

void kernel__lost(struct sequencer *s, uint64_t time)
{
	kernel_threads__lose_before(&s->threads, time);
}
