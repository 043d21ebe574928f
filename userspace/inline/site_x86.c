// SPDX-License-Identifier: GPL-2.0
/*
 * The instruction that an inline probe replaces: see choose.h.
 *
 * Some probes are on a call instruction, which can call a stub instead. The others are on functions'
 * entries. A function of Go compares its stack pointer with g.stackguard0 and jumps to its end, which
 * grows the stack, if the stack is too small: in larger functions by a jbe of 6 bytes. The uprobe of
 * the same event is on the instruction behind it. No thread can stand inside of one instruction, so
 * it can be replaced at any time.
 */
#include <string.h>

#include "inline/choose.h"
#include "target/arch/arch.h"

/* cmp rsp, [r14+0x10]; jbe rel32 */
static const unsigned char small_frame[] = { 0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86 };
/* lea r12, [rsp+disp8 or disp32]; cmp r12, [r14+0x10]; jbe rel32 */
static const unsigned char large_frame[] = { 0x4d, 0x3b, 0x66, 0x10, 0x0f, 0x86 };

/* The offset of the jbe in the code of a function; 0: it does not begin like that. */
static size_t jump_of(const unsigned char *code)
{
	static const unsigned char lea[] = { 0x4c, 0x8d, 0x64, 0x24 };
	static const unsigned char far_lea[] = { 0x4c, 0x8d, 0xa4, 0x24 };
	size_t n = sizeof(small_frame) - 2;

	if (!memcmp(code, small_frame, sizeof(small_frame)))
		return n;
	if (!memcmp(code, lea, sizeof(lea)) && !memcmp(code + 5, large_frame, sizeof(large_frame)))
		return 5 + n;
	if (!memcmp(code, far_lea, sizeof(far_lea)) &&
	    !memcmp(code + 8, large_frame, sizeof(large_frame)))
		return 8 + n;
	return 0;
}

static bool is_jump(const struct site *site, const struct elf_image *elf,
		    struct gt_inline_site *ret)
{
	uint64_t entry = site->addr - site->func_offset;
	unsigned char code[24];
	size_t jump;

	if (site->cookie || elf_image__read(elf, entry, code, sizeof(code)) != sizeof(code))
		return false;
	jump = jump_of(code);
	if (!jump || site->func_offset != jump + GT_INLINE_JUMP)
		return false;
	ret->addr = entry + jump;
	ret->size = GT_INLINE_JUMP;
	memcpy(ret->was, code + jump, GT_INLINE_JUMP);
	return true;
}

/* A call whose arguments are where its callee expects them. */
static bool is_call(const struct site *site, const struct elf_image *elf,
		    struct gt_inline_site *ret)
{
	uint64_t plain = site->cookie & 0xff, old = GT_COOKIE_OLD(site->cookie),
		 new = GT_COOKIE_NEW(site->cookie);

	if (elf_image__read(elf, site->addr, ret->was, GT_INLINE_CALL) != GT_INLINE_CALL ||
	    ret->was[0] != 0xe8)
		return false;
	ret->addr = site->addr;
	ret->size = GT_INLINE_CALL;
	return site->cookie == plain || (site->probe == GT_PROBE_CAS_RUNNABLE &&
					 site->cookie == (GT_SITE_CALL(old, new) | plain));
}

bool inline_site__fits(const struct site *site, const struct elf_image *elf,
		       struct gt_inline_site *ret)
{
	bool by_call = site->probe == GT_PROBE_CAS_RUNNABLE || site->probe == GT_PROBE_CREATE;

	*ret = (struct gt_inline_site){ .probe = (gt_u8)site->probe, .cookie = site->cookie };
	return by_call ? is_call(site, elf, ret) : is_jump(site, elf, ret);
}
