/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of both programs, each listed once:
 *
 *	X(verb, former name or NULL, line of --help)
 *
 * do_<verb>() of the program's own folder runs it. Each program includes the list of the other, too,
 * to name the right program when a command is given to the wrong one.
 */
#ifndef LIB_VERBS_H
#define LIB_VERBS_H

/* clang-format off */
#define RECORDER_VERBS(X) \
	X(record, NULL, "record a running process (-p PID), or a program from its start (-- CMD)") \
	X(flight, NULL, "keep the latest events in memory, and write them to a file on request") \
	X(snapshot, NULL, "make a running 'gotrace-bpf flight' write a snapshot to a file") \
	X(serve, NULL, "answer requests for traces and metrics of processes, by HTTP") \
	X(status, NULL, "show what a running 'gotrace-bpf serve' records, and what that costs") \
	X(replay, "sequence", "convert input saved by record --save-input to a trace") \
	X(recover, NULL, \
	  "write the trace of a flight recorder buffer (record --blackbox), or list the buffers") \
	X(probes, NULL, "show where probes would be attached, and what they observe") \
	X(doctor, NULL, "show what this kernel, the current privileges and a process support")

#define READER_VERBS(X) \
	X(check, NULL, "validate traces, by the rules of Go's own reader") \
	X(text, NULL, "convert a trace to text") \
	X(assemble, "raw", "convert text back to a trace") \
	X(events, NULL, "print the events, ordered and resolved, one per line") \
	X(stat, NULL, "summarize the contents of a trace") \
	X(goroutines, NULL, "break goroutine time down by state") \
	X(latency, NULL, "break goroutine time down by CPU state") \
	X(path, NULL, "show the critical path of a goroutine: what blocked it") \
	X(waits, NULL, "show the longest waits of goroutines, and what caused them") \
	X(histogram, NULL, "show how durations are distributed: waits, system calls, pauses") \
	X(profile, NULL, "show which stacks took the time, as text or for pprof") \
	X(alloc, NULL, "show what was allocated, and what is live: by type, goroutine or size") \
	X(export, NULL, "convert a trace for Perfetto, Chrome, speedscope, flame graphs or jq") \
	X(sql, NULL, "query traces, or Parquet files of them, in SQL") \
	X(report, NULL, "write one HTML page about a trace: what dominated, requests, goroutines") \
	X(view, NULL, "show a trace in a browser: serves its timeline on loopback") \
	X(tasks, NULL, "show how often and how long tasks ran, by name") \
	X(regions, NULL, "show how often and how long regions ran, by name") \
	X(requests, NULL, "show how long requests (tasks) took, and where the time went") \
	X(top, NULL, "show what a process does, each second: goroutines, waits, GC, requests") \
	X(metrics, NULL, "print the sums of a trace as metrics for Prometheus") \
	X(diff, NULL, "compare two traces: where they differ by more than noise") \
	X(cut, NULL, "extract a time range as a trace of its own") \
	X(pack, NULL, "write a trace in a form that takes a fraction of the space") \
	X(unpack, NULL, "return the trace that was packed, byte for byte") \
	X(index, NULL, "write FILE.idx, an index that speeds up --from") \
	X(describe, NULL, "list the types of events") \
	X(convert, NULL, "convert v1 traces (Go 1.5 to 1.21) to v2, or between v2 versions") \
	X(anonymize, NULL, "replace the names of a trace, so that it can be passed on") \
	X(align, NULL, "merge a trace with scheduler events of perf") \
	X(ship, NULL, "send the traces of a continuous recording to an S3-compatible server")
/* clang-format on */

/* Elements of arrays of struct command */
#define VERB_ROW(verb, alias, what)    { #verb, do_##verb, what, alias },
#define SIBLING_ROW(verb, alias, what) { #verb, NULL, what, alias },

#endif
