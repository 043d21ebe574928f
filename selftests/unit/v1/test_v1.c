// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of each kind of v1 event to v2 events. selftests/check/v1.sh tests real traces.
 */
#include "unit/test.h"
#include "unit/v1_made.h"

TEST(goroutine_events)
{
	struct made t = begin_21();

	EV(&t, V1_GOMAXPROCS, 4, 8, 1);
	EV(&t, V1_GO_CREATE, 10, 9, 2, 1);
	EV(&t, V1_GO_UNBLOCK_LOCAL, 10, 2, 1);
	EV(&t, V1_GO_BLOCK_RECV, 10, 2);
	EV(&t, V1_GO_START_LABEL, 10, 2, 3, 3);
	EV(&t, V1_GO_SCHED, 10, 1);
	EV(&t, V1_GO_START_LOCAL, 10, 9);
	EV(&t, V1_GO_BLOCK_NET, 10, 99);
	EV(&t, V1_GO_START_LOCAL, 10, 2);
	EV(&t, V1_GO_UNBLOCK, 10, 9, 2, 0);
	EV(&t, V1_GO_PREEMPT, 10, 1);
	EV(&t, V1_GO_START, 10, 9, 3);
	EV(&t, V1_GO_END, 10);
	EV(&t, V1_PROC_STOP, 10);
	add_tables(&t);
	expect(&t, NULL,
	       BEGIN_21 "10 ProcsChange m7 p0 g1 8 [" F "]\n"
			"20 GoCreate m7 p0 g1 9 [" G ", " F "] [" F "]\n"
			"30 GoUnblock m7 p0 g1 2 0 [" F "]\n"
			"40 GoBlock m7 p0 g1 \"chan receive\" [" G ", " F "]\n"
			"50 GoStart m7 p0 g2 2 3\n"
			"51 GoLabel m7 p0 g2 \"main.go\"\n"
			"60 GoStop m7 p0 g2 \"runtime.Gosched\" [" F "]\n"
			"70 GoStart m7 p0 g9 9 0\n"
			"80 GoBlock m7 p0 g9 \"network\" -\n"
			"90 GoStart m7 p0 g2 2 0\n"
			"100 GoUnblock m-1 p1000002 g2 9 2 -\n"
			"110 GoStop m7 p0 g2 \"preempted\" [" F "]\n"
			"120 GoStart m7 p0 g9 9 3\n"
			"130 GoDestroy m7 p0 g9\n"
			"140 ProcStop m7 p0 g-1\n"
			"141 Sync 2\n");
}

/*
 * Runnable goroutines are reported by id. Events of a P before its start or after its stop have no
 * M.
 */
TEST(initial_statuses)
{
	struct made t = begin(21);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000);
	EV(&t, V1_GO_CREATE, 0, 9, 0, 0);
	EV(&t, V1_GO_CREATE, 0, 5, 0, 0);
	EV(&t, V1_GO_CREATE, 0, 7, 0, 0);
	EV(&t, V1_GO_IN_SYSCALL, 0, 7);
	EV(&t, V1_GOMAXPROCS, 1, 4, 0);
	EV(&t, V1_GO_START, 9, 5, 1);
	EV(&t, V1_GO_SYS_CALL, 10, 0);
	EV(&t, V1_GO_SCHED, 10, 0);
	EV(&t, V1_PROC_START, 10, 3);
	EV(&t, V1_PROC_STOP, 10);
	EV(&t, V1_HEAP_ALLOC, 10, 1);
	EV(&t, V1_PROC_START, 10, 4);
	EV(&t, V1_HEAP_ALLOC, 10, 1);
	EV(&t, V1_BATCH, UINT64_MAX, 1090);
	EV(&t, V1_PROC_START, 0, 6);
	expect(&t, NULL,
	       "-1 Sync 1\n"
	       "0 GoStatus m-1 p0 g7 7 -1 3\n"
	       "1 GoStatus m-1 p-1 g-1 5 -1 1\n"
	       "2 GoStatus m-1 p-1 g-1 9 -1 1\n"
	       "10 GoStart m-1 p0 g5 5 1\n"
	       "20 GoSyscallBegin m0 p0 g5 0 -\n"
	       "21 GoSyscallEnd m0 p0 g5\n"
	       "30 GoStop m-1 p0 g5 \"runtime.Gosched\" -\n"
	       "40 ProcStatus m3 p0 g-1 0 1\n"
	       "50 ProcStop m3 p0 g-1\n"
	       "60 HeapAlloc m-1 p0 g-1 1\n"
	       "70 ProcStart m4 p0 g-1 0 0\n"
	       "80 HeapAlloc m4 p0 g-1 1\n"
	       "90 ProcStatus m-1 p-1 g-1 -1 1\n"
	       "91 Sync 2\n");
}

TEST(block_reasons)
{
	static const struct {
		uint8_t type;
		const char *event;
	} kind[] = {
		{ V1_GO_SLEEP, "GoBlock m7 p0 g1 \"sleep\"" },
		{ V1_GO_BLOCK, "GoBlock m7 p0 g1 \"\"" },
		{ V1_GO_BLOCK_SEND, "GoBlock m7 p0 g1 \"chan send\"" },
		{ V1_GO_BLOCK_SELECT, "GoBlock m7 p0 g1 \"select\"" },
		{ V1_GO_BLOCK_SYNC, "GoBlock m7 p0 g1 \"sync\"" },
		{ V1_GO_BLOCK_COND, "GoBlock m7 p0 g1 \"sync.(*Cond).Wait\"" },
		{ V1_GO_BLOCK_GC, "GoBlock m7 p0 g1 \"GC mark assist wait for work\"" },
		{ V1_GO_STOP, "GoBlock m7 p0 g1 \"forever\"" },
	};
	char text[400];

	for (size_t i = 0; i < sizeof(kind) / sizeof(*kind); i++) {
		struct made t = begin_21();

		EV(&t, kind[i].type, 10, 1);
		add_tables(&t);
		snprintf(text, sizeof(text), BEGIN_21 "16 %s [" F "]\n17 Sync 2\n", kind[i].event);
		expect(&t, NULL, text);
	}
}

/* Another P writes the exit, and its time is before that of events of the first P. */
TEST(system_calls)
{
	struct made t = begin_21();

	EV(&t, V1_GO_SYS_CALL, 14, 1);
	EV(&t, V1_GO_SYS_CALL, 10, 1);
	EV(&t, V1_GO_SYS_BLOCK, 10);
	EV(&t, V1_PROC_STOP, 10);
	EV(&t, V1_BATCH, 3, 1100);
	EV(&t, V1_PROC_START, 0, 8);
	EV(&t, V1_GO_SYS_EXIT, 20, 1, 2, 1045);
	EV(&t, V1_GO_START, 1, 1, 3);
	EV(&t, V1_GO_SYS_CALL, 9, 1);
	EV(&t, V1_HEAP_ALLOC, 10, 1);
	EV(&t, V1_GO_SYS_BLOCK, 10);
	EV(&t, V1_GO_SYS_EXIT, 20, 1, 4, 1150);
	add_tables(&t);
	expect(&t, NULL,
	       BEGIN_21 "20 GoSyscallBegin m7 p0 g1 0 [" F "]\n"
			"21 GoSyscallEnd m7 p0 g1\n"
			"30 GoSyscallBegin m7 p0 g1 0 [" F "]\n"
			"45 GoSyscallEndBlocked m-1 p1000003 g1\n"
			"50 ProcStop m7 p0 g-1\n"
			"100 ProcStatus m8 p3 g-1 3 1\n"
			"121 GoStart m8 p3 g1 1 3\n"
			"130 GoSyscallBegin m8 p3 g1 0 [" F "]\n"
			"131 GoSyscallEnd m8 p3 g1\n"
			"140 HeapAlloc m8 p3 g1 1\n"
			"150 GoSyscallEndBlocked m-1 p1000003 g1\n"
			"151 Sync 2\n");
}

TEST(gc_cycles)
{
	struct made t = begin_21();

	EV(&t, V1_STW_START, 14, 2);
	EV(&t, V1_GC_START, 10, 0, 1);
	EV(&t, V1_STW_DONE, 10);
	EV(&t, V1_HEAP_ALLOC, 10, 4096);
	EV(&t, V1_HEAP_GOAL, 10, 8192);
	EV(&t, V1_MARK_ASSIST_DONE, 10);
	EV(&t, V1_MARK_ASSIST_START, 10, 1);
	EV(&t, V1_MARK_ASSIST_DONE, 10);
	EV(&t, V1_GC_DONE, 10);
	EV(&t, V1_SWEEP_START, 10, 1);
	EV(&t, V1_SWEEP_DONE, 10, 100, 50);
	EV(&t, V1_STW_START, 10, 99);
	add_tables(&t);
	expect(&t, NULL,
	       BEGIN_21 "20 STWBegin m7 p0 g1 \"GC sweep termination\" -\n"
			"30 GCBegin m-1 p1000004 g1 0 [" F "]\n"
			"40 STWEnd m7 p0 g1 \"GC sweep termination\"\n"
			"50 HeapAlloc m7 p0 g1 4096\n"
			"60 HeapGoal m7 p0 g1 8192\n"
			"70 GCMarkAssistEnd m7 p0 g1\n"
			"80 GCMarkAssistBegin m7 p0 g1 [" F "]\n"
			"90 GCMarkAssistEnd m7 p0 g1\n"
			"100 GCEnd m7 p0 g1 0\n"
			"110 GCSweepBegin m7 p0 g1 [" F "]\n"
			"120 GCSweepEnd m7 p0 g1 100 50\n"
			"130 STWBegin m7 p0 g1 \"\" -\n"
			"131 Sync 2\n");
}

TEST(annotations)
{
	struct made t = begin_21();

	EV(&t, V1_TASK_CREATE, 14, 77, 0, 1, 1);
	EV(&t, V1_TASK_CREATE, 10, 78, 77, 2, 1);
	EV(&t, V1_REGION, 10, 77, 0, 3, 1);
	EV(&t, V1_REGION, 10, 77, 0, 2, 1);
	add_log(&t, 10, 3, "hello");
	add_log(&t, 10, 2, "");
	EV(&t, V1_REGION, 10, 77, 1, 2, 1);
	EV(&t, V1_REGION, 10, 77, 1, 3, 1);
	EV(&t, V1_REGION, 10, 77, 1, 3, 1);
	EV(&t, V1_TASK_END, 10, 78, 1);
	EV(&t, V1_TASK_END, 10, 77, 1);
	EV(&t, V1_TASK_END, 10, 77, 1);
	add_tables(&t);
	expect(&t, NULL,
	       BEGIN_21 "20 UserTaskBegin m7 p0 g1 77 -1 \"main.f\" [" F "]\n"
			"30 UserTaskBegin m7 p0 g1 78 77 \"main.g\" [" F "]\n"
			"40 UserRegionBegin m7 p0 g1 77 \"main.go\" [" F "]\n"
			"50 UserRegionBegin m7 p0 g1 77 \"main.g\" [" F "]\n"
			"60 UserLog m7 p0 g1 77 \"main.go\" \"hello\" [" F "]\n"
			"70 UserLog m7 p0 g1 77 \"main.g\" \"\" [" F "]\n"
			"80 UserRegionEnd m7 p0 g1 77 \"main.g\" [" F "]\n"
			"90 UserRegionEnd m7 p0 g1 77 \"main.go\" [" F "]\n"
			"100 UserRegionEnd m7 p0 g1 77 \"main.go\" [" F "]\n"
			"110 UserTaskEnd m7 p0 g1 78 [" F "] of 77 \"main.g\"\n"
			"120 UserTaskEnd m7 p0 g1 77 [" F "] of 0 \"main.f\"\n"
			"130 UserTaskEnd m7 p0 g1 77 [" F "] of -1 \"\"\n"
			"131 Sync 2\n");
}

/* An exit follows events of the same time that precede it in the file. */
TEST(exits_of_equal_times)
{
	struct made t = begin_21();

	EV(&t, V1_GO_SYS_CALL, 14, 0);
	EV(&t, V1_GO_SYS_BLOCK, 10);
	EV(&t, V1_HEAP_ALLOC, 10, 1);
	EV(&t, V1_HEAP_ALLOC, 0, 2);
	EV(&t, V1_GO_SYS_EXIT, 0, 1, 2, 1040);
	EV(&t, V1_HEAP_ALLOC, 0, 3);
	expect(&t, NULL,
	       BEGIN_21 "20 GoSyscallBegin m7 p0 g1 0 -\n"
			"40 HeapAlloc m7 p0 g-1 1\n"
			"41 HeapAlloc m7 p0 g-1 2\n"
			"42 GoSyscallEndBlocked m-1 p1000003 g1\n"
			"43 HeapAlloc m7 p0 g-1 3\n"
			"44 Sync 2\n");
}

/* Samples are sorted by their own time, among the other events. */
TEST(cpu_samples)
{
	struct made t = begin_21();

	EV(&t, V1_HEAP_ALLOC, 44, 1);
	EV(&t, V1_BATCH, UINT64_MAX, 5000);
	EV(&t, V1_CPU_SAMPLE, 1, 1060, 0, 1, 1);
	EV(&t, V1_CPU_SAMPLE, 1, 1030, UINT64_MAX, 0, 2);
	add_tables(&t);
	expect(&t, NULL,
	       BEGIN_21 "30 CPUSample m-1 p-1 g-1 [" G ", " F "]\n"
			"50 HeapAlloc m7 p0 g1 1\n"
			"60 CPUSample m-1 p0 g1 [" F "]\n"
			"61 Sync 2\n");
}

/* A timer wakes a goroutine that waits for the network: Go's readers disagree about the P. */
TEST(timer_wakes_network_waiter)
{
	static const unsigned int versions[] = { 10, 21 };

	for (int i = 0; i < 2; i++) {
		struct made t = begin(versions[i]);

		EV(&t, V1_BATCH, 0, 1000);
		EV(&t, V1_FREQUENCY, 1000000000);
		EV(&t, V1_TIMER_GOROUTINE, 2);
		EV(&t, V1_GO_CREATE, 0, 1, 0, 0);
		EV(&t, V1_GO_CREATE, 0, 2, 0, 0);
		EV(&t, V1_GOMAXPROCS, 0, 1, 0);
		EV(&t, V1_GO_START, 1, 1, 1);
		EV(&t, V1_GO_BLOCK_NET, 1, 0);
		EV(&t, V1_GO_START, 1, 2, 1);
		EV(&t, V1_GO_UNBLOCK, 1, 1, 2, 0);
		expect_reason(&t, i ? "5 GoUnblock m-1 p1000002 g2 1 2 -\n" :
				      "5 GoUnblock m-1 p1000001 g2 1 2 -\n");
	}
}

/* The timer goroutine, 2, wakes goroutine 1 while another goroutine runs on the P. */
TEST(timer_goroutine)
{
	struct made t = begin_21();

	EV(&t, V1_TIMER_GOROUTINE, 2);
	EV(&t, V1_GO_SLEEP, 14, 0);
	EV(&t, V1_GO_START_LOCAL, 10, 3);
	EV(&t, V1_GO_CREATE, 10, 4, 0, 0);
	EV(&t, V1_GO_UNBLOCK_LOCAL, 10, 2, 0);
	EV(&t, V1_GO_BLOCK, 10, 0);
	EV(&t, V1_GO_START_LOCAL, 10, 2);
	EV(&t, V1_GO_UNBLOCK_LOCAL, 10, 1, 0);
	expect(&t, NULL,
	       BEGIN_21 "20 GoBlock m7 p0 g1 \"sleep\" -\n"
			"30 GoStart m7 p0 g3 3 0\n"
			"40 GoCreate m7 p0 g3 4 - -\n"
			"50 GoUnblock m7 p0 g3 2 0 -\n"
			"60 GoBlock m7 p0 g3 \"\" -\n"
			"70 GoStart m7 p0 g2 2 0\n"
			"80 GoUnblock m-1 p1000001 g2 1 0 -\n"
			"81 Sync 2\n");
}

/* A string before the first batch is ignored, and of two stacks with one id the first is used. */
TEST(ignored_table_entries)
{
	struct made t = begin(21);

	add_string(&t, 1, "early");
	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000);
	EV(&t, V1_GOMAXPROCS, 0, 1, 0);
	EV(&t, V1_GOMAXPROCS, 1, 2, 1);
	EV(&t, V1_STACK, 0, 1, 0x400000, 1, 3, 10);
	add_tables(&t);
	EV(&t, V1_STACK, 1, 1, 0x403000, 2, 3, 10);
	expect(&t, NULL, "-1 Sync 1\n1 ProcsChange m-1 p0 g-1 2 [" F "]\n2 Sync 2\n");
}

/*
 * A string longer than the input's window, and across its boundary; from a file, which has a
 * window.
 */
TEST(long_strings)
{
	char *text = malloc(1000001), path[32];
	struct made t = begin_21();
	struct trace_string s;
	struct input *in;
	struct v1 *v;
	FILE *f;

	memset(text, 'x', 1000000);
	text[1000000] = 0;
	text[999999] = 'y';
	add_string(&t, 5, text);
	add_log(&t, 5, 5, text);
	add_string(&t, 6, "end");
	temporary(path);
	f = fopen(path, "wb");
	fwrite(t.data, t.len, 1, f);
	fclose(f);
	assert_int_equal(input__open(&in, path, NULL), 0);
	assert_int_equal(
		input__need(in, 16, &(const unsigned char *){ NULL }, &(size_t){ 0 }, NULL), 0);
	assert_int_equal(v1__open(&v, in, 21, NULL, NULL), 0);
	assert_int_equal(input__offset(in), t.len);
	input__destroy(in);
	assert_true(dictionary__string(&v->dictionary, 5, &s));
	assert_int_equal(s.len, 1000000);
	assert_memory_equal(s.data, text, 1000000);
	assert_true(dictionary__string(&v->dictionary, v->max_string, &s)); /* the message */
	assert_memory_equal(s.data, text, 1000000);
	assert_true(dictionary__string(&v->dictionary, 6, &s));
	v1__destroy(v);
	unlink(path);
	free(text);
	free(t.data);
}

/* Ids up to the maximum: added strings get unused ones. */
TEST(strings_with_maximal_ids)
{
	struct made t = begin_21();

	add_string(&t, UINT64_MAX, "last");
	add_string(&t, 2, "second");
	EV(&t, V1_TASK_CREATE, 14, 7, 0, UINT64_MAX, 0);
	EV(&t, V1_GO_SLEEP, 10, 0);
	expect(&t, NULL,
	       BEGIN_21 "20 UserTaskBegin m7 p0 g1 7 -1 \"last\" -\n"
			"30 GoBlock m7 p0 g1 \"sleep\" -\n"
			"31 Sync 2\n");
}

/* Times far apart, from Go's own test. */
TEST(times_far_apart)
{
	struct made t = begin(9);
	char *found;

	EV(&t, V1_BATCH, 0, 0);
	EV(&t, V1_FREQUENCY, 1000000000);
	for (uint64_t ts = 1; ts < 10000000000000000; ts *= 2)
		EV(&t, V1_GO_CREATE, ts, ts, 0, 0);
	found = read_all(&t, NULL);
	assert_string_equal(found, "-1 Sync 1\n0 Sync 2\n");
	free(found);
}

TEST(trace_without_events)
{
	struct made t = begin(21);

	EV(&t, V1_BATCH, 0, 0);
	EV(&t, V1_FREQUENCY, 1000000000);
	expect(&t, NULL, "0 Sync 1\n");
}
