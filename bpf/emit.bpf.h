/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Emit a record: reserve in this CPU group's ring, stamp, fill, submit without a wake-up.
 *
 *	emit(rec, GT_DESTROY, gp, 0, tid, sizeof(*payload)) {
 *		payload = (void *)(rec + 1);
 *		payload->goid = goid;
 *	}
 *
 * The body is skipped when the ring is full, and what it filled is submitted at its end, however it
 * is left. The time is stamped after the slot was reserved: so whoever sees the ring's producer
 * position at T0 knows that each record up to T0 lies before it (drain.c). A record that found no
 * room takes a number, too, so that a reader sees the hole just there.
 */
#ifndef BPF_EMIT_H
#define BPF_EMIT_H

#include "filter.bpf.h"

/* CPU to ring; a division only where there are more CPUs than rings. */
static __always_inline u32 emit__ring(u32 cpu)
{
	return cpu < config.rings ? cpu : cpu % config.rings;
}

static __always_inline u32 emit__number(u32 ring)
{
	asm volatile("" : "+r"(ring)); /* the bound just below is for the verifier's eyes */
	return __sync_fetch_and_add(&ring_seq[ring & (GT_RINGS_MAX - 1)][0], 1);
}

static __always_inline struct gt_record *emit__begin(enum gt_kind kind, u64 object, u32 stack,
						     u32 tid, u64 payload)
{
	u32 cpu = bpf_get_smp_processor_id(), ring = emit__ring(cpu), key = ring;
	void *map = bpf_map_lookup_elem(&rings, &key);
	struct gt_record *rec;

	if (!map)
		return NULL;
	rec = bpf_ringbuf_reserve(map, sizeof(*rec) + payload, 0);
	if (!rec) {
		emit__number(ring);
		COUNT(lost[kind]);
		return NULL;
	}
	rec->time = bpf_ktime_get_ns();
	rec->seq = emit__number(ring);
	rec->tid = tid;
	rec->kind = kind;
	rec->cpu = cpu;
	rec->object = object;
	rec->stack = stack;
	return rec;
}

static __always_inline void emit__end(struct gt_record **rec)
{
	if (*rec)
		bpf_ringbuf_submit(*rec, BPF_RB_NO_WAKEUP);
}

#define emit(rec, kind, object, stack, tid, payload)                                               \
	for (struct gt_record * rec __attribute__((cleanup(emit__end))) =                          \
		     emit__begin(kind, object, stack, tid, payload),                               \
				    *once_ = rec;                                                  \
	     once_; once_ = NULL)

/* A record without, or with one number as, payload. */
static __always_inline void emit_plain(enum gt_kind kind, u64 object, u32 stack, u32 tid)
{
	emit (rec, kind, object, stack, tid, 0)
		;
}

static __always_inline void emit_value(enum gt_kind kind, u64 object, u32 stack, u32 tid, u64 value)
{
	emit (rec, kind, object, stack, tid, sizeof(value))
		*(u64 *)(rec + 1) = value;
}

/* A whole probe: is it ours, then `emission`, an expression of ctx and tid. */
#define EMIT_PROBE(name, emission) SEC("uprobe.multi") EMIT_BODY(int name, emission)
#define EMIT_PART(name, emission)  EMIT_BODY(PROBE_PART name, emission)

#define EMIT_BODY(name, emission)                                                                  \
	name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		u32 tid = filter__ours();                                                          \
                                                                                                   \
		if (tid)                                                                           \
			emission;                                                                  \
		return 0;                                                                          \
	}

#endif
