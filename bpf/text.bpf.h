/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of annotations: sends each in a record of its own, and returns the number by which other
 * records name it.
 *
 * A name (task type, region, log category) recurs: its number is its hash, and it is sent if that
 * was not seen before, like a stack (stack.bpf.h). A log's message is sent each time, with a number
 * of its own.
 *
 * No read here faults a page in: the target's thread would wait for the provider of the page (a
 * FUSE file system, a userfaultfd handler), and so would a recorder that detaches probes. A text
 * whose page is not in memory is counted and reported as unread. Upstream: user.bpf.c. Downstream:
 * userspace/sequence/texts.c.
 */
#ifndef BPF_TEXT_H
#define BPF_TEXT_H

#include "stack.bpf.h"

#include <linux/errno.h>

#define SHORT_TEXT 64 /* bytes of text in the smaller record */

struct go_string {
	u64 at, len;
};

#define TEXT_NOT_THERE GT_TEXT_EMPTY /* returned for a text whose page is absent */

/*
 * Whether it has 1 to `most` bytes, which bounds *len for the verifier. Older verifiers (6.12) do
 * not learn a bound of `len` from a comparison of len - 1; so the value compared is the value used.
 */
static __always_inline bool text__fits(u64 *len, u64 most)
{
	u64 last = *len - 1;

	asm volatile("" : "+r"(last));
	if (last >= most)
		return false;
	*len = last + 1;
	return true;
}

static __always_inline u64 text__number(u64 hash)
{
	return (hash & ~GT_TEXT_ONCE) | 2; /* neither EMPTY nor UNREAD */
}

/* Reserves a slot without a number of its ring: it may be discarded. */
static __always_inline struct gt_record *text__reserve(u64 room, u32 *ret_ring)
{
	u32 ring = emit__ring(bpf_get_smp_processor_id()), key = ring;
	void *map = bpf_map_lookup_elem(&rings, &key);
	struct gt_record *rec = NULL;

	*ret_ring = ring;
	if (map)
		rec = bpf_ringbuf_reserve(map, sizeof(*rec) + sizeof(struct gt_text) + room, 0);
	if (!rec) {
		emit__number(ring);
		COUNT(lost[GT_TEXT]);
	}
	return rec;
}

static __always_inline void text__submit(struct gt_record *rec, u32 ring, u32 tid, u64 number)
{
	rec->time = bpf_ktime_get_ns();
	rec->seq = emit__number(ring);
	rec->tid = tid;
	rec->kind = GT_TEXT;
	rec->cpu = bpf_get_smp_processor_id();
	/* no other record of this ring has this number for a long time */
	rec->object = number ?: GT_TEXT_ONCE | (u64)ring << 32 | rec->seq;
	rec->stack = 0;
}

/* Reads the text into a slot with `room` for it (a constant), after the head; cuts it. */
static __always_inline bool text__fill(struct gt_record *rec, const struct go_string *s, u64 room)
{
	struct gt_text *text = (void *)(rec + 1);
	u64 *words = (void *)(text + 1), len = s->len, last;

	text->cut = len > room;
	if (len > room)
		len = room;
	if (!text__fits(&len, room))
		return false;
	last = (len - 1) / 8;
	if (last < room / 8)
		words[last] = 0;
	text->len = len;
	return !bpf_probe_read_user(words, len, (const void *)s->at);
}

/* A name that is too long for the BPF stack: hashed in its slot, discarded if it was seen. */
__weak __noinline u64 text__long_name(const struct go_string *s, u32 tid)
{
	struct gt_record *rec;
	u64 hash = 0, *words;
	u32 ring = 0, i, n;

	if (!s)
		return GT_TEXT_UNREAD;
	rec = text__reserve(GT_TEXT_MAX, &ring);
	if (!rec)
		return GT_TEXT_UNREAD;
	if (!text__fill(rec, s, GT_TEXT_MAX)) {
		hash = TEXT_NOT_THERE;
		goto give_back;
	}
	words = (u64 *)((struct gt_text *)(rec + 1) + 1);
	n = (((struct gt_text *)(rec + 1))->len + 7) / 8;
	for (i = 0; i < GT_TEXT_MAX / 8 && i < n; i++)
		hash = stack__mix(hash, words[i]);
	hash = text__number(stack__mix(hash, s->len));
	if (seen_texts[hash % SEEN_TEXTS] == hash)
		goto give_back;
	seen_texts[hash % SEEN_TEXTS] = hash;
	text__submit(rec, ring, tid, hash);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return hash;
give_back:
	bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);
	return hash;
}

/* Without emit(), which builds a session's record on the stack of 512 bytes. */
__weak __noinline u64 text__short_name(const struct go_string *s, u32 tid)
{
	u64 words[SHORT_TEXT / 8] = {}, hash = 0, len;
	struct gt_record *rec;
	struct gt_text *text;
	u32 ring = 0, i;

	if (!s)
		return GT_TEXT_UNREAD;
	len = s->len;
	if (!text__fits(&len, SHORT_TEXT) || bpf_probe_read_user(words, len, (const void *)s->at))
		return TEXT_NOT_THERE;
	for (i = 0; i < SHORT_TEXT / 8; i++)
		hash = stack__mix(hash, words[i]);
	hash = text__number(stack__mix(hash, s->len));
	if (seen_texts[hash % SEEN_TEXTS] == hash)
		return hash;
	rec = text__reserve(SHORT_TEXT, &ring);
	if (!rec)
		return hash;
	text__submit(rec, ring, tid, hash);
	text = (void *)(rec + 1);
	text->len = len;
	text->cut = 0;
	__builtin_memcpy(text + 1, words, SHORT_TEXT);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	seen_texts[hash % SEEN_TEXTS] = hash;
	return hash;
}

static __always_inline u64 text__send(const struct go_string *s, u32 tid, u64 room)
{
	u32 ring = 0;
	struct gt_record *rec = text__reserve(room, &ring);
	u64 number;

	if (!rec)
		return GT_TEXT_UNREAD;
	if (!text__fill(rec, s, room)) {
		bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);
		return TEXT_NOT_THERE;
	}
	text__submit(rec, ring, tid, 0);
	number = rec->object;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return number;
}

__weak __noinline u64 text__short_message(const struct go_string *s, u32 tid)
{
	return s ? text__send(s, tid, SHORT_TEXT) : GT_TEXT_UNREAD;
}

__weak __noinline u64 text__long_message(const struct go_string *s, u32 tid)
{
	return s ? text__send(s, tid, GT_TEXT_MAX) : GT_TEXT_UNREAD;
}

/*
 * Sends to a session of the module, which copies the text itself. Earlier records are overwritten
 * there, so a name is sent each time, too. Numbers are per CPU, not per record.
 */
__weak __noinline u64 text__to_session(const struct go_string *s, u32 tid)
{
	u32 ring = bpf_get_smp_processor_id() & (GT_RINGS_MAX - 1);
	struct {
		struct gt_record rec;
		struct gt_text text;
	} whole = { .rec = { .tid = tid, .kind = GT_TEXT } };

	if (!s || !config.session) /* as in stack__send_by_module() */
		return GT_TEXT_UNREAD;
	whole.rec.object = GT_TEXT_ONCE | (u64)ring << 32 | emit__number(ring);
	whole.text.cut = s->len > GT_TEXT_MAX;
	whole.text.len = whole.text.cut ? GT_TEXT_MAX : s->len;
	switch (gotrace_emit(config.session, &whole, sizeof(whole), s->at, whole.text.len)) {
	case 0:
		return whole.rec.object;
	case -EFAULT:
		return TEXT_NOT_THERE;
	default:
		return GT_TEXT_UNREAD;
	}
}

static __always_inline u64 text__result(u64 number)
{
	if (number != TEXT_NOT_THERE)
		return number;
	COUNT(read_errors);
	return GT_TEXT_UNREAD;
}

/* The number of a name, whose text was sent. */
static __noinline u64 text__name(const struct go_string *s, u32 tid)
{
	if (!s->len)
		return GT_TEXT_EMPTY;
	if (config.session)
		return text__result(text__to_session(s, tid));
	return text__result(s->len <= SHORT_TEXT ? text__short_name(s, tid) :
						   text__long_name(s, tid));
}

/* The number of a text that is sent for one record. Not every program that has names has these. */
static __noinline __attribute__((unused)) u64 text__message(const struct go_string *s, u32 tid)
{
	if (!s->len)
		return GT_TEXT_EMPTY;
	if (config.session)
		return text__result(text__to_session(s, tid));
	return text__result(s->len <= SHORT_TEXT ? text__short_message(s, tid) :
						   text__long_message(s, tid));
}

#endif
