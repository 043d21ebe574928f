/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The labels of a goroutine (runtime/pprof.Do, SetGoroutineLabels), read when they are set: one
 * record for each label, whose texts text.bpf.h sends.
 *
 * The argument points to a labelMap of package runtime/pprof: a map up to Go 1.23, whose buckets
 * (runtime/map.go) are searched here, and a slice of pairs of strings from 1.24 on. It is immutable
 * once it is set. Nevertheless it is input from an untrusted program: the numbers of buckets and
 * labels that are read have limits, and a set that cannot be read is reported as cut. Upstream:
 * user.bpf.c. Downstream: userspace/sequence/state_labels.c.
 */
#ifndef BPF_LABELS_H
#define BPF_LABELS_H

#include "site.bpf.h"
#include "text.bpf.h"

#define LABEL_STRING	 16 /* bytes of a string's header */

/* runtime.hmap and its buckets of 8 strings with 8 strings */
#define MAP_BUCKETS	 16 /* hmap.buckets; oldbuckets follows */
#define BUCKET_SLOTS	 8
#define BUCKET_KEYS	 8
#define BUCKET_VALUES	 (BUCKET_KEYS + BUCKET_SLOTS * LABEL_STRING)
#define BUCKET_OVERFLOW	 (BUCKET_VALUES + BUCKET_SLOTS * LABEL_STRING)
#define BUCKET_SIZE	 (BUCKET_OVERFLOW + 8)
#define BUCKET_TOP_MIN	 5 /* minTopHash: lower ones are empty or moved to the new buckets */
#define BUCKET_LOG2_MAX	 3 /* of 8 buckets: 9 to 52 labels */
#define BUCKETS_READ_MAX 24

/*
 * A walk through the labels of a set. It keeps no list of them: Linux before 6.18 adds up the frames
 * of all functions on the way to text__name(), of which there are 512 bytes.
 */
struct label_search {
	u64 list;    /* of a slice: the next key */
	u64 buckets; /* of a map; to read: the current array */
	u64 older;   /* the one before it, while its labels move */
	u64 bucket;  /* the current one, or 0 */
	u64 tops;    /* its 8 bytes that describe the slots */
	u64 found;   /* the key of the last slot, or 0 */
	u32 nbuckets, nolder;
	u32 left;     /* labels of a slice */
	u32 slots;    /* of buckets, that were looked at */
	u32 to_value; /* from a key's address to its value's */
};

/* Moves on to the next bucket: an overflow of this one, or one of the arrays. False: none. */
static __always_inline bool search__next_bucket(struct label_search *s)
{
	if (s->bucket)
		s->bucket = go_read_u64(s->bucket + BUCKET_OVERFLOW);
	if (!s->bucket) {
		if (!s->nbuckets) {
			s->buckets = s->older;
			s->nbuckets = s->nolder;
			s->nolder = 0;
		}
		if (!s->nbuckets)
			return false;
		s->bucket = s->buckets;
		s->buckets += BUCKET_SIZE;
		s->nbuckets--;
	}
	s->tops = go_read_u64(s->bucket);
	return true;
}

/* The next slot; for bpf_loop(), which takes a pointer to the stack only. */
static long search__slot(u32 i, struct label_search **search)
{
	struct label_search *s = *search;
	u32 slot = s->slots & (BUCKET_SLOTS - 1);

	if (s->slots >= BUCKETS_READ_MAX * BUCKET_SLOTS || (!slot && !search__next_bucket(s)))
		return 1;
	s->slots++;
	if ((u8)(s->tops >> 8 * slot) < BUCKET_TOP_MIN)
		return 0;
	s->found = s->bucket + BUCKET_KEYS + slot * LABEL_STRING;
	return 1;
}

/* The address of the next label's key; 0: there is none, or it cannot be read. */
__weak __noinline u64 search__next(struct label_search *s)
{
	if (!s)
		return 0;
	s->found = 0;
	if (s->left) {
		s->left--;
		s->found = s->list;
		s->list += 2 * LABEL_STRING;
	} else if (!s->list) {
		bpf_loop(BUCKETS_READ_MAX * BUCKET_SLOTS, search__slot, &s, 0);
	}
	return s->found;
}

/* Begins a walk through a map. Returns how many labels it has; ~0: it cannot be read. */
static __always_inline u64 search__map(struct label_search *s, u64 map)
{
	u64 head[4] = {}; /* count; flags, B, noverflow, hash0; buckets; oldbuckets */
	u32 log2;

	if (go_read(head, sizeof(head), map))
		return ~0ull;
	log2 = (u8)(head[1] >> 8);
	if (log2 > BUCKET_LOG2_MAX)
		log2 = BUCKET_LOG2_MAX;
	s->to_value = BUCKET_VALUES - BUCKET_KEYS;
	s->buckets = head[2];
	s->nbuckets = head[2] ? 1u << log2 : 0;
	s->older = head[3];
	s->nolder = head[3] ? 1u << log2 : 0; /* half of it, except in a growth of the same size */
	if (s->nolder > 1 && !(head[1] & 8))
		s->nolder /= 2;
	return head[0];
}

static __always_inline u64 search__list(struct label_search *s, u64 list)
{
	u64 head[2] = {}; /* address, length */

	if (go_read(head, sizeof(head), list))
		return ~0ull;
	s->to_value = LABEL_STRING;
	s->list = head[0];
	s->left = head[1] < GT_LABELS_MAX ? head[1] : GT_LABELS_MAX;
	return head[1];
}

/* Begins a walk. The number of labels as above; 0 if there is no set. */
__weak __noinline u64 search__begin(struct label_search *s, u64 labels, u32 is_list)
{
	if (!s || !labels)
		return 0;
	*s = (struct label_search){};
	if (is_list)
		return search__list(s, labels);
	labels = go_read_u64(labels); /* the map's variable, then the map */
	return labels ? search__map(s, labels) : 0;
}

/* What the records of one set have in common. */
struct label_head {
	u64 g, to_value;
	u32 stack, tid, n, cut;
};

/* Sends label number `index`, whose key's string is at `at`; of a set without labels, that. */
__weak __noinline int label__send(const struct label_head *head, u64 at, u32 index)
{
	struct go_string text = {}; /* one for both, because of the stack */
	struct gt_label label = {};

	if (!head)
		return 0;
	if (head->n) {
		label.key = label.value = GT_TEXT_UNREAD;
		label.cut = !at || go_read(&text, sizeof(text), at + head->to_value);
		if (!label.cut)
			label.value = text__name(&text, head->tid);
		label.cut |= !at || go_read(&text, sizeof(text), at);
		if (!label.cut)
			label.key = text__name(&text, head->tid);
	}
	label.index = index;
	label.n = head->n;
	label.cut |= head->cut;
	emit (rec, GT_LABEL, head->g, index + 1 < head->n ? 0 : head->stack, head->tid,
	      sizeof(label))
		*(struct gt_label *)(rec + 1) = label;
	return 0;
}

/* At the entry of runtime/pprof.runtime_setProfLabel: counts the labels, and sends each. */
static __noinline int labels__send(struct pt_regs *ctx, u32 tid, u32 stack)
{
	struct label_head head = { .g = GO_G(ctx), .stack = stack, .tid = tid };
	u32 is_list = cookie__site(ctx) == GT_LABELS_LIST;
	struct label_search s = {};
	u64 labels = GO_ARG1(ctx), count = search__begin(&s, labels, is_list);
	u32 i;

	for (i = 0; i < GT_LABELS_MAX && search__next(&s); i++)
		head.n++;
	head.to_value = s.to_value;
	head.cut = count != head.n;
	if (!head.n)
		return label__send(&head, 0, 0);
	search__begin(&s, labels, is_list);
	for (i = 0; i < GT_LABELS_MAX && i < head.n; i++)
		label__send(&head, search__next(&s), i);
	return 0;
}

#endif
