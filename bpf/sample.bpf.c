// SPDX-License-Identifier: GPL-2.0
/*
 * record --cpu-profile: samples what each CPU runs of the target, at a fixed rate.
 *
 * An object of its own, loaded only on request (userspace/capture/sampler.c), with the maps of the
 * probes' object: samples go into the same rings, with the same numbering. Runs in a perf event's
 * timer, in the thread that it interrupts. Downstream: userspace/sequence/state_sample.c.
 */
#include "emit.bpf.h"
#include "stack.bpf.h"

struct task_struct;

struct sample_walk {
	struct walk w;
	u64 g;	  /* value of its register: in Go code the current g */
	u64 over; /* where to continue after the goroutine's one frame without a frame pointer */
	bool jumped;
};

/*
 * The runtime works for a goroutine on its thread's g0, by systemstack(): the frame pointer leads
 * back to the goroutine's stack, past systemstack's caller, whose PC is on top of that stack.
 */
static __always_inline bool sample__jump(struct sample_walk *s, u64 next)
{
	u64 curg = go_read_u64(go_read_u64(s->g + config.g_m) + config.m_curg);
	u64 sched = curg + config.g_sched;

	if (s->jumped || !curg || curg == s->g || go_read_u64(sched + config.gobuf_bp) != next)
		return false;
	s->jumped = true;
	s->over = next;
	s->w.fp = go_frame_at(go_read_u64(sched + config.gobuf_sp));
	return true;
}

/* As stack__frame(). */
static long sample__frame(u64 i, struct sample_walk *s)
{
	struct walk *w = &s->w;
	u64 next, pc;

	if (!stack__read(w, &next, &pc))
		return 1;
	stack__add(w, pc, i + GT_SAMPLE_TOP, GT_STACK_MAX);
	if (s->over) {
		next = s->over;
		s->over = 0;
	}
	if (next > w->fp)
		w->fp = next;
	else if (!sample__jump(s, next))
		return 1;
	return 0;
}

/*
 * A function sets its frame pointer one instruction after it has pushed its caller's. Our
 * breakpoints are there, and a timer that fires within one interrupts the thread there.
 */
static __always_inline void sample__walk(struct gt_stack *stack, const struct pt_regs *regs)
{
	u32 depth = config.stack_depth, frames = depth - 2; /* at least: one may be of the top */
	struct sample_walk s = { .g = REGS_G(regs) };
	u64 top[2] = {};

	stack->depth = 0;
	stack->cut = 0;
	stack->placed = 0;
	if (!depth)
		return;
	s.w.pcs = stack->pc;
	s.w.fp = REGS_FP(regs);
	stack__add(&s.w, REGS_PC(regs) + 1, 0, GT_STACK_MAX);
	if (depth > 1)
		sample__top(regs, top);
	stack__add(&s.w, top[0], 1, GT_STACK_MAX);
	stack__add(&s.w, top[1], 2, GT_STACK_MAX);
	if (frames > GT_STACK_MAX - GT_SAMPLE_TOP)
		frames = GT_STACK_MAX - GT_SAMPLE_TOP;
	if (depth > 2)
		stack__frames(&s.w, frames, sample__frame, &s);
	stack->depth = s.w.n < GT_STACK_MAX ? s.w.n : GT_STACK_MAX;
}

SEC("perf_event")
int sample(struct perf_sample *ctx)
{
	u32 tid = pid__current_of(config.tgid);
	struct pt_regs regs = {};
	struct emission e;

	if (!tid)
		return 0;
	if (REGS_USER_MODE(&ctx->regs)) {
		REGS_PC(&regs) = GO_PC(&ctx->regs);
		REGS_SP(&regs) = GO_SP(&ctx->regs);
		REGS_FP(&regs) = GO_FP(&ctx->regs);
		REGS_G(&regs) = GO_G(&ctx->regs);
	} else { /* in the kernel, for the thread: where it will continue */
		bpf_probe_read_kernel(&regs, sizeof(regs),
				      (void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
		REGS_PC(&regs) -= sample__before_push(&regs);
	}
	e = emit__begin(GT_SAMPLE, 0, 0, tid, sizeof(struct gt_stack) + GT_STACK_MAX * 8, NULL);
	if (!e.rec)
		return 0;
	sample__walk((struct gt_stack *)(e.rec + 1), &regs);
	bpf_ringbuf_submit(e.rec, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
