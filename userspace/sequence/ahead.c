// SPDX-License-Identifier: GPL-2.0
/*
 * Implements ahead.h. Each search goes through the queues of the merge up to the watermark; its
 * result is kept until the thread sends a record or the watermark advances.
 */
#include "sequence/ahead.h"

#include <string.h>

#include "sequence/derived.h"
#include "sequence/sequencer_impl.h"
#include "sequence/state_impl.h"

#define PATIENCE_NS 500000000ull

/* The thread's next hit; NULL: none up to the watermark, or a search found one of no use. */
static struct gt_record *find(struct sequencer *s, struct thread *t)
{
	struct gt_record *next;

	if (t->searched == s->limit)
		return NULL;
	t->searched = s->limit;
	next = merge__ahead(s->merge, t->tid, s->limit, &s->search_left);
	t->silent = !next && s->search_left;
	return next;
}

/* The next hit after a tentative system call exit shows whether the thread has lost its P there. */
static bool decide_exit(struct sequencer *s, struct thread *t, const struct gt_record *next)
{
	if (next->kind == GT_SYSCALL_LOST || next->kind == GT_SYSCALL_NO_P) {
		t->exit_time = 0;
		t->lost_p = t->g && t->g->state == GO_SYSCALL;
	} else {
		state__exit_kept(s, t);
	}
	t->searched = 0; /* the same hit may show more */
	return true;
}

static bool is_late(const struct gt_record *rec)
{
	const struct gt_park *park = (const void *)(rec + 1);

	return rec->kind == GT_ENDED || rec->kind == GT_SYSCALL_ENTER ||
	       (rec->kind == GT_PARK && park->derived);
}

bool ahead__apply(struct sequencer *s, const struct thread *t, const struct gt_record *rec)
{
	struct thread *other = s->derived ? state__awaited(s, t, rec) : NULL;
	struct gt_record *next = other && !other->head ? find(s, other) : NULL;
	struct {
		struct gt_record rec;
		unsigned char payload[GT_PAYLOAD_MAX];
	} late;
	enum apply_result result;

	if (!next)
		return false;
	if (other->exit_time && (rec->kind == GT_P_START || rec->kind == GT_P_HANDOFF))
		return decide_exit(s, other, next);
	if (!is_late(next) || !other->g || next->object != other->g->addr)
		return false;
	memcpy(&late, next, sizeof(late.rec) + gt_payload_size(next->kind));
	late.rec.time = rec->time - 1 > other->last_record ? rec->time - 1 : other->last_record;
	s->hold.waiting = rec;
	s->hold.sent = derived__sent(s, next);
	s->hold.has_run = merge__has(s->merge, GT_EXECUTE, next->object, s->hold.sent);
	result = state__apply(s, other, &late.rec, false);
	s->hold.waiting = NULL;
	if (result == WAIT)
		return false;
	s->stats.records++;
	merge__take(next);
	other->searched = 0;
	return true;
}

/* While records are being lost, the one that is waited for may be among them. */
bool ahead__is_silent(struct sequencer *s, const struct thread *t, const struct gt_record *rec)
{
	struct thread *other = s->derived ? state__awaited(s, t, rec) : NULL;

	if (!other || other->head || s->losses.watching || merge__is_crowded(s->merge) ||
	    other->heard > rec->time || s->limit >= rec->time + PATIENCE_NS)
		return false;
	find(s, other);
	return other->silent;
}
