// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of goroutines: started, parked, unblocked, yielding, created, ended, in system calls; and
 * of the Ps that they run on.
 *
 * Upstream: userspace/target/probe/site.c, which chose the instructions; include/gotrace/kinds.h
 * lists the registers at each. Downstream: emit.bpf.h. Each program filters, reads and emits. A
 * read of user memory costs about 35 ns, as much as the rest of the program.
 */
#define MODULE_KSYMS
#include "filter.bpf.h"
#include "g.bpf.h"
#include "slot.bpf.h"
#include "site.bpf.h"

/* The slot has the goroutine that ran before on this thread. */
static __always_inline void execute_after(struct gt_slot *slot, u64 gp, u64 goid, u32 tid)
{
	u64 start = bpf_ktime_get_ns();
	u32 stack;

	if (left__read(slot)) {
		emit (rec, GT_EXECUTE_ENDED, gp, 0, tid, sizeof(struct gt_execute_ended)) {
			struct gt_execute_ended *payload = (void *)(rec + 1);

			payload->goid = goid;
			payload->before = slot->g;
			left__ended(slot, rec, start, &payload->ended);
		}
		return;
	}
	stack = left__stack(slot, tid, true);
	emit (rec, GT_EXECUTE_PARKED, gp, stack, tid, sizeof(struct gt_execute_parked)) {
		struct gt_execute_parked *payload = (void *)(rec + 1);

		payload->goid = goid;
		payload->before = slot->g;
		left__park(slot, rec, start, &payload->park);
	}
}

/*
 * Set by capture/probes.c when its probe is taken away, because the heap changes too often: from now
 * on its size is read at most once in a tick of the kernel (1 to 10 ms). Then the last such tick.
 */
extern gt_u64 heap_sampled[2];

static __always_inline void sample_heap(u32 tid)
{
	volatile gt_u64 *sampled = heap_sampled;
	u64 now;

	if (!config.heap_live || !sampled[0])
		return;
	now = bpf_jiffies64();
	if (sampled[1] == now)
		return;
	sampled[1] = now;
	emit_value(GT_HEAP_SAMPLE, 0, 0, tid, go_read_u64(config.heap_live));
}

SEC("uprobe.multi")
int execute(struct pt_regs *ctx)
{
	u64 gp = GO_ARG1(ctx), g0 = GO_G(ctx), goid = 0;
	u32 tid = filter__ours();
	struct gt_slot *slot;

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	curg__set(g0, gp);
	if (go_read(&goid, sizeof(goid), gp + config.g_goid))
		COUNT(read_errors);
	slot = slot__get(g0, tid);
	if (slot && slot->g)
		execute_after(slot, gp, goid, tid);
	else
		emit_value(GT_EXECUTE, gp, 0, tid, goid);
	if (slot) {
		slot->g = gp;
		slot->goid = goid;
	}
	sample_heap(tid);
	return 0;
}

/* A function of its own because of the BPF stack. */
__weak __noinline int park__read(u64 gp, struct gt_park *park, struct leaf *leaf)
{
	struct g g;

	if (!park || !leaf)
		return 0;
	g__read(gp, &g);
	read_park(g.m, park);
	park->wait_reason = g.wait_reason;
	*leaf = g.leaf;
	return 0;
}

SEC("uprobe.multi")
int park(struct pt_regs *ctx)
{
	u32 tid = filter__ours(), stack;
	struct gt_park park = {};
	struct leaf leaf = {};

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	park__read(GO_ARG1(ctx), &park, &leaf);
	stack = stack__id_hot(&leaf, tid);
	emit (rec, GT_PARK, GO_ARG1(ctx), stack, tid, sizeof(park))
		*(struct gt_park *)(rec + 1) = park;
	return 0;
}

/* A function of its own: slot__flush() must not be called with its variables on the stack. */
static __noinline int emit_ready(struct pt_regs *ctx, const struct leaf *leaf, u32 tid)
{
	u64 cookie = config.inlined_sites ? cookie__site(ctx) : 0, gp;
	struct gt_ready *payload;
	u32 stack;

	if (!site__object(ctx, cookie, GO_ARG1(ctx), &gp))
		return 0;
	stack = stack__id_hot(leaf, tid);
	emit (rec, GT_READY, gp, stack, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		payload->via = GT_VIA_READY;
		payload->mode = 0;
		payload->skip = cookie ? 0 : GO_ARG2(ctx);
	}
	return 0;
}

/* The stack is that of the goroutine for which g0 works; none: the scheduler itself runs. */
SEC("uprobe.multi")
int ready(struct pt_regs *ctx)
{
	struct leaf leaf = {};
	u32 tid = filter__ours();
	int where = 1;

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	if (config.stack_depth || config.derives)
		where = curg__leaf(GO_G(ctx), &leaf);
	if (where < 0)
		slot__flush_if_derived(GO_G(ctx), tid);
	if (where)
		leaf.pc = 0;
	return emit_ready(ctx, &leaf, tid);
}

/* A change of status that unblocks without ready(); the cookie contains the cause. */
PROBE_PART cas_runnable(struct pt_regs *ctx)
{
	u32 tid = filter__ours(), stack = 0;
	u64 cookie = cookie__site(ctx), via = GT_COOKIE_VALUE(cookie), gp, p;
	struct gt_ready *payload;
	u16 mode = 0;

	if (!tid || !site__object(ctx, cookie, GO_ARG1(ctx), &gp))
		return 0;
	if (via == GT_VIA_GC_WORKER) {
		p = current_p(GO_G(ctx));
		mode = go_read_u8(p + config.p_gc_mode);
	} else if (via == GT_VIA_SCHEDULER) {
		/* the goroutine for which the runtime injects a list; otherwise there is none */
		stack = curg__stack(GO_G(ctx), tid);
	}
	emit (rec, GT_READY, gp, stack, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		payload->via = via;
		payload->mode = mode;
		payload->skip = 0;
	}
	return 0;
}

/*
 * Up to 1.20 it is unknown whether the goroutine was stopped in morestack, before the function
 * pushed its frame. If so, *sched.sp is the second PC; if not, userspace drops it, because the
 * first PC is that of runtime.asyncPreempt2. In that case it may be 0, and is sent all the same.
 */
static __always_inline void second_of_preempted(struct g *g)
{
	if (config.systemstack_frameless)
		g->leaf.second =
			go_left_return(go_read_u64(g->addr + config.g_sched + config.gobuf_sp)) ?:
												  1;
}

static __always_inline void yield(u64 g0, u32 tid, u64 gp, u64 why, bool by_scheduler)
{
	struct g g;

	if (!tid)
		return;
	slot__set(g0, tid, 0, 0);
	g__read(gp, &g);
	if (why == GT_YIELD_PREEMPTED && by_scheduler)
		second_of_preempted(&g);
	emit_value(GT_YIELD, gp, stack__id(&g.leaf, tid), tid, why);
}

PROBE_PART gosched(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx), how = GT_COOKIE_VALUE(cookie), gp;
	bool preempted = how ? how == GT_GOSCHED_PREEMPTED : (u8)GO_ARG2(ctx);
	u32 tid = filter__ours();

	if (tid && site__object(ctx, cookie, GO_ARG1(ctx), &gp))
		yield(GO_G(ctx), tid, gp, preempted ? GT_YIELD_PREEMPTED : GT_YIELD_GOSCHED, true);
	return 0;
}

PROBE_PART goyield(struct pt_regs *ctx)
{
	yield(GO_G(ctx), filter__ours(), GO_ARG1(ctx), GT_YIELD_PREEMPTED, false);
	return 0;
}

PROBE_PART preempt_park(struct pt_regs *ctx)
{
	u32 tid = filter__ours();
	struct g g;
	u64 gp;

	if (!tid || !SITE_OBJECT(ctx, GO_ARG1(ctx), &gp))
		return 0;
	slot__set(GO_G(ctx), tid, 0, 0);
	g__read(gp, &g);
	second_of_preempted(&g);
	emit_plain(GT_PREEMPT_PARK, g.addr, stack__id(&g.leaf, tid), tid);
	return 0;
}

static __always_inline void created(struct pt_regs *ctx, enum gt_kind kind, u32 tid, u64 newg)
{
	struct gt_create *payload;
	struct gt_create create;
	u32 stack;

	if (!tid)
		return;
	create.goid = 0;
	if (go_read(&create.goid, sizeof(create.goid), newg + config.g_goid))
		COUNT(read_errors);
	create.startpc = go_read_u64(newg + config.g_startpc);
	if (config.g_parent_goid != GT_NO_OFFSET)
		create.parent = go_read_u64(newg + config.g_parent_goid);
	else
		create.parent = go_read_u64(current_curg(GO_G(ctx)) + config.g_goid);
	stack = curg__stack(GO_G(ctx), tid);
	emit (rec, kind, newg, stack, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		*payload = create;
	}
}

PROBE_PART create(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx), newg;
	u32 tid = filter__ours();

	if (site__object(ctx, cookie, GT_COOKIE_VALUE(cookie) ? GO_ARG1(ctx) : GO_ARG2(ctx), &newg))
		created(ctx, GT_CREATE, tid, newg);
	return 0;
}

PROBE_PART create_blocked(struct pt_regs *ctx)
{
	u64 newg;

	if (SITE_OBJECT(ctx, GO_ARG1(ctx), &newg))
		created(ctx, GT_CREATE_BLOCKED, filter__ours(), newg);
	return 0;
}

SEC("uprobe.multi")
int destroy(struct pt_regs *ctx)
{
	u32 tid = filter__ours();
	u64 gp;

	use_kernel_stack(ctx);
	if (tid && SITE_OBJECT(ctx, GO_ARG1(ctx), &gp))
		emit_value(GT_DESTROY, gp, 0, tid, go_read_u64(gp + config.g_goid));
	return 0;
}

/* GT_PROBE_SWITCH: gp hands its thread to the goroutine in gp.coroarg. Has no stack, as in Go. */
SEC("uprobe.multi")
int coro_switch(struct pt_regs *ctx)
{
	u32 tid = filter__ours();
	struct gt_switch *payload;
	struct gt_switch to;
	struct g g;

	use_kernel_stack(ctx);
	if (!tid || config.g_coroarg == GT_NO_OFFSET || g__read(GO_ARG1(ctx), &g))
		return 0;
	to.next = go_read_u64(go_read_u64(g.addr + config.g_coroarg) + config.coro_gp);
	to.next_goid = go_read_u64(to.next + config.g_goid);
	to.exits = g.coro_exit;
	slot__set(GO_G(ctx), tid, to.next, to.next_goid);
	emit (rec, GT_SWITCH, g.addr, 0, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		*payload = to;
	}
	if (to.exits && config.derives) /* the id of a coroutine that no other record may contain */
		emit_value(GT_DESTROY, g.addr, 0, tid, g.goid);
	return 0;
}

/* The goroutine is on its own stack, at a function's first instruction or, `framed`, further on. */
static __always_inline void own_leaf(struct pt_regs *ctx, struct leaf *leaf, bool framed)
{
	leaf->pc = go_return_address(ctx, framed);
	leaf->second = 0;
	leaf->fp = go_caller_fp(ctx, framed);
}

/* At an inlined reentersyscall(pc, sp, bp), before its end: it has saved them in g.sched. */
static __always_inline bool inlined_syscall(struct pt_regs *ctx, u64 cookie, struct leaf *leaf)
{
	u32 at = config.g_sched;
	u64 gp;

	if (GT_COOKIE_VALUE(cookie) == GT_SYSCALL_OF_CALLER) {
		own_leaf(ctx, leaf, false);
		return true;
	}
	if (!site__object(ctx, cookie, GO_G(ctx), &gp))
		return false;
	leaf->pc = go_read_u64(gp + at + config.gobuf_pc);
	leaf->fp = config.syscall_fp_given ? go_read_u64(gp + at + config.gobuf_bp) : 0;
	return true;
}

/* reentersyscall(pc, sp, bp): the arguments describe the caller's caller; no bp before 1.23. */
SEC("uprobe.multi")
int syscall_enter(struct pt_regs *ctx)
{
	u64 cookie = config.inlined_sites ? cookie__site(ctx) : 0;
	u32 tid = filter__ours(), stack = 0;
	struct leaf leaf = { .pc = GO_ARG1(ctx) };

	use_kernel_stack(ctx);
	if (!tid || (cookie && !inlined_syscall(ctx, cookie, &leaf)))
		return 0;
	if (config.stack_depth) {
		if (!cookie)
			leaf.fp = config.syscall_fp_given ? GO_ARG3(ctx) : go_caller_fp(ctx, true);
		stack = stack__id_hot(&leaf, tid);
	}
	emit_plain(GT_SYSCALL_ENTER, GO_G(ctx), stack, tid);
	return 0;
}

static __always_inline void slot__call(u32 tid, enum gt_call call)
{
	struct gt_slot *slot = slot__of_calls(tid);

	if (slot)
		slot->call = call;
}

/* A call of entersyscall or reentersyscall other than by Go's own system calls. */
PROBE_PART syscall_call(struct pt_regs *ctx)
{
	struct leaf leaf = { .pc = GO_ARG1(ctx), .fp = GO_ARG3(ctx) };
	u32 tid = filter__ours();

	if (!tid)
		return 0;
	if (GT_COOKIE_VALUE(cookie__site(ctx)) == GT_SYSCALL_OF_CALL) {
		leaf.pc = GO_PC(ctx) + GO_CALL_SIZE;
		leaf.fp = GO_FP(ctx);
	}
	slot__call(tid, GT_CALL_PROBED);
	emit_plain(GT_SYSCALL_ENTER, GO_G(ctx), stack__id(&leaf, tid), tid);
	return 0;
}

/* The same, of exitsyscall. */
EMIT_PART(syscall_return, slot__call(tid, GT_CALL_NONE);
	  emit_plain(GT_SYSCALL_TRY_EXIT, GO_G(ctx), 0, tid))

PROBE_PART syscall_block(struct pt_regs *ctx)
{
	u32 tid = filter__ours(), stack = 0;
	struct leaf leaf;

	if (!tid)
		return 0;
	if (config.stack_depth) {
		own_leaf(ctx, &leaf, cookie__site(ctx));
		stack = stack__id(&leaf, tid);
	}
	emit_plain(GT_SYSCALL_BLOCK, GO_G(ctx), stack, tid);
	return 0;
}

static __always_inline void emit_proc(enum gt_kind kind, u64 p, u32 tid)
{
	emit_value(kind, p, 0, tid, go_read_u32(p + config.p_id));
}

EMIT_PART(p_start, emit_proc(GT_P_START, GO_ARG1(ctx), tid))

PROBE_PART p_stop(struct pt_regs *ctx)
{
	u32 tid = filter__ours();

	if (tid)
		emit_proc(GT_P_STOP, current_p(GO_G(ctx)), tid);
	return 0;
}

PROBE_PART p_handoff(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx), p;
	u32 tid = filter__ours();

	if (!tid ||
	    !site__object(ctx, cookie, GT_COOKIE_VALUE(cookie) ? GO_ARG3(ctx) : GO_ARG1(ctx), &p))
		return 0;
	emit_proc(GT_P_HANDOFF, p, tid);
	return 0;
}

/* Whether the scheduler itself may run there, after a goroutine has left the thread. */
static __always_inline bool is_schedulers(enum gt_probe probe)
{
	return probe == GT_PROBE_CAS_RUNNABLE || probe == GT_PROBE_CREATE ||
	       probe == GT_PROBE_CREATE_BLOCKED || probe == GT_PROBE_P_STOP ||
	       probe == GT_PROBE_P_HANDOFF;
}

EMIT_PART(plugin_mapped, emit_plain(GT_PLUGIN_MAPPED, 0, 0, tid))

SEC("uprobe.multi")
int goroutine_rare(struct pt_regs *ctx)
{
	enum gt_probe probe = cookie__probe(ctx);
	u32 tid = (u32)pid__current();

	use_kernel_stack(ctx);
	if (is_schedulers(probe))
		slot__flush_if_derived(GO_G(ctx), tid);
	switch (probe) {
	case GT_PROBE_CAS_RUNNABLE:
		return cas_runnable(ctx);
	case GT_PROBE_GOSCHED:
		return gosched(ctx);
	case GT_PROBE_GOYIELD:
		return goyield(ctx);
	case GT_PROBE_PREEMPT_PARK:
		return preempt_park(ctx);
	case GT_PROBE_CREATE:
		return create(ctx);
	case GT_PROBE_CREATE_BLOCKED:
		return create_blocked(ctx);
	case GT_PROBE_SYSCALL_BLOCK:
		return syscall_block(ctx);
	case GT_PROBE_SYSCALL_CALL:
		return syscall_call(ctx);
	case GT_PROBE_SYSCALL_RETURN:
		return syscall_return(ctx);
	case GT_PROBE_P_START:
		return p_start(ctx);
	case GT_PROBE_P_STOP:
		return p_stop(ctx);
	case GT_PROBE_P_HANDOFF:
		return p_handoff(ctx);
	case GT_PROBE_PLUGIN_MAPPED:
		return plugin_mapped(ctx);
	default:
		return 0;
	}
}

SEC("uprobe.multi")
int syscall_exit(struct pt_regs *ctx)
{
	u32 tid = filter__ours();
	u64 gp;

	use_kernel_stack(ctx);
	if (!tid || !SITE_OBJECT(ctx, GO_ARG1(ctx), &gp))
		return 0;
	if (config.syscall_at)
		slot__call(tid, GT_CALL_NONE);
	emit_plain(GT_SYSCALL_EXIT, gp, 0, tid);
	return 0;
}

EMIT_PROBE(syscall_try_exit, emit_plain(GT_SYSCALL_TRY_EXIT, GO_G(ctx), 0, tid))
EMIT_PROBE(syscall_lost, emit_plain(GT_SYSCALL_LOST, 0, 0, tid))
/* It also ends a call that began at a probe, as SYSCALL_EXIT does. */
EMIT_PROBE(syscall_no_p, slot__set(GO_G(ctx), tid, 0, 0); slot__call(tid, GT_CALL_NONE);
	   emit_plain(GT_SYSCALL_NO_P, GO_ARG1(ctx), 0, tid))

/* A thread of C, on the g0 that it borrowed: the goroutine is that of the M. */
SEC("uprobe.multi")
int create_syscall(struct pt_regs *ctx)
{
	struct gt_create_syscall *payload, create;
	u32 tid = filter__ours();
	u64 m, gp;

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	m = go_read_u64(GO_G(ctx) + config.g_m);
	gp = go_read_u64(m + config.m_curg);
	create.goid = go_read_u64(gp + config.g_goid);
	create.p = go_read_u64(m + config.m_oldp);
	slot__set(GO_G(ctx), tid, gp, create.goid);
	emit (rec, GT_CREATE_SYSCALL, gp, 0, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		*payload = create;
	}
	return 0;
}

SEC("uprobe.multi")
int destroy_syscall(struct pt_regs *ctx)
{
	u32 tid = filter__ours();
	u64 gp;

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	slot__set(GO_G(ctx), tid, 0, 0);
	gp = go_read_u64(go_read_u64(GO_G(ctx) + config.g_m) + config.m_curg);
	emit_value(GT_DESTROY_SYSCALL, gp, 0, tid, go_read_u64(gp + config.g_goid));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
