/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers by a site's cookie: include/gotrace/config.h defines its bits,
 * userspace/target/probe/site_inline.c makes them. Without inlined functions cookies are not read,
 * and all of this is removed.
 */
#ifndef BPF_SITE_H
#define BPF_SITE_H

#include "filter.bpf.h"

/* A register by its number in machine code; a function of its own because it is long. */
static __noinline u64 site__register(struct pt_regs *ctx, u32 number)
{
#define BY_NUMBER(n, name)                                                                         \
	case n:                                                                                    \
		return REGISTER(ctx, name);

	switch (number) {
		GO_REGISTERS(BY_NUMBER)
	}
	return 0;
}

/* Whether the transition of the site took place. */
static __always_inline bool site__passed(struct pt_regs *ctx, u64 cookie)
{
	u32 zero_flag = GT_COOKIE_ZERO_FLAG(cookie), reg = GT_COOKIE_NEW_REG(cookie);

	if (zero_flag && !GO_ZERO_FLAG(ctx) != (zero_flag == 1))
		return false;
	return !reg ||
	       ((u32)site__register(ctx, reg - 1) == GT_COOKIE_NEW(cookie) &&
		(u32)site__register(ctx, GT_COOKIE_OLD_REG(cookie) - 1) == GT_COOKIE_OLD(cookie));
}

/* The site's g or p; `plain` if the cookie names no register. False: no transition took place. */
static __always_inline bool site__object(struct pt_regs *ctx, u64 cookie, u64 plain, u64 *ret)
{
	u32 reg = GT_COOKIE_OBJECT(cookie);

	*ret = plain;
	if (!reg)
		return true;
	*ret = site__register(ctx, reg - 1);
	return site__passed(ctx, cookie);
}

/* The same for a program that needs the cookie only where functions were inlined. */
#define SITE_OBJECT(ctx, plain, ret)                                                               \
	(config.inlined_sites ? site__object(ctx, cookie__site(ctx), plain, ret) :                 \
				(*(ret) = (plain), true))

#endif
