// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the kernel module's functions for kfuncs.c, and programs that the verifier must reject or
 * accept.
 */
#include <linux/bpf.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>

#include "kfuncs.h"

extern __u64 gotrace_stack_hash(struct gt_unwind *w, __u32 depth) __ksym;
extern __u64 gotrace_stack_pcs(struct gt_unwind *w, __u32 depth, __u64 *pcs, __u32 pcs__sz) __ksym;
extern __u32 gotrace_stack_id(__u32 session, struct gt_unwind *w, __u32 depth) __ksym;
extern int gotrace_emit(__u32 session, void *rec, __u32 rec__sz, __u64 tail, __u32 tail_len) __ksym;

struct ask ask;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gt_unwind);
} unwinds SEC(".maps");

SEC("uprobe//proc/self/exe:hit")
int answer(void *ctx)
{
	switch (ask.call) {
	case ASK_HASH:
		ask.answer = gotrace_stack_hash(&ask.w, ask.depth);
		break;
	case ASK_PCS:
		ask.answer =
			gotrace_stack_pcs(&ask.w, ask.depth, ask.data, ask.size % sizeof(ask.data));
		break;
	case ASK_ID:
		ask.answer = gotrace_stack_id(ask.session, &ask.w, ask.depth);
		break;
	case ASK_EMIT:
		ask.answer = gotrace_emit(ask.session, ask.data, ask.size % sizeof(ask.data),
					  ask.tail, ask.tail_size);
		break;
	}
	ask.hits++;
	return 0;
}

/* ---- programs that the verifier must accept ---- */

SEC("?uprobe")
int good_stack(void *ctx)
{
	struct gt_unwind w = { .pc = 1 };

	return gotrace_stack_hash(&w, 4);
}

SEC("?uprobe")
int good_look_up(void *ctx)
{
	__u32 key = 0;
	struct gt_unwind *w = bpf_map_lookup_elem(&unwinds, &key);

	return w ? gotrace_stack_hash(w, 4) : 0;
}

/* ---- and reject ---- */

SEC("?uprobe")
int bad_look_up(void *ctx)
{
	__u32 key = 0;

	return gotrace_stack_hash(bpf_map_lookup_elem(&unwinds, &key), 4);
}

SEC("?uprobe")
int bad_hash(void *ctx)
{
	return gotrace_stack_hash(NULL, 4);
}

SEC("?uprobe")
int bad_pcs_unwind(void *ctx)
{
	return gotrace_stack_pcs(NULL, 4, ask.data, 64);
}

SEC("?uprobe")
int bad_pcs(void *ctx)
{
	return gotrace_stack_pcs(&ask.w, 4, NULL, 0);
}

SEC("?uprobe")
int bad_id(void *ctx)
{
	return gotrace_stack_id(ask.session, NULL, 4);
}

SEC("?uprobe")
int bad_emit(void *ctx)
{
	return gotrace_emit(ask.session, NULL, 0, 0, 0);
}

/* More than there is. */
SEC("?uprobe")
int bad_size(void *ctx)
{
	__u64 rec[4] = { 0 };

	return gotrace_emit(ask.session, rec, sizeof(rec) + 8, 0, 0);
}

/* A number is no pointer. */
SEC("?uprobe")
int bad_number(void *ctx)
{
	return gotrace_stack_hash((struct gt_unwind *)ask.tail, 4);
}

char LICENSE[] SEC("license") = "GPL";
