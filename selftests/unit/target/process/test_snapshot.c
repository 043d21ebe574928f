// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of snapshots and live checks on a synthetic runtime in this program's own memory:
 * goroutines, an M and Ps whose members can have any value.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "unit/test.h"
#include "target/process/process.h"
#include "target/process/snapshot.h"
#include "target/process/snapshot_read.h"
#include "target/process/slots.h"

#define GS     4
#define PS     2
#define STACKS 0x10000ull /* where the stacks lie: nothing is read there */

struct fake_g {
	uint64_t stack_lo, stack_hi, m, goid, startpc, parent, sp, bp;
	uint32_t status;
	uint8_t wait_reason;
	uint64_t end;
};

struct fake_m {
	uint64_t g0, procid, curg, p, oldp, alllink, skip;
	uint8_t block_reason;
	uint64_t end;
};

struct fake_p {
	uint64_t m, gc_mode;
	uint32_t id, status;
	uint64_t end;
};

static struct runtime {
	uint64_t allglen, allgptr, allp[3], allm;
	uint32_t gomaxprocs;
	uint64_t gs[GS], ps[PS];
	struct fake_g g[GS], g0;
	struct fake_m m;
	struct fake_p p[PS];
} rt;

static struct process self;

#define ADDR(x) ((uint64_t)(uintptr_t)&(x))

static const struct layout layout = {
	.config = {
		.g_m = offsetof(struct fake_g, m),
		.g_goid = offsetof(struct fake_g, goid),
		.g_startpc = offsetof(struct fake_g, startpc),
		.g_parent_goid = offsetof(struct fake_g, parent),
		.g_sched = offsetof(struct fake_g, sp),
		.gobuf_bp = 8,
		.g_waitreason = offsetof(struct fake_g, wait_reason),
		.m_curg = offsetof(struct fake_m, curg),
		.m_p = offsetof(struct fake_m, p),
		.m_oldp = offsetof(struct fake_m, oldp),
		.m_block_reason = offsetof(struct fake_m, block_reason),
		.m_skip = offsetof(struct fake_m, skip),
		.g_status = offsetof(struct fake_g, status),
		.p_id = offsetof(struct fake_p, id),
		.p_gc_mode = offsetof(struct fake_p, gc_mode),
	},
	.g_stack_lo = offsetof(struct fake_g, stack_lo),
	.g_stack_hi = offsetof(struct fake_g, stack_hi),
	.m_g0 = offsetof(struct fake_m, g0),
	.m_procid = offsetof(struct fake_m, procid),
	.m_alllink = offsetof(struct fake_m, alllink),
	.p_status = offsetof(struct fake_p, status),
	.p_m = offsetof(struct fake_p, m),
};

/* Goroutine 1 runs on the M with P 0; 2 and 3 wait, 3 without a frame pointer; 4 has ended. */
static struct layout begin(void)
{
	static const uint32_t status[GS] = { GS_RUNNING, GS_WAITING, GS_WAITING, GS_DEAD };
	struct layout l = layout;

	memset(&rt, 0, sizeof(rt));
	for (unsigned int i = 0; i < GS; i++) {
		rt.gs[i] = ADDR(rt.g[i]);
		rt.g[i] = (struct fake_g){
			.stack_lo = STACKS + 0x1000 * i,
			.stack_hi = STACKS + 0x1000 * (i + 1),
			.goid = i + 1,
			.startpc = 0x400000 + i,
			.parent = i,
			.status = status[i],
			.sp = STACKS + 0x1000 * i + 0x100,
		};
	}
	rt.g[0].m = ADDR(rt.m);
	rt.g[1].wait_reason = 9;
	rt.g[1].bp = rt.g[1].sp + 0x10;
	rt.g0 = (struct fake_g){ .stack_lo = 0x1000, .stack_hi = 0x2000, .m = ADDR(rt.m) };
	rt.m = (struct fake_m){ .g0 = ADDR(rt.g0),
				.procid = (uint64_t)getpid(),
				.curg = ADDR(rt.g[0]),
				.p = ADDR(rt.p[0]),
				.oldp = ADDR(rt.p[1]) };
	for (uint32_t i = 0; i < PS; i++) {
		rt.ps[i] = ADDR(rt.p[i]);
		rt.p[i] = (struct fake_p){ .id = i, .status = i ? 0 : 1 };
	}
	rt.p[0].m = ADDR(rt.m);
	rt.allglen = GS;
	rt.allgptr = ADDR(rt.gs);
	rt.allp[0] = ADDR(rt.ps);
	rt.allp[1] = rt.allp[2] = rt.gomaxprocs = PS;
	rt.allm = ADDR(rt.m);
	l.allglen = ADDR(rt.allglen);
	l.allgptr = ADDR(rt.allgptr);
	l.allp = ADDR(rt.allp);
	l.allm = ADDR(rt.allm);
	l.gomaxprocs = ADDR(rt.gomaxprocs);
	return l;
}

TEST(all_is_in_it)
{
	const struct layout l = begin();
	struct snapshot snap;

	rt.g[0].status |= 0x1000; /* the garbage collector scans its stack */
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), 0);
	assert_int_equal(snap.procs, PS);
	assert_int_equal(snap.ng, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(snap.g[i].addr, rt.gs[i]);
		assert_int_equal(snap.g[i].goid, i + 1);
		assert_int_equal(snap.g[i].m, rt.g[i].m);
		assert_int_equal(snap.g[i].startpc, 0x400000 + i);
		assert_int_equal(snap.g[i].parent, i);
		assert_int_equal(snap.g[i].status, i ? GS_WAITING : GS_RUNNING);
		assert_int_equal(snap.g[i].wait_reason, i == 1 ? 9 : 0);
	}
	assert_int_equal(snap.nm, 1);
	assert_int_equal(snap.m[0].addr, ADDR(rt.m));
	assert_int_equal(snap.m[0].curg, rt.m.curg);
	assert_int_equal(snap.m[0].p, rt.m.p);
	assert_int_equal(snap.m[0].oldp, rt.m.oldp);
	assert_int_equal(snap.m[0].tid, getpid());
	assert_int_equal(snap.np, PS);
	for (unsigned int i = 0; i < PS; i++) {
		assert_int_equal(snap.p[i].addr, rt.ps[i]);
		assert_int_equal(snap.p[i].m, rt.p[i].m);
		assert_int_equal(snap.p[i].id, i);
		assert_int_equal(snap.p[i].status, rt.p[i].status);
	}
	snapshot__deinit(&snap);
	assert_null(snap.g);
	assert_int_equal(snap.ng + snap.nm + snap.np, 0);
}

/* No goroutine, M or P is there, or not yet: what is left is read nevertheless. */
TEST(what_is_not_there)
{
	struct layout l = begin();
	struct snapshot snap;

	rt.g[0].goid = 0;
	rt.g[1].status = GS_IDLE;
	rt.g[2].status = GS_DEADEXTRA;
	rt.g[3].status = GS_LEAKED;
	rt.m.procid = 0;
	rt.ps[0] = 0;
	rt.ps[1] = 8;
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), 0);
	assert_int_equal(snap.ng, 1);
	assert_int_equal(snap.g[0].goid, 4);
	assert_int_equal(snap.nm + snap.np, 0);
	snapshot__deinit(&snap);
	rt.gs[3] = 8; /* unreadable */
	rt.m.alllink = 8;
	rt.m.procid = (uint64_t)getpid();
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), 0);
	assert_int_equal(snap.ng, 0);
	assert_int_equal(snap.nm, 1);
	snapshot__deinit(&snap);
	rt.allglen = 0;
	rt.allgptr = 8; /* nothing is read from there */
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), 0);
	snapshot__deinit(&snap);
}

/* The goroutine of each thread; none if the M has no thread or no goroutine, or is unreadable. */
TEST(slots)
{
	struct layout l = begin();
	struct thread_slot *slot;
	size_t n;

	assert_int_equal(process__read_slots(&self, &l, &slot, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(slot->tid, getpid());
	assert_int_equal(slot->slot.g0, ADDR(rt.g0));
	assert_int_equal(slot->slot.m, ADDR(rt.m));
	assert_int_equal(slot->slot.g, ADDR(rt.g[0]));
	assert_int_equal(slot->slot.goid, 1);
	free(slot);
	rt.m.curg = 8;
	rt.m.alllink = 8;
	assert_int_equal(process__read_slots(&self, &l, &slot, &n), 0);
	assert_int_equal(n, 0);
	free(slot);
	rt.m.curg = 0;
	rt.m.alllink = 0;
	assert_int_equal(process__read_slots(&self, &l, &slot, &n), 0);
	assert_int_equal(n, 0);
	free(slot);
	rt.m.curg = ADDR(rt.g[0]);
	rt.m.procid = 0;
	assert_int_equal(process__read_slots(&self, &l, &slot, &n), 0);
	assert_int_equal(n, 0);
	free(slot);
	l.allm = 8;
	assert_int_equal(process__read_slots(&self, &l, &slot, &n), -EFAULT);
}

/* The second one has what changed, and what came. */
TEST(changes_only)
{
	struct layout l = begin();
	struct snapshot first, second;
	struct snapshot_reading how = { .before = &first };

	assert_int_equal(snapshot__read(&self, &l, NULL, &first), 0);
	rt.g[1].status = GS_RUNNABLE;
	rt.g[3].status = GS_WAITING;
	assert_int_equal(snapshot__read(&self, &l, &how, &second), 0);
	assert_int_equal(second.ng, 2);
	assert_int_equal(second.g[0].goid, 2);
	assert_int_equal(second.g[0].status, GS_RUNNABLE);
	assert_int_equal(second.g[1].goid, 4);
	assert_true(second.time >= first.time_end && first.time_end >= first.time);
	snapshot__deinit(&second);
	rt.g[1].status = GS_WAITING;
	rt.g[3].status = GS_DEAD;
	assert_int_equal(snapshot__read(&self, &l, &how, &second), 0);
	assert_int_equal(second.ng, 0);
	snapshot__deinit(&second);
	snapshot__deinit(&first);
}

/* They are read a thousand at a time. */
TEST(more_than_a_batch)
{
	enum { MANY = 2 * 1024 + 1 };
	static struct fake_g g[MANY];
	static uint64_t gs[MANY];
	struct layout l = begin();
	struct snapshot first, second;
	struct snapshot_reading how = { .before = &first };
	struct error err = { "" };

	for (size_t i = 0; i < MANY; i++) {
		gs[i] = ADDR(g[i]);
		g[i] = (struct fake_g){ .stack_lo = STACKS,
					.stack_hi = STACKS + 1,
					.goid = i + 1,
					.sp = STACKS,
					.startpc = 1,
					.status = GS_WAITING };
	}
	g[1].status = GS_DEAD; /* one that is left out: places in list and snapshot differ */
	rt.allgptr = ADDR(gs);
	rt.allglen = MANY;
	rt.m.curg = 0;
	assert_int_equal(snapshot__read(&self, &l, NULL, &first), 0);
	assert_int_equal(first.ng, MANY - 1);
	assert_int_equal(first.g[0].goid, 1);
	for (size_t i = 1; i < MANY - 1; i++) {
		assert_int_equal(first.g[i].addr, gs[i + 1]);
		assert_int_equal(first.g[i].goid, i + 2);
	}
	g[1023].status = g[1024].status = g[2048].status = GS_RUNNABLE;
	assert_int_equal(snapshot__read(&self, &l, &how, &second), 0);
	assert_int_equal(second.ng, 3);
	assert_int_equal(second.g[0].goid, 1024);
	assert_int_equal(second.g[1].goid, 1025);
	assert_int_equal(second.g[2].goid, 2049);
	snapshot__deinit(&second);
	snapshot__deinit(&first);
	assert_int_equal(process__check_layout(&self, &l, &err), 0);
	g[2048].goid = 1;
	assert_int_equal(process__check_layout(&self, &l, &err), -EPROTO);
	assert_non_null(strstr(err.text, "two goroutines have the id 1"));
}

/* Invalid lengths are rejected before memory is allocated, and reported to the caller. */
TEST(lists_too_long)
{
	const struct layout l = begin();
	struct error err = { "" };
	struct snapshot snap;
	uint64_t *addr = NULL;
	size_t n = 0;
	void *zeros = mmap(NULL, (size_t)GS_MAX * 8, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(zeros, MAP_FAILED);
	rt.allgptr = (uintptr_t)zeros;
	rt.allglen = GS_MAX;
	assert_int_equal(go_gs__addresses(&self, &l, &addr, &n), 0);
	assert_int_equal(n, GS_MAX);
	free(addr);
	rt.allglen++;
	assert_int_equal(go_gs__addresses(&self, &l, &addr, &n), -EPROTO);
	assert_int_equal(n, GS_MAX + 1);
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), -EPROTO);
	assert_int_equal(process__check_layout(&self, &l, &err), -EPROTO);
	assert_non_null(strstr(err.text, "has 16777217 entries"));
	rt.allglen = 1;
	rt.allp[1] = rt.allp[2] = PS_MAX;
	rt.allp[0] = (uintptr_t)zeros;
	assert_int_equal(go_ps__addresses(&self, &l, &addr, &n), 0);
	assert_int_equal(n, PS_MAX);
	free(addr);
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), 0);
	snapshot__deinit(&snap);
	rt.allp[1] = ++rt.allp[2];
	assert_int_equal(go_ps__addresses(&self, &l, &addr, &n), -EPROTO);
	assert_int_equal(snapshot__read(&self, &l, NULL, &snap), -EPROTO);
	rt.allp[1] = 0;
	assert_int_equal(go_ps__addresses(&self, &l, &addr, &n), -EPROTO);
	rt.allp[1] = 3;
	rt.allp[2] = 2;
	assert_int_equal(go_ps__addresses(&self, &l, &addr, &n), -EPROTO);
	munmap(zeros, (size_t)GS_MAX * 8);
}

/* Structs of more than 16 KiB are none of Go's. */
TEST(structs_too_large)
{
	struct layout l = begin();
	static unsigned char large[16 << 10];
	uint64_t addr = (uintptr_t)large;
	struct go_g g;
	struct go_m m;
	struct go_p p;

	l.g_stack_hi = l.m_procid = l.p_m = sizeof(large) - 8;
	assert_int_equal(go_gs__read(&self, &l, &addr, 1, &g), 0);
	assert_true(g.ok);
	assert_int_equal(go_m__read(&self, &l, addr, &m), 0);
	assert_int_equal(go_p__read(&self, &l, addr, &p), 0);
	l.g_stack_hi = ++l.m_procid;
	l.p_m++;
	assert_int_equal(go_gs__read(&self, &l, &addr, 1, &g), -EPROTO);
	assert_int_equal(go_m__read(&self, &l, addr, &m), -EPROTO);
	assert_int_equal(go_p__read(&self, &l, addr, &p), -EPROTO);
}

#ifndef __SANITIZE_ADDRESS__ /* which needs more address space than there is */
/* There is no memory for the list of all goroutines. */
TEST(no_memory)
{
	const struct layout l = begin();
	struct rlimit all, little;
	unsigned long pages;
	uint64_t *list;
	size_t n;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_int_equal(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	getrlimit(RLIMIT_AS, &all);
	little = all;
	little.rlim_cur = pages * 4096 + (64u << 20);
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	rt.allglen = GS_MAX;
	assert_int_equal(go_gs__addresses(&self, &l, &list, &n), -ENOMEM);
	assert_int_equal(setrlimit(RLIMIT_AS, &all), 0);
}
#endif

/* ---- live checks ---- */

static int checked(const struct layout *l, struct error *err)
{
	err->text[0] = 0;
	return process__check_layout(&self, l, err);
}

/* What one member may be, and what it may not. */
TEST(members_in_bounds)
{
	const uint64_t lo = STACKS + 0x1000, hi = STACKS + 0x2000, user = 1ull << 47;
	const struct {
		void *member;
		size_t size;
		uint64_t good, bad;
		const char *why;
	} cases[] = {
#define CASE(member, good, bad, why) { &rt.member, sizeof(rt.member), good, bad, why }
		CASE(m.block_reason, 63, 64, "block reason 64"),
		CASE(m.skip, 63, 64, "skip count 64"),
		CASE(m.p, ADDR(rt.p[0]), ADDR(rt.p[0]) + 8, "has a p at"),
		CASE(m.oldp, 0, ADDR(rt.p[0]) + 8, "had one at"),
		CASE(m.curg, 0, ADDR(rt.g[1]), "m.curg.m"),
		CASE(m.g0, ADDR(rt.g0), ADDR(rt.g[1]), "m.g0.m"),
		CASE(m.procid, (uint64_t)getpid(), 1ull << 40, "which is not a thread"),
		CASE(m.alllink, 0, 8, "no m is readable"),
		CASE(g0.stack_lo, 0x1fff, 0x2000, "has a stack"),
		CASE(g0.stack_hi, 0x1000 + (4ull << 30), 0x1001 + (4ull << 30), "has a stack"),
		CASE(p[1].id, 1, 0, "p 1 has id 0"),
		CASE(p[1].status, 4, 5, "status 5"),
		CASE(p[1].gc_mode, 3, 4, "worker mode 4"),
		CASE(p[1].m, ADDR(rt.m), ADDR(rt.m) + 8, "which is not in the list"),
		CASE(p[0].m, ADDR(rt.m), 0, "m.p.m"),
		CASE(gomaxprocs, 1, 0, "list of ps"),
		CASE(gomaxprocs, 2, 3, "list of ps"),
		CASE(allp[0], ADDR(rt.ps), 8, "list of ps"),
		CASE(allm, ADDR(rt.m), 0, "list of ms"),
		CASE(allglen, 2, 0, "list of goroutines"),
		CASE(allgptr, ADDR(rt.gs), 8, "list of goroutines"),
		CASE(g[3].status, GS_DEADEXTRA, 12, "status 12"),
		CASE(g[3].status, GS_COPYSTACK, 7, "status 7"),
		CASE(g[3].status, GS_WAITING, 5, "status 5"),
		CASE(g[1].wait_reason, 63, 64, "the goroutine at"),
		CASE(g[1].sp, lo, lo - 1, "the goroutine at"),
		CASE(g[1].sp, hi, hi + 1, "the goroutine at"),
		CASE(g[1].goid, 7, 0, "the goroutine at"),
		CASE(g[1].goid, user - 1, user, "the goroutine at"),
		CASE(g[1].parent, user - 1, user, "the goroutine at"),
		CASE(g[1].startpc, user - 1, user, "the goroutine at"),
		CASE(g[1].goid, 4, 3, "two goroutines have the id 3"),
		CASE(g[1].bp, lo, lo - 1, "1 of 1 frame pointers"),
		CASE(g[1].bp, hi, hi + 1, "1 of 1 frame pointers"),
#undef CASE
	};
	struct error err;
	struct layout l;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		l = begin();
		rt.g[3].goid = 40; /* so that 4 is free */
		memcpy(cases[i].member, &cases[i].good, cases[i].size);
		if (checked(&l, &err))
			fail_msg("case %zu: %s", i, err.text);
		memcpy(cases[i].member, &cases[i].bad, cases[i].size);
		assert_int_equal(checked(&l, &err), -EPROTO);
		if (!strstr(err.text, cases[i].why))
			fail_msg("case %zu, not \"%s\": %s", i, cases[i].why, err.text);
	}
}

/* With musl, or without a limit of its size, a stack begins anywhere below the stack pointer. */
TEST(stack_of_g0_without_a_lower_bound)
{
	const uint64_t hi = 0x7ffe00000000, most = 4ull << 30;
	const struct {
		uint64_t lo, sp, hi;
		bool good;
	} cases[] = {
		{ 0x3d8, hi - 8, hi, true },
		{ 0, hi - 8, hi, true },
		{ 0x3d8, hi - most, hi, true },
		{ 0x3d8, hi - most - 1, hi, false },
		{ 0x3d8, hi, hi, false },
		{ 0x3d8, hi + 1, hi, false },
		{ 0x3d8, 0x3d8, hi, false },
		{ 0x3d8, 0, hi, false },
		{ hi - most - 1, hi - 8, hi, true },
		{ hi + 1, hi - 8, hi, false },
		{ hi - most - 1, hi, hi, false },
		{ hi - most, 0, hi, true },
		{ 0x3d8, 0x3d7, 1ull << 33, false },
	};
	struct error err;
	struct layout l;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		l = begin();
		rt.g0.stack_lo = cases[i].lo;
		rt.g0.stack_hi = cases[i].hi;
		rt.g0.sp = cases[i].sp;
		if (checked(&l, &err) != (cases[i].good ? 0 : -EPROTO))
			fail_msg("case %zu: %s", i, err.text);
		assert_true(cases[i].good || strstr(err.text, "has a stack"));
	}
}

/* C code may use the frame pointer freely: an error only if most are outside of their stacks. */
TEST(half_of_the_frame_pointers)
{
	struct layout l = begin();
	struct error err;

	rt.g[2].bp = 1;
	assert_int_equal(checked(&l, &err), 0); /* 1 of 2 */
	rt.g[0].bp = 1;
	assert_int_equal(checked(&l, &err), 0); /* what runs has another one by now */
	rt.g[3].status = GS_WAITING;
	rt.g[3].bp = 1;
	assert_int_equal(checked(&l, &err), -EPROTO);
	assert_non_null(strstr(err.text, "2 of 3 frame pointers"));
}

/* Those of callbacks from C alone have no start function. */
TEST(start_functions)
{
	struct layout l = begin();
	struct error err;

	rt.g[1].startpc = 0;
	assert_int_equal(checked(&l, &err), 0);
	rt.g[2].startpc = 0;
	assert_int_equal(checked(&l, &err), -EPROTO);
	assert_non_null(strstr(err.text, "none of 2 goroutines"));
	rt.g[1].status = rt.g[2].status = GS_RUNNABLE;
	assert_int_equal(checked(&l, &err), 0);
}

/* An ended G has no stack; an M without P whose last G ended waits for a thread of C. */
TEST(ended_ones)
{
	struct fake_m spare = { .procid = 1ull << 40, .curg = ADDR(rt.g[3]) };
	struct layout l = begin();
	struct error err;

	rt.g[3].stack_lo = rt.g[3].stack_hi = 0;
	rt.m.alllink = ADDR(spare);
	assert_int_equal(checked(&l, &err), 0);
	rt.g[3].stack_hi = 1;
	assert_int_equal(checked(&l, &err), 0);
	rt.g[3].stack_lo = 1;
	assert_int_equal(checked(&l, &err), -EPROTO);
	rt.g[3].stack_lo = rt.g[3].stack_hi = 0;
	spare.p = ADDR(rt.p[1]);
	assert_int_equal(checked(&l, &err), -EPROTO);
	spare.p = 0;
	rt.g[3].status = GS_RUNNABLE;
	assert_int_equal(checked(&l, &err), -EPROTO);
	spare.curg = 0;
	assert_int_equal(checked(&l, &err), -EPROTO);
}

/*
 * The longest lists that are accepted, in an order other than that of their addresses: each m and p
 * is looked up in them. The time shows if that is not a binary search: 3.7 s instead of 0.5 s.
 */
TEST(longest_lists)
{
	static struct fake_m m[MS_MAX - 2];
	static uint64_t ps[PS_MAX];
	struct layout l = begin();
	clock_t began = clock();
	struct error err;

	for (size_t i = 0; i + 1 < MS_MAX - 2; i++)
		m[i + 1].alllink = ADDR(m[i]);
	for (size_t i = 0; i < PS_MAX; i++)
		ps[i] = ADDR(rt.p[i ? 0 : 1]);
	rt.p[1] = (struct fake_p){ .id = 0, .m = ADDR(m[0]) };
	rt.p[0].m = ADDR(m[1]);
	rt.m.alllink = ADDR(m[MS_MAX - 3]);
	rt.m.p = 0;
	rt.allp[0] = ADDR(ps);
	rt.allp[1] = rt.allp[2] = PS_MAX;
	rt.gomaxprocs = 1;
	assert_int_equal(checked(&l, &err), 0);
	print_message("%.2f s\n", (double)(clock() - began) / CLOCKS_PER_SEC);
	rt.p[0].m = ADDR(m[1]) + 1;
	assert_int_equal(checked(&l, &err), -EPROTO);
	assert_non_null(strstr(err.text, "which is not in the list of ms"));
}

static int open_self(void **state)
{
	return process__open(&self, getpid(), NULL);
}

static void close_self(void)
{
	process__deinit(&self);
}

GROUP(open_self, close_self)
