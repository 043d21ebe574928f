#!/usr/bin/env python3
"""Compares what `gotrace latency` shows of the tasks that had the CPUs while threads waited for them with perf's events.

    neighbours.py PERF.TXT DONE LATENCY.JSON FUNCTION

PERF.TXT: `perf script --ns -F pid,tid,cpu,time,event,trace` of sched_switch, sched_wakeup, sched_wakeup_new and
sched_migrate_task of all CPUs, with CLOCK_MONOTONIC. DONE: the done line of the target `locked`. LATENCY.JSON: of the time
that the line has. Prints both times of each task, in ns. Exit status 1 if one differs by more than 2 %, 100 us, and 1 us
for each time that it had the CPU, or if tasks had less than 98 % of the waits: perf's handler of a tracepoint runs
after the recorder's, which takes longer if a thread of the target leaves the CPU. A kernel may leave out switches of some
threads (see perf_lacks in kernel.lib.sh): the time in which it did so may be any task's.
"""
import collections
import json
import re
import sys

LINE = re.compile(r"\s*(-?\d+)/-?\d+\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s+(.*)")
FIELD = re.compile(r"(\w+)=(.*?)(?=\s+(?:==> )?\w+=|$)")


def events(path):
    with open(path, errors="replace") as lines:
        for line in lines:
            match = LINE.match(line)
            if match:
                _, cpu, seconds, ns, event, rest = match.groups()
                yield int(seconds) * 10**9 + int(ns), int(cpu), event, dict(FIELD.findall(rest))


class Waits:
    """Which CPU each thread waits for since when, and which task had it meanwhile."""

    def __init__(self, threads, begin, end):
        self.threads, self.begin, self.end = threads, begin, end
        self.waits, self.runs, self.held, self.turns, self.lacking = {}, {}, collections.Counter(), collections.Counter(), 0

    def charge(self, cpu, time, lacking=False):
        """The task on the CPU had it up to now, while the threads waited that are in its run queue; lacking: another one too."""
        since, pid, name = self.runs.get(cpu, (0, None, None))
        for waiting_for, from_ in self.waits.values():
            ns = min(time, self.end) - max(since, from_, self.begin)
            if waiting_for == cpu and ns > 0:
                task = "(the program itself)" if name == "locked" else name
                self.held[task] += ns
                self.turns[task] += 1
                self.lacking += ns if lacking else 0
        self.runs[cpu] = time, pid, name

    def event(self, time, cpu, event, fields):
        if event == "sched_switch":
            prev, following = int(fields["prev_pid"]), int(fields["next_pid"])
            self.charge(cpu, time, prev != self.runs.get(cpu, (0, prev))[1])
            self.waits.pop(following, None)
            if prev in self.threads and fields["prev_state"].startswith("R"):
                self.waits[prev] = cpu, time
            self.runs[cpu] = time, following, fields["next_comm"] if following else "(idle)"
        elif event == "sched_migrate_task":
            pid = int(fields["pid"])
            if pid in self.waits:
                to = int(fields["dest_cpu"])
                self.charge(self.waits[pid][0], time)
                self.charge(to, time)
                self.waits[pid] = to, time
        else:
            pid, to = int(fields["pid"]), int(fields["target_cpu"])
            running = any(run[1] == pid for run in self.runs.values())
            if pid in self.threads and not running and pid not in self.waits:
                self.charge(to, time)
                self.waits[pid] = to, time


def main():
    perf, done, latency, function = sys.argv[1:]
    of_target = json.load(open(done))
    waits = Waits(set(of_target["threads"]), of_target["from"], of_target["to"])
    for time, *rest in sorted(events(perf), key=lambda event: event[0]):
        waits.event(time, *rest)
    shown, waited = collections.Counter(), 0
    for row in json.load(open(latency))["functions"]:
        if row["name"] == function:
            waited += row["kernel_runnable_ns"]
            for task in row["cpu_held_by"]:
                shown[task["name"]] += task["ns"]
    wrong = waited != sum(shown.values()) or not waited
    for name in sorted(waits.held | shown, key=lambda name: -waits.held[name]):
        have, want = shown[name], waits.held[name]
        differs = abs(have - want) > max(want * 0.02, 100000, 1000 * waits.turns[name]) + waits.lacking and name != "(unknown)"
        wrong |= differs
        print(f"{name}: {have} ns, by perf {want}{' DIFFERS' if differs else ''}")
    known = sum(ns for name, ns in shown.items() if name not in ("(unknown)", "(idle)"))
    print(f"{known} of {waited} ns; {waits.lacking} ns in which perf lacks a switch")
    sys.exit(wrong or known < waited * 0.98)


main()
