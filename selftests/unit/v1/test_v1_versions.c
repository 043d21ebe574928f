// SPDX-License-Identifier: GPL-2.0
/*
 * Differences between the versions of v1 traces: order, sequence numbers, events.
 */
#include "unit/test.h"
#include "unit/v1_made.h"

/* P 1 is first in the file and in time, but its events depend on those of P 0. */
TEST(order_by_sequence_numbers)
{
	struct made t = begin(7);

	EV(&t, V1_BATCH, 1, 1010);
	EV(&t, V1_FREQUENCY, 500000000);
	EV(&t, V1_PROC_START, 10, 5);
	EV(&t, V1_GO_START, 10, 2, 1);
	EV(&t, V1_GO_END, 10);
	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_GO_CREATE, 0, 1, 0, 0);
	EV(&t, V1_PROC_START, 1, 4);
	EV(&t, V1_GO_START_LOCAL, 1, 1);
	EV(&t, V1_GOMAXPROCS, 1, 2, 0);
	EV(&t, V1_GO_CREATE, 22, 2, 0, 0);
	EV(&t, V1_GO_END, 100);
	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "2 ProcStatus m4 p0 g-1 0 1\n"
	       "4 GoStatus m4 p0 g1 1 -1 2\n"
	       "40 ProcStatus m5 p1 g-1 1 1\n"
	       "50 GoCreate m4 p0 g1 2 - -\n"
	       "60 GoStart m5 p1 g2 2 1\n"
	       "80 GoDestroy m5 p1 g2\n"
	       "250 GoDestroy m4 p0 g1\n"
	       "251 Sync 2\n");
}

/* Of equal times Go's reader takes the P whose event was permitted first. */
TEST(equal_times)
{
	struct made t = begin(21);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000);
	EV(&t, V1_GOMAXPROCS, 0, 1, 0);
	EV(&t, V1_HEAP_ALLOC, 1, 1);
	EV(&t, V1_HEAP_ALLOC, 9, 2);
	EV(&t, V1_BATCH, 1, 1000);
	EV(&t, V1_HEAP_ALLOC, 2, 3);
	EV(&t, V1_HEAP_ALLOC, 8, 4);
	EV(&t, V1_HEAP_ALLOC, 0, 5);
	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "1 HeapAlloc m-1 p0 g-1 1\n"
	       "2 HeapAlloc m-1 p1 g-1 3\n"
	       "10 HeapAlloc m-1 p0 g-1 2\n"
	       "11 HeapAlloc m-1 p1 g-1 4\n"
	       "12 HeapAlloc m-1 p1 g-1 5\n"
	       "13 Sync 2\n");
}

/* The same, but the clock of P 1 is ahead of the events it depends on. */
TEST(inconsistent_clocks)
{
	struct made t = begin(7);

	EV(&t, V1_BATCH, 1, 1010);
	EV(&t, V1_FREQUENCY, 500000000);
	EV(&t, V1_GO_START, 10, 2, 1);
	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_GO_CREATE, 30, 2, 0, 0);
	expect_reason(&t, "at byte 26 (GoStart): time stamps out of order");
}

TEST(ps_waiting_forever)
{
	struct made t = begin(9);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 500000000);
	EV(&t, V1_GO_START, 10, 2, 1);
	expect_reason(
		&t,
		"at byte 26 (GoStart): goroutine 2 is never in a state that permits this event");
}

TEST(ps_claiming_the_same_change)
{
	struct made t = begin(9);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 500000000);
	EV(&t, V1_GO_CREATE, 10, 2, 0, 0);
	EV(&t, V1_BATCH, 1, 1020);
	EV(&t, V1_GO_START, 10, 2, 1);
	EV(&t, V1_BATCH, 2, 1020);
	EV(&t, V1_GO_START, 10, 2, 1);
	expect_reason(&t, "(GoStart): goroutine 2 is no longer in a state that permits this event");
}

/* Version 7: a futile wake-up with a preemption in it; 10: the trace ends within one. */
TEST(futile_wakeups)
{
	struct made t = begin(7);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000);
	EV(&t, V1_GO_CREATE, 0, 1, 0, 0);
	EV(&t, V1_GO_CREATE, 1, 2, 0, 0);
	EV(&t, V1_PROC_START, 1, 4);
	EV(&t, V1_GOMAXPROCS, 1, 2, 0);
	EV(&t, V1_GO_START_LOCAL, 7, 2);
	EV(&t, V1_GO_SLEEP, 10, 0);
	EV(&t, V1_GO_START_LOCAL, 10, 1);
	EV(&t, V1_GO_UNBLOCK_LOCAL, 10, 2, 0);
	EV(&t, V1_GO_SCHED, 10, 0);
	EV(&t, V1_GO_START_LOCAL, 10, 2);
	EV(&t, V1_GO_PREEMPT, 10, 0);
	EV(&t, V1_GO_START_LOCAL, 10, 2);
	EV(&t, V1_FUTILE_WAKEUP, 10);
	EV(&t, V1_GO_BLOCK_SEND, 10, 0);
	EV(&t, V1_GO_START_LOCAL, 10, 1);
	EV(&t, V1_FUTILE_WAKEUP, 10);
	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "2 ProcStatus m4 p0 g-1 0 1\n"
	       "3 GoStatus m-1 p-1 g-1 1 -1 1\n"
	       "4 GoStatus m-1 p-1 g-1 2 -1 1\n"
	       "10 GoStart m4 p0 g2 2 0\n"
	       "20 GoBlock m4 p0 g2 \"sleep\" -\n"
	       "30 GoStart m4 p0 g1 1 0\n"
	       "50 GoStop m4 p0 g1 \"runtime.Gosched\" -\n"
	       "110 GoStart m4 p0 g1 1 0\n"
	       "111 Sync 2\n");
}

/* Go's reader of later versions does not know these events. */
TEST(futile_wakeups_of_later_versions)
{
	struct made t = begin_21();

	EV(&t, V1_FUTILE_WAKEUP, 10);
	expect_reason(
		&t,
		"5 GoStatus m7 p0 g1 1 -1 2\n6 GoStatus m-1 p-1 g-1 3 -1 1\n"
		"invalid trace at byte 57 (FutileWakeup): this trace version has no event of this type\n");
}

/* Before 1.10 each P stopped the world, and before 1.9 sweeping reported no sizes. */
TEST(events_of_older_versions)
{
	struct made t = begin(8);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000);
	EV(&t, V1_GOMAXPROCS, 1, 2, 0);
	EV(&t, V1_STW_START, 10);
	EV(&t, V1_SWEEP_START, 10, 0);
	EV(&t, V1_SWEEP_DONE, 10);
	EV(&t, V1_BATCH, 1, 1015);
	EV(&t, V1_STW_START, 0);
	EV(&t, V1_STW_DONE, 8);
	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "10 STWBegin m-1 p0 g-1 \"GC mark termination\" -\n"
	       "14 STWBegin m-1 p1 g-1 \"GC mark termination\" -\n"
	       "20 GCSweepBegin m-1 p0 g-1 -\n"
	       "22 STWEnd m-1 p1 g-1 \"GC mark termination\"\n"
	       "30 GCSweepEnd m-1 p0 g-1 0 0\n"
	       "31 Sync 2\n");
}

TEST(version_5_is_sorted)
{
	struct made t = begin_5();

	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "1 ProcStatus m5 p0 g-1 0 1\n"
	       "2 GoStatus m5 p0 g1 1 -1 2\n"
	       "10 GoCreate m5 p0 g1 2 [0x402001  :0] [0x402018  :0, 0x401008  :0]\n"
	       "11 GoSyscallBegin m5 p0 g1 0 [0x402018  :0, 0x401008  :0]\n"
	       "20 ProcStatus m6 p1 g-1 1 1\n"
	       "25 GoSyscallEndBlocked m-1 p1000003 g1\n"
	       "26 ProcStop m5 p0 g-1\n"
	       "51 GoStart m6 p1 g1 1 0\n"
	       "52 Sync 2\n");
}

TEST(inconsistent_sequence_numbers)
{
	struct made t = begin(5);

	EV(&t, V1_BATCH, 0, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000, 0);
	EV(&t, V1_HEAP_ALLOC, 5, 0, 1);
	EV(&t, V1_BATCH, 1, 0, 1001);
	EV(&t, V1_HEAP_ALLOC, 4, 0, 1);
	expect_reason(&t, "at byte 28 (HeapAlloc): time stamps out of order");
}

/* "gotrace\0": sorted by time; a goroutine in a system call is runnable; integer ns. */
TEST(version_0)
{
	struct made t = begin(0);

	EV(&t, V1_BATCH, 1, 1020);
	EV(&t, V1_PROC_START, 0);
	EV(&t, V1_GO_SYS_EXIT, 5, 1);
	EV(&t, V1_GO_START, 15, 1);
	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 3000000000);
	EV(&t, V1_TIMER_GOROUTINE, 1); /* the last one counts */
	EV(&t, V1_TIMER_GOROUTINE, 8);
	EV(&t, V1_GO_CREATE, 0, 1, 0x401000, 0);
	EV(&t, V1_GO_CREATE, 0, 3, 0x403000, 0);
	EV(&t, V1_GO_WAITING, 0, 3);
	EV(&t, V1_GO_CREATE, 0, 4, 0x403000, 0);
	EV(&t, V1_GO_IN_SYSCALL, 0, 4);
	EV(&t, V1_PROC_START, 1);
	EV(&t, V1_GO_START, 1, 1);
	EV(&t, V1_GOMAXPROCS, 1, 2, 0);
	EV(&t, V1_GC_START, 1, 1);
	EV(&t, V1_STW_START, 1);
	EV(&t, V1_STW_DONE, 1);
	EV(&t, V1_GC_DONE, 1);
	EV(&t, V1_GO_SYS_CALL, 4, 1);
	EV(&t, V1_GO_SYS_BLOCK, 4, 0);
	EV(&t, V1_PROC_STOP, 8);
	EV(&t, V1_BATCH, 1, 90000001000);
	EV(&t, V1_GO_UNBLOCK, 0, 3, 0);
	EV(&t, V1_GC_START, 3, 0);
	EV(&t, V1_BATCH, 2, 90000001006);
	EV(&t, V1_GC_START, 0, 0);
	EV(&t, V1_GO_SYS_EXIT, 3, 4);
	EV(&t, V1_STACK, 1, 2, 0x402018, 0x401008);
	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "0 GoStatus m-1 p0 g3 3 -1 4\n"
	       "1 GoStatus m-1 p0 g4 4 -1 3\n"
	       "2 ProcStatus m-1 p0 g-1 0 1\n"
	       "3 GoStatus m-1 p0 g1 1 -1 2\n"
	       "4 GCBegin m-1 p1000004 g-1 0 [0x402018  :0, 0x401008  :0]\n"
	       "5 STWBegin m-1 p0 g-1 \"GC mark termination\" -\n"
	       "6 STWEnd m-1 p0 g-1 \"GC mark termination\"\n"
	       "7 GCEnd m-1 p0 g-1 0\n"
	       "8 GoSyscallBegin m-1 p0 g1 0 [0x402018  :0, 0x401008  :0]\n"
	       "9 ProcStatus m-1 p1 g-1 1 1\n"
	       "10 ProcStop m-1 p0 g-1\n"
	       "11 GoSyscallEndBlocked m-1 p1000003 g1\n"
	       "13 GoStart m-1 p1 g1 1 0\n"
	       "30000000000 GoUnblock m-1 p1 g1 3 0 -\n"
	       "30000000001 GCBegin m-1 p1000004 g-1 0 -\n"
	       "30000000002 GCBegin m-1 p1000004 g-1 0 -\n"
	       "30000000003 GoSyscallEndBlocked m-1 p1000003 g4\n"
	       "30000000004 Sync 2\n");
}
