/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Emits a record: reserves a slot in the ring of the CPU, takes the time, fills and submits it
 * without a wake-up. Upstream: the probes. Downstream: userspace/capture/drain.c, or kmod/kfuncs.c.
 *
 *	emit(rec, GT_DESTROY, gp, 0, tid, sizeof(*payload)) {
 *		payload = (void *)(rec + 1);
 *		payload->goid = goid;
 *	}
 *
 * The body is skipped when the ring is full; the record is submitted however the body is left. The
 * time is taken after the slot was reserved: so all records with a time up to T0 are before the
 * ring's producer position at T0 (drain.c). A lost record takes a number, too, so that the reader
 * sees the gap in its place.
 *
 * For a session of the module (config.session) a record is built on the stack, and the module
 * copies it, takes the time, and numbers and counts it.
 */
#ifndef BPF_EMIT_H
#define BPF_EMIT_H

#include "filter.bpf.h"
#include "kernel_stack.bpf.h"
#include "module.bpf.h"

/* The ring of a CPU; divides only if there are more CPUs than rings. */
static __always_inline u32 emit__ring(u32 cpu)
{
	return cpu < config.rings ? cpu : cpu % config.rings;
}

static __always_inline u32 emit__number(u32 ring)
{
	asm volatile("" : "+r"(ring)); /* keeps the bound below for the verifier */
	return __sync_fetch_and_add(&ring_seq[ring & (GT_RINGS_MAX - 1)][0], 1);
}

/* A record that cannot be sent: it takes a number, so that the reader sees where it is missing. */
static __always_inline void emit__lose(enum gt_kind kind)
{
	if (!config.session)
		emit__number(emit__ring(bpf_get_smp_processor_id()));
	COUNT(lost[kind]);
}

/* A record of `size` bytes with a complete header; rec is NULL if the ring is full. */
struct emission {
	struct gt_record *rec;
	u32 size, session;
};

/* Memory in which a record for a session is built. */
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

/* `room` has as many bytes as the record; it is used for sessions only. */
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
	if (map)
		e.rec = bpf_ringbuf_reserve(map, e.size, 0);
	if (!e.rec) {
		emit__lose(kind);
		return e;
	}
	e.rec->time = bpf_ktime_get_ns();
	e.rec->seq = emit__number(ring);
	e.rec->cpu = cpu;
	emit__fill(e.rec, kind, object, stack, tid);
	return e;
}

/* Takes the time of the record now, not when it is complete. */
static __always_inline void emit__stamp(struct gt_record *rec)
{
	if (!config.session)
		return;
	rec->time = bpf_ktime_get_ns();
	rec->cpu = bpf_get_smp_processor_id();
}

/* Submits the complete record. */
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

/* Three loops of one iteration: each declares a variable of the next one. */
#define emit(record, kind, object, stack, tid, payload)                                            \
	for (EMIT_ROOM(room_, payload), *first_ = room_; first_; first_ = NULL)                    \
		for (struct emission emission_ __attribute__((cleanup(emit__end))) =               \
			     emit__begin(kind, object, stack, tid, payload, room_),                \
					       *once_ = &emission_;                                \
		     once_; once_ = NULL)                                                          \
			for (struct gt_record *record = emission_.rec; record; record = NULL)

/* A record without payload, or with one number. */
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

/* A complete probe: filters, then evaluates `emission`, an expression of ctx and tid. */
#define EMIT_PROBE(name, emission)                                                                 \
	SEC("uprobe.multi") EMIT_BODY(int name, use_kernel_stack(ctx), emission)
#define EMIT_PART(name, emission) EMIT_BODY(PROBE_PART name, (void)0, emission)

#define EMIT_BODY(name, first, emission)                                                           \
	name(struct pt_regs *ctx)                                                                  \
	{                                                                                          \
		u32 tid;                                                                           \
                                                                                                   \
		first;                                                                             \
		tid = filter__ours();                                                              \
		if (tid)                                                                           \
			emission;                                                                  \
		return 0;                                                                          \
	}

#endif
