// SPDX-License-Identifier: GPL-2.0
/*
 * The stub of a site: what the patched instruction did, and a call of the handler.
 *
 * A jbe comes first: if the function goes to grow its stack, it begins again later, and is recorded
 * then. A call comes last, as a jump: the site's own call has pushed the return address. At both
 * places the flags are dead. The stub saves all registers that the handler may change.
 * Upstream: install.c. Downstream: trampoline_x86.c.
 */
#include <stdbool.h>
#include <string.h>

#include "inline/trampoline_x86.h"

/* The linker's names for the section. */
extern const unsigned char __start_trampoline[], __stop_trampoline[];

struct trampoline_code trampoline__code(void)
{
	return (struct trampoline_code){
		.bytes = __start_trampoline,
		.size = (size_t)(__stop_trampoline - __start_trampoline),
		.entry = (size_t)((const unsigned char *)trampoline__handler - __start_trampoline),
	};
}

struct code {
	unsigned char *bytes;
	uint64_t at;
	size_t n;
};

static void put(struct code *c, const void *bytes, size_t n)
{
	memcpy(c->bytes + c->n, bytes, n);
	c->n += n;
}

/* An instruction that ends with the 32-bit distance to an address. */
static void put_distance(struct code *c, const void *opcode, size_t n, uint64_t to)
{
	int32_t distance;

	put(c, opcode, n);
	distance = (int32_t)(to - (c->at + c->n + sizeof(distance)));
	put(c, &distance, sizeof(distance));
}

static uint64_t target_of(const struct gt_inline_site *site)
{
	int32_t distance;

	memcpy(&distance, site->was + site->size - sizeof(distance), sizeof(distance));
	return site->addr + site->size + (uint64_t)(int64_t)distance;
}

#define PUT(c, ...)                                                                                \
	put(c, (const unsigned char[]){ __VA_ARGS__ },                                             \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }))

void trampoline__stub(unsigned char *ret, const struct gt_inline *in, uint32_t index,
		      uint64_t handler)
{
	const struct gt_inline_site *site = &in->site[index];
	struct code c = { .bytes = ret, .at = site->stub };
	bool is_call = site->size == GT_INLINE_CALL;

	memset(ret, 0xcc, GT_INLINE_STUB);
	if (!is_call)
		put_distance(&c, "\x0f\x86", 2, target_of(site)); /* jbe */
	PUT(&c, 0x50, 0x53, 0x51, 0x52, 0x56, 0x57); /* push rax, rbx, rcx, rdx, rsi, rdi */
	PUT(&c, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53); /* push r8, r9, r10, r11 */
	put_distance(&c, "\x48\x8d\x3d", 3, in->code);		 /* lea rdi, [control] */
	PUT(&c, 0x48, 0x89, 0xe6);				 /* mov rsi, rsp */
	PUT(&c, 0xba);						 /* mov edx, index */
	put(&c, &index, sizeof(index));
	PUT(&c, 0x4c, 0x89, 0xf1);				 /* mov rcx, r14 */
	put_distance(&c, "\xe8", 1, handler);			 /* call */
	PUT(&c, 0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58); /* pop r11, r10, r9, r8 */
	PUT(&c, 0x5f, 0x5e, 0x5a, 0x59, 0x5b, 0x58); /* pop rdi, rsi, rdx, rcx, rbx, rax */
	put_distance(&c, "\xe9", 1, is_call ? target_of(site) : site->addr + site->size); /* jmp */
}

void trampoline__patch(const struct gt_inline_site *site, unsigned char *ret)
{
	struct code c = { .bytes = ret, .at = site->addr };

	memcpy(ret, site->was, site->size);
	put_distance(&c, site->size == GT_INLINE_CALL ? "\xe8" : "\xe9", 1, site->stub);
}
