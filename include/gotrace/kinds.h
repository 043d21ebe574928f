/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kinds of records and the probes, each listed once.
 *
 * Generated from these lists: the enums of record.h and config.h; names, payload sizes, handlers,
 * initial states, sets of events and the choice of BPF programs in userspace; the kinds listed in
 * gotrace-private(5).
 */
#ifndef GOTRACE_KINDS_H
#define GOTRACE_KINDS_H

/*
 * Kinds of records. Numbers are never reused: they are part of the format of raw files.
 *
 *	X(number, NAME, name, payload, ...)
 *
 * The payload is a struct of record.h, without its prefix. The comment above a kind names the
 * record's object and stack, if it has them, and the payload or what the record means.
 */
#define GT_KINDS(X) GT_GO_KINDS(X) GT_PAIR_KINDS(X) GT_OTHER_KINDS(X) GT_KERNEL_KINDS(X)

/*
 * Hits of probes of the Go runtime. apply_<name>() in userspace/sequence/state*.c applies a record.
 * Two more columns are for userspace/sequence/initial.c:
 *
 *	X(number, NAME, name, payload, g, P)
 *
 * g: the state of the object, a goroutine, before the record; NEW: the record creates it; NONE: the
 *	object is no goroutine.
 * P: whether the record's thread had a P before the record; ANY: the record does not show that.
 */
/* clang-format off */
#define GT_GO_KINDS(X) \
	/* goroutines */ \
	/* object: g; goid */ \
	X(1, EXECUTE, execute, execute, RUNNABLE, YES) \
	/* object: g; stack: g's; reasons, frames to skip */ \
	X(2, PARK, park, park, RUNNING, YES) \
	/* object: g; stack: unblocker's; via, GC worker mode, frames to skip */ \
	X(3, READY, ready, ready, WAITING, ANY) \
	/* object: g; stack: g's; preempted or not */ \
	X(4, YIELD, yield, yield, RUNNING, YES) \
	/* object: g; stack: g's */ \
	X(5, PREEMPT_PARK, preempt_park, none, RUNNING, YES) \
	/* object: new g; stack: creator's; goid, startpc, parent goid */ \
	X(6, CREATE, create, create, NEW, YES) \
	/* object: new g; stack: creator's; as CREATE, of a coroutine */ \
	X(7, CREATE_BLOCKED, create_blocked, create, NEW, YES) \
	/* object: g; goid */ \
	X(8, DESTROY, destroy, destroy, RUNNING, YES) \
	/* object: g; next g, its goid, 1 if g exits */ \
	X(9, SWITCH, switch, switch, RUNNING, YES) \
	/* object: g; goid, reasons: ended or, if it was made runnable since, had parked */ \
	X(24, ENDED, ended, ended, RUNNING, YES) \
	\
	/* system calls */ \
	/* object: g; stack: g's; P stays bound until taken */ \
	X(10, SYSCALL_ENTER, syscall_enter, none, RUNNING, YES) \
	/* object: g; stack: g's; P_STOP follows on this thread */ \
	X(11, SYSCALL_BLOCK, syscall_block, none, RUNNING, YES) \
	/* object: g; has a P: its own or, after P_START, another */ \
	X(12, SYSCALL_EXIT, syscall_exit, none, SYSCALL, YES) \
	/* object: g; >= 1.26: has its P unless SYSCALL_LOST follows */ \
	X(13, SYSCALL_TRY_EXIT, syscall_try_exit, none, SYSCALL, YES) \
	/* P was taken, another one is sought */ \
	X(14, SYSCALL_LOST, syscall_lost, none, NONE, NO) \
	/* object: g; no P found: g is runnable */ \
	X(15, SYSCALL_NO_P, syscall_no_p, none, SYSCALL, NO) \
	/* object: g; goid, the P it may find its own again */ \
	X(16, CREATE_SYSCALL, create_syscall, create_syscall, NEW, NO) \
	/* object: g; goid; a thread goes back to C for good */ \
	X(17, DESTROY_SYSCALL, destroy_syscall, destroy, SYSCALL, ANY) \
	\
	/* Ps */ \
	/* object: p; id */ \
	X(20, P_START, p_start, proc, NONE, NO) \
	/* object: p; id */ \
	X(21, P_STOP, p_stop, proc, NONE, YES) \
	/* object: p; id; by any thread, p is idle or retaken */ \
	X(22, P_HANDOFF, p_handoff, proc, NONE, ANY) \
	\
	/* runtime; schedinit sets the number of Ps, and allocates, before its thread has a P */ \
	/* stack: g's; the runtime's stwReason */ \
	X(30, STW_BEGIN, stw_begin, value, NONE, YES) \
	X(31, STW_END, stw_end, none, NONE, YES) \
	/* stack: g's */ \
	X(32, GC_BEGIN, gc_begin, none, NONE, YES) \
	X(33, GC_END, gc_end, none, NONE, YES) \
	/* stack: g's; new number of Ps */ \
	X(34, PROCS, procs, value, NONE, ANY) \
	/* object: g; stack: g's; may come again before its end (<= 1.21) */ \
	X(35, ASSIST_BEGIN, assist_begin, none, RUNNING, YES) \
	/* object: g; may come without a begin (<= 1.21) */ \
	X(36, ASSIST_END, assist_end, none, RUNNING, YES) \
	/* the P may sweep from now on */ \
	X(37, SWEEP_BEGIN, sweep_begin, none, NONE, ANY) \
	/* stack: g's; bytes looked at, its objects */ \
	X(38, SWEEP_SPAN, sweep_span, span, NONE, ANY) \
	/* may come without a begin */ \
	X(39, SWEEP_END, sweep_end, none, NONE, ANY) \
	/* bytes */ \
	X(41, HEAP_ALLOC, heap_alloc, value, NONE, ANY) \
	/* bytes, read at an execute instead of at each change */ \
	X(27, HEAP_SAMPLE, heap_sample, value, NONE, ANY) \
	/* bytes; ~0: no goal */ \
	X(42, HEAP_GOAL, heap_goal, value, NONE, ANY) \
	/* of the last SWEEP_SPAN of this thread */ \
	X(43, SWEEP_LEFT, sweep_left, left, NONE, ANY) \
	\
	/* what the program reports of itself, by package runtime/trace */ \
	/* object: g; stack: g's; its id, its parent's, its type's text */ \
	X(44, TASK_BEGIN, task_begin, task, RUNNING, YES) \
	/* object: g; stack: g's; the task's id */ \
	X(45, TASK_END, task_end, value, RUNNING, YES) \
	/* object: g; stack: g's; task, name's text, begins or ends */ \
	X(46, REGION, region, region, RUNNING, YES) \
	/* object: g; stack: g's; task, category's text, message's */ \
	X(47, LOG, log, log, RUNNING, YES) \
	\
	/* functions chosen by `record --region` */ \
	/* object: g; stack: caller's, of a begin; depth, name's text, begins or ends */ \
	X(49, FUNC_CALL, func_call, func_call, RUNNING, YES) \
	\
	/* labels set by package runtime/pprof; a set has a record for each of its labels */ \
	/* object: g; stack: g's, of the last; key's text, value's, its place in the set */ \
	X(52, LABEL, label, label, RUNNING, YES) \
	\
	/* functions of `record --requests` */ \
	/* object: g; depth, two texts, number, preset and step of gotrace/request.h */ \
	X(53, REQUEST, request, request, RUNNING, YES)

/* Hits that show two transitions: userspace/sequence/derived.c makes a record of each. */
#define GT_PAIR_KINDS(X) \
	/* object: g that starts; stack: of the one that parked before it; a PARK and an EXECUTE */ \
	X(18, EXECUTE_PARKED, execute_parked, execute_parked) \
	/* object: g that starts; goid, the g before it and its ENDED; also an EXECUTE */ \
	X(19, EXECUTE_ENDED, execute_ended, execute_ended) \
	/* object: g; stack: g's; number of the call, when; a SYSCALL_ENTER and a SYS_ENTER */ \
	X(25, GO_SYS_ENTER, go_sys_enter, go_sys_enter) \
	/* object: g; number of the call, the result; a SYSCALL_TRY_EXIT and a SYS_EXIT */ \
	X(26, GO_SYS_EXIT, go_sys_exit, go_sys_exit)

/* Records other than hits: of the process and its CPUs, and data to which other records refer. */
#define GT_OTHER_KINDS(X) \
	/* the process replaced its program */ \
	X(40, EXEC, exec, none) \
	/* the stack of what a CPU ran just then */ \
	X(48, SAMPLE, sample, stack) \
	/* object: hash; depth, then the PCs, leaf first */ \
	X(50, STACK, stack, stack) \
	/* object: name of the text; length, then the bytes, padded to 8 */ \
	X(51, TEXT, text, text) \
	/* object: g; goid, message's text; labels that it had when the recording began */ \
	X(54, LABELS_PRESENT, labels_present, labels_present) \
	/* event sets that are recorded from now on, and why (--max-overhead) */ \
	X(55, RECORDED, recorded, recorded) \
	/* a plugin was mapped, and none of its code has run; it has no probes yet */ \
	X(23, PLUGIN_MAPPED, plugin_mapped, none) \
	/* object: time; all plugins that were mapped up to then have probes, or a PLUGIN with the reason */ \
	X(28, PLUGINS_PROBED, plugins_probed, none) \
	/* a plugin that is recorded or not; since when it was not, its file's name, the reason */ \
	X(29, PLUGIN, plugin, plugin) \
	/* object: g of the goroutine that reads the connection; when data arrived, bytes, enum gt_socket_what */ \
	X(64, SOCKET, socket, socket)

/* Kernel events: tid is the thread concerned, whatever goroutine runs on it. */
#define GT_KERNEL_KINDS(X) \
	/* object: tid of the previous thread; the thread has this CPU from now on */ \
	X(56, CPU_ON, cpu_on, none) \
	/* object: tid of the next thread, 0: idle; why, and who got the CPU */ \
	X(57, CPU_OFF, cpu_off, off_cpu) \
	/* object: waker's tid; the waker's process; from an interrupt or not */ \
	X(58, WAKING, waking, waking) \
	/* object: number of the call */ \
	X(59, SYS_ENTER, sys_enter, none) \
	/* object: number of the call; the result, a negative errno included */ \
	X(60, SYS_EXIT, sys_exit, value) \
	/* object: see enum gt_thread_what; created, ended, ..., or has a CPU that a thread waits for */ \
	X(61, THREAD, thread, thread) \
	/* object: address; a page fault, of user or kernel code */ \
	X(62, FAULT_BEGIN, fault_begin, none) \
	X(63, FAULT_END, fault_end, none)
/* clang-format on */

/*
 * Probes. userspace/target/probe/site.c finds their instructions. A probe may have several sites,
 * which their cookies distinguish.
 *
 *	X(NAME, name, program, set, arguments[, arguments of a site whose cookie is not 0])
 *
 * program: the BPF program in bpf/; it may serve several probes.
 * set: enum site_set, by which `record --events` selects the probe.
 * arguments: the registers that the program reads, as `gotrace-bpf probes` shows them.
 * The comment above a probe states what the program expects at the instruction (registers of Go's
 * ABIInternal on x86-64; R14 = current g). NAME_ARG1...: userspace/target/arch/arch.h.
 */
/* clang-format off */
#define GT_PROBES(X) \
	/* AX = g */ \
	X(EXECUTE, execute, execute, SCHED, NAME_ARG1 "=g") \
	/* AX = g; g.sched, m.waitTrace* set; R14 = g0 */ \
	X(PARK, park, park, SCHED, NAME_ARG1 "=g") \
	/* AX = g, BX = traceskip; R14 = g0 */ \
	X(READY, ready, ready, SCHED, NAME_ARG1 "=g " NAME_ARG2 "=skip") \
	/* AX = g, its status changes; cookie = enum gt_via */ \
	X(CAS_RUNNABLE, cas_runnable, goroutine_rare, SCHED, \
	  NAME_ARG1 "=g " NAME_ARG2 "=old " NAME_ARG3 "=new") \
	/* AX = g; cookie = enum gt_gosched: BX = preempted */ \
	X(GOSCHED, gosched, goroutine_rare, SCHED, \
	  NAME_ARG1 "=g " NAME_ARG2 "=preempted", NAME_ARG1 "=g") \
	/* AX = g: always "preempted" */ \
	X(GOYIELD, goyield, goroutine_rare, SCHED, NAME_ARG1 "=g") \
	/* AX = g */ \
	X(PREEMPT_PARK, preempt_park, goroutine_rare, SCHED, NAME_ARG1 "=g") \
	/* BX = new g; R14 = g0; cookie 1: AX = new g */ \
	X(CREATE, create, goroutine_rare, SCHED, NAME_ARG2 "=new g", NAME_ARG1 "=new g") \
	/* AX = new g (newproc1 returned); R14 = g0 */ \
	X(CREATE_BLOCKED, create_blocked, goroutine_rare, SCHED, NAME_ARG1 "=new g") \
	/* AX = g */ \
	X(DESTROY, destroy, destroy, SCHED, NAME_ARG1 "=g") \
	/* AX = g; next = *g.coroarg */ \
	X(SWITCH, switch, coro_switch, SCHED, NAME_ARG1 "=g") \
	/* \
	 * R14 = g, AX = pc, BX = sp, CX = bp (>= 1.23); GT_SYSCALL_OF_CALLER: the entry of \
	 * entersyscall, [rsp] = pc, rbp = bp; inlined: g.sched \
	 */ \
	X(SYSCALL_ENTER, syscall_enter, syscall_enter, SYSCALL, \
	  NAME_G "=g " NAME_ARG1 "=pc " NAME_ARG3 "=bp", NAME_G "=g [" NAME_SP "]=pc " NAME_FP "=bp") \
	/* R14 = g; [rsp] = pc, rbp = caller's frame; cookie 1: framed */ \
	X(SYSCALL_BLOCK, syscall_block, goroutine_rare, SYSCALL, NAME_G "=g") \
	/* AX = g: casgstatus in exitsyscall, <= 1.25 */ \
	X(SYSCALL_EXIT, syscall_exit, syscall_exit, SYSCALL, NAME_ARG1 "=g") \
	/* R14 = g: the entry of exitsyscall, >= 1.26 */ \
	X(SYSCALL_TRY_EXIT, syscall_try_exit, syscall_try_exit, SYSCALL, NAME_G "=g") \
	/* the system call instruction of Go's own calls: no program is attached there */ \
	X(SYSCALL_AT, syscall_at, goroutine_rare, SYSCALL, NAME_G "=g") \
	/* R14 = g; cookie 0: AX = pc, CX = bp; GT_SYSCALL_OF_CALL: the call's, and rbp */ \
	X(SYSCALL_CALL, syscall_call, goroutine_rare, SYSCALL, \
	  NAME_G "=g " NAME_ARG1 "=pc " NAME_ARG3 "=bp", NAME_G "=g " NAME_FP "=bp") \
	/* R14 = g */ \
	X(SYSCALL_RETURN, syscall_return, goroutine_rare, SYSCALL, NAME_G "=g") \
	/* R14 = g0 */ \
	X(SYSCALL_LOST, syscall_lost, syscall_lost, SYSCALL, "-") \
	/* AX = g */ \
	X(SYSCALL_NO_P, syscall_no_p, syscall_no_p, SYSCALL, NAME_ARG1 "=g") \
	/* R14 = g0, g = m.curg: needm, on a thread of C's */ \
	X(CREATE_SYSCALL, create_syscall, create_syscall, SCHED, NAME_G "=g0, its m's g") \
	/* the same: dropm */ \
	X(DESTROY_SYSCALL, destroy_syscall, destroy_syscall, SCHED, NAME_G "=g0, its m's g") \
	/* AX = p */ \
	X(P_START, p_start, goroutine_rare, SCHED, NAME_ARG1 "=p") \
	/* p = R14.m.p */ \
	X(P_STOP, p_stop, goroutine_rare, SCHED, NAME_G "=g, its p") \
	/* AX = p; cookie 1: CX = p (syscallingThread.releaseP) */ \
	X(P_HANDOFF, p_handoff, goroutine_rare, SCHED, NAME_ARG1 "=p", NAME_ARG3 "=p") \
	/* AX = reason (>= 1.21), or cookie GT_STW_REASON; R14 = g0 */ \
	X(STW_BEGIN, stw_begin, runtime_rare, GC, NAME_ARG1 "=reason", "-") \
	X(STW_END, stw_end, stw_end, GC, "-") \
	/* R14 = g; cookie 1: inside gcStart, stack from [rbp + 8] on */ \
	X(GC_BEGIN, gc_begin, runtime_rare, GC, "-") \
	X(GC_END, gc_end, gc_end, GC, "-") \
	/* AX = number of Ps */ \
	X(PROCS, procs, runtime_rare, SCHED, NAME_ARG1 "=number") \
	/* AX = id, BX = parent, CX, DI = type; R14 = g */ \
	X(TASK_BEGIN, task_begin, user_event, USER, NAME_ARG1 "=id " NAME_ARG3 "=type") \
	/* AX = id; R14 = g */ \
	X(TASK_END, task_end, user_event, USER, NAME_ARG1 "=id") \
	/* AX = task, BX = 1 at its end, CX, DI = name; R14 = g */ \
	X(REGION, region, user_event, USER, NAME_ARG1 "=task " NAME_ARG3 "=name") \
	/* AX = task, BX, CX = category, DI, SI = message; R14 = g */ \
	X(LOG, log, user_event, USER, NAME_ARG1 "=task " NAME_ARG2 "," NAME_ARG4 "=texts") \
	/* R14 = g, [rsp] = pc: the entry or an exit of a function of `record --region` */ \
	X(FUNC_CALL, func_call, user_event, USER, NAME_G "=g") \
	/* R14 = g, [rsp] = pc: the entry of a function of `record --requests`; its arguments */ \
	X(REQUEST, request, request, USER, NAME_G "=g") \
	/* AX = labels, cookie = enum gt_labels_kind; R14 = g: runtime/pprof.runtime_setProfLabel */ \
	X(LABELS, labels, user_event, USER, NAME_ARG1 "=labels", NAME_ARG1 "=labels") \
	/* R14 = g; inside gcAssistAlloc, whose frame is at rbp */ \
	X(ASSIST_BEGIN, assist_begin, runtime_rare, GC, NAME_G "=g") \
	X(ASSIST_END, assist_end, runtime_rare, GC, NAME_G "=g") \
	/* the cookie's register = bytes */ \
	X(HEAP_ALLOC, heap_alloc, heap_alloc, HEAP, "-") \
	/* the entry of plugin.lastmoduleinit, by which plugin.Open continues once the file is mapped */ \
	X(PLUGIN_MAPPED, plugin_mapped, goroutine_rare, SCHED, "-") \
	/* BX = bytes */ \
	X(HEAP_GOAL, heap_goal, runtime_rare, HEAP, NAME_ARG2 "=bytes") \
	X(SWEEP_BEGIN, sweep_begin, runtime_rare, SWEEP, "-") \
	/* AX = sweepLocked, [rsp] = caller; a place: a chunk of the heap */ \
	X(SWEEP_SPAN, sweep_span, runtime_rare, SWEEP, NAME_ARG1 "=span", "-") \
	/* AX = mspan; cookie 1: AX = the chunk's pages that were freed */ \
	X(SWEEP_LEFT, sweep_left, runtime_rare, SWEEP, NAME_ARG1 "=span", NAME_ARG1 "=pages") \
	X(SWEEP_END, sweep_end, runtime_rare, SWEEP, "-")
/* clang-format on */

#endif
