// SPDX-License-Identifier: GPL-2.0
/*
 * The handler and the stubs of inline probes, run in this process with made-up goroutines: registers
 * survive, each event's record has what the runtime's memory contains, full rings drop and count.
 */
#include <sys/mman.h>

#include "unit/test.h"
#include "inline/areas.h"
#include "inline/trampoline.h"
#include "target/arch/arch.h"

#define SITE_AT 12288 /* of the made-up function in the area of code */
#define STACK	512   /* words of a goroutine's stack */

/* With the offsets that fill_config() states. */
struct fake_m {
	uint64_t procid, curg, p;
	uint8_t block_reason, pad[7];
	uint64_t skip;
};

struct fake_g {
	uint64_t lo, hi, guard0, guard1;
	struct fake_m *m;
	uint64_t goid, sp, pc, bp, startpc, parent;
	uint8_t wait_reason, sync_safe;
};

static struct {
	unsigned char *code;
	struct gt_inline *in;
	char *rings;
	uint64_t flag;
	struct fake_m m;
	struct fake_g g0, g, other;
	uint64_t stack[STACK];
	struct gt_inline_ring *ring;
} f;

static void fill_config(struct gt_config *c)
{
	*c = (struct gt_config){
		.stack_depth = GT_STACK_MAX,
		.g_m = offsetof(struct fake_g, m),
		.g_goid = offsetof(struct fake_g, goid),
		.g_sched = offsetof(struct fake_g, sp),
		.gobuf_sp = 0,
		.gobuf_pc = 8,
		.gobuf_bp = 16,
		.g_waitreason = offsetof(struct fake_g, wait_reason),
		.g_startpc = offsetof(struct fake_g, startpc),
		.g_parent_goid = offsetof(struct fake_g, parent),
		.g_sync_safe_point = offsetof(struct fake_g, sync_safe),
		.m_curg = offsetof(struct fake_m, curg),
		.m_p = offsetof(struct fake_m, p),
		.m_block_reason = offsetof(struct fake_m, block_reason),
		.m_skip = offsetof(struct fake_m, skip),
	};
}

/* A stack of `depth` frames; PCs are 1000 + their number. */
static void fill_stack(struct fake_g *g, unsigned int depth)
{
	g->lo = (uint64_t)f.stack;
	g->hi = (uint64_t)(f.stack + STACK);
	g->pc = 1000;
	g->bp = depth > 1 ? (uint64_t)&f.stack[4] : 0;
	for (unsigned int i = 1; i < depth; i++) {
		f.stack[4 * i] = i + 1 < depth ? (uint64_t)&f.stack[4 * (i + 1)] : 0;
		f.stack[4 * i + 1] = 1000 + i;
	}
}

static void set_up(void)
{
	const struct trampoline_code code = trampoline__code();

	memset(&f, 0, sizeof(f));
	f.code = mmap(NULL, GT_INLINE_CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f.code != MAP_FAILED);
	f.in = (struct gt_inline *)f.code;
	areas__shape(f.in);
	f.rings = calloc(1, f.in->ring_bytes);
	f.flag = 1;
	f.in->code = (uint64_t)f.code;
	f.in->flag = (uint64_t)&f.flag;
	f.in->rings = (uint64_t)f.rings;
	f.in->m_procid = offsetof(struct fake_m, procid);
	fill_config(&f.in->config);
	memcpy(f.code + TRAMPOLINE_AT, code.bytes, code.size);
	f.m = (struct fake_m){
		.procid = 70, .curg = (uint64_t)&f.other, .block_reason = 9, .skip = 3
	};
	f.g0 = (struct fake_g){ .m = &f.m };
	f.g = (struct fake_g){
		.m = &f.m, .goid = 42, .wait_reason = 11, .startpc = 77, .parent = 5
	};
	f.other = (struct fake_g){ .m = &f.m, .goid = 43 };
	fill_stack(&f.g, 3);
	fill_stack(&f.other, 3);
	f.ring = (void *)(f.rings + GT_INLINE_SEEN_BYTES + (70 % GT_INLINE_RINGS) * f.in->stride);
}

static void tear_down(void)
{
	munmap(f.code, GT_INLINE_CODE);
	free(f.rings);
}

FIXTURE(set_up, tear_down)

/* Registers at a site, and what they are behind it. */
struct registers {
	uint64_t ax, bx, cx, dx, si, di, r8, r9, r10, r11;
};

static void call_site(const void *site, uint64_t g, struct registers *r)
{
	struct {
		struct registers *r;
		uint64_t g;
		const void *site;
	} in = { r, g, site }, *at = &in;

	asm volatile("sub $128, %%rsp\n\t" /* the red zone */
		     "push %%rbp\n\t"
		     "push %%rdi\n\t"
		     "mov 8(%%rdi), %%r14\n\t"
		     "mov 16(%%rdi), %%r15\n\t"
		     "mov 0(%%rdi), %%r12\n\t"
		     "mov 0(%%r12), %%rax\n\t"
		     "mov 8(%%r12), %%rbx\n\t"
		     "mov 16(%%r12), %%rcx\n\t"
		     "mov 24(%%r12), %%rdx\n\t"
		     "mov 32(%%r12), %%rsi\n\t"
		     "mov 40(%%r12), %%rdi\n\t"
		     "mov 48(%%r12), %%r8\n\t"
		     "mov 56(%%r12), %%r9\n\t"
		     "mov 64(%%r12), %%r10\n\t"
		     "mov 72(%%r12), %%r11\n\t"
		     "call *%%r15\n\t"
		     "mov 0(%%rsp), %%r12\n\t"
		     "mov 0(%%r12), %%r12\n\t"
		     "mov %%rax, 0(%%r12)\n\t"
		     "mov %%rbx, 8(%%r12)\n\t"
		     "mov %%rcx, 16(%%r12)\n\t"
		     "mov %%rdx, 24(%%r12)\n\t"
		     "mov %%rsi, 32(%%r12)\n\t"
		     "mov %%rdi, 40(%%r12)\n\t"
		     "mov %%r8, 48(%%r12)\n\t"
		     "mov %%r9, 56(%%r12)\n\t"
		     "mov %%r10, 64(%%r12)\n\t"
		     "mov %%r11, 72(%%r12)\n\t"
		     "pop %%rdi\n\t"
		     "pop %%rbp\n\t"
		     "add $128, %%rsp\n\t"
		     : "+D"(at)
		     :
		     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13",
		       "r14", "r15", "memory", "cc");
}

static void put_distance(unsigned char *at, const void *to)
{
	int32_t distance = (int32_t)((const unsigned char *)to - (at + 4));

	memcpy(at, &distance, 4);
}

/*
 * Makes a function whose instruction at the site is a jbe (to `mov r8d, 99; ret`), behind a cmp
 * with g.stackguard0 (offset 16), or a call of `mov r9d, 98; ret`; and its stub, and patches it.
 */
static const void *make_site(enum gt_probe probe, uint64_t cookie, bool is_call)
{
	static const unsigned char cmp[] = { 0x49, 0x3b, 0x66, 0x10 };
	static const unsigned char tail[] = { 0x41, 0xb8, 99, 0, 0, 0, 0xc3 };
	static const unsigned char callee[] = { 0x41, 0xb9, 98, 0, 0, 0, 0xc3 };
	struct gt_inline_site *site = &f.in->site[0];
	unsigned char *at = f.code + SITE_AT;
	uint64_t handler = f.in->code + TRAMPOLINE_AT + trampoline__code().entry;

	memset(at, 0x90, 64);
	memcpy(at, cmp, sizeof(cmp));
	at += sizeof(cmp);
	memcpy(at + 64, is_call ? callee : tail, sizeof(tail));
	at[0] = is_call ? 0xe8 : 0x0f;
	at[1] = 0x86;
	put_distance(at + (is_call ? 1 : 2), at + 64);
	at[10] = 0xc3;
	*site = (struct gt_inline_site){ .addr = (uint64_t)at,
					 .probe = (gt_u8)probe,
					 .cookie = cookie };
	site->size = is_call ? GT_INLINE_CALL : GT_INLINE_JUMP;
	site->stub = f.in->code + 10240;
	memcpy(site->was, at, GT_INLINE_JUMP);
	trampoline__stub(f.code + 10240, f.in, 0, handler);
	at[0] = is_call ? 0xe8 : 0xe9;
	put_distance(at + 1, f.code + 10240);
	return f.code + SITE_AT;
}

static struct gt_inline_slot *slot(uint64_t at)
{
	return (struct gt_inline_slot *)((char *)f.ring + GT_INLINE_HEAD) + at;
}

static void hit(const void *site, uint64_t ax, uint64_t bx, uint64_t cx)
{
	struct registers r = { ax, bx, cx, 4, 5, 6, 7, 8, 9, 10 }, want = r;

	call_site(site, (uint64_t)&f.g0, &r);
	if (f.in->site[0].size == GT_INLINE_CALL)
		want.r9 = 98; /* the callee has run */
	assert_memory_equal(&r, &want, sizeof(r));
}

static void expect(uint64_t at, enum gt_kind kind, uint64_t object)
{
	struct gt_record *rec = &slot(at)->rec;

	assert_int_equal(slot(at)->place, at + 1);
	assert_int_equal(rec->kind, kind);
	assert_int_equal(rec->object, object);
	assert_int_equal(rec->tid, 70);
	assert_true(rec->time);
}

TEST(executes)
{
	hit(make_site(GT_PROBE_EXECUTE, 0, false), (uint64_t)&f.g, 2, 3);
	assert_int_equal(f.ring->head, 1);
	expect(0, GT_EXECUTE, (uint64_t)&f.g);
	assert_int_equal(slot(0)->payload[0], 42);
	assert_int_equal(slot(0)->rec.stack, 0);
}

/* The jbe is taken: the function will begin again. */
TEST(a_small_stack_is_no_hit)
{
	struct registers r = { .ax = (uint64_t)&f.g };

	f.g0.guard0 = UINT64_MAX;
	call_site(make_site(GT_PROBE_EXECUTE, 0, false), (uint64_t)&f.g0, &r);
	assert_int_equal(r.r8, 99);
	assert_int_equal(f.ring->head, 0);
}

static void expect_stack(uint64_t at, unsigned int depth)
{
	struct gt_stack *stack = (struct gt_stack *)slot(at)->payload;

	expect(at, GT_STACK, slot(at)->rec.object);
	assert_int_equal(stack->depth, depth);
	assert_int_equal(slot(at)->pc[6], 1000);
	for (unsigned int i = 1; i < depth; i++) {
		assert_int_equal(slot(at + 1 + (i - 1) / 7)->pc[(i - 1) % 7], 1000 + i);
		assert_int_equal(slot(at + 1 + (i - 1) / 7)->place,
				 (uint32_t)(at + 2 + (i - 1) / 7) | GT_INLINE_FURTHER);
	}
}

/* The stack is sent once; afterwards its number is enough. */
TEST(parks)
{
	const void *site = make_site(GT_PROBE_PARK, 0, false);
	struct gt_park *park = (struct gt_park *)slot(2)->payload;

	hit(site, (uint64_t)&f.g, 2, 3);
	expect_stack(0, 3);
	expect(2, GT_PARK, (uint64_t)&f.g);
	assert_int_equal(park->block_reason, 9);
	assert_int_equal(park->wait_reason, 11);
	assert_int_equal(park->skip, 3);
	assert_int_equal(slot(2)->rec.stack, slot(0)->rec.stack);
	assert_true(slot(2)->rec.stack & GT_STACK_SEEN);
	hit(site, (uint64_t)&f.g, 2, 3);
	assert_int_equal(f.ring->head, 4);
	assert_int_equal(slot(3)->rec.stack, slot(0)->rec.stack);
	f.in->config.stack_depth = 0;
	hit(site, (uint64_t)&f.g, 2, 3);
	assert_int_equal(slot(4)->rec.stack, 0);
}

TEST(stacks_of_every_depth)
{
	const void *site = make_site(GT_PROBE_PARK, 0, false);
	uint64_t at;

	for (unsigned int depth = 1; depth <= 120; depth++) {
		fill_stack(&f.g, depth);
		at = f.ring->head;
		hit(site, (uint64_t)&f.g, 2, 3);
		expect_stack(at, depth);
	}
	f.in->config.stack_depth = 10;
	memset(f.rings, 0, GT_INLINE_SEEN_BYTES); /* one of that depth was sent */
	at = f.ring->head;
	hit(site, (uint64_t)&f.g, 2, 3);
	expect_stack(at, 10);
	assert_int_equal(((struct gt_stack *)slot(at)->payload)->cut, 1);
}

/* Frame pointers lead out of the stack, or are no addresses of frames. */
TEST(broken_frames)
{
	const void *site = make_site(GT_PROBE_PARK, 0, false);
	const uint64_t broken[] = {
		1,	    8,		(uint64_t)f.stack + 3, f.g.hi - 8, f.g.hi,
		f.g.lo - 8, UINT64_MAX, UINT64_MAX - 7
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		f.g.bp = broken[i];
		f.g.pc = 2000 + i;
		hit(site, (uint64_t)&f.g, 2, 3);
		assert_int_equal(((struct gt_stack *)slot(i * 2)->payload)->depth, 1);
	}
}

TEST(readies)
{
	const void *site = make_site(GT_PROBE_READY, 0, false);
	struct gt_ready *ready = (struct gt_ready *)slot(2)->payload;

	hit(site, (uint64_t)&f.g, 6, 3);
	expect_stack(0, 3); /* of the goroutine for which the scheduler works */
	expect(2, GT_READY, (uint64_t)&f.g);
	assert_int_equal(ready->skip, 6);
	assert_int_equal(ready->via, GT_VIA_READY);
	f.m.curg = 0;
	hit(site, (uint64_t)&f.g, 6, 3);
	assert_int_equal(slot(3)->rec.stack, 0);
}

TEST(changes_of_status)
{
	const void *site =
		make_site(GT_PROBE_CAS_RUNNABLE, GT_SITE_CALL(4, 1) | GT_VIA_SCHEDULER, true);

	f.m.curg = 0;
	hit(site, (uint64_t)&f.g, 4, 1);
	expect(0, GT_READY, (uint64_t)&f.g);
	assert_int_equal(slot(0)->payload[0], GT_VIA_SCHEDULER);
	hit(site, (uint64_t)&f.g, 3, 1); /* another transition */
	assert_int_equal(f.ring->head, 1);
}

TEST(creates_and_ends)
{
	struct gt_create *create = (struct gt_create *)slot(0)->payload;

	f.m.curg = 0;
	hit(make_site(GT_PROBE_CREATE, 0, true), 0, (uint64_t)&f.g, 3);
	expect(0, GT_CREATE, (uint64_t)&f.g);
	assert_int_equal(create->goid, 42);
	assert_int_equal(create->startpc, 77);
	assert_int_equal(create->parent, 5);
	hit(make_site(GT_PROBE_DESTROY, 0, false), (uint64_t)&f.g, 2, 3);
	expect(1, GT_DESTROY, (uint64_t)&f.g);
}

TEST(a_full_ring_drops_and_counts)
{
	const void *site = make_site(GT_PROBE_EXECUTE, 0, false);
	uint64_t room = f.in->slots - GT_INLINE_MARGIN + 1;

	for (uint64_t i = 0; i < room + 10; i++)
		hit(site, (uint64_t)&f.g, 2, 3);
	assert_int_equal(f.ring->head, room);
	assert_int_equal(f.ring->dropped, 10);
	assert_int_equal(f.ring->lost[GT_EXECUTE], 10);
	f.ring->tail = room;
	hit(site, (uint64_t)&f.g, 2, 3);
	assert_int_equal(slot(room)->dropped, 10);
}

TEST(switched_off)
{
	f.flag = 0;
	hit(make_site(GT_PROBE_EXECUTE, 0, false), (uint64_t)&f.g, 2, 3);
	assert_int_equal(f.ring->head, 0);
}
