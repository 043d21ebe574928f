/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a site's cookie says of the registers: session.h has its bits, target/site_inline.c makes
 * them. Where no function was inlined the cookies need not be read, and all of this is cut out.
 */
#ifndef BPF_SITE_H
#define BPF_SITE_H

#include "filter.bpf.h"

#define ZERO_FLAG 0x40

/* A register by its number in machine code; a function of its own since it is long. */
static __noinline u64 site__register(struct pt_regs *ctx, u32 number)
{
	switch (number) {
	case 0:
		return REGISTER(ctx, ax);
	case 1:
		return REGISTER(ctx, cx);
	case 2:
		return REGISTER(ctx, dx);
	case 3:
		return REGISTER(ctx, bx);
	case 5:
		return REGISTER(ctx, bp);
	case 6:
		return REGISTER(ctx, si);
	case 7:
		return REGISTER(ctx, di);
	case 8:
		return REGISTER(ctx, r8);
	case 9:
		return REGISTER(ctx, r9);
	case 10:
		return REGISTER(ctx, r10);
	case 11:
		return REGISTER(ctx, r11);
	case 12:
		return REGISTER(ctx, r12);
	case 13:
		return REGISTER(ctx, r13);
	case 14:
		return REGISTER(ctx, r14);
	case 15:
		return REGISTER(ctx, r15);
	}
	return 0;
}

/* Did the transition take place that the site is there for? */
static __always_inline bool site__passed(struct pt_regs *ctx, u64 cookie)
{
	u32 zero_flag = GT_COOKIE_ZERO_FLAG(cookie), reg = GT_COOKIE_NEW_REG(cookie);

	if (zero_flag && !(REGISTER(ctx, flags) & ZERO_FLAG) != (zero_flag == 1))
		return false;
	return !reg ||
	       ((u32)site__register(ctx, reg - 1) == GT_COOKIE_NEW(cookie) &&
		(u32)site__register(ctx, GT_COOKIE_OLD_REG(cookie) - 1) == GT_COOKIE_OLD(cookie));
}

/* The site's g or p, `plain` where the cookie does not say. False: nothing took place. */
static __always_inline bool site__object(struct pt_regs *ctx, u64 cookie, u64 plain, u64 *ret)
{
	u32 reg = GT_COOKIE_OBJECT(cookie);

	*ret = plain;
	if (!reg)
		return true;
	*ret = site__register(ctx, reg - 1);
	return site__passed(ctx, cookie);
}

/* The same for a program that needs the cookie only where something was inlined. */
#define SITE_OBJECT(ctx, plain, ret)                                                               \
	(config.inlined_sites ? site__object(ctx, cookie__site(ctx), plain, ret) :                 \
				(*(ret) = (plain), true))

#endif
