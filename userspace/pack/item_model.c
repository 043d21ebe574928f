// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel events: see item_model.h.
 *
 * The grammar is walked three times by the same functions: to check that an item can be encoded, to
 * encode it, and to decode it.
 */
#include "pack/item_model.h"

#include <errno.h>

#include "format/encode.h"
#include "format/kernel_impl.h"
#include "pack/canonical.h"

/* Kinds of contexts. */
enum {
	KIND = 100,
	TIME,
	OTHER,
	CALL,
	RESULT,
	ADDRESS,
	CPU,
	DETAIL,
	REST,
	MORE,
	RECORD,
	THREAD,
	WHY,
	NEAR
};
#define CONTEXT(kind) ((uint64_t)(kind) << 32)
#define MIXER	      2048
#define NO_TIME	      UINT64_MAX
#define NEAR_NS	      4096 /* of an item before an event that it belongs to */

void item_model__init(struct item_model *k, struct predictor *p, struct items_times *begins,
		      struct items_times *ends)
{
	*k = (struct item_model){ .p = p, .begins = begins, .ends = ends };
	begins->at = ends->at = 0;
}

static struct items_thread *state(struct item_model *k)
{
	return &k->thread_at[k->thread % ITEMS_THREADS];
}

static void append(struct item_model *k, uint64_t value)
{
	if (outbuf__room(k->out, LEB_MAX, NULL))
		k->err = -ENOMEM;
	else
		leb__append(k->out, value);
}

/* The next number of the record when it is not decoded. */
static uint64_t take(struct item_model *k)
{
	uint64_t v;

	k->bad |= !canonical__take(&k->in, &v);
	return v;
}

static uint64_t value(struct item_model *k, unsigned int kind, uint64_t near, uint64_t far)
{
	uint64_t v = k->mode == ITEMS_DECODE ? 0 : take(k);

	if (k->mode == ITEMS_CHECK)
		return v;
	v = predictor__value(k->p, CONTEXT(kind), near, far, v);
	if (k->mode == ITEMS_DECODE)
		append(k, v);
	return v;
}

/* Returns the distance to the next of the times, or NO_TIME. */
static uint64_t until_next(const struct item_model *k, struct items_times *t)
{
	while (t->at < t->n && t->time[t->at] < k->time)
		t->at++;
	return t->at < t->n ? t->time[t->at] - k->time : NO_TIME;
}

/*
 * A system call of Go begins with an event and an item of the same time, and an item precedes the
 * event of its end. Returns false if the time of the item has to be coded in another way.
 */
static bool code_near_event(struct item_model *k, uint8_t kind, uint64_t *dt)
{
	bool begins = (kind & ITEM_KIND) == KERNEL_SYS_ENTER;
	struct items_times *t = begins ? k->begins : k->ends;
	uint64_t next, a, b;
	bool near;

	if (!begins && (kind & ITEM_KIND) != KERNEL_SYS_EXIT)
		return false;
	next = until_next(k, t);
	if (next == NO_TIME)
		return false;
	a = pack__hash(CONTEXT(NEAR), kind | k->last_call << 8);
	b = pack__hash(CONTEXT(NEAR) + 1, kind | (64 - (next ? __builtin_clzll(next) : 64)) << 8);
	near = begins ? *dt == next : *dt <= next && next - *dt < NEAR_NS;
	if (!coder__bit(k->p->coder, a, b, MIXER + 256, near))
		return false;
	if (!begins)
		next -= coder__number(k->p->coder, a + 1, pack__hash(a, k->kind[0]), MIXER + 264,
				      next - *dt);
	t->at += begins;
	*dt = next;
	return true;
}

/* The time since the previous item. */
static void time_since(struct item_model *k, uint8_t kind)
{
	uint64_t v = k->mode == ITEMS_DECODE ? 0 : take(k), a, b;

	if (k->mode == ITEMS_CHECK)
		return;
	if (!code_near_event(k, kind, &v)) {
		a = pack__hash(CONTEXT(TIME), (uint64_t)kind | k->kind[0] << 8 | k->kind[1] << 16);
		b = pack__hash(CONTEXT(TIME) + 1,
			       (uint64_t)kind | k->kind[0] << 8 | k->last_call << 16);
		v = coder__number(k->p->coder, a, b, MIXER, v);
	}
	k->time += v;
	if (k->mode == ITEMS_DECODE)
		append(k, v);
}

static uint8_t byte(struct item_model *k, unsigned int kind, uint64_t a, uint64_t b)
{
	uint8_t v = k->mode == ITEMS_DECODE ? 0 : buf__u8(&k->in);

	k->bad |= k->in.bad;
	if (k->mode == ITEMS_CHECK)
		return v;
	v = (uint8_t)coder__symbol(k->p->coder, pack__hash(CONTEXT(kind), a),
				   pack__hash(CONTEXT(kind) + 1, b), MIXER + 64, 8, v);
	if (k->mode == ITEMS_DECODE && outbuf__put(k->out, &v, 1, NULL))
		k->err = -ENOMEM;
	return v;
}

static void name(struct item_model *k)
{
	uint64_t len = value(k, DETAIL, 3, 3), before = 0;

	if (len > CALL_NAME_MAX)
		k->bad = true;
	for (uint64_t i = 0; i < len && !k->bad; i++)
		before = before << 8 | byte(k, DETAIL, before & 0xff, before & 0xffffff);
}

/* A reference to a thread: probably one that was named or active before. */
static uint64_t code_reference(struct item_model *k, unsigned int kind, uint8_t item, uint64_t v)
{
	uint64_t *near = predictor__guess(k->p, CONTEXT(kind), pack__hash(item, k->thread));
	uint64_t *far = predictor__guess(k->p, CONTEXT(kind), pack__hash(k->thread, k->previous));
	uint64_t candidate[] = { k->other, k->previous, *near, *far, k->thread };
	uint64_t a = pack__hash(CONTEXT(kind), item | k->kind[0] << 8 | k->kind[1] << 16);
	uint64_t b = pack__hash(CONTEXT(kind) + 1, item | (*near == k->other) << 8 |
							   (*near == k->previous) << 9 |
							   (*far == *near) << 10);

	v = predictor__candidate(k->p, a, b, MIXER + 160 + (kind == OTHER) * 32, candidate, 5, v);
	*near = *far = v;
	return v;
}

/* Ends with a new thread's ID, process and name. Returns the number of the thread. */
static uint64_t reference(struct item_model *k, unsigned int kind, uint8_t item)
{
	unsigned int shift = kind == OTHER && (item & ITEM_KIND) == KERNEL_OFF ? 3 : 0, why = 0;
	uint64_t v = k->mode == ITEMS_DECODE ? 0 : take(k);

	if (k->mode != ITEMS_CHECK) {
		if (shift)
			why = coder__symbol(k->p->coder, CONTEXT(WHY), state(k)->call, MIXER + 224,
					    shift, v & 7);
		v = code_reference(k, kind, item, v >> shift) << shift | why;
	}
	if (k->mode == ITEMS_DECODE)
		append(k, v);
	v >>= shift;
	if (v != REF_NEW)
		return v;
	value(k, DETAIL, 1, 1);
	value(k, DETAIL, 2, 2);
	name(k);
	return REF_PEER + (k->mode == ITEMS_CHECK ? k->nthreads : k->nthreads++);
}

static void call(struct item_model *k)
{
	uint32_t last = state(k)->call;
	uint64_t v = value(k, CALL, pack__hash(k->thread, last), pack__hash(last, k->last_call));

	if (!v) {
		value(k, DETAIL, 4, 4);
		name(k);
	}
	if (k->mode != ITEMS_CHECK)
		state(k)->call = (uint32_t)v;
}

static void other_thread(struct item_model *k, uint8_t item)
{
	uint64_t other = reference(k, OTHER, item);

	if (k->mode != ITEMS_CHECK)
		k->other = other;
}

static void fields(struct item_model *k, uint8_t kind)
{
	switch (kind & ITEM_KIND) {
	case KERNEL_ON:
		if (!(kind & ITEM_MORE))
			other_thread(k, kind);
		return;
	case KERNEL_OFF:
		other_thread(k, kind);
		if (kind & ITEM_MORE)
			value(k, DETAIL, 5, 5);
		return;
	case KERNEL_WAKING:
		other_thread(k, kind);
		return;
	case KERNEL_SYS_ENTER:
		call(k);
		return;
	case KERNEL_SYS_EXIT:
		if (kind & ITEM_MORE)
			call(k);
		value(k, RESULT, state(k)->call, pack__hash(k->thread, state(k)->call));
		return;
	case KERNEL_CREATED:
		other_thread(k, kind);
		name(k);
		return;
	case KERNEL_NAMED:
		name(k);
		return;
	case KERNEL_FAULT_BEGIN:
		value(k, ADDRESS, k->kind[0], k->thread);
		return;
	case KERNEL_ENDED:
	case KERNEL_FAULT_END:
	case KERNEL_CPU:
		return;
	default:
		k->bad = true;
	}
}

static void walk_item(struct item_model *k)
{
	uint8_t kind = byte(k, KIND, k->kind[0] | k->kind[1] << 8 | state(k)->call << 16,
			    pack__hash(k->kind[0] | state(k)->kind << 8,
				       k->thread_at[k->previous % ITEMS_THREADS].kind));
	uint64_t thread = k->thread;

	time_since(k, kind);
	if (!(kind & ITEM_SAME))
		thread = reference(k, THREAD, kind);
	if (k->bad)
		return;
	if (k->mode != ITEMS_CHECK && thread != k->thread) {
		k->previous = k->thread;
		k->thread = thread;
	}
	fields(k, kind);
	if (kind & ITEM_CPU)
		value(k, CPU, thread, k->kind[0]);
	if (k->mode == ITEMS_CHECK)
		return;
	k->last_call = state(k)->call;
	k->kind[1] = k->kind[0];
	k->kind[0] = kind;
	state(k)->kind = kind;
}

/* Whether the next item, or the head of the record, is complete and valid. Changes nothing. */
static bool can_encode(struct item_model *k, void (*walk)(struct item_model *k))
{
	const struct buf in = k->in;
	bool good;

	k->mode = ITEMS_CHECK;
	walk(k);
	good = !k->bad;
	k->mode = ITEMS_ENCODE;
	k->in = in;
	k->bad = false;
	return good;
}

static void walk_head(struct item_model *k)
{
	uint64_t time = value(k, RECORD, 1, 1);

	value(k, RECORD + 100, 2, 2);
	if (k->mode == ITEMS_CHECK)
		return;
	k->time = time;
	k->nthreads = 0;
}

/* Codes whether another item follows, or the head. */
static bool code_more(struct item_model *k, void (*walk)(struct item_model *k))
{
	bool more = k->mode == ITEMS_ENCODE && buf__left(&k->in) && can_encode(k, walk);

	return coder__bit(k->p->coder, CONTEXT(MORE), CONTEXT(MORE) + 1, MIXER + 128, more);
}

int item_model__code(struct item_model *k, const void *data, size_t len, bool whole,
		     struct outbuf *out)
{
	size_t start = out ? out->len : 0, n;
	uint64_t before = 0;

	k->mode = out ? ITEMS_DECODE : ITEMS_ENCODE;
	k->in = buf__make(out ? NULL : data, out ? 0 : len);
	k->out = out;
	k->bad = false;
	if (whole && code_more(k, walk_head))
		walk_head(k);
	while (!k->bad && !k->err && (!out || out->len - start <= len) && code_more(k, walk_item))
		walk_item(k);
	n = out ? out->len - start : len - buf__left(&k->in);
	if (k->bad || n > len)
		return -EBADMSG;
	for (; n < len && !k->err; n++)
		before = before << 8 | byte(k, REST, before & 0xffff, before & 0xffffffff);
	return k->err;
}
