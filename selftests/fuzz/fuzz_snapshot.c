// SPDX-License-Identifier: GPL-2.0
/*
 * Any memory of a process as that of a Go runtime, which may change while it is read: snapshots,
 * slots of threads and the live checks. What a snapshot contains was filtered; a second one of
 * unchanged memory contains no goroutine. Each makes at most STEPS_MAX comparisons per word read.
 *
 * Input: struct memory_input, and the memory.
 */
#include "memory.h"
#include "runtime.h"

#include <stddef.h>
#include <time.h>

#include "lib/buf.h"
#include "target/process/slots.h"
#include "target/process/snapshot.h"
#include "target/process/snapshot_read.h"

#define STEPS_MAX	 20 /* more than the binary logarithm of MS_MAX, GS_CHECKED and PS_MAX */

#define AT(type, member) offsetof(struct type, member)

static const struct layout layout = {
	.config = {
		.g_m = AT(fuzz_g, m),
		.g_goid = AT(fuzz_g, goid),
		.g_startpc = AT(fuzz_g, startpc),
		.g_parent_goid = AT(fuzz_g, parent),
		.g_sched = AT(fuzz_g, sp),
		.gobuf_bp = 8,
		.g_waitreason = AT(fuzz_g, wait_reason),
		.m_curg = AT(fuzz_m, curg),
		.m_p = AT(fuzz_m, p),
		.m_oldp = AT(fuzz_m, oldp),
		.m_block_reason = AT(fuzz_m, block_reason),
		.m_skip = AT(fuzz_m, skip),
		.g_status = AT(fuzz_g, status),
		.p_id = AT(fuzz_p, id),
		.p_gc_mode = AT(fuzz_p, gc_mode),
	},
	.g_stack_lo = AT(fuzz_g, stack_lo),
	.g_stack_hi = AT(fuzz_g, stack_hi),
	.m_g0 = AT(fuzz_m, g0),
	.m_procid = AT(fuzz_m, procid),
	.m_alllink = AT(fuzz_m, alllink),
	.p_status = AT(fuzz_p, status),
	.p_m = AT(fuzz_p, m),
	.allglen = MEMORY + AT(fuzz_runtime, allglen),
	.allgptr = MEMORY + AT(fuzz_runtime, allgptr),
	.allp = MEMORY + AT(fuzz_runtime, allp),
	.allm = MEMORY + AT(fuzz_runtime, allm),
	.gomaxprocs = MEMORY + AT(fuzz_runtime, gomaxprocs),
};

static struct process proc = { .pid = FUZZ_PID };

uint32_t process__host_tid(const struct process *process, uint64_t nstid)
{
	return nstid < 64 ? (uint32_t)nstid : 0;
}

void process__begin_reading(const struct process *process)
{
}

/* The live checks wait between attempts. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	return 0;
}

static void begin(void)
{
	memory__count();
	parser_steps = 0;
}

static void check_steps(void)
{
	if (parser_steps > STEPS_MAX * memory.words)
		abort();
}

static void check(const struct snapshot *s)
{
	for (size_t i = 0; i < s->ng; i++)
		if (!s->g[i].goid || s->g[i].status == GS_IDLE || s->g[i].status == GS_DEAD ||
		    s->g[i].status == GS_DEADEXTRA || s->g[i].status & GS_SCAN ||
		    s->g[i].wait_reason > UINT8_MAX)
			abort();
	for (size_t i = 0; i < s->nm; i++)
		if (!s->m[i].tid || !s->m[i].addr)
			abort();
	if (s->ng > GS_MAX || s->nm > MS_MAX || s->np > PS_MAX)
		abort();
}

static void take_snapshots(void)
{
	struct snapshot first, second;

	begin();
	if (snapshot__read(&proc, &layout, NULL, &first))
		return;
	check_steps();
	check(&first);
	begin();
	if (!snapshot__read(&proc, &layout, &(struct snapshot_reading){ .before = &first },
			    &second)) {
		check_steps();
		check(&second);
		if (!memory.in.after && second.ng)
			abort();
		snapshot__deinit(&second);
	}
	snapshot__deinit(&first);
}

static void take_slots(void)
{
	struct thread_slot *slot;
	size_t n;

	begin();
	if (process__read_slots(&proc, &layout, &slot, &n))
		return;
	check_steps();
	for (size_t i = 0; i < n; i++)
		if (!slot[i].tid || !slot[i].slot.g)
			abort();
	free(slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {};

	if (!memory__begin(&data, &size))
		return 0;
	begin();
	if (process__check_layout(&proc, &layout, &error) && !error.text[0])
		abort();
	check_steps();
	take_slots();
	take_snapshots();
	memory__end();
	return 0;
}
