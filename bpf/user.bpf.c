// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of package runtime/trace: tasks, regions, logs; of functions whose calls are recorded as
 * regions or tasks; and of the labels that package runtime/pprof sets.
 *
 * That package calls the runtime even if its tracer is off; the runtime then returns. Upstream:
 * userspace/target/probe/site.c. Downstream: userspace/sequence/state_user.c, state_calls.c.
 */
#include "filter.bpf.h"
#include "labels.bpf.h"
#include "text.bpf.h"

/* On the goroutine's own stack, at the first push: the return address is on top. */
static __always_inline u32 stack_of_caller(struct pt_regs *ctx, u32 tid)
{
	struct leaf leaf = { .fp = go_caller_fp(ctx, false) };

	if (!config.stack_depth)
		return 0;
	leaf.pc = go_return_address(ctx, false);
	return stack__id(&leaf, tid);
}

static __noinline int task_begin(struct pt_regs *ctx, u32 tid, u32 stack)
{
	struct go_string type = { GO_ARG3(ctx), GO_ARG4(ctx) };
	struct gt_task task = {
		.id = GO_ARG1(ctx),
		.parent = GO_ARG2(ctx),
		.type = text__name(&type, tid),
	};

	emit (rec, GT_TASK_BEGIN, GO_G(ctx), stack, tid, sizeof(task))
		*(struct gt_task *)(rec + 1) = task;
	return 0;
}

static __noinline int region(struct pt_regs *ctx, u32 tid, u32 stack)
{
	struct go_string name = { GO_ARG3(ctx), GO_ARG4(ctx) };
	struct gt_region region = {
		.task = GO_ARG1(ctx),
		.name = text__name(&name, tid),
		.ends = GO_ARG2(ctx),
	};

	emit (rec, GT_REGION, GO_G(ctx), stack, tid, sizeof(region))
		*(struct gt_region *)(rec + 1) = region;
	return 0;
}

static __noinline int log_line(struct pt_regs *ctx, u32 tid, u32 stack)
{
	struct go_string category = { GO_ARG2(ctx), GO_ARG3(ctx) };
	struct go_string message = { GO_ARG4(ctx), GO_ARG5(ctx) };
	struct gt_log log = {
		.task = GO_ARG1(ctx),
		.category = text__name(&category, tid),
		.message = text__message(&message, tid),
	};

	emit (rec, GT_LOG, GO_G(ctx), stack, tid, sizeof(log))
		*(struct gt_log *)(rec + 1) = log;
	return 0;
}

#define G_STACK_HI 8 /* g.stack.hi: runtime and compiler rely on its place in all releases */

/*
 * On g0, before the call of gogo in runtime.recovery: the goroutine continues in the frame that has
 * recovered, and the calls below it are gone. The argument is &gp.sched.
 */
static __noinline int recovered(struct pt_regs *ctx, u32 tid)
{
	u64 sched = go_read_u64(GO_SP(ctx)), g = sched - config.g_sched;
	struct gt_func_call call = {
		.depth = go_read_u64(g + G_STACK_HI) - go_read_u64(sched + config.gobuf_sp),
		.name = GT_TEXT_GIVEN(0),
		.ends = GT_CALL_RECOVERED,
	};

	emit (rec, GT_FUNC_CALL, g, 0, tid, sizeof(call))
		*(struct gt_func_call *)(rec + 1) = call;
	return 0;
}

/*
 * The entry or an exit of a function. The return address is at the top of the stack, or at an exit as
 * many bytes above as the cookie states. The stack is walked at the entry only.
 */
static __noinline int func_call(struct pt_regs *ctx, u32 tid)
{
	u64 cookie = cookie__site(ctx), ends = GT_COOKIE_CALL_ENDS(cookie), g = GO_G(ctx);
	struct gt_func_call call = {
		.depth = go_read_u64(g + G_STACK_HI) - GO_SP(ctx) - GT_COOKIE_CALL_FRAME(cookie),
		.name = GT_TEXT_GIVEN(GT_COOKIE_CALL_FUNC(cookie)),
		.ends = ends,
		.task = GT_COOKIE_CALL_TASK(cookie),
		.stepped = GT_COOKIE_CALL_STEPPED(cookie),
	};
	u32 stack;

	if (GT_COOKIE_CALL_RECOVERED(cookie))
		return recovered(ctx, tid);
	if (!ends && entry__repeats(ctx))
		return 0;
	stack = ends ? 0 : stack_of_caller(ctx, tid);
	emit (rec, GT_FUNC_CALL, g, stack, tid, sizeof(call))
		*(struct gt_func_call *)(rec + 1) = call;
	return 0;
}

/* One program, because the verifier needs 4 ms for the stack walk in each. */
SEC("uprobe.multi")
int user_event(struct pt_regs *ctx)
{
	u32 tid = filter__ours(), stack;

	use_kernel_stack(ctx);
	if (!tid)
		return 0;
	if (cookie__probe(ctx) == GT_PROBE_FUNC_CALL)
		return func_call(ctx, tid);
	if (entry__repeats(ctx))
		return 0;
	stack = stack_of_caller(ctx, tid);
	switch (cookie__probe(ctx)) {
	case GT_PROBE_TASK_BEGIN:
		return task_begin(ctx, tid, stack);
	case GT_PROBE_TASK_END:
		emit_value(GT_TASK_END, GO_G(ctx), stack, tid, GO_ARG1(ctx));
		return 0;
	case GT_PROBE_REGION:
		return region(ctx, tid, stack);
	case GT_PROBE_LOG:
		return log_line(ctx, tid, stack);
	case GT_PROBE_LABELS:
		return labels__send(ctx, tid, stack);
	default:
		return 0;
	}
}

char LICENSE[] SEC("license") = "GPL";
