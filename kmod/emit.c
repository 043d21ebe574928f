// SPDX-License-Identifier: GPL-2.0
/*
 * A record's way into its session's ring, and the news of it to whoever polls.
 *
 * Before it: gotrace_emit() in kfuncs.c, GT_IOC_EMIT in ioctl.c. After it: ring.c.
 */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "session.h"

/* That of the CPU. Any context. */
static struct ring *ring_of(const struct session *s, u32 cpu)
{
	return &s->rings[likely(cpu < s->rings_n) ? cpu : cpu % s->rings_n];
}

/* Whether it is the first or the last one of its sub-buffer: there is a whole one then, soon. */
static bool ends_subbuf(const struct ring *ring, const struct ring_slot *slot)
{
	u32 offset = ((u8 *)slot->at - ring->bytes) & (ring->subbuf_size - 1);

	return offset == sizeof(struct gt_subbuf) || offset + slot->size == ring->subbuf_size;
}

/* Preemption is disabled. 0, or as ring__reserve() says. */
static int store(struct ring *ring, u32 cpu, const void *rec, u32 rec_size, const void *tail,
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
 * A writer that was preempted with a record half written would hold its ring up: nobody else gets
 * into that sub-buffer in the next lap. Programs of uprobes may be preempted, so that is kept off
 * for the record, some 2 KiB of copying at most.
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
	err = store(ring, cpu, rec, rec_size, tail, tail_size, &slot);
	preempt_enable();
	if (unlikely(err))
		return err;
	/* wq_has_sleeper() is a full barrier: who begins to sleep now sees the new head */
	if (unlikely(ends_subbuf(ring, &slot)) && wq_has_sleeper(&s->wait))
		irq_work_queue(&s->wake);
	return 0;
}

struct stack_table *session__stacks(struct session *s)
{
	return unlikely(READ_ONCE(s->frozen)) ? NULL : &s->stacks;
}

/*
 * In an interrupt: a waker cannot be called where records come from, with a run queue's lock held.
 */
void session__wake(struct irq_work *work)
{
	wake_up_interruptible_all(&container_of(work, struct session, wake)->wait);
}

/* Of a session that is not dead. Any context. */
static u64 head(const struct ring *ring)
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
		heads[i] = head(&s->rings[i]);
		WRITE_ONCE(s->told[i], heads[i]);
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

		found = head(&s->rings[i]) / size > READ_ONCE(s->told[i]) / size;
	}
	rcu_read_unlock();
	return found;
}
