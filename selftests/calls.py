#!/usr/bin/python3
"""Prints how long system calls took from entry to exit, and what their threads did then, by the kernel's sys_enter, sys_exit,
on_cpu, off_cpu and waking, as a JSON object of ns by the call's name: total, oncpu, runnable, throttled and blocked.

    calls.py GOTRACE TRACE tasks         of calls of the goroutines of tasks, as far as they are within these
    calls.py GOTRACE TRACE goroutines    of calls of any goroutine
"""
import bisect
import collections
import json
import subprocess
import sys

OFF = {"preempted": "runnable", "yielded": "runnable", "throttled": "throttled"} # else it is asleep


def read(gotrace, trace):
    """Returns the calls as (goroutine, thread, name, from, to), the tasks as (goroutine, from, to), and the changes of each
    thread's state as lists of times and states."""
    entered, begun, calls, tasks = {}, {}, [], []
    threads = collections.defaultdict(lambda: ([], []))
    events = subprocess.run([gotrace, "events", "--kernel", "--json", trace], capture_output=True, text=True, check=True).stdout
    for event in map(json.loads, events.splitlines()):
        kind = event["event"] if event["kind"] == "Kernel" else event["kind"]
        if kind == "sys_enter":
            entered[event["m"]] = event
        elif kind == "sys_exit" and event["m"] in entered:
            enter = entered.pop(event["m"])
            if enter["g"] is not None:
                calls.append((enter["g"], event["m"], enter["syscall"], enter["time"], event["time"]))
        elif kind in ("on_cpu", "off_cpu", "waking"):
            times, states = threads[event["m"]]
            if kind != "waking" or (states and states[-1] == "blocked"):
                times.append(event["time"])
                states.append({"on_cpu": "oncpu", "waking": "runnable"}.get(kind) or OFF.get(event["why"], "blocked"))
        elif kind == "TaskBegin":
            begun[event["task"]] = event
        elif kind == "TaskEnd" and event["task"] in begun:
            begin = begun.pop(event["task"])
            tasks.append((begin["g"], begin["time"], event["time"]))
    return calls, tasks, threads


def add(sums, thread, begin, end):
    """Adds the time of a call on a thread."""
    times, states = thread
    i = bisect.bisect_right(times, begin) - 1
    while begin < end:
        until = min(end, times[i + 1]) if i + 1 < len(times) else end
        sums["total"] += until - begin
        sums[states[i] if i >= 0 else "oncpu"] += until - begin # it entered the call, so it was on a CPU
        begin, i = until, i + 1


def main():
    calls, tasks, threads = read(sys.argv[1], sys.argv[2])
    sums = collections.defaultdict(lambda: dict.fromkeys(("total", "oncpu", "runnable", "throttled", "blocked"), 0))
    of = collections.defaultdict(list)
    for g, begin, end in tasks:
        of[g].append((begin, end))
    for g, thread, name, begin, end in calls:
        if sys.argv[3] == "goroutines":
            add(sums[name], threads[thread], begin, end)
        for task in of[g] if sys.argv[3] == "tasks" else ():
            if begin < task[1] and end > task[0]:
                add(sums[name], threads[thread], max(begin, task[0]), min(end, task[1]))
    print(json.dumps(sums))


main()
