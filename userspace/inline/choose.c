// SPDX-License-Identifier: GPL-2.0
/*
 * The sites that can be inline, and the reasons to refuse a process: see choose.h.
 *
 * Some probes are on a call instruction, which can call a stub instead. The others are on functions'
 * entries.
 * A function of Go compares its stack pointer with g.stackguard0 and jumps to its end, which grows
 * the stack, if the stack is too small: in larger functions by a jbe of 6 bytes. The uprobe of the
 * same event is on the instruction behind it. No thread can stand inside of one instruction, so
 * that it can be replaced at any time.
 */
#include "inline/choose.h"
#include "target/arch/arch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parks and ends are derived from uprobes at execute(): if one of these is inline, all must be. */
static const enum gt_probe together[] = { GT_PROBE_EXECUTE, GT_PROBE_PARK, GT_PROBE_DESTROY };

#define PROBES                                                                                     \
	(1ull << GT_PROBE_EXECUTE | 1ull << GT_PROBE_PARK | 1ull << GT_PROBE_READY |               \
	 1ull << GT_PROBE_CAS_RUNNABLE | 1ull << GT_PROBE_CREATE | 1ull << GT_PROBE_DESTROY)
_Static_assert(GT_PROBE_COUNT <= 64, "a bit for each probe");

#define MINOR_FIRST 22
#define MINOR_LAST  26

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
	if (!(PROBES >> site->probe & 1))
		return false;
	return by_call ? is_call(site, elf, ret) : is_jump(site, elf, ret);
}

static bool is_needed(enum gt_probe probe)
{
	for (size_t i = 0; i < sizeof(together) / sizeof(*together); i++)
		if (together[i] == probe)
			return true;
	return false;
}

static int refuse_site(const struct site *site, struct error *error)
{
	return error__set(
		error, -ENOTSUP,
		"%s cannot have an inline probe in this program: it does not begin with a "
		"stack check that has a long jump; record with --probes=uprobe",
		site->func);
}

int inline_sites__choose(const struct site_list *sites, const struct elf_image *elf,
			 const struct layout *layout, struct gt_inline *ret, uint64_t *ret_probes,
			 struct error *error)
{
	const struct go_version *v = &layout->version;
	uint64_t without = 0;

	*ret_probes = 0;
	ret->nsites = 0;
	if (v->minor < MINOR_FIRST || v->minor > MINOR_LAST)
		return error__set(
			error, -ENOTSUP,
			"inline probes are for Go 1.%d to 1.%d, and the program is of %s; "
			"record with --probes=uprobe",
			MINOR_FIRST, MINOR_LAST, v->text);
	for (size_t i = 0; i < sites->n; i++) {
		const struct site *site = &sites->site[i];

		if (!(PROBES >> site->probe & 1))
			continue;
		if (ret->nsites < GT_INLINE_SITES &&
		    inline_site__fits(site, elf, &ret->site[ret->nsites])) {
			*ret_probes |= 1ull << site->probe;
			ret->nsites++;
		} else if (is_needed(site->probe)) {
			return refuse_site(site, error);
		} else {
			without |= 1ull << site->probe;
		}
	}
	*ret_probes &= ~without;
	for (size_t i = 0; i < ret->nsites;) {
		if (*ret_probes >> ret->site[i].probe & 1)
			i++;
		else
			ret->site[i] = ret->site[--ret->nsites];
	}
	for (size_t i = 0; i < sizeof(together) / sizeof(*together); i++)
		if (!(*ret_probes >> together[i] & 1))
			return error__set(error, -ENOTSUP,
					  "the program has no place for an inline probe of %s; "
					  "record with --probes=uprobe",
					  site__probe_name(together[i]));
	return 0;
}

/* ---- the process ---- */

static long status_number(const struct process *proc, const char *key)
{
	char text[64];

	return process__status(proc->pid, "status", key, text, sizeof(text)) ? atol(text) : 0;
}

int inline_process__check(const struct process *proc, struct error *error)
{
	char features[128] = "";
	long tracer = status_number(proc, "TracerPid");

	if (tracer)
		return error__set(error, -EBUSY,
				  "process %d is traced by process %ld: inline probes need ptrace; "
				  "end that tracer, or record with --probes=uprobe",
				  proc->pid, tracer);
	process__status(proc->pid, "status", "x86_Thread_features", features, sizeof(features));
	if (strstr(features, "shstk"))
		return error__set(
			error, -ENOTSUP,
			"process %d has a shadow stack, which inline probes do not support; "
			"record with --probes=uprobe",
			proc->pid);
	return 0;
}
