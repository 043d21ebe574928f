#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Computes cells of tables that gotrace prints, such as shares, rates and means, from more detailed output.

    tables.py profile GOTRACE TRACE KIND     FLAT and CUM of `gotrace profile`, from each stack
    tables.py top GOTRACE TRACE              SHARE of waits and PER S of requests, from each goroutine and each task
    tables.py path GOTRACE TRACE GOROUTINE   SHARE of `gotrace path --summary`, from each segment
    tables.py extremes GOTRACE TRACE FUNCTION    DIFFERENCE and SHARE of `goroutines --compare-extremes`, and .function
    tables.py diff GOTRACE A B second|request    NOISE, .per and the groups of `gotrace diff`

Each cell is at most half of its last digit, and 1 ns, away from the exact value. The exit status is 1 if one is further away,
or if there is none.
"""
import collections
import json
import re
import subprocess
import sys

UNITS = {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
NUMBER = re.compile(r"(-?[0-9]+(?:\.([0-9]+))?)(ns|us|ms|s|m|h|%|)$")


def run(gotrace, *args):
    return subprocess.run([gotrace, *args], capture_output=True, text=True, check=True).stdout


def differs(cell, exact):
    """Whether a cell is not the exact value, rounded. Times are whole nanoseconds before that."""
    match = NUMBER.match(cell)
    if not match:
        return True
    unit = 1 if match[3] == "%" else UNITS[match[3]]
    return abs(float(match[1]) * unit - exact) > 0.5000001 * 10.0**-len(match[2] or "") * unit + (match[3] not in ("", "%"))


class Compared:
    def __init__(self):
        self.n, self.faults = 0, []

    def cell(self, what, cell, exact):
        self.n += 1
        if differs(cell, exact):
            self.faults.append(f"{what}: {cell} instead of {exact}")

    def same(self, what, ours, theirs):
        self.n += 1
        if ours != theirs:
            self.faults.append(f"{what}: {ours} instead of {theirs}")


def rows_after(text, *heads):
    """Returns the rows of the table with these heads, up to an empty line; the last cell may have spaces."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.split() == list(heads):
            rows = []
            for row in lines:
                if not row.strip():
                    break
                rows.append(row.split(None, len(heads) - 1))
            return rows
    return []


def profile(to, gotrace, trace, kind):
    flat, cum = collections.Counter(), collections.Counter()
    for line in run(gotrace, "profile", kind, "--folded", trace).splitlines():
        stack, value = line.rsplit(" ", 1)
        frames = stack.split(";")
        flat[frames[-1]] += int(value)
        for name in set(frames):
            cum[name] += int(value)
    for row in rows_after(run(gotrace, "profile", kind, trace), "FLAT", "FLAT%", "SUM%", "CUM", "CUM%", "FUNCTION"):
        name = row[5].replace(" ", "_") if row[5].replace(" ", "_") in cum else row[5]
        to.same("function", name in cum, True)
        to.cell(f"FLAT of {name}", row[0], flat[name])
        to.cell(f"CUM of {name}", row[3], cum[name])


def top(to, gotrace, trace):
    """Goroutines by latency, and requests by the list of tasks; the window is the whole trace."""
    stat = json.loads(run(gotrace, "stat", "--json", trace))
    latency = json.loads(run(gotrace, "latency", "--goroutines", "--json", trace))
    waits, total = collections.Counter(), sum(g["total_ns"] for g in latency["goroutines"])
    for g in latency["goroutines"]:
        for part, reasons in g["by_reason"].items():
            for reason in reasons:
                waits[f"{part.replace('_', '-')}: {reason['name'] or '(unknown reason)'}".lower()] += reason["ns"]
    text = run(gotrace, "top", "--interval", "1h", "--top", "1000", trace)
    for row in rows_after(text, "TIME", "SHARE", "WAIT"):
        to.cell(f"TIME of {row[2]}", row[0], waits[row[2].lower()])
        to.cell(f"SHARE of {row[2]}", row[1], 100 * waits[row[2].lower()] / total)
    tasks = collections.Counter(t["type"] for t in each_task(gotrace, trace))
    for row in rows_after(text, "COUNT", "PER", "S", "MEAN", "ERRORS", "REQUEST"):
        count, per_second, _, _, name = " ".join(row).split(None, 4)
        to.cell(f"COUNT of {name}", count, tasks[name])
        to.cell(f"PER S of {name}", per_second, tasks[name] / (stat["duration"] / 1e9))


def each_task(gotrace, trace):
    """Yields the tasks that begin and end in the trace, from the events."""
    begun = {}
    for line in run(gotrace, "events", "--json", trace).splitlines():
        event = json.loads(line)
        if event["kind"] == "TaskBegin":
            begun[event["task"]] = event
        elif event["kind"] == "TaskEnd" and event["task"] in begun:
            yield begun.pop(event["task"])


def path(to, gotrace, trace, goroutine):
    whole = json.loads(run(gotrace, "path", "--goroutine", goroutine, "--json", trace))
    of = ("kind", "function", "cause", "by_function", "process", "process_id", "reason", "syscall", "interrupt", "held_cpu", "got_cpu_first")
    sums = collections.Counter()
    for segment in whole["segments"]:  # other goroutines of one function are one row
        own = segment["tid"] if segment["goroutine"] is None else str(segment["goroutine"]) == goroutine
        by = segment["by_tid"] if segment["cause"] == "thread" else str(segment["by_goroutine"]) == goroutine
        key = tuple(str(segment[name]) for name in of) + (own, by)
        sums[key] += segment["to_ns"] - segment["from_ns"]
    total = whole["to_ns"] - whole["from_ns"]
    functions = {str(g["id"]): g["name"] for g in json.loads(run(gotrace, "goroutines", "--all", "--json", trace))["goroutines"]}
    to.same("function", whole["function"] or "", functions[goroutine])
    rows = rows_after(run(gotrace, "path", "--goroutine", goroutine, "--summary", trace), "DURATION", "SHARE", "COUNT", "PATHS", "KIND", "GOROUTINE")
    largest = sorted(sums.values(), reverse=True)
    for i, row in enumerate(rows):
        ns = sum(largest[i:]) if row[3:] == ["other", "causes"] else largest[i]
        to.cell("DURATION", row[0], ns)
        to.cell("SHARE", row[1], 100 * ns / total)


def extremes(to, gotrace, trace, function):
    """The means of the goroutines that are named as the slowest and fastest, from the list of all goroutines."""
    named = json.loads(run(gotrace, "goroutines", "--compare-extremes", function, "--json", trace))
    to.same("function", named["function"], function)
    everything = {g["id"]: g for g in json.loads(run(gotrace, "goroutines", "--all", "--json", trace))["goroutines"]}
    kinds = {"total": lambda g: g["total"], "running": lambda g: g["exec"], "runnable, waiting for a P": lambda g: g["sched_wait"],
        "in system calls": lambda g: g["syscall"], "in system calls, without a P": lambda g: g["syscall_block"],
        "unknown": lambda g: g["unknown"]}

    def figure(goroutines, kind):
        by = kinds.get(kind) or (lambda g: sum(b["time"] for b in g["block"] if f"blocked: {b['name']}" == kind))
        return sum(by(everything[g["id"]]) for g in goroutines) / len(goroutines)

    whole = figure(named["slowest"], "total") - figure(named["fastest"], "total")
    for row in rows_after(run(gotrace, "goroutines", "--compare-extremes", function, trace), "SLOWEST", "FASTEST", "DIFFERENCE", "SHARE"):
        kind = " ".join(row[4:]) if len(row) > 4 else ""
        row = " ".join(row).split(None, 4)
        kind = row[4]
        if kind.startswith("included in"):
            continue
        difference = figure(named["slowest"], kind) - figure(named["fastest"], kind)
        to.cell(f"SLOWEST of {kind}", row[0], int(figure(named["slowest"], kind)))
        to.cell(f"DIFFERENCE of {kind}", row[2], difference)
        to.cell(f"SHARE of {kind}", row[3], 100 * difference / whole)


GROUPS = {"GOROUTINES, by start function": "function", "GOROUTINES, by reason": "reason", "REQUESTS, per request": "request",
    "WAITS FOR A P": "scheduler", "GARBAGE COLLECTION": "gc"}
DIFF_ROW = re.compile(r"\s*(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(?:(?:worse|better|changed)\s+)?([^:]+?)(?:: (.*))?$")


def diff(to, gotrace, a, b, per):
    pair = json.loads(run(gotrace, "diff", "--per", per, "--json", a, b))
    figures, group, groups = {(f["group"], f["figure"], f["name"] or ""): f for f in pair["figures"]}, None, set()
    for line in run(gotrace, "diff", "--per", per, "--top", "1000", a, b).splitlines():
        head = re.match(r"\s+A\s+B\s+B-A\s+NOISE\s+CHANGE\s+(\S.*)$", line)
        if head:
            group = GROUPS.get(head[1])
            groups.add(group)
            to.same(f"group {head[1]}", group is not None, True)
        match = DIFF_ROW.match(line) if group and not head else None
        if not match or not NUMBER.match(match[1]):
            continue
        found = figures.get((group, match[6], (match[7] or "").replace("(unknown)", "")))
        to.same(f"{group}: {match[6]}: {match[7]}", found is not None, True)
        if found and found["low"] is not None and NUMBER.match(match[4]):
            to.cell(f"NOISE of {group}: {match[6]}: {match[7]}", match[4], (found["high"] - found["low"]) / 2)
    to.same("groups", groups, {f["group"] for f in pair["figures"]})
    for side, file in (("a", a), ("b", b)):
        divided(to, gotrace, pair, side, file, per)


def divided(to, gotrace, pair, side, file, per):
    """What the sums are divided by: the running time of a function is known from `gotrace goroutines`."""
    exec_ns = {g["name"]: g["exec"] for g in json.loads(run(gotrace, "goroutines", "--json", file))["groups"]}
    by = {"second": pair[side]["length_ns"] / 1e9, "request": pair[side]["requests"]}
    for figure in pair["figures"]:
        if figure["group"] == "function" and figure["figure"] == "running" and figure[side]["value"] is not None:
            to.same(f"per of {figure['name']}", figure["per"], per)
            want = exec_ns.get(figure["name"], 0) / by[figure["per"]]
            to.same(f"{side} of {figure['name']} per {per}", abs(figure[side]["value"] - want) <= 1e-6 * want + 1, True)
        if re.match(r"p\d+|mean|max", figure["figure"]):
            to.same(f"per of {figure['figure']}", figure["per"], None if figure["figure"] != "mean" else figure["per"])


def main():
    compared = Compared()
    {"profile": profile, "top": top, "path": path, "extremes": extremes, "diff": diff}[sys.argv[1]](compared, *sys.argv[2:])
    for fault in compared.faults[:20]:
        print(fault)
    print(f"{compared.n} cells")
    sys.exit(bool(compared.faults) or compared.n < 4)


if __name__ == "__main__":
    main()
