// SPDX-License-Identifier: GPL-2.0
/*
 * The table of probes on a made-up runtime: which instruction each row finds, which alternatives
 * are tried, and what is reported when none is found.
 */
#include "unit/test.h"
#include "lib/array.h"

#include "unit/programs.h"

#include "unit/elf_made.h"
#include "unit/go_made.h"
#include "unit/runtime_made.h"

/* clang-format off */
asm(MADE_TEXT RUNTIME_TEXT
    "f_find2: " ENTER STATUS(4, 1) "s_call: call f_casgstatus; "
    STATUS(2, 1) "call f_casgstatus; " STATUS(4, 2) "call f_casgstatus; "
    "s_unknown: call f_casgstatus; "
    CAS(4, 1) DONE("s_cas") CAS(2, 1) DONE("s_other1") CAS(4, 2) DONE("s_other2")
    "mov qword ptr [rdx + 0x1240], 3; " STATUS(4, 1) "s_idle: call f_casgstatus; ret; "
    "f_many: " ENTER ".rept 108; call f_tracer; .endr; ret; "
    "f_more: " ENTER ".rept 109; call f_tracer; .endr; ret; "
    "f_twice: " ENTER "call f_newproc1; call f_newproc1; nop; ret; "
    "f_acquire: " ENTER "ret; f_tracer: " ENTER "ret; "
    "f_start_world: " ENTER "s_test: jne 1f; xor eax, eax; jmp 2f; 1: call f_acquire; "
    "2: test al, al; je 3f; call f_tracer; 3: ret; "
    "f_no_test: " ENTER "call f_acquire; s_acquired: call f_acquire; test al, al; call f_tracer; "
    "call f_acquire; ret; "
    "f_mark: " ENTER STATUS(2, 4) "call f_casgstatus; " STATUS(4, 1) "call f_casgstatus; "
    STATUS(3, 2) "call f_casgstatus; " STATUS(4, 2) "s_mark: call f_casgstatus; "
    STATUS(4, 2) "call f_casgstatus; ret; "
    "f_damaged: " ENTER ".byte 6; "
    "f_bare: ret; "
    MADE_TEXT_END);
/* clang-format on */

extern const unsigned char f_find2[], s_call[], s_unknown[], s_idle[], s_cas[], f_many[], f_more[],
	f_twice[], f_acquire[], f_tracer[], f_start_world[], s_test[], f_no_test[], s_acquired[],
	f_mark[], s_mark[], f_damaged[], f_bare[];

static const struct made_func funcs[] = {
	RUNTIME_FUNCS,
	{ .name = "other.find", .code = f_find2 },
	{ .name = "other.many", .code = f_many },
	{ .name = "other.more", .code = f_more },
	{ .name = "other.twice", .code = f_twice },
	{ .name = "other.acquire", .code = f_acquire },
	{ .name = "other.tracer", .code = f_tracer },
	{ .name = "other.startWorld", .code = f_start_world },
	{ .name = "other.noTest", .code = f_no_test },
	{ .name = "other.mark", .code = f_mark },
	{ .name = "other.damaged", .code = f_damaged },
	{ .name = "other.bare", .code = f_bare },
};

static struct runtime r;

static void init(void)
{
	runtime__init(&r, funcs, sizeof(funcs) / sizeof(funcs[0]));
}

/* Calls of `name`, or its entry, are replaced by the function `as` of this file. */
static void replace(const char *name, const char *as)
{
	runtime__rename(&r, name, NULL);
	runtime__rename(&r, as, name);
}

TEST(a_whole_runtime)
{
	static const struct {
		enum gt_probe probe;
		const unsigned char *label;
		uint64_t cookie;
	} want[] = {
		{ GT_PROBE_EXECUTE, f_execute, 0 },
		{ GT_PROBE_PARK, f_park_m, 0 },
		{ GT_PROBE_READY, f_ready, 0 },
		{ GT_PROBE_CAS_RUNNABLE, s_found, GT_SITE_CALL(4, 1) | GT_VIA_SCHEDULER },
		{ GT_PROBE_CAS_RUNNABLE, s_injected, GT_SITE_CALL(4, 1) | GT_VIA_SCHEDULER },
		{ GT_PROBE_CAS_RUNNABLE, s_worker, GT_SITE_CALL(4, 1) | GT_VIA_GC_WORKER },
		{ GT_PROBE_CAS_RUNNABLE, s_refused, GT_SITE_CALL(4, 1) | GT_VIA_REFUSED },
		{ GT_PROBE_GOSCHED, f_gosched, 0 },
		{ GT_PROBE_GOYIELD, f_goyield, 0 },
		{ GT_PROBE_PREEMPT_PARK, f_preempt_park, 0 },
		{ GT_PROBE_CREATE, s_runqput, 0 },
		{ GT_PROBE_DESTROY, f_gdestroy, 0 },
		{ GT_PROBE_SYSCALL_ENTER, f_reenter, 0 },
		{ GT_PROBE_SYSCALL_BLOCK, f_block, 0 },
		{ GT_PROBE_SYSCALL_EXIT, s_exit, GT_SITE_CALL(3, 2) },
		{ GT_PROBE_SYSCALL_LOST, f_lost, 0 },
		{ GT_PROBE_SYSCALL_NO_P, f_exit0, 0 },
		{ GT_PROBE_P_START, f_acquirep, 0 },
		{ GT_PROBE_P_STOP, f_releasep, 0 },
		{ GT_PROBE_P_HANDOFF, f_handoffp, 0 },
	};
	const struct site *s;

	init();
	runtime__find(&r);
	if (r.code)
		fail_msg("%s", r.err.text);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		expect_site(&r, want[i].probe, want[i].label, want[i].cookie);
	assert_int_equal(r.sites.n, sizeof(want) / sizeof(want[0]));
	s = runtime__site(&r, GT_PROBE_CREATE, s_runqput);
	assert_string_equal(s->func, "runtime.newproc.func1");
	assert_int_equal(s->func_offset, s_runqput - f_newproc);
	assert_int_equal(s->offset, s->addr - MADE_ADDR);
	assert_string_equal(s->text, "call runtime.runqput");
	assert_string_equal(s->why, "a goroutine is created");
	assert_int_equal(s->cost, SITE_EMULATED);
	/* Independent events are reported as missing; those of other releases are not. */
	assert_false(runtime__missing(&r, GT_PROBE_STW_BEGIN)->needed);
	assert_string_equal(runtime__missing(&r, GT_PROBE_PROCS)->reason,
			    "the program has no function runtime.procresize");
	assert_null(runtime__missing(&r, GT_PROBE_TASK_BEGIN));
	assert_null(runtime__missing(&r, GT_PROBE_SWITCH));
	assert_null(runtime__missing(&r, GT_PROBE_CREATE_BLOCKED));
	assert_null(runtime__missing(&r, GT_PROBE_SYSCALL_TRY_EXIT));
	for (size_t i = 0; i < r.sites.nmissing; i++)
		assert_false(r.sites.missing[i].needed || r.sites.has[r.sites.missing[i].probe]);
	assert_false(r.sites.has[GT_PROBE_PROCS]);
}

/* Without any one of them the trace would be wrong. */
TEST(each_is_needed)
{
	for (size_t i = 2; i < RUNTIME_N; i++) {
		char text[128];

		if (!strcmp(funcs[i].name, "runtime.runqput") ||
		    !strcmp(funcs[i].name, "runtime.newproc1"))
			continue;
		init();
		runtime__rename(&r, funcs[i].name, NULL);
		runtime__find(&r);
		assert_int_equal(r.code, -ENOTSUP);
		snprintf(text, sizeof(text), "the program has no function %s", funcs[i].name);
		assert_non_null(strstr(r.err.text, text));
		assert_null(strstr(r.err.text, "pgo"));
		assert_in_range(r.sites.n, 18, 19); /* the others are found nevertheless */
	}
}

TEST(changes_of_status)
{
	init();
	replace("runtime.findRunnable", "other.find");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_int_equal(runtime__count(&r, GT_PROBE_CAS_RUNNABLE), 3 + 4);
	expect_site(&r, GT_PROBE_CAS_RUNNABLE, s_call, GT_SITE_CALL(4, 1) | GT_VIA_SCHEDULER);
	expect_site(&r, GT_PROBE_CAS_RUNNABLE, s_unknown, GT_SITE_CALL(4, 1) | GT_VIA_SCHEDULER);
	/* the mode was stored: an idle mark worker */
	expect_site(&r, GT_PROBE_CAS_RUNNABLE, s_idle, GT_SITE_CALL(4, 1) | GT_VIA_GC_WORKER);
	expect_site(&r, GT_PROBE_CAS_RUNNABLE, s_cas,
		    GT_SITE_CAS(GPR_R9, GPR_R10, false, 4, 1) | GT_VIA_SCHEDULER);
}

TEST(up_to_128)
{
	init();
	runtime__rename(&r, "other.tracer", "runtime.wakep");
	runtime__rename(&r, "other.many", "runtime.startTheWorldWithSema");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_int_equal(r.sites.n, 128);
	init();
	runtime__rename(&r, "other.tracer", "runtime.wakep");
	runtime__rename(&r, "other.more", "runtime.startTheWorldWithSema");
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_non_null(strstr(r.err.text, "more than 128 probe sites"));
}

static size_t sites_until_failure = SIZE_MAX;

/* Instead of the one in lib/array.c: fails for a list of that many sites. */
int array__enlarge(void *array, size_t n, size_t *cap, size_t size)
{
	void *p;

	if (size == sizeof(struct site) && n >= sites_until_failure)
		return -ENOMEM;
	memcpy(&p, array, sizeof(p));
	*cap = n + 1;
	p = realloc(p, *cap * size);
	memcpy(array, &p, sizeof(p));
	return 0;
}

/* Neither a limit of the program nor an unfit instruction is the reason. */
TEST(without_memory)
{
	for (sites_until_failure = 0; sites_until_failure < 20; sites_until_failure++) {
		init();
		runtime__find(&r);
		assert_int_equal(r.code, -ENOMEM);
		assert_string_equal(r.err.text, "out of memory");
		assert_int_equal(r.sites.n, sites_until_failure);
	}
	sites_until_failure = SIZE_MAX;
}

/* Creation has three rows: each is tried when the one before finds nothing. */
TEST(alternatives)
{
	init();
	runtime__rename(&r, "runtime.runqput", NULL);
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_int_equal(runtime__count(&r, GT_PROBE_CREATE), 1);
	expect_site(&r, GT_PROBE_CREATE, s_newproc1, 1);
	assert_null(runtime__missing(&r, GT_PROBE_CREATE));

	/* Which of two calls? Of none of three rows: the first one's reason. */
	init();
	runtime__rename(&r, "runtime.runqput", NULL);
	replace("runtime.newproc.func1", "other.twice");
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_true(runtime__missing(&r, GT_PROBE_CREATE)->needed);
	assert_string_equal(runtime__missing(&r, GT_PROBE_CREATE)->reason,
			    "the program has no function runtime.runqput");
	assert_string_equal(r.err.text, "cannot observe when a goroutine is created: "
					"the program has no function runtime.runqput");

	/* The end of a goroutine is seen in goexit0, too. */
	init();
	runtime__rename(&r, "runtime.gdestroy", "runtime.goexit0");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	expect_site(&r, GT_PROBE_DESTROY, f_gdestroy, 0);
}

/* Unknown code, and invalid code. */
TEST(unfit_functions)
{
	init();
	replace("runtime.execute", "other.bare");
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_string_equal(runtime__missing(&r, GT_PROBE_EXECUTE)->reason,
			    "runtime.execute has no instruction that can be probed");
	init();
	replace("runtime.execute", "other.damaged");
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_string_equal(runtime__missing(&r, GT_PROBE_EXECUTE)->reason,
			    "runtime.execute cannot be disassembled");
	/* Coroutines: optional, but if present they must be understood. */
	init();
	runtime__rename(&r, "other.bare", "runtime.coroswitch_m");
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_true(runtime__missing(&r, GT_PROBE_SWITCH)->needed);
	/* Tasks: the same, but nothing else hangs on them. */
	init();
	runtime__rename(&r, "other.bare", "runtime/trace.userTaskEnd");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_false(runtime__missing(&r, GT_PROBE_TASK_END)->needed);
}

/* Rows are of releases: 1.22 on, or up to 1.21, and so on, both inclusive. */
TEST(releases)
{
	init();
	r.release = "go1.26.0";
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_non_null(runtime__missing(&r, GT_PROBE_P_START)); /* acquirepNoTrace */
	assert_non_null(runtime__missing(&r, GT_PROBE_SYSCALL_NO_P));
	assert_null(runtime__site(&r, GT_PROBE_SYSCALL_EXIT, s_exit));
	expect_site(&r, GT_PROBE_SYSCALL_TRY_EXIT, f_exit, 0);
	init();
	r.release = "go1.22.0";
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_int_equal(runtime__count(&r, GT_PROBE_P_STOP), 1);
	init();
	r.release = "go1.21.0";
	runtime__find(&r);
	assert_int_equal(r.code, -ENOTSUP);
	assert_int_equal(runtime__count(&r, GT_PROBE_P_STOP), 0);  /* releasep */
	assert_int_equal(runtime__count(&r, GT_PROBE_GOSCHED), 0); /* its callers */
	expect_site(&r, GT_PROBE_SYSCALL_ENTER, f_reenter, 0);
}

TEST(tests_of_the_tracer)
{
	init();
	runtime__rename(&r, "other.acquire", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.STWDone");
	runtime__rename(&r, "other.startWorld", "runtime.startTheWorldWithSema");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_int_equal(runtime__count(&r, GT_PROBE_STW_END), 1);
	expect_site(&r, GT_PROBE_STW_END, s_test, 0);

	/* Unoptimized: the last call of traceAcquire before the tracer function. */
	init();
	runtime__rename(&r, "other.bare", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.acquire", "runtime.traceAcquire");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.STWDone");
	runtime__rename(&r, "other.noTest", "runtime.startTheWorldWithSema");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	expect_site(&r, GT_PROBE_STW_END, s_acquired, 0);

	/* Neither: the function's entry, as its last alternative. */
	init();
	runtime__rename(&r, "other.bare", "runtime.traceAcquireEnabled");
	runtime__rename(&r, "other.tracer", "runtime.traceLocker.STWDone");
	runtime__rename(&r, "other.noTest", "runtime.startTheWorldWithSema");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	expect_site(&r, GT_PROBE_STW_END, f_no_test, 0);
}

/* Marking ends with the change from waiting to running that comes first. */
TEST(the_end_of_marking)
{
	init();
	runtime__rename(&r, "other.mark", "runtime.gcMarkTermination");
	runtime__find(&r);
	assert_int_equal(r.code, 0);
	assert_int_equal(runtime__count(&r, GT_PROBE_GC_END), 1);
	expect_site(&r, GT_PROBE_GC_END, s_mark, 0);
}

/* Each probe belongs to a set that has a name, and some registers are named for it. */
TEST(sets_and_arguments)
{
	static const struct {
		enum gt_probe probe;
		enum site_set set;
		uint64_t cookie;
		const char *arguments;
	} want[] = {
		{ GT_PROBE_EXECUTE, SITE_SCHED, 0, "AX=g" },
		{ GT_PROBE_EXECUTE, SITE_SCHED, 17ull << 8, "AX=g" }, /* no register */
		{ GT_PROBE_READY, SITE_SCHED, 0, "AX=g BX=skip" },
		{ GT_PROBE_READY, SITE_SCHED, GT_SITE_CAS(GPR_R15, GPR_R10, true, 4, 1), "R15=g" },
		{ GT_PROBE_READY, SITE_SCHED, GT_SITE_OBJECT(GPR_AX), "AX=g" },
		{ GT_PROBE_CAS_RUNNABLE, SITE_SCHED, GT_SITE_CALL(4, 1), "AX=g BX=old CX=new" },
		{ GT_PROBE_CAS_RUNNABLE, SITE_SCHED, GT_SITE_CAS(GPR_R8, GPR_CX, false, 4, 1),
		  "R8=g" },
		{ GT_PROBE_GOSCHED, SITE_SCHED, GT_GOSCHED_BY_ARG, "AX=g BX=preempted" },
		{ GT_PROBE_GOSCHED, SITE_SCHED, GT_GOSCHED_YIELDS, "AX=g" },
		{ GT_PROBE_CREATE, SITE_SCHED, 0, "BX=new g" },
		{ GT_PROBE_CREATE, SITE_SCHED, 1, "AX=new g" },
		{ GT_PROBE_CREATE_BLOCKED, SITE_SCHED, 0, "AX=new g" },
		{ GT_PROBE_SYSCALL_ENTER, SITE_SYSCALL, 0, "R14=g AX=pc CX=bp" },
		{ GT_PROBE_SYSCALL_ENTER, SITE_SYSCALL, GT_SYSCALL_OF_CALLER,
		  "R14=g [SP]=pc BP=bp" },
		{ GT_PROBE_SYSCALL_BLOCK, SITE_SYSCALL, 0, "R14=g" },
		{ GT_PROBE_SYSCALL_TRY_EXIT, SITE_SYSCALL, 0, "R14=g" },
		{ GT_PROBE_SYSCALL_LOST, SITE_SYSCALL, 0, "-" },
		{ GT_PROBE_P_START, SITE_SCHED, 0, "AX=p" },
		{ GT_PROBE_P_HANDOFF, SITE_SCHED, 0, "AX=p" },
		{ GT_PROBE_P_HANDOFF, SITE_SCHED, 1, "CX=p" },
		{ GT_PROBE_STW_BEGIN, SITE_GC, 0, "AX=reason" },
		{ GT_PROBE_STW_BEGIN, SITE_GC, GT_STW_REASON(3), "-" },
		{ GT_PROBE_HEAP_ALLOC, SITE_HEAP, GT_SITE_OBJECT(GPR_BX), "BX=bytes" },
		{ GT_PROBE_HEAP_ALLOC, SITE_HEAP, GT_SITE_OBJECT(GPR_R15), "R15=bytes" },
		{ GT_PROBE_HEAP_ALLOC, SITE_HEAP, 17ull << 8, "-" },
		{ GT_PROBE_HEAP_GOAL, SITE_HEAP, 0, "BX=bytes" },
		{ GT_PROBE_ASSIST_BEGIN, SITE_GC, 7, "R14=g" },
		{ GT_PROBE_SWEEP_SPAN, SITE_SWEEP, 0, "AX=span" },
		{ GT_PROBE_SWEEP_SPAN, SITE_SWEEP, 7, "-" },
		{ GT_PROBE_SWEEP_LEFT, SITE_SWEEP, 1, "AX=pages" },
		{ GT_PROBE_TASK_END, SITE_USER, 0, "AX=id" },
	};
	static const char *const names[SITE_SETS] = { "sched",	"syscall", "gc",  "heap", "user",
						      "kernel", "sweep",   "cpu", "fault" };

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(site__set(want[i].probe), want[i].set);
		assert_string_equal(site__arguments(want[i].probe, want[i].cookie),
				    want[i].arguments);
	}
	for (int i = 0; i < SITE_SETS; i++)
		assert_string_equal(site_set__name(i), names[i]);
	assert_string_equal(site_set__name(SITE_SETS), "?");
}
