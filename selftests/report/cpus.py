#!/usr/bin/env python3
"""Compares what CPUs run according to an export of an aligned trace with the switches of perf.

    cpus.py EXPORT SCRIPT START     EXPORT: of `gotrace export chrome`; SCRIPT: of perf script, with the fields cpu,
                                    time, event and trace; START: of the trace, in ns of perf's clock

Where the export shows a thread, or that a CPU is idle, perf must have the same, unless perf contradicts itself: where the
task that a switch leaves is not the one that the switch before it led to, perf lacks a switch. Around each switch, times
differ by some us, so shorter differences do not count, and longer ones may take 1/1000 of the time. Prints for how long,
for each CPU; exits with status 1 if another task ran.
"""
import bisect
import collections
import json
import re
import sys

SKEW = 10_000  # ns
SWITCH = re.compile(r"\[(\d+)\] +(\d+)\.(\d+): +sched:sched_switch: .*prev_pid=(\d+) .*next_pid=(\d+) ")


def perf_runs(path):
    """By CPU: times, and the thread from then on; None: unknown"""
    runs = collections.defaultdict(lambda: ([], []))
    with open(path, encoding="utf-8", errors="replace") as lines:
        for cpu, s, ns, previous, tid in filter(None, (SWITCH.search(line) and SWITCH.search(line).groups() for line in lines)):
            times, tids = runs[int(cpu)]
            if tids and tids[-1] != int(previous):
                tids[-1] = None
            times.append(int(s) * 10**9 + int(ns))
            tids.append(int(tid))
    return runs


def shown_runs(path, start):
    """By CPU: (from, to, thread); None: unknown; between slices the CPU is idle"""
    cpus, open_slice, runs = {}, {}, collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for e in events:
        if e["ph"] == "M" and e["name"] == "thread_name" and re.fullmatch(r"CPU \d+", e["args"]["name"]):
            cpus[e["tid"]] = int(e["args"]["name"][4:])
        elif e["tid"] in cpus and e["ph"] == "B":
            open_slice[e["tid"]] = e
        elif e["tid"] in cpus and e["ph"] == "E":
            begin, run = open_slice[e["tid"]], runs[cpus[e["tid"]]]
            a, b = (start + round(x["ts"] * 1000) for x in (begin, e))
            if run and a > run[-1][1]:
                run.append((run[-1][1], a, 0))
            run.append((a, b, begin.get("args", {}).get("thread")))
    return runs


def main():
    perf, shown, failed = perf_runs(sys.argv[2]), shown_runs(sys.argv[1], int(sys.argv[3])), False
    for cpu, runs in sorted(shown.items()):
        times, tids = perf[cpu]
        sums = collections.Counter()
        for a, b, tid in runs:
            a, b = max(a, times[0]), min(b, times[-1])
            i = bisect.bisect_right(times, a) - 1
            while a < b:
                end = min(times[i + 1] if i + 1 < len(times) else b, b)
                same = tids[i] == tid or end - a < SKEW
                unknown = tid is None or tids[i] is None
                sums["unknown" if unknown else "as perf" if same else "other"] += end - a
                a, i = end, i + 1
        known = sums["as perf"] + sums["other"]
        print(f"CPU {cpu}: " + ", ".join(f"{key} {ns / 1e6:.3f} ms" for key, ns in sorted(sums.items())))
        failed |= sums["other"] * 1000 > known or known == 0
    return failed or not shown


sys.exit(main())
