// SPDX-License-Identifier: GPL-2.0
/*
 * Any memory of a process as goroutines that are parked, and their stacks, which may change while they
 * are read. If nothing changes, each stack is that of a second, simpler walk: whole, or none. Otherwise
 * each is within the limits. A walk makes at most STEPS_MAX steps per word read and goroutine.
 *
 * Input: struct memory_input, PARKED_GS goroutines, and more memory, whose last byte is the depth.
 */
#include "memory.h"
#include "parked.h"

#include <stddef.h>

#include "gotrace/record.h"
#include "lib/buf.h"
#include "target/arch/arch.h"
#include "target/process/parked.h"
#include "target/process/snapshot.h"

#define STEPS_MAX  (2 * GT_STACK_MAX)

#define AT(member) offsetof(struct parked_g, member)

static const struct layout layout = {
	.config = {
		.g_goid = AT(goid),
		.g_parent_goid = GT_NO_OFFSET,
		.g_sched = AT(sp),
		.gobuf_pc = 8,
		.gobuf_bp = 16,
		.g_status = AT(status),
		.g_waitreason = AT(reason),
	},
	.g_stack_lo = AT(lo),
	.g_stack_hi = AT(hi),
	.suspend_g_reasons = 2,
};

static struct process proc = { .pid = 7 };

static bool word_at(uint64_t addr, uint64_t *ret)
{
	if (!is_in(addr, 8, MEMORY, memory.size))
		return false;
	memcpy(ret, memory.bytes + (addr - MEMORY), 8);
	return true;
}

/* The number of PCs; 0: no stack. *ret_cut: there are more. */
static unsigned int walk(const struct parked_g *g, unsigned int depth, uint64_t *pc, bool *ret_cut)
{
	uint64_t fp = g->bp, low = g->sp, next;
	unsigned int n = 0;

	*ret_cut = false;
	pc[n++] = g->pc;
	while (fp) {
		if (n == depth) {
			*ret_cut = true;
			return n;
		}
		if (fp % 8 || fp < low || fp >= g->hi || g->hi - fp < 16 || !word_at(fp, &next) ||
		    !word_at(fp + 8, &pc[n]) || !pc[n] || pc[n] >= ARCH_USER_MAX)
			return 0;
		n++;
		low = fp + 16;
		fp = next;
	}
	return n;
}

/* The range that the reader takes in one piece may end behind the memory: then there is no stack. */
static void check(const struct parked *p, const struct parked_g *g, uint32_t place)
{
	const struct snapshot snap = { .stacks = p->words, .nstacks = p->n };
	uint64_t want[GT_STACK_MAX + 1];
	const uint64_t *pc;
	uint32_t depth;
	bool cut, want_cut;
	unsigned int n;

	if (!place)
		return;
	pc = snapshot__stack(&snap, &(struct snapshot_g){ .stack = place }, &depth, &cut);
	if (!pc || depth > p->depth || (cut && depth != p->depth))
		abort();
	for (uint32_t i = 0; i < depth; i++)
		if (!pc[i] || pc[i] >= ARCH_USER_MAX)
			abort();
	if (memory.in.after)
		return;
	n = walk(g, p->depth, want, &want_cut);
	if (n != depth || cut != want_cut || memcmp(pc, want, n * sizeof(*want)))
		abort();
}

static void read_all(unsigned int depth)
{
	struct parked p = { .depth = depth };
	uint64_t addr[PARKED_GS], parked_addr[PARKED_GS];
	struct go_g all[PARKED_GS], go[PARKED_GS];
	struct parked_g g[PARKED_GS];
	uint32_t place[PARKED_GS];
	size_t n = 0;

	for (unsigned int i = 0; i < PARKED_GS; i++)
		addr[i] = MEMORY + i * sizeof(struct parked_g);
	if (go_gs__read(&proc, &layout, addr, PARKED_GS, all))
		return;
	for (unsigned int i = 0; i < PARKED_GS; i++) {
		if (!parked__context(&layout, &all[i]))
			continue;
		memcpy(&g[n], memory.bytes + (addr[i] - MEMORY), sizeof(g[n]));
		parked_addr[n] = addr[i];
		go[n++] = all[i];
	}
	memory__count();
	parser_steps = 0;
	if (n && !parked__read(&p, &proc, &layout, parked_addr, go, n, place))
		for (size_t i = 0; i < n; i++)
			check(&p, &g[i], place[i]);
	if (parser_steps > STEPS_MAX * (memory.words + PARKED_GS))
		abort();
	parked__deinit(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t depth;

	if (!memory__begin(&data, &size))
		return 0;
	if (memory.size > PARKED_GS * sizeof(struct parked_g)) {
		depth = memory.bytes[memory.size - 1];
		read_all(1 + depth % GT_STACK_MAX);
	}
	memory__end();
	return 0;
}
