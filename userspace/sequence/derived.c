// SPDX-License-Identifier: GPL-2.0
/*
 * Makes records of derived transitions: see derived.h.
 *
 * The time of a park is that of the hit from which it was derived, less the time that certainly
 * passed in between, but not before the previous record of its thread. (A previous record in
 * another ring is earlier anyway: the thread has changed its CPU since.)
 */
#include "sequence/derived.h"

#include <string.h>

#include "sequence/sequencer_impl.h"

struct whole {
	struct gt_record rec;
	unsigned char payload[GT_PAYLOAD_MAX];
};

bool derived__is(const struct gt_record *rec)
{
	const struct gt_park *park = (const void *)(rec + 1);

	return rec->kind == GT_EXECUTE_PARKED || rec->kind == GT_EXECUTE_ENDED ||
	       rec->kind == GT_ENDED || (rec->kind == GT_PARK && park->derived);
}

static struct whole make(const struct gt_record *rec, enum gt_kind kind, uint64_t object,
			 const void *payload, size_t size)
{
	struct whole ret = { .rec = *rec };

	ret.rec.kind = kind;
	ret.rec.object = object;
	ret.rec.stack = kind == GT_PARK ? rec->stack : 0;
	memcpy(ret.payload, payload, size);
	return ret;
}

static int put(struct sequencer *s, unsigned int ring, struct whole *left,
	       const struct gt_record *after)
{
	uint64_t time = left->rec.time > GT_DERIVED_NS ? left->rec.time - GT_DERIVED_NS : 0;
	int err;

	s->derived = true;
	left->rec.time = merge__time_after(s->merge, ring, left->rec.tid, time);
	err = merge__add(s->merge, ring, &left->rec,
			 sizeof(left->rec) + gt_payload_size(left->rec.kind));
	if (!err && after)
		err = merge__add(s->merge, ring, after,
				 sizeof(*after) + gt_payload_size(after->kind));
	return err;
}

int derived__put(struct sequencer *s, unsigned int ring, const struct gt_record *rec)
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
	after = make(rec, GT_EXECUTE, rec->object, &execute, sizeof(execute));
	err = put(s, ring, &left, starts ? &after.rec : NULL);
	if (!err)
		merge__count(s->merge, ring, rec);
	return err;
}
