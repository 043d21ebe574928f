#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints JSON of gotrace as the canonical text of Go's reader (selftests/reference/CANONICAL.md).

    gotrace events --json --stacks FILE | canonical.py events

Texts must be UTF-8. "transition_stack=[-]" is omitted: JSON has no stack of a transition that has none.
"""
import json
import sys

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


def transition(e):
    own = e.get("transition_stack")
    return (f"goroutine={e['goroutine']}" if "goroutine" in e else f"proc={e['proc']}") + (
        f" {e['from']}->{e['to']} reason={quoted(e.get('reason', ''))}") + (
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


{"events": events}[sys.argv[1]]()
