// SPDX-License-Identifier: GPL-2.0
/*
 * Makes records of derived transitions: see derived.h.
 *
 * The time of a park is that of the hit from which it was derived, less the time in gt_park.derived
 * (FIDELITY.md), but later than the previous record of its thread, by a tick of the coarsest trace:
 * so their order is the same in each trace. (A previous record in another ring is earlier anyway:
 * the thread has changed its CPU since, which takes longer than a trap.)
 */
#include "sequence/derived.h"

#include <string.h>

#include "sequence/sequencer_impl.h"

#define TICK_NS_MAX 64

struct whole {
	struct gt_record rec;
	unsigned char payload[GT_PAYLOAD_MAX];
};

bool derived__is(const struct gt_record *rec)
{
	const struct gt_park *park = (const void *)(rec + 1);

	return rec->kind == GT_EXECUTE_PARKED || rec->kind == GT_EXECUTE_ENDED ||
	       rec->kind == GT_GO_SYS_ENTER || rec->kind == GT_GO_SYS_EXIT ||
	       rec->kind == GT_ENDED || (rec->kind == GT_PARK && park->derived);
}

uint64_t derived__sent(const struct sequencer *s, const struct gt_record *rec)
{
	const struct gt_park *park = (const void *)(rec + 1);

	if (rec->kind == GT_SYSCALL_ENTER)
		return rec->time + s->put_back;
	return rec->kind == GT_PARK ? rec->time + park->derived : rec->time;
}

static struct whole make(const struct gt_record *rec, enum gt_kind kind, uint64_t object,
			 const void *payload, size_t size)
{
	struct whole ret = { .rec = *rec };

	ret.rec.kind = kind;
	ret.rec.object = object;
	ret.rec.stack = kind == GT_PARK || kind == GT_SYSCALL_ENTER ? rec->stack : 0;
	memcpy(ret.payload, payload, size);
	return ret;
}

static int add(struct sequencer *s, unsigned int ring, const struct whole *part)
{
	return merge__add(s->merge, ring, &part->rec,
			  sizeof(part->rec) + gt_payload_size(part->rec.kind));
}

static uint64_t left_time(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
			  uint64_t ns)
{
	uint64_t left = rec->time > ns ? rec->time - ns : 0, ret;

	/* The first one: up to the watermark all records have been taken from the merge. */
	if (left <= s->watermark && rec->time > s->watermark)
		left = s->watermark + 1;
	if (left < TICK_NS_MAX)
		return left;
	ret = merge__time_after(s->merge, ring, rec->tid, left - TICK_NS_MAX);
	if (ret == left - TICK_NS_MAX)
		return left;
	return rec->time - ret > TICK_NS_MAX ? ret + TICK_NS_MAX : rec->time;
}

/* A system call: that of the goroutine, and, as a kernel event, that of the thread. */
static int put_call(struct sequencer *s, unsigned int ring, const struct gt_record *rec)
{
	const struct gt_go_sys_exit *ends = (const void *)(rec + 1);
	const struct gt_go_sys_enter *begins = (const void *)(rec + 1);
	struct whole go, kernel;
	int err;

	if (rec->kind == GT_GO_SYS_ENTER) {
		go = make(rec, GT_SYSCALL_ENTER, rec->object, "", 0);
		kernel = make(rec, GT_SYS_ENTER, begins->number, "", 0);
		if (begins->since && begins->since <= GT_DERIVED_NS_MAX) {
			s->put_back = GT_DERIVED_NS_MAX;
			go.rec.time = kernel.rec.time = left_time(s, ring, rec, begins->since);
		}
	} else {
		go = make(rec, GT_SYSCALL_TRY_EXIT, rec->object, "", 0);
		kernel = make(rec, GT_SYS_EXIT, ends->number, &ends->result, sizeof(ends->result));
	}
	s->derived = true;
	err = add(s, ring, &go);
	return err || s->calls_only ? err : add(s, ring, &kernel);
}

/* Sets the time of a park or end, and its gt_park.derived to what passes until the record. */
static void put_back(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		     struct whole *left)
{
	struct gt_ended *ended = (void *)left->payload;
	struct gt_park *park = left->rec.kind == GT_ENDED ? &ended->park : (void *)left->payload;

	if (park->derived > 1)
		s->put_back = GT_DERIVED_NS_MAX;
	else if (s->put_back < GT_DERIVED_NS)
		s->put_back = GT_DERIVED_NS;
	left->rec.time = left_time(s, ring, rec, park->derived > 1 ? park->derived : GT_DERIVED_NS);
	park->derived = rec->time > left->rec.time ? rec->time - left->rec.time : 1;
}

static int put_left(struct sequencer *s, unsigned int ring, const struct gt_record *rec)
{
	const struct gt_execute_parked *parked = (const void *)(rec + 1);
	const struct gt_execute_ended *ended = (const void *)(rec + 1);
	struct gt_execute execute = { .goid = parked->goid };
	bool starts = rec->kind != GT_PARK && rec->kind != GT_ENDED;
	struct whole left, after;
	int err;

	if (!starts)
		left = make(rec, rec->kind, rec->object, rec + 1, gt_payload_size(rec->kind));
	else if (rec->kind == GT_EXECUTE_PARKED)
		left = make(rec, GT_PARK, parked->before, &parked->park, sizeof(parked->park));
	else
		left = make(rec, GT_ENDED, ended->before, &ended->ended, sizeof(ended->ended));
	put_back(s, ring, rec, &left);
	s->derived = true;
	err = add(s, ring, &left);
	if (err || !starts)
		return err;
	after = make(rec, GT_EXECUTE, rec->object, &execute, sizeof(execute));
	return add(s, ring, &after);
}

int derived__put(struct sequencer *s, unsigned int ring, const struct gt_record *rec)
{
	bool call = rec->kind == GT_GO_SYS_ENTER || rec->kind == GT_GO_SYS_EXIT;
	int err = call ? put_call(s, ring, rec) : put_left(s, ring, rec);

	if (!err)
		merge__count(s->merge, ring, rec);
	return err;
}
