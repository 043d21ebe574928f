// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of functions at which requests begin, get a name or end (record --requests): reads the
 * values that the table lists for the function.
 *
 * Upstream: userspace/target/probe/presets.c, which makes the table. Downstream:
 * userspace/sequence/state_request.c. No read faults a page in.
 */
#include "site.bpf.h"
#include "text.bpf.h"

#include "gotrace/request.h"

#define G_STACK_HI 8 /* as in user.bpf.c */

/* Written by probes.c before loading. */
const volatile struct gt_request_site request_sites[GT_REQUEST_SITES] = {};

#define NOT_READ (~0ull) /* no address of a value */

/* The address of the value; 0: nil. */
static __noinline u64 request__find(struct pt_regs *ctx, const volatile struct gt_request_read *r)
{
	u64 at = site__register(ctx, r->reg - 1);
	u32 i;

	for (i = 0; i < GT_REQUEST_OFFSETS && i < r->n; i++) {
		if (!at)
			return 0;
		at += r->offset[i];
		if (i + 1 < r->n && go_read(&at, sizeof(at), at))
			return NOT_READ;
	}
	return at;
}

static __noinline u64 request__text(struct pt_regs *ctx, const volatile struct gt_request_read *r,
				    u32 tid)
{
	struct go_string s = {};
	u64 at;

	if (!r->reg)
		return GT_TEXT_EMPTY;
	if (r->len_reg) {
		s.at = site__register(ctx, r->reg - 1);
		s.len = site__register(ctx, r->len_reg - 1);
	} else {
		at = request__find(ctx, r);
		if (!at)
			return GT_TEXT_EMPTY;
		if (go_read(&s, sizeof(s), at)) {
			COUNT(read_errors);
			return GT_TEXT_UNREAD;
		}
	}
	return text__name(&s, tid);
}

static __noinline u32 request__number(struct pt_regs *ctx, const volatile struct gt_request_read *r)
{
	u64 at, number = 0;

	if (!r->reg)
		return GT_REQUEST_NO_NUMBER;
	at = request__find(ctx, r);
	if (at == NOT_READ)
		return GT_REQUEST_NO_NUMBER;
	if (!r->size) {
		number = at;
	} else if (!at || (r->size == 8 && go_read(&number, 8, at)) ||
		   (r->size == 4 && go_read(&number, 4, at)) ||
		   (r->size == 1 && go_read(&number, 1, at))) {
		return GT_REQUEST_NO_NUMBER;
	}
	return number < GT_REQUEST_NO_NUMBER ? number : GT_REQUEST_NO_NUMBER - 1;
}

SEC("uprobe.multi")
int request(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx);
	u32 tid = filter__ours(), i = GT_COOKIE_VALUE(cookie);
	const volatile struct gt_request_site *site;
	struct gt_request request = {};
	u64 g = GO_G(ctx);

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	asm volatile("" : "+r"(i)); /* keeps the bound below for the verifier */
	if (i >= GT_REQUEST_SITES)
		return 0;
	site = &request_sites[i];
	if (!GT_REQUEST_AT_EXITS(site->step) && entry__repeats(ctx))
		return 0;
	request.preset = site->preset;
	request.step = site->step;
	request.inherited = site->inherited;
	request.stepped = GT_COOKIE_CALL_STEPPED(cookie);
	request.text[0] = request__text(ctx, &site->text[0], tid);
	if ((request.step == GT_REQUEST_NAMED || request.step == GT_REQUEST_FOUND) &&
	    request.text[0] == GT_TEXT_EMPTY)
		return 0;
	request.text[1] = request__text(ctx, &site->text[1], tid);
	request.number = request__number(ctx, &site->number);
	request.depth = go_read_u64(g + G_STACK_HI) - GO_SP(ctx);
	emit (rec, GT_REQUEST, g, 0, tid, sizeof(request))
		*(struct gt_request *)(rec + 1) = request;
	return 0;
}
