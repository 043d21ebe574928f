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
 *
 * Into a session of the module's (config.session) a record is copied when it is whole: it is built on
 * the stack, and the module stamps, numbers and counts.
 */
#ifndef BPF_EMIT_H
#define BPF_EMIT_H

#include "filter.bpf.h"
#include "module.bpf.h"

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

/* A record with `size` bytes in all, of which the header is filled; NULL: there was no room. */
struct emission {
	struct gt_record *rec;
	u32 size, session;
};

/* Where a record for a session is built. */
#define EMIT_ROOM(name, payload) u64 name[(sizeof(struct gt_record) + (payload)) / 8]

static __always_inline void emit__fill(struct gt_record *rec, enum gt_kind kind, u64 object,
				       u32 stack, u32 tid)
{
	rec->tid = tid;
	rec->kind = kind;
	rec->object = object;
	rec->stack = stack;
}

static __always_inline struct emission emit__none(u64 payload)
{
	return (struct emission){
		.size = sizeof(struct gt_record) + payload,
		.session = config.session,
	};
}

/* `room` has as many bytes as the record; it is used with a session only. */
static __always_inline struct emission emit__begin(enum gt_kind kind, u64 object, u32 stack,
						   u32 tid, u64 payload, void *room)
{
	struct emission e = emit__none(payload);
	u32 cpu, ring, key;
	void *map;

	if (e.session) {
		e.rec = room;
		e.rec->time = 0;
		e.rec->cpu = 0;
		e.rec->seq = 0;
		emit__fill(e.rec, kind, object, stack, tid);
		return e;
	}
	cpu = bpf_get_smp_processor_id();
	key = ring = emit__ring(cpu);
	map = bpf_map_lookup_elem(&rings, &key);
	if (!map)
		return e;
	e.rec = bpf_ringbuf_reserve(map, e.size, 0);
	if (!e.rec) {
		emit__number(ring);
		COUNT(lost[kind]);
		return e;
	}
	e.rec->time = bpf_ktime_get_ns();
	e.rec->seq = emit__number(ring);
	e.rec->cpu = cpu;
	emit__fill(e.rec, kind, object, stack, tid);
	return e;
}

/* Now is the time of this record, not when it is whole. */
static __always_inline void emit__stamp(struct gt_record *rec)
{
	if (!config.session)
		return;
	rec->time = bpf_ktime_get_ns();
	rec->cpu = bpf_get_smp_processor_id();
}

/* It is there, and whole. */
static __always_inline void emit__put(struct emission *e)
{
	if (e->session)
		gotrace_emit(e->session, e->rec, e->size, 0, 0);
	else
		bpf_ringbuf_submit(e->rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void emit__end(struct emission *e)
{
	if (e->rec)
		emit__put(e);
}

/* Three loops of one round: each declares what the next one needs. */
#define emit(record, kind, object, stack, tid, payload)                                            \
	for (EMIT_ROOM(room_, payload), *first_ = room_; first_; first_ = NULL)                    \
		for (struct emission emission_ __attribute__((cleanup(emit__end))) =               \
			     emit__begin(kind, object, stack, tid, payload, room_),                \
					       *once_ = &emission_;                                \
		     once_; once_ = NULL)                                                          \
			for (struct gt_record *record = emission_.rec; record; record = NULL)

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
	name(struct pt_regs *ctx)                                                                  \
	{                                                                                          \
		u32 tid = filter__ours();                                                          \
                                                                                                   \
		if (tid)                                                                           \
			emission;                                                                  \
		return 0;                                                                          \
	}

#endif
