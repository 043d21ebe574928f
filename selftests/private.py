#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Decodes the private data of a trace by gotrace-private(5), and compares it with what gotrace prints.

    private.py stat GOTRACE TRACE    .private and .kernel.bytes of `gotrace stat --json`, and its shares and means
    private.py items GOTRACE TRACE   the kernel events of `gotrace events --kernel --json`
    private.py table GOTRACE TRACE   the event table of `gotrace describe --json`
    private.py types GOTRACE TRACE EVENTS.GO
                                     the numbers of types of `gotrace stat --json`, by Go's source
    private.py recorder GOTRACE TRACE STATS
                                     what `gotrace-bpf record --stats` has of losses, corrections and the clock
    private.py older GOTRACE TRACE CLOCKS STARTS
                                     clocks and start functions that headers before 1.25 and 1.23 have no event for; at
                                     least so many
    private.py add TRACE OUTPUT      adds records of all kinds, unknown and corrupt ones to the last generation

It reads the bytes of the file itself: batches, string tables and records. The exit status is 1 if something differs.
"""
import collections
import json
import re
import subprocess
import sys

BATCH, STACKS, STRINGS, STRING, EXPERIMENTAL, END_OF_GENERATION = 1, 2, 4, 5, 49, 52
META, LOSSES, TICKS, TABLE, CORRECTION, THREADS, KERNEL, MACHINE, ALIGNMENT = range(1, 10)
SAMPLED, CLOCK, CAUSE, SHORT, RECORDED, HOST_CLOCK, CPU_SAMPLES, SNAPSHOT, STARTS, PARKED, PLUGIN, WAITS, REQUESTS, GAPS = range(10, 24)
PREFIX, NO_M = b"\0gotrace-bpf/1 ", 2**64 - 1


class Corrupt(Exception):
    pass


class Bytes:
    """Reads numbers and texts from bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    @property
    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        if n > self.left:
            raise Corrupt
        self.at += n
        return self.data[self.at - n:self.at]

    def fixed(self, n):
        return int.from_bytes(self.take(n), "little")

    def leb(self):
        value = shift = 0
        while True:
            byte = self.fixed(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        return self.take(self.leb()).decode()

    def signed(self):
        number = self.leb()
        return (number + 1) // -2 if number & 1 else number // 2


def lebs(*numbers):
    out = bytearray()
    for number in numbers:
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
    return bytes(out)


# --- the file

def generations(data):
    """Returns, for each generation by its number, its strings and the IDs of its stacks' outermost functions by ID, and where
    its last batch ends."""
    file, found = Bytes(data), {}
    file.take(16)
    while file.left:
        kind = file.fixed(1)
        if kind == END_OF_GENERATION:
            continue
        if kind == EXPERIMENTAL:
            file.take(1)
        generation, _, _, size = (file.leb() for _ in range(4))
        batch, of = Bytes(file.take(size)), found.setdefault(generation, {"strings": {}, "functions": {}, "end": 0})
        of["end"] = file.at
        first = batch.fixed(1) if kind == BATCH and size else 0
        while first in (STRINGS, STACKS) and batch.left:
            batch.fixed(1)
            number, length = batch.leb(), batch.leb()
            if first == STRINGS:
                of["strings"][number] = batch.take(length)
            else:
                of["functions"][number] = [[batch.leb() for _ in range(4)] for _ in range(length)][-1][1]
    return found


def records_of(strings):
    """Yields (kind, bytes) of each record; kind 0: its parts do not fit together."""
    open_kind, joined, last = None, b"", None
    for number in sorted(strings):
        if not strings[number].startswith(PREFIX):
            continue
        part = Bytes(strings[number][len(PREFIX):])
        kind, index, more = part.leb(), part.leb(), part.fixed(1)
        if open_kind is not None and (kind, index, number) == (open_kind, last[0] + 1, last[1] + 1):
            joined += part.take(part.left)
        else:
            if open_kind is not None:
                yield 0, b""
            if index:
                yield 0, b""
                open_kind = None
                continue
            joined = part.take(part.left)
        open_kind, last = kind, (index, number)
        if not more:
            yield kind, joined
            open_kind = None
    if open_kind is not None:
        yield 0, b""


def all_records(path):
    data = open(path, "rb").read()
    for of in generations(data).values():
        yield list(records_of(of["strings"]))


# --- what gotrace stat shows

def kinds_of_records():
    rows = re.findall(r"^\tX\((\d+), \w+, (\w+),", open("include/gotrace/kinds.h", encoding="utf-8").read(), re.M)
    return {int(number): name for number, name in rows}


def add_gap(gaps, start, end, count):
    if gaps and start <= gaps[-1]["to"] and end >= gaps[-1]["from"]:
        last = gaps[-1]
        last.update({"from": min(last["from"], start), "to": max(last["to"], end), "count": last["count"] + count})
    else:
        gaps.append({"from": start, "to": end, "count": count})


def read_losses(record, losses, gaps):
    while record.left:
        kind, count, start, length = (record.leb() for _ in range(4))
        add_gap(gaps, start, start + length, count)
        if count:
            sums = losses.setdefault(kind, {"count": 0, "from": start, "to": start + length})
            sums.update({"count": sums["count"] + count, "from": min(sums["from"], start), "to": max(sums["to"], start + length)})


def worse_clock(worst, record):
    _, synchronized, max_error, error, shift = [record.leb() for _ in range(4)] + [record.signed()]
    if synchronized > 1:
        raise Corrupt
    worst["generations"] += 1
    worst["synchronized"] &= bool(synchronized)
    worst["max_error_ns"], worst["error_ns"] = max(worst["max_error_ns"], max_error), max(worst["error_ns"], error)
    worst["shift_ns"] = max(worst["shift_ns"], shift, key=abs)


def read_snapshot(record):
    time, mono, sec, nsec = (record.leb() for _ in range(4))
    return {"time": time, "mono": mono, "wall_sec": sec, "wall_nsec": nsec}


def read_starts(record):
    starts = {}
    while record.left:
        starts.setdefault(record.leb(), record.leb())
    return starts


def added(sums, first, names, record):
    """Adds a record of numbers to sums; the first is that of all records."""
    sums[first] = record.leb()
    for name in names:
        sums[name] += record.leb()


def read_plugin(record, plugins):
    """Each file of a recording repeats the plugins."""
    start, end, recorded = (record.leb() for _ in range(3))
    file, _, why = record.take(record.left).decode().partition("\n")
    if not any((p["file"], p["missing_from"], p["missing_to"]) == (file, start, end) for p in plugins):
        plugins.append({"file": file, "recorded": recorded == 1, "missing_from": start, "missing_to": end, "why": why})


def private_of(path):
    """Returns what `gotrace stat --json` must have as .private, and the bytes of kernel events."""
    shown, kernel_bytes, losses = {"records": 0, "unknown": 0, "bad": 0, "describes": False, "meta": []}, 0, {}
    gaps, causes, recorded, plugins = [], [], [], []
    clock = {"generations": 0, "synchronized": True, "max_error_ns": 0, "error_ns": 0, "shift_ns": 0}
    short, samples, corrections = collections.Counter(), collections.Counter(), collections.Counter()
    for records in all_records(path):
        for kind, data in records:
            record = Bytes(data)
            if not 0 < kind <= GAPS:
                shown["unknown" if kind else "bad"] += 1
                continue
            shown["records"] += 1
            try:
                if kind == META and not shown["meta"]:
                    while record.left:
                        shown["meta"].append({"name": record.text(), "value": record.text()})
                elif kind == LOSSES:
                    read_losses(record, losses, gaps)
                elif kind == TICKS:
                    shown.setdefault("tick", record.leb())
                elif kind == TABLE:
                    shown["describes"] = True
                elif kind == CORRECTION:
                    start, length, goroutines, threads, events = (record.leb() for _ in range(5))
                    corrections["from"] = min(corrections["from"] or start, start)
                    corrections["to"] = max(corrections["to"], start + length)
                    corrections.update({"count": 1, "goroutines": goroutines, "threads": threads, "events": events})
                elif kind in (THREADS, KERNEL, MACHINE, WAITS):
                    kernel_bytes += len(data)
                elif kind == SAMPLED:
                    shown.setdefault("heap_sampled_from", record.leb())
                elif kind == CLOCK:
                    shown["clock_error_ns"] = record.leb()
                elif kind == CAUSE:
                    causes.insert(0, {"time": record.leb(), "text": record.take(record.left).decode()})
                elif kind == SHORT:
                    added(short, "min_ns", ("calls", "calls_ns", "kernel", "kernel_ns"), record)
                elif kind == RECORDED:
                    time, cost, budget = (record.leb() for _ in range(3))
                    recorded.append({"time": time, "cost_ppm": cost, "budget_ppm": budget, "sets": record.take(record.left).decode()})
                elif kind == HOST_CLOCK:
                    worse_clock(clock, record)
                elif kind == CPU_SAMPLES:
                    added(samples, "period_ns", ("throttles", "throttled_ns"), record)
                elif kind == PLUGIN:
                    read_plugin(record, plugins)
                elif kind == GAPS:
                    while record.left:
                        _ = [record.leb() for _ in range(3)]
                elif kind == SNAPSHOT:
                    read_snapshot(record)
                elif kind == STARTS:
                    read_starts(record)
            except Corrupt:
                shown["bad"] += 1
    names = kinds_of_records()
    shown |= {"lost": sum(loss["count"] for loss in losses.values()), "gaps": gaps,
        "losses": [{"kind": names.get(kind, "unknown"), **losses[kind]} for kind in sorted(losses)]}
    if causes:
        shown |= {"cause": causes[0]["text"], "cause_time": causes[0]["time"], "causes": causes}
    for name, value, is_there in (("recorded", recorded, recorded), ("plugins", plugins, plugins), ("host_clock", clock, clock["generations"]),
            ("short_calls", short, short["min_ns"]), ("cpu_samples", samples, samples["period_ns"]), ("corrections", corrections, corrections["count"])):
        if is_there:
            shown[name] = value
    return shown, kernel_bytes


def differences(ours, theirs, path=""):
    """Yields where two values of JSON differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(set(ours) | set(theirs)):
            if key not in ours or key not in theirs:
                yield f"{path}.{key}: {'not in gotrace' if key not in ours else 'only in gotrace'}"
            else:
                yield from differences(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, f"{path}[{i}]")
    elif ours != theirs:
        yield f"{path}: {ours} instead of {theirs}"


def run(gotrace, *args):
    return subprocess.run([gotrace, *args], capture_output=True, text=True, check=True).stdout


def leaves(value, path=()):
    """Yields the path of each number, text and flag."""
    if isinstance(value, (dict, list)):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(member, (*path, key))
    elif value is not None:
        yield path


def undetected(ours, theirs):
    """Yields the path of each value that may be another one without being found."""
    for path in leaves(ours):
        copy = json.loads(json.dumps(ours))
        at = copy
        for key in path[:-1]:
            at = at[key]
        value = at[path[-1]]
        at[path[-1]] = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value + "x"
        if not list(differences(copy, theirs)):
            yield f"another {path} is not found"


def stat(gotrace, path):
    ours, (theirs, kernel_bytes) = json.loads(run(gotrace, "stat", "--json", path)), private_of(path)
    yield from differences(ours["private"], theirs)
    yield from undetected(ours["private"], theirs)
    if (ours.get("kernel") or {"bytes": 0})["bytes"] != kernel_bytes:
        yield f".kernel.bytes: {ours['kernel']['bytes']} instead of {kernel_bytes}"
    if ours["file"] != path:
        yield f".file: {ours['file']} instead of {path}"
    yield from stat_table(run(gotrace, "stat", path), ours)
    print(f"{theirs['records']} records, {theirs['unknown']} unknown, {theirs['bad']} corrupt, {len(list(leaves(theirs)))} values")


def stat_table(text, shown):
    """Yields the cells EACH and % of the table of types that are not those of the counts and bytes; both are rounded."""
    lines = iter(text.splitlines())
    heads = next(line.split() for line in lines if line.startswith("TYPE"))
    if heads != ["TYPE", "COUNT", "%", "BYTES", "%", "EACH"]:
        yield f"the heads of the table are {heads}"
        return
    rows = {cells[0]: cells[1:] for cells in (line.split() for line in lines) if len(cells) == 6}
    count, size = sum(t["count"] for t in shown["types"]), shown["header_bytes"] if "header_bytes" in shown else 0
    size += sum(t["bytes"] for t in shown["types"])
    for kind in shown["types"]:
        want = [f"{100 * kind['count'] / count:.1f}%", f"{100 * kind['bytes'] / size:.1f}%", f"{kind['bytes'] / kind['count']:.1f}"]
        have = rows.get(kind["name"], [""] * 5)
        for head, a, b in zip(("% of COUNT", "% of BYTES", "EACH"), (have[1], have[3], have[4]), want):
            if not a or abs(float(a.rstrip("%")) - float(b.rstrip("%"))) > 0.0501:
                yield f"{kind['name']}, {head}: {a} instead of {b}"

# --- kernel events

NAMES = ("", "on_cpu", "off_cpu", "waking", "sys_enter", "sys_exit", "created", "ended", "named", "fault_begin", "fault_end", "cpu", "occupant",
    "moved")
ON, OFF, WAKING, SYS_ENTER, SYS_EXIT, CREATED, ENDED, NAMED, FAULT_BEGIN, FAULT_END, CPU, OCCUPANT, MOVED = range(1, 14)
SLEEP = (None, "frozen", "stopped by a debugger", "end of the thread", "memory reclaim", "disk", "page fault", "page fault or signal (see --events fault)")
WHY = ("preempted", "yielded", "throttled", "sleeping", "disk", "stopped", "dead")


class Items:
    """The items of one record; the CPU of each thread is known from the record before, too."""

    def __init__(self, data, cpus):
        self.data, self.threads, self.calls, self.cpus, self.address, self.last_call = Bytes(data), [], [], cpus, 0, {}

    def thread(self, number):
        if number == 0:
            return 0, 0, ""
        if number == 1:
            self.threads.append((self.data.leb(), self.data.leb(), self.data.text()))
            return self.threads[-1]
        return self.threads[number - 2]

    def call(self):
        number = self.data.leb()
        if number == 0:
            self.calls.append((self.data.leb(), self.data.text()))
            return self.calls[-1]
        return self.calls[number - 1]

    def read(self):
        time = self.data.leb()
        self.data = Bytes(self.data.take(self.data.leb()))
        thread = 0, 0, ""
        while self.data.left:
            bits = self.data.fixed(1)
            kind, time = bits & 15, time + self.data.leb()
            if kind > MOVED:
                self.data.take(self.data.leb())
                continue
            thread = thread if bits & 16 else self.thread(self.data.leb())
            yield self.item(kind, bits, time, thread)

    def item(self, kind, bits, time, thread):
        item, tid, other = {"time": time, "m": thread[0], "event": NAMES[kind]}, thread[0], None
        if kind == ON:
            other = (0, 0, "") if bits & 64 else self.thread(self.data.leb())
            item["before"] = {"m": other[0]}
        elif kind == OFF:
            number = self.data.leb()
            other = self.thread(number >> 3)
            item |= {"why": WHY[number & 7], "then": {"m": other[0], "pid": other[1], "name": other[2]}}
            if bits & 64 and (sleep := SLEEP[self.data.leb()]):
                item["sleep"] = sleep
        elif kind == WAKING:
            other = self.thread(self.data.leb())
            item |= {"by": {"m": other[0], "pid": other[1]}, "interrupt": bool(bits & 64)}
        elif kind in (SYS_ENTER, SYS_EXIT):
            if kind == SYS_ENTER or bits & 64:
                self.last_call[tid] = self.call()
            item |= {"number": self.last_call[tid][0], "syscall": self.last_call[tid][1]}
            if kind == SYS_EXIT:
                item["result"] = self.data.signed()
        elif kind == CREATED:
            other = self.thread(self.data.leb())
            item |= {"by": {"m": other[0]}, "name": self.data.text()}
        elif kind == NAMED:
            item["name"] = self.data.text()
        elif kind == FAULT_BEGIN:
            self.address += self.data.signed()
            item["address"] = self.address
        elif kind in (CPU, OCCUPANT):
            item["m"] = None if tid == 2**32 - 1 else tid
            item |= {"pid": thread[1], "name": thread[2]}
            if kind == OCCUPANT:
                item["already"] = bool(bits & 64)
        elif kind == MOVED:
            item["from_cpu"] = self.data.leb()
        if bits & 32:
            item["cpu"] = self.data.leb()
        else:
            item["cpu"] = self.cpus.get(other[0] if kind == WAKING else tid)
        if item["cpu"] is not None:
            self.cpus[tid if kind != WAKING else other[0]] = item["cpu"]
        return item


def read_threads(record, cpus):
    record.leb()
    while record.left:
        one = Bytes(record.take(record.leb()))
        one.fixed(1)
        tid, cpu = one.leb(), one.leb()
        cpus[tid] = cpu


def items_of(path):
    found, cpus, of_waits = [], {}, {}
    for records in all_records(path):
        for kind, data in records:
            if kind == THREADS:
                read_threads(Bytes(data), cpus)
        for kind, data in records:
            if kind in (KERNEL, MACHINE, WAITS):
                found += Items(data, of_waits if kind == WAITS else cpus).read()
    return found


def add_durations(found):
    """How long the thread waited, was in the call or in the fault, where its own items before leave no doubt: the
    delay begins with the wake-up or the preemption just before, a call and a fault with their begin."""
    ready, begun = {}, {}
    for item in found:
        tid, event, time = item["m"], item["event"], item["time"]
        if event == "on_cpu":
            if ready.get(tid):
                item["delay_ns"] = time - ready[tid]
            ready[tid] = 0
        elif event == "off_cpu":
            ready[tid] = time if item["why"] in ("preempted", "yielded") else None
        elif event == "waking":
            if ready.get(tid, 0) is None:
                ready[tid] = time
            elif ready.get(tid) == 0:
                ready[tid] = -1  # it still ran
        elif event in ("sys_enter", "fault_begin"):
            begun[tid, event[:3]] = (time, item.get("number"))
        elif event in ("sys_exit", "fault_end"):
            start = begun.pop((tid, {"sys": "sys", "fau": "fau"}[event[:3]]), None)
            if start and start[1] == item.get("number"):
                item["duration_ns"] = time - start[0]
        if event in ("sys_enter", "fault_begin") and ready.get(tid):
            ready[tid] = 0
    return found


def events_of(text):
    """Returns the kernel events that gotrace prints, and what the goroutine of each thread is then, by the other events."""
    kernel, on, of = [], {}, {}

    def put(m, g):
        if of.get(on.get(m)) == m:
            of.pop(on.pop(m))
        if g is not None:
            on.pop(of.pop(g, None), None)
            on[m], of[g] = g, m

    for line in text.splitlines():
        event = json.loads(line)
        if event["kind"] == "Kernel":
            event["own"] = {role: on.get(event[role]["m"]) if event["event"] in ("waking", "created") and role == "by" and
                not event.get("interrupt") else None for role in ("by", "before", "then") if role in event}
            kernel.append(event)
        elif event["kind"] == "StateTransition" and "goroutine" in event:
            g, m, to = event["goroutine"], event["m"], event["to"]
            if to == "Running" or (to == "Syscall" and event["from"] == "Undetermined"):
                put(m, g)
            elif to in ("Waiting", "Runnable", "NotExist") and g in of:
                put(of[g], None)
    return kernel


def items(gotrace, path):
    ours, theirs = events_of(run(gotrace, "events", "--kernel", "--json", path)), add_durations(items_of(path))
    if len(ours) != len(theirs):
        yield f"{len(ours)} kernel events instead of {len(theirs)}"
        return
    theirs.sort(key=lambda item: item["time"])
    counts, lossy = collections.Counter(), private_of(path)[0]["gaps"]
    for have, want in zip(ours, theirs):
        where = f"{want['event']} of {want['m']} at {want['time']}"
        for role, g in have.pop("own").items():
            counts["goroutines"] += g is not None
            if have[role].pop("g", None) != g:
                yield f"{where}: another goroutine than {g} of {role}"
        have = {key: value for key, value in have.items() if key not in ("kind", "g")}
        for role in ("by", "then", "before"):
            if role in want:
                want[role] = {key: value for key, value in want[role].items() if value or key == "m"}
        for key in ("delay_ns", "duration_ns"):
            if lossy and key not in have:
                want.pop(key, None)  # after a loss the state of the thread is unknown
            if key in want:
                counts[key] += 1
            else:
                have.pop(key, None)
        yield from (f"{where}: {line}" for line in differences(have, want))
        if not counts[want["event"]]:
            yield from (f"{where}: {line}" for line in undetected(have, want))
        counts[want["event"]] += 1
    print(" ".join(f"{name}={counts[name]}" for name in sorted(counts)))


# --- the event table

SCOPES, CLASSES = ("goroutine", "thread", "P", "program"), ("instant", "range begin", "range end")
TYPES = ("uint", "string", "string id", "stack")


def text_of(table):
    return table.take(table.fixed(2)).decode()


def entry_of(entry):
    event = {"name": text_of(entry), "description": text_of(entry)}
    values = [{"value": entry.fixed(1), "name": text_of(entry), "description": text_of(entry)} for _ in range(entry.fixed(1))]
    if values:
        event["values"] = values
    event["descriptive"] = entry.fixed(1) == 1
    if event["descriptive"]:
        event |= {"scope": SCOPES[entry.fixed(1)], "class": CLASSES[entry.fixed(1)], "link": entry.fixed(1)}
        event["arguments"] = [{"type": TYPES[entry.fixed(1)], "name": text_of(entry), "description": text_of(entry)}
            for _ in range(entry.fixed(1))]
    return event


def table_of(path):
    for records in all_records(path):
        for kind, data in records:
            if kind == TABLE:
                whole = Bytes(data)
                minor, table = whole.fixed(1), Bytes(whole.take(whole.fixed(4)))
                number, events = table.fixed(1), []
                for _ in range(number):
                    kind, entry = table.fixed(1), Bytes(table.take(table.fixed(4)))
                    events.append({"type": kind, **entry_of(entry)})
                return {"minor": minor, "events": events}
    return None


def table(gotrace, path):
    ours, theirs = json.loads(run(gotrace, "describe", "--json", path)), table_of(path)
    for event in theirs["events"]:
        event["known"] = True
        if not event.get("link"):
            event.pop("link", None)
    yield from differences(ours, theirs)
    yield from undetected(ours, theirs)
    print(f"{len(theirs['events'])} events, {len(list(leaves(theirs)))} values")


# --- statistics of the recorder

def recorder(gotrace, path, stats):
    """Yields what the file of `gotrace-bpf record --stats` has other than the trace: losses, corrections, the clock."""
    have, (want, _) = json.load(open(stats, encoding="utf-8")), private_of(path)
    corrections = want.get("corrections", collections.Counter())
    facts = {"lost": want["lost"], "lost_by_kind": {loss["kind"]: loss["count"] for loss in want["losses"]},
        "corrected": corrections["goroutines"], "corrected_procs": corrections["threads"], "inline_clock_error_ns": want.get("clock_error_ns", 0)}
    ours = {name: have[name] for name in facts}
    yield from differences(ours, facts)
    yield from undetected(ours, facts)
    print(" ".join(f"{name}={value}" for name, value in facts.items() if name != "lost_by_kind"), f"{len(facts['lost_by_kind'])} kinds")


# --- types of events

def types_of_go(path):
    """Returns the number of each type by the constants of Go's source, which count up in each block."""
    numbers = {}
    for block in re.findall(r"^const \((.*?)^\)", open(path, encoding="utf-8").read(), re.M | re.S):
        first = re.search(r"^\t(\w+) +EventType = (?:(\d+) \+ )?iota", block, re.M)
        if first:
            names = re.findall(r"^\t(\w+)", block[first.start():], re.M)
            numbers |= {name.removeprefix("Ev"): int(first[2] or 0) + i for i, name in enumerate(names)}
    return numbers


def types(gotrace, path, source):
    numbers = types_of_go(source)
    ours = {kind["name"]: kind["type"] for kind in json.loads(run(gotrace, "stat", "--json", path))["types"]}
    yield from differences(ours, {name: numbers.get(name) for name in ours})
    print(f"{len(ours)} of {len(numbers)} types")


# --- what older headers have no event for

def older(gotrace, path, clocks, starts):
    """Yields where gotrace does not show the clocks and the start functions that private data of an older header contains.

    At least `clocks` and `starts` must be there.
    """
    want, names = [], {}
    for of in generations(open(path, "rb").read()).values():
        snapshot = [read_snapshot(Bytes(data)) for kind, data in records_of(of["strings"]) if kind == SNAPSHOT]
        want += snapshot[:1] or [None]
        for kind, data in records_of(of["strings"]):
            for goroutine, stack in read_starts(Bytes(data)).items() if kind == STARTS else ():
                names.setdefault(goroutine, of["strings"][of["functions"][stack]].decode())
    ours = [generation.get("clock") for generation in json.loads(run(gotrace, "stat", "--json", path))["generations"]]
    yield from differences(ours, want)
    yield from undetected(ours, want)
    shown = {of["id"]: of["name"] for of in json.loads(run(gotrace, "goroutines", "--all", "--json", path))["goroutines"]}
    yield from differences({g: shown.get(g) for g in names}, names)
    found = len([clock for clock in want if clock])
    if found < int(clocks) or len(names) < int(starts):
        yield f"{found} clocks and {len(names)} start functions"
    print(f"{found} clocks, {len(names)} start functions")


# --- records of all kinds

def record(kind, data, part=0, more=0):
    return PREFIX + lebs(kind, part) + bytes([more]) + data


def more_records(now):
    """Returns records with times from `now` on. The last four and two others are corrupt."""
    machine = bytes([CPU | 32]) + lebs(10, 1, 4711, 4700, 5) + b"other" + lebs(1) + bytes([CPU | 32]) + lebs(1, 1, 4712, 4712, 0, 0) + bytes([CPU]) + lebs(1, 2)
    waits = bytes([OCCUPANT | 32 | 64]) + lebs(10, 1, 4711, 4700, 5) + b"other" + lebs(1) + bytes([MOVED | 32]) + lebs(1, 1, 4713, 0, 0, 3, 2)
    cause = lebs(now) + "first: größer".encode()
    return [record(LOSSES, lebs(1, 7, now, 500, 2, 3, now, 500, 1, 2, now + 400, 800, 0, 5, now + 9000, 10, 63, 0, now + 20000, 1)),
        record(CORRECTION, lebs(now + 5, 10, 3, 2, 11)), record(CORRECTION, lebs(now + 1, 300, 4, 1, 9)), record(CLOCK, lebs(321)),
        record(CAUSE, cause[:9], 0, 1), record(CAUSE, cause[9:], 1), record(CAUSE, lebs(now + 77) + b"second"),
        record(SHORT, lebs(2000, 5, 700, 6, 800)), record(SHORT, lebs(2000, 50, 7000, 60, 8000)),
        record(RECORDED, lebs(now, 12345, 10000) + b"sched,gc"), record(RECORDED, lebs(now + 9, 50, 10000)),
        record(HOST_CLOCK, lebs(now, 1, 40, 30, 2 * 17)), record(HOST_CLOCK, lebs(now, 0, 4 * 10**18, 3 * 10**18, 2 * 10**12 - 1)),
        record(MACHINE, lebs(now, len(machine)) + machine), record(WAITS, lebs(now + 10**12, len(waits)) + waits), record(CPU_SAMPLES, lebs(1003009, 3, 40)), record(CPU_SAMPLES, lebs(1003009, 4, 50)), record(PARKED, lebs(1, 4) + b"sync" + lebs(7, 0, now)), record(99, b"of a newer version"),
        record(PLUGIN, lebs(now, 0, 0) + b"/a.so\nno reason"), record(PLUGIN, lebs(now, now + 9, 1) + b"/b.so"), record(PLUGIN, lebs(now, now + 9, 1) + b"/b.so"),
        record(GAPS, lebs(0, now, 5, 1, now, 7, 3, now, 2)), record(GAPS, lebs(0, now)),
        record(SNAPSHOT, lebs(now, now, 1, 2)), record(STARTS, lebs(10**15, 1, 10**15, 2)), record(SNAPSHOT, lebs(1, 2)), record(STARTS, lebs(1)),
        record(CORRECTION, lebs(now, 1)), record(CAUSE, b"", 1), record(HOST_CLOCK, lebs(now, 7, 1, 1, 1)), record(CAUSE, lebs(now + 78), 0, 1)]


def add(path, output):
    data = open(path, "rb").read()
    found = generations(data)
    number = max(found)
    ticks = next(Bytes(record) for kind, record in records_of(found[number]["strings"]) if kind == TICKS)
    ticks.leb()
    first, end = max(found[number]["strings"], default=0) + 1, found[number]["end"]
    strings = b"".join(bytes([STRING]) + lebs(first + i, len(text)) + text for i, text in enumerate(more_records(ticks.leb())))
    batch = bytes([STRINGS]) + strings
    with open(output, "wb") as file:
        file.write(data[:end] + bytes([BATCH]) + lebs(number, NO_M, 0, len(batch)) + batch + data[end:])
    return []




def main():
    verb, *args = sys.argv[1:]
    faults = list({"stat": stat, "items": items, "table": table, "types": types, "recorder": recorder, "older": older, "add": add}[verb](*args))
    for fault in faults[:20]:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
