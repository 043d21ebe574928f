#!/usr/bin/env python3
"""Compares the counters of states in an export for Chrome with the states themselves, whenever they change.

    counters.py EXPORT EVENTS

EVENTS is the output of `gotrace events --kernel --json`. Each value of a counter must be that of its time, and
whenever nothing has happened for as long as the minimum distance of two values, the last one must be right. The
numbers of goroutines are computed from the events; the number of threads that wait for a CPU from the slices of
threads, which export.sh compares with `gotrace latency`. Prints how many values were compared, and the maxima."""

import bisect
import collections
import json
import sys

STEP = 100_000  # ns, as in userspace/export/export_ranges.c
STATES = {"Running": "Goroutines running", "Runnable": "Goroutines runnable (run queues)", "Waiting": "Goroutines waiting", "Syscall": "Goroutines in system calls"}
THREADS = "Threads waiting for a CPU"


def numbers_by_events(events):
    """By counter: (time, number), whenever it changes"""
    state, number, changes = {}, collections.Counter(), collections.defaultdict(list)
    for e in events:
        if e["kind"] != "StateTransition" or "goroutine" not in e:
            continue
        before, after = STATES.get(state.get(e["goroutine"])), STATES.get(e["to"])
        state[e["goroutine"]] = e["to"]
        if before == after:
            continue
        for counter, step in ((before, -1), (after, 1)):
            if counter:
                number[counter] += step
                changes[counter].append((e["time"], number[counter]))
    return changes


def waiting_threads(export):
    """(time, number), by slices on the tracks of the threads' states"""
    groups = {e["pid"] for e in export if e.get("name") == "process_name" and e["args"]["name"] == "Threads"}
    tracks = {(e["pid"], e["tid"]) for e in export if e.get("name") == "thread_name" and e["pid"] in groups and e["args"]["name"].startswith("state of thread ")}
    opened, number, changes = {}, 0, []
    for e in export:
        track = e["pid"], e.get("tid")
        if track not in tracks or e["ph"] not in "BE":
            continue
        if e["ph"] == "B":
            opened[track] = e["name"]
        if opened[track] == "waiting for a CPU":
            number += 1 if e["ph"] == "B" else -1
            changes.append((e["ts"], number))
    return changes


def compare(name, written, changes, times):
    if not changes:
        assert not written or {v for _, v in written} == {0}, f"{name}: {written[:5]}"
        return
    changed = [t for t, _ in changes]
    for time, value in written:
        first, end = bisect.bisect_left(changed, time), bisect.bisect_right(changed, time)
        possible = {v for _, v in changes[max(first - 1, 0):end]}
        assert value in possible, f"{name} is {value} at {time}, not {possible}"
    quiet = 0
    at = [t for t, _ in written]
    for before, after in zip(times, times[1:]):
        if after - before < STEP:
            continue
        quiet += 1
        right = bisect.bisect_right(changed, before)
        have = bisect.bisect_right(at, before)
        right, have = changes[right - 1][1] if right else 0, written[have - 1][1] if have else 0
        assert have == right, f"{name} is {have} from {before} to {after}, not {right}"
    print(f"{name}: {len(written)} values, at most {max(v for _, v in changes)}, and {quiet} times without events")


def main(path, events_path):
    with open(path) as file:
        export = json.load(file)["traceEvents"]
    with open(events_path) as file:
        events = [json.loads(line) for line in file]
    start = events[0]["time"]
    for e in events:
        e["time"] -= start
    written = collections.defaultdict(list)
    for e in export:
        e["ts"] = round(e.get("ts", 0) * 1000)
        if e["ph"] == "C":
            written[e["name"]].append((e["ts"], e["args"]["value"]))
    # The export ends with the last event of Go; kernel events may follow it.
    end = max(e["ts"] for e in export if e.get("ph") == "E")
    times = sorted({e["time"] for e in events if e["time"] < end})
    by_events = numbers_by_events(events)
    for name in STATES.values():
        compare(name, written[name], by_events[name], times)
    compare(THREADS, written[THREADS], waiting_threads(export), times)


main(*sys.argv[1:])
