// SPDX-License-Identifier: GPL-2.0
/*
 * record --cpu-profile: what each CPU runs of the target, so many times a second.
 *
 * An object of its own, loaded only when it is asked for (userspace/capture/sampler.c), with the maps
 * of the probes' object: samples go into the same rings, with the same numbers. A perf event's timer
 * runs it, in whatever thread it interrupts. After it: sequence/state_sample.c.
 */
#include "emit.bpf.h"
#include "stack.bpf.h"

struct task_struct;

#define USER_MODE(cs) (((cs) & 3) == 3)

struct sample_walk {
	struct walk w;
	u64 g;	  /* what R14 has: in Go code the current g */
	u64 over; /* where to go on after the one frame of the goroutine's that has no frame pointer */
	bool jumped;
};

/*
 * The runtime works for a goroutine on its thread's g0, by systemstack(): the frame pointer leads
 * back to the goroutine's stack, past systemstack's caller, whose PC lies on top of that.
 */
static __always_inline bool sample__jump(struct sample_walk *s, u64 next)
{
	u64 curg = go_read_u64(go_read_u64(s->g + config.g_m) + config.m_curg);
	u64 sched = curg + config.g_sched;

	if (s->jumped || !curg || curg == s->g || go_read_u64(sched + config.gobuf_bp) != next)
		return false;
	s->jumped = true;
	s->over = next;
	s->w.fp = go_read_u64(sched + config.gobuf_sp) - 8;
	return true;
}

/* As stack__frame(). */
static long sample__frame(u64 i, struct sample_walk *s)
{
	struct walk *w = &s->w;
	u64 off = w->fp - w->base, next, pc;

	if (off > LAST) {
		if (!stack__slide(w))
			return 1;
		off = w->fp - w->base;
	}
	off &= ~7ull;
	if (off > LAST)
		return 1;
	next = *(u64 *)((char *)w->bytes + off);
	pc = *(u64 *)((char *)w->bytes + off + 8);
	if (!pc)
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
 * A function sets its frame pointer an instruction after it has pushed its caller's. That is where our
 * breakpoints are, and where a timer that fired in one of them interrupts the thread.
 */
static __always_inline void sample__walk(struct gt_stack *stack, const struct pt_regs *regs)
{
	u32 depth = config.stack_depth, frames = depth - 2; /* at least: one may be of the top */
	struct sample_walk s = { .g = regs->r14 };
	u64 top[2] = {};

	stack->depth = 0;
	stack->cut = 0;
	stack->placed = 0;
	if (!depth)
		return;
	s.w.pcs = stack->pc;
	s.w.fp = regs->bp;
	stack__add(&s.w, regs->ip + 1, 0, GT_STACK_MAX);
	if (depth > 1)
		go_read(top, sizeof(top), regs->sp);
	stack__add(&s.w, top[0], 1, GT_STACK_MAX);
	stack__add(&s.w, regs->bp == regs->sp ? 0 : top[1], 2, GT_STACK_MAX);
	if (frames > GT_STACK_MAX - GT_SAMPLE_TOP)
		frames = GT_STACK_MAX - GT_SAMPLE_TOP;
	if (depth > 2 && stack__slide(&s.w))
		bpf_loop(frames, sample__frame, &s, 0);
	stack->depth = s.w.n < GT_STACK_MAX ? s.w.n : GT_STACK_MAX;
}

#define BREAKPOINT 0xcc /* the compiler also puts it between functions */

/* Behind a breakpoint whose instruction, a push of the frame pointer, was not carried out yet. */
static __always_inline bool sample__before_push(const struct pt_regs *regs)
{
	return go_read_u8(regs->ip - 1) == BREAKPOINT && go_read_u8(regs->ip) != BREAKPOINT &&
	       go_read_u64(regs->sp) != regs->bp;
}

SEC("perf_event")
int sample(struct perf_sample *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	struct pt_regs regs = {};
	struct emission e;

	if (id >> 32 != config.tgid)
		return 0;
	if (USER_MODE(ctx->regs.cs)) {
		regs.ip = REGISTER(&ctx->regs, ip);
		regs.sp = REGISTER(&ctx->regs, sp);
		regs.bp = REGISTER(&ctx->regs, bp);
		regs.r14 = REGISTER(&ctx->regs, r14);
	} else { /* in the kernel, on its behalf: what it will go on with */
		bpf_probe_read_kernel(&regs, sizeof(regs),
				      (void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
		regs.ip -= sample__before_push(&regs);
	}
	e = emit__begin(GT_SAMPLE, 0, 0, id, sizeof(struct gt_stack) + GT_STACK_MAX * 8, NULL);
	if (!e.rec)
		return 0;
	sample__walk((struct gt_stack *)(e.rec + 1), &regs);
	bpf_ringbuf_submit(e.rec, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
