#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares the output of `gotrace align --json` with the switches that both recordings contain.

    aligned.py same FIT EVENTS SCRIPT STAT     of a trace with kernel events, by perf's CLOCK_MONOTONIC
    aligned.py added FIT EVENTS SCRIPT STAT    of a trace that had none; EVENTS are those of the result

EVENTS is the output of `gotrace events --kernel --json`, SCRIPT that of `perf script` as in check/align.sh, and STAT that of
`gotrace stat --json`. The exit status is 1 if something differs.
"""
import bisect
import collections
import json
import re
import sys

NEAR_NS = 50000
Switch = collections.namedtuple("Switch", "time cpu before after")
LINE = re.compile(r"\[0*(\d+)\] +0*(\d+)\.(\d+): +sched:sched_switch: .*prev_pid=(\d+) .*next_pid=(\d+) ")


def of_perf(path):
    found = []
    for line in open(path, encoding="utf-8", errors="replace"):
        if match := LINE.match(line):
            cpu, seconds, ns, before, after = match.groups()
            found.append(Switch(int(seconds + ns), int(cpu), int(before), int(after)))
    return sorted(found)


def items_of(path):
    return [event for event in map(json.loads, open(path, encoding="utf-8")) if event["kind"] == "Kernel"]


def of_trace(items):
    found = set()
    for item in items:
        if item["event"] == "on_cpu":
            found.add(Switch(item["time"], item["cpu"], item.get("before", {}).get("m") or 0, item["m"]))
        elif item["event"] == "off_cpu":
            found.add(Switch(item["time"], item["cpu"], item["m"], item.get("then", {}).get("m") or 0))
    return sorted(found)


def threads_of(items):
    return {item["m"] for item in items if item["event"] in ("on_cpu", "off_cpu")}


def pairs(ours, theirs):
    """Yields the times of switches that are the same in both, each with the nearest one."""
    by_key = collections.defaultdict(list)
    for switch in theirs:
        by_key[switch[1:]].append(switch.time)
    for switch in ours:
        times = by_key.get(switch[1:], [])
        at = bisect.bisect(times, switch.time)
        near = min(times[max(0, at - 1):at + 1], key=lambda time: abs(time - switch.time), default=None)
        if near is not None and abs(near - switch.time) <= NEAR_NS:
            yield switch.time, near


def differs(what, have, want, by=0):
    print(f"{what}: {have}, {want}")
    if abs(have - want) > by:
        yield f"{what} is {have}, expected {want}"


def times(fit, theirs, stat):
    """A trace begins and ends with an event, or with a generation. perf has recorded all of it."""
    duration = json.load(open(stat, encoding="utf-8"))["duration"]
    yield from differs("trace_ns", fit["trace_ns"], duration, 1000000)
    start = json.load(open(stat, encoding="utf-8"))["start"]
    covered = min(start + duration, theirs[-1].time) - max(start, theirs[0].time)
    yield from differs("covered_ns", fit["covered_ns"], covered, 1000000)


def same(fit, events, script, stat):
    """Few switches are matched to others of the same threads, or have none, as their order differs at both ends."""
    items, theirs = items_of(events), of_perf(script)
    yield from times(fit, theirs, stat)
    threads = threads_of(items)
    ours, theirs = of_trace(items), [switch for switch in theirs if switch.before in threads or switch.after in threads]
    begin, end = max(ours[0].time, theirs[0].time), min(ours[-1].time, theirs[-1].time)
    ours = [switch for switch in ours if begin <= switch.time <= end]
    theirs = [switch for switch in theirs if begin <= switch.time <= end]
    apart = sorted(abs(a - b) for a, b in pairs(ours, theirs))
    few = len(ours) // 500 + 2
    yield from differs("in_trace", fit["in_trace"], len(ours), few)
    yield from differs("in_perf", fit["in_perf"], len(theirs), few)
    yield from differs("matched", fit["matched"], len(apart), few)
    residual = fit["residual_ns"]
    yield from differs("p50", residual["p50"], apart[len(apart) // 2], apart[len(apart) // 2] / 20)
    yield from differs("p99", residual["p99"], apart[-1 - len(apart) // 100], apart[-1 - len(apart) // 100] / 10)
    yield from differs("max", residual["max"], apart[-1], NEAR_NS / 5)


def added(fit, events, script, stat):
    items = items_of(events)
    count = collections.Counter(item["event"] for item in items)
    yield from times(fit, of_perf(script), stat)
    yield from differs("switches", fit["added"]["switches"], count["on_cpu"] + count["off_cpu"])
    yield from differs("wakings", fit["added"]["wakings"], count["waking"])
    yield from differs("threads", fit["added"]["threads"], count["named"] + count["created"])


def main():
    verb, fit, *files = sys.argv[1:]
    faults = list({"same": same, "added": added}[verb](json.load(open(fit, encoding="utf-8")), *files))
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
