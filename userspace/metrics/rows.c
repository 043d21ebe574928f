// SPDX-License-Identifier: GPL-2.0
/*
 * The table of all metrics: see metrics/rows.h. The manual gotrace.1 lists the same families.
 */
#include "metrics/rows.h"

#define TIME(part, name)                                                                           \
	[ROW_TIME + (part)] = { "goroutine_time_seconds",                                          \
				METRIC_COUNTER,                                                    \
				UNIT_SECONDS,                                                      \
				name,                                                              \
				NULL,                                                              \
				"Time of all goroutines, by the state of goroutine and "           \
				"thread." }
#define WAIT(row, name)                                                                            \
	[row] = { "wait_seconds",                                                                  \
		  METRIC_COUNTER,                                                                  \
		  UNIT_SECONDS,                                                                    \
		  name,                                                                            \
		  "reason",                                                                        \
		  "Part of gotrace_goroutine_time_seconds, by what a goroutine or its thread "     \
		  "waited for." }
#define GOROUTINES(row, name)                                                                      \
	[row] = {                                                                                  \
		"goroutines", METRIC_GAUGE,                                                        \
		UNIT_NONE,    name,                                                                \
		NULL,	      "Goroutines that exist, those of the runtime included, by state."    \
	}
#define NUMBER(row, name, help) [row] = { name, METRIC_COUNTER, UNIT_NONE, NULL, NULL, help }
#define SECONDS(row, name, help)                                                                   \
	[row] = { name "_seconds", METRIC_COUNTER, UNIT_SECONDS, NULL, NULL, help }
#define NUMBER_BY(row, name, label, help)                                                          \
	[row] = { name, METRIC_COUNTER, UNIT_NONE, NULL, label, help }
#define SECONDS_BY(row, name, label, help)                                                         \
	[row] = { name "_seconds", METRIC_COUNTER, UNIT_SECONDS, NULL, label, help }
#define LENGTHS(row, name, label, help)                                                            \
	[row] = { name "_seconds", METRIC_HISTOGRAM, UNIT_SECONDS, NULL, label, help }
#define NOW(row, name, unit, help) [row] = { name, METRIC_GAUGE, unit, NULL, NULL, help }

const struct metrics_info metrics_rows[METRICS_ROWS] = {
	TIME(PART_ONCPU, "oncpu"),
	TIME(PART_GO_RUNNABLE, "go-runnable"),
	TIME(PART_KERNEL_RUNNABLE, "kernel-runnable"),
	TIME(PART_THROTTLED, "throttled"),
	TIME(PART_KERNEL_BLOCKED, "kernel-blocked"),
	TIME(PART_SYSCALL_BLOCKED, "syscall-blocked"),
	TIME(PART_GO_BLOCKED, "go-blocked"),
	SECONDS(ROW_TIME_UNKNOWN, "goroutine_time_unknown",
		"Part of gotrace_goroutine_time_seconds while the state of the thread was unknown."),
	SECONDS(ROW_SYSCALL_CPU, "syscall_cpu", "Time of goroutines on a CPU in system calls."),
	SECONDS_BY(ROW_CPU, "cpu", "function", "Time of goroutines on a CPU, by start function."),
	NUMBER(ROW_MIGRATIONS, "thread_migrations",
	       "How often the thread of a goroutine came back on another CPU."),
	WAIT(ROW_WAIT_KERNEL_RUNNABLE, "kernel-runnable"),
	WAIT(ROW_WAIT_KERNEL_BLOCKED, "kernel-blocked"),
	WAIT(ROW_WAIT_SYSCALL_BLOCKED, "syscall-blocked"),
	WAIT(ROW_WAIT_GO_BLOCKED, "go-blocked"),
	NUMBER_BY(ROW_BLOCKS, "blocks", "reason",
		  "How often a goroutine was blocked and continued, by reason."),
	LENGTHS(ROW_SCHED, "sched_latency", NULL,
		"How long goroutines were runnable before they ran."),
	LENGTHS(ROW_RUN_QUEUE, "run_queue_delay", NULL,
		"How long threads were runnable before they had a CPU."),
	LENGTHS(ROW_SYSCALL, "syscall", NULL, "Durations of system calls."),
	LENGTHS(ROW_GC, "gc_cycle", NULL, "Durations of the concurrent mark phases of GC cycles."),
	SECONDS(ROW_GC_ASSIST, "gc_assist", "Time of goroutines on a CPU in mark assists."),
	SECONDS_BY(ROW_GC_WORKER, "gc_worker", "mode",
		   "Time that GC mark workers had a P, by their mode."),
	SECONDS_BY(ROW_GC_WORKER_CPU, "gc_worker_cpu", "mode",
		   "Time of GC mark workers on a CPU, by their mode."),
	LENGTHS(ROW_STW, "stw_pause", "reason", "Durations of stop-the-world pauses, by reason."),
	GOROUTINES(ROW_GOROUTINES_RUNNABLE, "runnable"),
	GOROUTINES(ROW_GOROUTINES_RUNNING, "running"),
	GOROUTINES(ROW_GOROUTINES_WAITING, "waiting"),
	GOROUTINES(ROW_GOROUTINES_SYSCALL, "syscall"),
	NUMBER(ROW_CREATED, "created_goroutines", "Goroutines that were created."),
	NUMBER(ROW_ENDED, "ended_goroutines", "Goroutines that have ended."),
	NOW(ROW_HEAP, "heap_bytes", UNIT_BYTES, "Bytes of live and unswept objects on the heap."),
	NOW(ROW_HEAP_GOAL, "heap_goal_bytes", UNIT_BYTES,
	    "Size of the heap at which the current GC cycle should end."),
	NOW(ROW_GOMAXPROCS, "gomaxprocs", UNIT_NONE, "GOMAXPROCS; 0: unknown."),
	LENGTHS(ROW_REQUEST, "request_duration", "name",
		"Durations of requests (tasks that ended), by name."),
	NUMBER_BY(ROW_REQUEST_ERRORS, "request_errors", "name", "Requests that failed, by name."),
	SECONDS_BY(ROW_REQUEST_CPU, "request_cpu", "name",
		   "Time on a CPU of the goroutines that worked for requests, by name."),
	NUMBER(ROW_REQUESTS_UNBEGUN, "requests_unbegun",
	       "Requests that ended, but began before the recording."),
	NUMBER_BY(ROW_LOGS, "logs", "category", "Log events of the program, by category."),
	NUMBER(ROW_EVENTS, "events", "Events of Go's runtime that were recorded."),
	NUMBER(ROW_KERNEL_EVENTS, "kernel_events", "Kernel events that were recorded."),
	NUMBER(ROW_GENERATIONS, "generations", "Generations that were analysed."),
	NUMBER(ROW_DROPPED, "dropped_generations",
	       "Generations that were recorded, but are not in these metrics."),
	NUMBER(ROW_RESTARTS, "restarts",
	       "How often the analysis began anew, without what was known of goroutines and tasks."),
	NUMBER_BY(ROW_LOST, "lost_records", "kind", "Records that the recorder lost, by kind."),
	SECONDS(ROW_RECORDED, "recorded", "Time from the first event to the last one."),
};
