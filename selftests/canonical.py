#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints JSON of gotrace as the canonical text of Go's reader (selftests/reference/CANONICAL.md).

    gotrace events --json --stacks FILE | canonical.py events
    gotrace goroutines --all --json FILE | canonical.py goroutines

Texts must be UTF-8. "transition_stack=[-]" is omitted: JSON has no stack of a transition that has none.
"""
import collections
import json
import sys

INFERRED = " (inferred)"  # of a reason that Go's reader does not know
ESCAPES = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 34: '\\"', 92: "\\\\"}
NO_TASK = 2**64 - 1


def quoted(text):
    def one(n):
        return ESCAPES.get(n) or (chr(n) if 32 <= n < 127 else f"\\x{n:02x}" if n < 128
                                  else f"\\u{n:04x}" if n < 65536 else f"\\U{n:08x}")
    return '"' + "".join(one(ord(c)) for c in text) + '"'


def stack(frames):
    return ";".join(f"{quoted(f['func'])}@{quoted(f['file'])}:{f['line']}#{f['pc']:x}" for f in frames) or "-"


def resource(e):
    return f"Goroutine({e['goroutine']})" if "goroutine" in e else f"Proc({e['proc']})" if "proc" in e else "Global"


def numbers(values):
    return "".join(f" {name}={value}" for name, value in values.items())


def sync(e):
    clock = e.get("clock")
    return f"n={e['n']}" + (f" trace={clock['time']} mono={clock['mono']} wall={clock['wall_sec']}.{clock['wall_nsec']:09}"
                            if clock else "")


def task(e):
    parent = NO_TASK if e["parent"] is None else e["parent"]
    return f"id={e['task']} parent={parent} type={quoted(e['type'])}"


def reason_of_go(text):
    return "" if text.endswith(INFERRED) else text


def transition(e):
    own = e.get("transition_stack")
    return (f"goroutine={e['goroutine']}" if "goroutine" in e else f"proc={e['proc']}") + (
        f" {e['from']}->{e['to']} reason={quoted(reason_of_go(e.get('reason', '')))}") + (
        f" transition_stack=[{stack(own)}]" if own else "")


def region(e):
    return f"task={e['task']} type={quoted(e['type'])}"


def in_range(e):
    return f"name={quoted(e['name'])} scope={resource(e)}" + numbers(e.get("attributes", {}))


DETAILS = {
    "Sync": sync, "StateTransition": transition, "TaskBegin": task, "TaskEnd": task, "RegionBegin": region, "RegionEnd": region,
    "RangeBegin": in_range, "RangeActive": in_range, "RangeEnd": in_range,
    "Metric": lambda e: f"name={quoted(e['name'])} value={e['value']}",
    "Label": lambda e: f"label={quoted(e['label'])} resource={resource(e)}",
    "Log": lambda e: f"task={e['task']} category={quoted(e['category'])} message={quoted(e['message'])}",
    "Experimental": lambda e: f"name={quoted(e['event'])} experiment={quoted(e['experiment'])}" + numbers(e["arguments"]),
    "StackSample": lambda e: "",
}


def events():
    for line in sys.stdin:
        e = json.loads(line)
        context = [-1 if id is None else id for id in (e["m"], e["p"], e["g"])]
        print(e["time"], e["kind"], *context, DETAILS[e["kind"]](e), stack(e.get("stack", [])), sep="\t")


def durations(values):
    sums = collections.Counter()
    for d in values:
        sums[reason_of_go(d["name"])] += d["time"]
    named = sorted((name.encode(), f"{quoted(name)}={time}") for name, time in sums.items())
    return "[" + ";".join(text for _, text in named) + "]"


def stats(s):
    return [f"{name}={s[name]}" for name in ("exec", "sched_wait", "syscall", "syscall_block", "total")] + [
        f"block={durations(s['block'])}", f"ranges={durations(s['ranges'])}"]


def at(time, never):
    return never if time is None else time


def ids(values):
    return "[" + ";".join(str(at(value, -1)) for value in values) + "]"


def goroutines():
    data = json.load(sys.stdin)
    for g in sorted(data["goroutines"], key=lambda g: g["id"]):
        times = [f"{name}={at(g[name], 0)}" for name in ("created", "started", "ended")]
        print("goroutine", g["id"], quoted(g["name"]), f"pc={g['pc']:x}", *times, *stats(g), sep="\t")
        for r in g["regions"]:
            print("region", g["id"], f"task={r['task']}", quoted(r["name"]), f"start={at(r['start'], -1)}",
                  f"end={at(r['end'], -1)}", *stats(r), sep="\t")
    for t in sorted(data["tasks"], key=lambda t: t["id"]):
        lists = [f"{name}={ids(t[name])}" for name in ("children", "goroutines", "regions", "logs")]
        print("task", t["id"], quoted(t["name"]), f"parent={at(t['parent'], NO_TASK)}", f"start={at(t['start'], -1)}",
              f"end={at(t['end'], -1)}", *lists, sep="\t")


{"events": events, "goroutines": goroutines}[sys.argv[1]]()
