// SPDX-License-Identifier: GPL-2.0
/* Tests of target/probe/site_inline.c and site_heap.c on a synthetic runtime. */
#include "unit/test.h"
#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"
#include "unit/runtime_made.h"

/* jne to a call of the tracer's acquire; behind the label `end` what is traced is over. */
#define TRACED_IF(label)                                                                           \
	label ": jne 1f; xor eax, eax; jmp 2f; 1: call f_acquire; 2: test al, al; je 3f; "

/* clang-format off */
asm(MADE_TEXT RUNTIME_TEXT
    NOTHING("f_acquire") NOTHING("f_tracer") NOTHING("f_bare")
    /* changes of status: two within what is inlined, one behind it */
    "f_cas: " ENTER "i_cas: " CAS(2, 6) DONE("s_cas1") CAS(2, 6) DONE("s_cas2") "e_cas: "
    CAS(2, 6) DONE("s_cas3") "ret; "
    "f_looped: " ENTER "i_looped: " CAS(2, 6) DONE("s_fit") CAS(2, 6) "1: je 1b; e_looped: ret; "
    "f_syscall: " ENTER CAS(2, 3) DONE("s_syscall") "e_syscall: ret; "
    "f_yield: " ENTER CAS(2, 1) DONE("s_yield") "e_yield: ret; "
    "f_clear: " ENTER "s_clear: mov qword ptr [rcx + 208], 0; "
    "e_clear: mov qword ptr [rcx + 208], 0; ret; "
    "f_taken: " ENTER "xor esi, esi; lock cmpxchg [rdx + 4], esi; " DONE("s_taken")
    "mov esi, 1; lock cmpxchg [rdx + 4], esi; " DONE("s_not_taken") "e_taken: ret; "
    "f_stw: " ENTER TRACED_IF("s_stw") "mov ecx, 254; call f_tracer; 3: e_stw: ret; "
    "f_stw255: " ENTER TRACED_IF("s_stw255") "mov ecx, 255; call f_tracer; 3: e_stw255: ret; "
    "f_runnext: " ENTER "s_next: nop; mov rax, [rdx]; lock cmpxchg [rdx], rcx; "
    "s_outside: nop; mov rax, [rdx]; lock cmpxchg [rdx], rcx; e_next: ret; "
    /* the heap */
    "f_added: " ENTER "lock xadd [rdi], rbx; lea rdi, [r8 + rbx]; test rdx, rdx; "
    "s_added: je .+2; e_added: ret; "
    "f_counter: " ENTER "lea rdi, [rip + f_bare]; mov r8, rbx; lock xadd [rdi + 8], rbx; "
    "lea rdi, [r8 + rbx]; test rdx, rdx; s_counter: je .+2; ret; "
    "f_called: " ENTER "call f_bare; nop; call f_acquire; s_called: nop; call f_acquire; nop; ret; "
    "f_goal: " ENTER "lea rax, [rip + f_bare]; call f_tracer; s_goal: nop; ret; "
    "f_goals: " ENTER "lea rax, [rip + f_bare]; call f_tracer; call f_tracer; nop; ret; "
    "f_no_goal: " ENTER "call f_tracer; nop; ret; "
    "f_assist: " ENTER TRACED_IF("s_assist") "call f_tracer; s_assist_end: nop; 3: ret; "
    "f_guard: " ENTER "s_guard: je 1f; call f_tracer; s_guard_end: nop; 1: call f_acquire; ret; "
    "f_unguarded: " ENTER "je 1f; call f_tracer; 1: call f_tracer; ret; "
    "f_chunk: " ENTER "s_chunk: je 1f; call f_bare; call f_tracer; s_chunk_end: nop; 1: ret; "
    MADE_TEXT_END);
/* clang-format on */

extern const unsigned char f_acquire[], f_tracer[], f_bare[], f_cas[], i_cas[], s_cas1[], s_cas2[],
	s_cas3[], e_cas[], f_looped[], i_looped[], e_looped[], f_syscall[], s_syscall[],
	e_syscall[], f_yield[], s_yield[], e_yield[], f_clear[], s_clear[], e_clear[], f_taken[],
	s_taken[], e_taken[], f_stw[], s_stw[], e_stw[], f_stw255[], e_stw255[], f_runnext[],
	s_next[], s_outside[], e_next[], f_added[], s_added[], e_added[], f_counter[], s_counter[],
	f_called[], s_called[], f_goal[], s_goal[], f_goals[], f_no_goal[], f_assist[], s_assist[],
	s_assist_end[], f_guard[], s_guard[], s_guard_end[], f_unguarded[], f_chunk[], s_chunk[],
	s_chunk_end[];

static const struct made_func funcs[] = {
	RUNTIME_FUNCS,
	{ .name = "other.acquire", .code = f_acquire },
	{ .name = "other.tracer", .code = f_tracer },
	{ .name = "other.bare", .code = f_bare },
	{ .name = "other.cas", .code = f_cas },
	{ .name = "other.looped", .code = f_looped },
	{ .name = "other.syscall", .code = f_syscall },
	{ .name = "other.yield", .code = f_yield },
	{ .name = "other.clear", .code = f_clear },
	{ .name = "other.taken", .code = f_taken },
	{ .name = "other.stw", .code = f_stw },
	{ .name = "other.stw255", .code = f_stw255 },
	{ .name = "other.runnext", .code = f_runnext },
	{ .name = "other.added", .code = f_added },
	{ .name = "other.counter", .code = f_counter },
	{ .name = "other.called", .code = f_called },
	{ .name = "other.goal", .code = f_goal },
	{ .name = "other.goals", .code = f_goals },
	{ .name = "other.noGoal", .code = f_no_goal },
	{ .name = "other.assist", .code = f_assist },
	{ .name = "other.guard", .code = f_guard },
	{ .name = "other.unguarded", .code = f_unguarded },
	{ .name = "other.chunk", .code = f_chunk },
};

static struct runtime r;

static void init(const char *release)
{
	runtime__init(&r, funcs, sizeof(funcs) / sizeof(funcs[0]));
	r.release = release;
}

/* The code from one label to another is a copy of `callee`. */
static void inlined(const char *func, const char *callee, const unsigned char *from,
		    const unsigned char *to)
{
	struct made_func *f = runtime__func(&r, func);

	f->tree[0] = (struct made_inline){ .name = callee };
	f->inlined[0] = (struct made_range){ (uint32_t)(from - f->code), -1 };
	f->inlined[1] = (struct made_range){ (uint32_t)(to - f->code), 0 };
}

/* The prologue is the inlining function's own. */
#define INLINED(func, callee, code) inlined(func, callee, f_##code + 4, e_##code)

/* Rejected, since `callee` was inlined into `func`. */
static void expect_refused(enum gt_probe probe, const char *callee, const char *func)
{
	const struct site_missing *missing;
	char text[128];

	snprintf(text, sizeof(text), "the compiler inlined %s into %s", callee, func);
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	missing = runtime__missing(&r, probe);
	assert_non_null(missing);
	assert_string_equal(missing->reason, text);
	assert_int_equal(runtime__count(&r, probe), 0); /* not even the function's own */
	assert_non_null(strstr(r.err.text, text));
	assert_non_null(strstr(r.err.text, "-pgo=off"));
}

static void expect_found(void)
{
	runtime__find(&r);
	if (r.code)
		fail_msg("%s", r.err.text);
}

TEST(changes_of_status)
{
	const uint64_t cookie = GT_SITE_CAS(GPR_R9, GPR_R10, false, 2, 6);

	init("go1.25.3");
	INLINED("other.cas", "runtime.gdestroy", cas);
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_DESTROY), 3);
	expect_site(&r, GT_PROBE_DESTROY, f_gdestroy, 0);
	expect_site(&r, GT_PROBE_DESTROY, s_cas1, cookie);
	expect_site(&r, GT_PROBE_DESTROY, s_cas2, cookie);

	/* A function of the table within it: the innermost counts. */
	init("go1.25.3");
	inlined("other.cas", "runtime.gdestroy", i_cas, s_cas1 + 2);
	runtime__func(&r, "other.cas")->tree[1] =
		(struct made_inline){ .name = "runtime.ready", .parent_pc = 4 };
	runtime__func(&r, "other.cas")->inlined[2] =
		(struct made_range){ (uint32_t)(s_cas2 + 2 - f_cas), 1 };
	runtime__find(&r);
	expect_site(&r, GT_PROBE_DESTROY, s_cas1, cookie);
	assert_null(runtime__site(&r, GT_PROBE_DESTROY, s_cas2));

	/* Two copies in one function: each site once. */
	init("go1.25.3");
	inlined("other.cas", "runtime.gdestroy", i_cas, s_cas1 + 2);
	runtime__func(&r, "other.cas")->tree[1] =
		(struct made_inline){ .name = "runtime.gdestroy" };
	runtime__func(&r, "other.cas")->inlined[2] =
		(struct made_range){ (uint32_t)(s_cas2 + 2 - f_cas), 1 };
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_DESTROY), 3);
	expect_site(&r, GT_PROBE_DESTROY, s_cas1, cookie);
	expect_site(&r, GT_PROBE_DESTROY, s_cas2, cookie);

	/* If one of two has no usable branch, neither gets a site. */
	init("go1.25.3");
	INLINED("other.looped", "runtime.gdestroy", looped);
	expect_refused(GT_PROBE_DESTROY, "runtime.gdestroy", "other.looped");
	/* … nor code that does nothing like it */
	init("go1.25.3");
	INLINED("other.clear", "runtime.gdestroy", clear);
	expect_refused(GT_PROBE_DESTROY, "runtime.gdestroy", "other.clear");
}

/* gdestroy in coroswitch_m has a probe of its own. */
TEST(another_row_sees_it)
{
	init("go1.25.3");
	runtime__rename(&r, "other.clear", "runtime.coroswitch_m");
	INLINED("runtime.coroswitch_m", "runtime.gdestroy", clear);
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_DESTROY), 1);
	expect_site(&r, GT_PROBE_SWITCH, f_clear, 0);
}

TEST(no_way_to_see)
{
	init("go1.25.3");
	INLINED("other.cas", "runtime.execute", cas);
	expect_refused(GT_PROBE_EXECUTE, "runtime.execute", "other.cas");
}

TEST(by_their_callers)
{
	init("go1.25.3");
	runtime__rename(&r, "other.syscall", "runtime.entersyscall");
	INLINED("runtime.entersyscall", "runtime.reentersyscall", syscall);
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_SYSCALL_ENTER), 2);
	expect_site(&r, GT_PROBE_SYSCALL_ENTER, f_syscall, GT_SYSCALL_OF_CALLER);
	/* in another one by its change of status */
	init("go1.25.3");
	INLINED("other.syscall", "runtime.reentersyscall", syscall);
	expect_found();
	expect_site(&r, GT_PROBE_SYSCALL_ENTER, s_syscall,
		    GT_SITE_CAS(GPR_R9, GPR_R10, false, 2, 3));

	init("go1.25.3");
	runtime__rename(&r, "other.bare", "runtime.exitsyscall.func1");
	inlined("runtime.exitsyscall.func1", "runtime.exitsyscallfast_pidle", f_bare + 4,
		f_bare + 5);
	expect_found();
	expect_site(&r, GT_PROBE_SYSCALL_LOST, f_bare, 0);
	/* neither in a closure of another function nor in what is no closure */
	init("go1.25.3");
	runtime__rename(&r, "other.bare", "runtime.newproc.func2");
	inlined("runtime.newproc.func2", "runtime.exitsyscallfast_pidle", f_bare + 4, f_bare + 5);
	expect_refused(GT_PROBE_SYSCALL_LOST, "runtime.exitsyscallfast_pidle",
		       "runtime.newproc.func2");
	init("go1.25.3");
	runtime__rename(&r, "other.bare", "runtime.exitsyscallfast");
	inlined("runtime.exitsyscallfast", "runtime.exitsyscallfast_pidle", f_bare + 4, f_bare + 5);
	expect_refused(GT_PROBE_SYSCALL_LOST, "runtime.exitsyscallfast_pidle",
		       "runtime.exitsyscallfast");
}

/* The caller that inlines goschedImpl determines whether it yields. */
TEST(yields)
{
	const uint64_t cookie = GT_SITE_CAS(GPR_R9, GPR_R10, false, 2, 1);

	init("go1.25.3");
	INLINED("other.yield", "runtime.goschedImpl", yield);
	expect_found();
	expect_site(&r, GT_PROBE_GOSCHED, s_yield, cookie | GT_GOSCHED_YIELDS);
	init("go1.25.3");
	runtime__rename(&r, "other.yield", "runtime.gopreempt_m");
	INLINED("runtime.gopreempt_m", "runtime.goschedImpl", yield);
	expect_found();
	expect_site(&r, GT_PROBE_GOSCHED, s_yield, cookie | GT_GOSCHED_PREEMPTED);
}

TEST(processors)
{
	static const char *const takers[] = { "runtime.retake", "runtime.sysmon",
					      "runtime.forEachPInternal" };

	init("go1.25.3");
	inlined("other.clear", "runtime.releasepNoTrace", s_clear, e_clear);
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_P_STOP), 2);
	expect_site(&r, GT_PROBE_P_STOP, s_clear, 0);
	assert_int_equal(runtime__site(&r, GT_PROBE_P_STOP, s_clear)->cost, SITE_STEPPED);

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		init("go1.25.3");
		runtime__rename(&r, "other.taken", takers[i]);
		INLINED(takers[i], "runtime.handoffp", taken);
		expect_found();
		assert_int_equal(runtime__count(&r, GT_PROBE_P_HANDOFF), 2);
		expect_site(&r, GT_PROBE_P_HANDOFF, s_taken, GT_SITE_OPERAND(GPR_DX, false));
		/* these take it out of a system call: it must be seen there */
		init("go1.25.3");
		runtime__rename(&r, "other.clear", takers[i]);
		INLINED(takers[i], "runtime.handoffp", clear);
		expect_refused(GT_PROBE_P_HANDOFF, "runtime.handoffp", takers[i]);
	}
	init("go1.25.3"); /* others hand on one that they released */
	INLINED("other.clear", "runtime.handoffp", clear);
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_P_HANDOFF), 1);
}

/* The reason is a constant, which has a byte. */
TEST(stops_of_the_world)
{
	init("go1.25.3");
	runtime__rename(&r, "other.acquire", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.STWStart");
	INLINED("other.stw", "runtime.stopTheWorldWithSema", stw);
	expect_found();
	expect_site(&r, GT_PROBE_STW_BEGIN, s_stw, GT_STW_REASON(254));
	init("go1.25.3");
	runtime__rename(&r, "other.acquire", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.STWStart");
	INLINED("other.stw255", "runtime.stopTheWorldWithSema", stw255);
	expect_found();
	assert_string_equal(runtime__missing(&r, GT_PROBE_STW_BEGIN)->reason,
			    "the compiler inlined runtime.stopTheWorldWithSema into other.stw255");
	/* by a test of the tracer alone */
	init("go1.25.3");
	runtime__rename(&r, "other.acquire", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.GoCreateSyscall");
	INLINED("other.stw", "runtime.needm", stw);
	expect_found();
	expect_site(&r, GT_PROBE_CREATE_SYSCALL, s_stw, 0);
}

/* A goroutine is created: runqput, inlined, stores it with a compare-and-swap of 8 bytes. */
TEST(created)
{
	init("go1.25.3");
	runtime__rename(&r, "runtime.newproc.func1", NULL);
	runtime__rename(&r, "other.runnext", "runtime.newproc.func1");
	inlined("runtime.newproc.func1", "runtime.runqput", s_next, s_outside);
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_CREATE), 1);
	expect_site(&r, GT_PROBE_CREATE, s_next, GT_SITE_OBJECT(GPR_CX));
	init("go1.25.3");
	runtime__rename(&r, "runtime.newproc.func1", NULL);
	runtime__rename(&r, "other.cas", "runtime.newproc.func1");
	inlined("runtime.newproc.func1", "runtime.runqput", i_cas, e_cas);
	expect_refused(GT_PROBE_CREATE, "runtime.runqput", "runtime.newproc.func1");
}

TEST(heap_sizes)
{
	init("go1.25.3");
	runtime__rename(&r, "other.added", "runtime.(*gcControllerState).update");
	expect_found();
	expect_site(&r, GT_PROBE_HEAP_ALLOC, s_added, GT_SITE_OBJECT(GPR_DI));
	init("go1.25.3");
	runtime__rename(&r, "other.counter", "runtime.(*gcControllerState).update");
	expect_found();
	expect_site(&r, GT_PROBE_HEAP_ALLOC, s_counter,
		    GT_SITE_OBJECT(GPR_DI) | GT_SITE_COUNTER(MADE_ADDR_OF(f_bare) + 8));
	init("go1.25.3");
	INLINED("other.added", "runtime.(*gcControllerState).update", added);
	expect_found();
	expect_site(&r, GT_PROBE_HEAP_ALLOC, s_added, GT_SITE_OBJECT(GPR_DI));
	/* Unoptimized: the first call of the atomic addition. */
	init("go1.25.3");
	runtime__rename(&r, "other.bare", "(*Uint64).Add");
	runtime__rename(&r, "other.acquire", "internal/runtime/atomic.(*Uint64).Add");
	runtime__rename(&r, "other.called", "runtime.(*gcControllerState).update");
	expect_found();
	assert_int_equal(runtime__count(&r, GT_PROBE_HEAP_ALLOC), 1);
	expect_site(&r, GT_PROBE_HEAP_ALLOC, s_called, GT_SITE_OBJECT(GPR_AX));
}

/* Up to 1.24 the goal is the second result; then the controller's first member tells it. */
TEST(goals)
{
	static const char *const unfit[] = { "other.goals", "other.noGoal" };

	init("go1.25.3");
	runtime__rename(&r, "other.tracer", "runtime.(*gcControllerState).trigger");
	runtime__rename(&r, "other.goal", "runtime.gcControllerCommit");
	expect_found();
	expect_site(&r, GT_PROBE_HEAP_GOAL, s_goal,
		    GT_SITE_PLACE(MADE_ADDR_OF(f_bare), MADE_ADDR_OF(s_goal)));
	for (size_t i = 0; i < 2; i++) {
		init("go1.25.3");
		runtime__rename(&r, "other.tracer", "runtime.(*gcControllerState).trigger");
		runtime__rename(&r, unfit[i], "runtime.gcControllerCommit");
		expect_found();
		assert_non_null(runtime__missing(&r, GT_PROBE_HEAP_GOAL));
	}
	init("go1.24.0");
	runtime__rename(&r, "other.tracer", "runtime.(*gcControllerState).trigger");
	runtime__rename(&r, "other.goal", "runtime.gcControllerCommit");
	expect_found();
	expect_site(&r, GT_PROBE_HEAP_GOAL, s_goal, 0);
}

/* The cookie is where the call of the tracer returns to. */
TEST(assists)
{
	init("go1.25.3");
	runtime__rename(&r, "other.acquire", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.GCMarkAssistStart");
	runtime__rename(&r, "other.assist", "runtime.gcAssistAlloc");
	expect_found();
	expect_site(&r, GT_PROBE_ASSIST_BEGIN, s_assist,
		    GT_SITE_PLACE(MADE_ADDR_OF(s_assist_end), MADE_ADDR_OF(s_assist)));
}

/* Before 1.22: the branch around the call, whether that is the tracer's or inlined from it. */
TEST(guards)
{
	init("go1.21.0");
	runtime__rename(&r, "other.tracer", "runtime.traceGCMarkAssistStart");
	runtime__rename(&r, "other.guard", "runtime.gcAssistAlloc");
	runtime__find(&r);
	assert_int_equal(runtime__count(&r, GT_PROBE_ASSIST_BEGIN), 1);
	expect_site(&r, GT_PROBE_ASSIST_BEGIN, s_guard,
		    GT_SITE_PLACE(MADE_ADDR_OF(s_guard_end), MADE_ADDR_OF(s_guard)));
	init("go1.21.0");
	runtime__rename(&r, "other.guard", "runtime.gcAssistAlloc");
	inlined("runtime.gcAssistAlloc", "runtime.traceGCMarkAssistDone", f_guard + 4, s_guard_end);
	runtime__find(&r);
	assert_int_equal(runtime__count(&r, GT_PROBE_ASSIST_END), 1);
	expect_site(&r, GT_PROBE_ASSIST_END, s_guard, 0);
	init("go1.21.0"); /* one of two calls has no branch around it: none */
	runtime__rename(&r, "other.tracer", "runtime.traceGCMarkAssistStart");
	runtime__rename(&r, "other.unguarded", "runtime.gcAssistAlloc");
	runtime__find(&r);
	assert_int_equal(runtime__count(&r, GT_PROBE_ASSIST_BEGIN), 0);
	init("go1.21.0"); /* another call comes in between for a chunk alone */
	runtime__rename(&r, "other.tracer", "runtime.traceGCSweepSpan");
	runtime__rename(&r, "other.chunk", "runtime.(*mheap).reclaimChunk");
	runtime__find(&r);
	expect_site(&r, GT_PROBE_SWEEP_SPAN, s_chunk,
		    GT_SITE_PLACE(MADE_ADDR_OF(s_chunk_end), MADE_ADDR_OF(s_chunk)));
	init("go1.21.0");
	runtime__rename(&r, "other.tracer", "runtime.traceGCMarkAssistStart");
	runtime__rename(&r, "other.chunk", "runtime.gcAssistAlloc");
	runtime__find(&r);
	assert_int_equal(runtime__count(&r, GT_PROBE_ASSIST_BEGIN), 0);
}
