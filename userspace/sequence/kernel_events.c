// SPDX-License-Identifier: GPL-2.0
/*
 * Turns records of kernel events into items of the open generation.
 *
 * They are independent of the model of goroutines. Upstream: merge.c, in the order of time with all
 * other records. Downstream: format/kernel_write.c. A generation begins with a list of its threads;
 * a thread that first appears later existed before, and its first item shows its state until then.
 */
#include "format/kernel.h"

#include <string.h>
#include <sys/syscall.h>

#include "sequence/kernel_events.h"
#include "sequence/sequencer_impl.h"

static struct trace_string name_of(const char comm[16])
{
	return (struct trace_string){ comm, (uint32_t)strnlen(comm, 16) };
}

/* What has a CPU that a thread of the target waits for, or which CPU that is. */
static bool take_wait(const struct gt_record *rec, struct kernel_item *ret)
{
	const struct gt_thread *thread = (const void *)(rec + 1);
	uint32_t high = (uint32_t)(rec->object >> 32), low = (uint32_t)rec->object;

	if (high > UINT16_MAX)
		return false;
	if (thread->what == GT_THREAD_MOVED) {
		ret->kind = KERNEL_MOVED;
		ret->other = high;
		ret->cpu = (uint16_t)low;
		return low <= UINT16_MAX;
	}
	ret->kind = KERNEL_OCCUPANT;
	ret->cpu = (uint16_t)high;
	ret->before = thread->what == GT_THREAD_HAD_CPU;
	if (rec->tid == GT_IDLE_THREAD) {
		ret->tid = 0;
	} else if (rec->tid != GT_NO_THREAD) {
		ret->other_pid = low;
		ret->name = name_of(thread->comm);
	}
	return true;
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
	case GT_THREAD_HAS_CPU:
	case GT_THREAD_HAD_CPU:
	case GT_THREAD_MOVED:
		return take_wait(rec, ret);
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
	ret->sleep = off->sleep < GT_SLEEP_END ? off->sleep : GT_SLEEP_PLAIN;
	ret->other = (uint32_t)rec->object;
	if (ret->other) {
		ret->other_pid = off->next_tgid;
		ret->name = name_of(off->next_comm);
	}
	return off->why < GT_OFF_END;
}

/* False: the record is invalid, or makes no item. */
static bool item_from_record(const struct gt_record *rec, struct kernel_item *ret)
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
 * Resolves the system call number -1, which at an exit means the call that began: a tracer rejected
 * it, or it is rt_sigreturn, which restores all registers of the interrupted code and so has no
 * result.
 */
static void resolve_call(const struct sequencer *s, struct kernel_item *item)
{
	const struct kernel_thread *thread = kernel_threads__find(&s->kernel.threads, item->tid);
	bool begins = item->kind == KERNEL_SYS_ENTER;

	if ((!begins && item->kind != KERNEL_SYS_EXIT) || item->number != UINT32_MAX)
		return;
	item->number = begins					? KERNEL_BAD_CALL :
		       thread && thread->call != KERNEL_NO_CALL ? thread->call :
								  SYS_rt_sigreturn;
	if (item->number == SYS_rt_sigreturn)
		item->value = 0;
}

/* The state of a thread before its first item. False: it did not exist. */
static bool prior_state(const struct kernel_item *item, struct kernel_thread *ret)
{
	*ret = (struct kernel_thread){ .tid = item->tid, .cpu = item->cpu, .call = KERNEL_NO_CALL };
	switch (item->kind) {
	case KERNEL_CREATED:
		return false;
	case KERNEL_MOVED:
	case KERNEL_ON: /* otherwise its wake-up would have come first */
		ret->run = KERNEL_RUNNABLE;
		break;
	case KERNEL_WAKING: /* on the CPU of the waker */
		ret->cpu = 0;
		break;
	case KERNEL_NAMED: /* maybe named by another thread */
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

/* The state of a thread when recording began. */
static struct kernel_thread initial_state(const struct gt_record *rec)
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
	if (!thread->on_cpu && thread->sleep < GT_SLEEP_END)
		ret.sleep = thread->sleep;
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

static int add(struct sequencer *s, const struct kernel_item *item, bool in_window)
{
	int err = in_window ? short_calls__item(s, item) : 0;

	err = err ? err : kernel_threads__apply(&s->kernel.threads, item);
	if (!err && in_window && s->opts.watch.kernel && !kernel_item__is_of_cpu(item))
		s->opts.watch.kernel(s->opts.watch.ctx, item);
	return err;
}

/*
 * Adds the state of a thread when recording began. Other records have precedence: the state is used
 * whole if the thread has none, except for a new name; else only its name, and the system call in
 * which it sleeps.
 */
static int add_present(struct sequencer *s, const struct gt_record *rec, bool in_window)
{
	struct kernel_thread *known = kernel_threads__find(&s->kernel.threads, rec->tid);
	struct kernel_thread thread = initial_state(rec);
	struct kernel_item named = { .time = rec->time,
				     .kind = KERNEL_NAMED,
				     .tid = rec->tid,
				     .cpu = rec->cpu,
				     .name = { thread.name, thread.name_len } };
	int err;

	if (((const struct gt_thread *)(rec + 1))->waits) {
		s->kernel.threads.waits = true;
		kernel_writer__set_waits(s->kernel.writer);
	}
	if (!known || known->run == KERNEL_UNKNOWN) {
		err = in_window ? kernel_writer__add_thread(s->kernel.writer, &thread) : 0;
		return err ? err : kernel_threads__set(&s->kernel.threads, &thread);
	}
	if (known->call == KERNEL_NO_CALL && known->run == thread.run)
		known->call = thread.call;
	if (known->name_len || !thread.name_len)
		return 0;
	return add(s, &named, in_window);
}

int kernel_events__record(struct sequencer *s, const struct gt_record *rec, bool in_window)
{
	struct kernel_thread before;
	struct kernel_item item;
	int err = 0;

	if (is_present(rec))
		return add_present(s, rec, in_window);
	if (!item_from_record(rec, &item)) {
		s->stats.dropped += in_window;
		return 0;
	}
	resolve_call(s, &item);
	if (in_window && !kernel_item__is_of_cpu(&item) &&
	    !kernel_threads__find(&s->kernel.threads, item.tid) && prior_state(&item, &before))
		err = kernel_writer__add_thread(s->kernel.writer, &before);
	return err ? err : add(s, &item, in_window);
}

int kernel_events__begin(struct sequencer *s, uint64_t time)
{
	kernel_threads__forget_gone(&s->kernel.threads);
	return kernel_writer__begin(s->kernel.writer, time, &s->kernel.threads);
}
