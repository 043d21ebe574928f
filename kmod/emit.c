// SPDX-License-Identifier: GPL-2.0
/*
 * Writes records into a session's ring, and wakes those who poll.
 *
 * Upstream: gotrace_emit() in kfuncs.c, GT_IOC_EMIT in ioctl.c. Downstream: ring.c.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "session.h"

/* The ring of a CPU. Any context. */
static struct ring *ring_of(const struct session *s, u32 cpu)
{
	return &s->rings[likely(cpu < s->rings_n) ? cpu : cpu % s->rings_n];
}

/* Whether the record is the first or last of its sub-buffer: one is or will soon be complete. */
static bool ends_subbuf(const struct ring *ring, const struct ring_slot *slot)
{
	u32 offset = ((u8 *)slot->at - ring->bytes) & (ring->subbuf_size - 1);

	return offset == sizeof(struct gt_subbuf) || offset + slot->size == ring->subbuf_size;
}

/* Preemption is disabled. Returns 0 or an error of ring__reserve(). */
static int store_record(struct ring *ring, u32 cpu, const void *rec, u32 rec_size, const void *tail,
			u32 tail_size, struct ring_slot *slot)
{
	u32 padded = round_up(tail_size, 8), seq;
	struct gt_record *out;
	int err = ring__reserve(ring, rec_size + padded, slot);

	if (unlikely(err == -EINVAL))
		return err;
	seq = atomic_inc_return((atomic_t *)&ring->control->seq) - 1;
	if (unlikely(err))
		return err;

	out = slot->at;
	memcpy(out, rec, rec_size);
	if (!out->time) {
		out->time = ktime_get_mono_fast_ns();
		out->cpu = cpu;
	}
	out->seq = seq;
	if (tail_size) {
		void *at = slot->at + rec_size;

		memset(at + padded - 8, 0, 8);
		memcpy(at, tail, tail_size);
	}
	ring__commit(ring, slot);
	return 0;
}

/*
 * A writer that is preempted with a record half written would stop its ring in the next lap, at
 * that sub-buffer. Programs of uprobes may be preempted, so preemption is disabled for the record:
 * at most about 2 KiB are copied.
 */
int session__emit(struct session *s, const void *rec, u32 rec_size, const void *tail, u32 tail_size)
{
	struct ring_slot slot;
	struct ring *ring;
	u32 cpu;
	int err;

	if (unlikely(READ_ONCE(s->frozen))) {
		atomic64_inc((atomic64_t *)&s->page->refused);
		return -ESHUTDOWN;
	}
	preempt_disable();
	cpu = smp_processor_id();
	ring = ring_of(s, cpu);
	err = store_record(ring, cpu, rec, rec_size, tail, tail_size, &slot);
	preempt_enable();
	if (unlikely(err))
		return err;
	/* wq_has_sleeper() is a full barrier: a task that goes to sleep now sees the new head */
	if (unlikely(ends_subbuf(ring, &slot)) && wq_has_sleeper(&s->wait))
		irq_work_queue(&s->wake);
	return 0;
}

struct stack_table *session__stacks(struct session *s)
{
	return unlikely(READ_ONCE(s->frozen)) ? NULL : &s->stacks;
}

/*
 * Runs in an interrupt: records are written with a run queue's lock held, where nothing can wake.
 */
void session__wake(struct irq_work *work)
{
	wake_up_interruptible_all(&container_of(work, struct session, wake)->wait);
}

/* The session is not dead. Any context. */
static u64 ring_head(const struct ring *ring)
{
	return READ_ONCE(ring->control->head);
}

int session__positions(struct session *s, u64 *heads, u32 room)
{
	u32 n = min(room, s->rings_n);

	mutex_lock(&s->lock);
	if (!s->area) {
		mutex_unlock(&s->lock);
		return -ENOENT;
	}
	for (u32 i = 0; i < n; i++) {
		heads[i] = ring_head(&s->rings[i]);
		WRITE_ONCE(s->reported[i], heads[i]);
	}
	mutex_unlock(&s->lock);
	return 0;
}

bool session__readable(struct session *s)
{
	bool found = false;

	rcu_read_lock();
	for (u32 i = 0; !READ_ONCE(s->dead) && !found && i < s->rings_n; i++) {
		u32 size = s->rings[i].subbuf_size;

		found = ring_head(&s->rings[i]) / size > READ_ONCE(s->reported[i]) / size;
	}
	rcu_read_unlock();
	return found;
}
