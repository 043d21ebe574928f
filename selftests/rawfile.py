#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Reads raw input files (`record --save-input`, docs/record-format.md) without the project's code, and compares
the file of `record --stats` with what they contain.

    rawfile.py stats RAW STATS     compares what the recorder counts
    rawfile.py initial RAW STATS   compares the times of the initial snapshots
    rawfile.py starved RAW STATS   compares starvation with the times at which the rings were read

The kinds of records are read from include/gotrace/kinds.h. The exit status is 1 if something differs.
"""
import collections
import json
import os
import re
import struct
import sys

RECORDS, WATERMARK, SNAPSHOT, LOST, FRAMES, END, RESNAPSHOT, CLOCK = range(1, 9)
CALLS_ONLY = 4
OWN_RINGS = 125  # this ring and those after it have records of the recorder itself
DERIVED_NS_MAX = 65535 + 64  # by which a transition may be earlier than the hit that reports it
SECOND_NS = 1_000_000_000
LATE_NS = 20_000_000  # a recorder that is starved waits for a CPU for most of such a time between two drains

Record = collections.namedtuple("Record", "time tid kind cpu object stack seq payload")
Snapshot = collections.namedtuple("Snapshot", "which present time end at")


def kinds():
    """Returns the name and the struct of the payload of each kind by its number."""
    text = open("include/gotrace/kinds.h", encoding="utf-8").read()
    rows = re.findall(r"^\tX\((\d+), (\w+), (\w+), (\w+)", text, re.M)
    return {int(number): name for number, _, name, _ in rows}, {int(number): payload for number, _, _, payload in rows}


NAMES, PAYLOADS = kinds()
NUMBERS = {name: number for number, name in NAMES.items()}
# Bytes of the payloads with the structs of include/gotrace/record.h
SIZES = dict(none=0, execute=8, park=8, execute_parked=24, ended=16, execute_ended=32, go_sys_exit=16, ready=8, create=24,
             create_syscall=16, destroy=8, switch=24, proc=8, value=8, go_sys_enter=8, task=24, region=24, func_call=24, log=24, label=24,
             request=32, labels_present=16, recorded=16, plugin=32, text=8, span=24, left=16, off_cpu=24, waking=8, thread=24,
             stack=16)
SIZES["yield"] = 8


class Raw:
    """The chunks of a file. The member `at` of a snapshot is the number of watermarks before it, as is the key of `counted`."""

    def __init__(self, path):
        data = open(path, "rb").read()
        magic, version, size, self.t0, self.wall, _, self.flags = struct.unpack_from("<8sIIQQQI", data)
        if magic != b"GOTRRAW\0" or version != 3:
            raise ValueError(f"{path}: not a raw input file")
        self.rings, self.watermarks, self.snapshots, self.pairs = collections.defaultdict(list), [], [], []
        self.lost, self.counted, self.end, self.bad = {}, collections.Counter(), None, 0
        at = size
        while at + 8 <= len(data):
            kind, length = struct.unpack_from("<II", data, at)
            self.chunk(kind, data[at + 8:at + 8 + length])
            at += 8 + (length + 7) // 8 * 8

    def chunk(self, kind, data):
        if kind == RECORDS:
            self.records(struct.unpack_from("<Q", data)[0], data)
        elif kind == WATERMARK:
            self.watermarks += struct.unpack_from("<Q", data)
        elif kind in (SNAPSHOT, RESNAPSHOT):
            found = Snapshot(*struct.unpack_from("<IIQQ", data), len(self.watermarks))
            (self.snapshots if kind == SNAPSHOT else self.pairs).append(found)
        elif kind == LOST:
            number, count = struct.unpack_from("<QQ", data)
            self.counted[len(self.watermarks)] += count - self.lost.get(number, 0)
            self.lost[number] = count
        elif kind == END:
            self.end, = struct.unpack_from("<Q", data)

    def records(self, ring, data):
        at = 8
        while at < len(data):
            header = struct.unpack_from("<QIHHQII", data, at) if at + 32 <= len(data) else None
            size = record_size(header, data, at) if header else None
            if not size or at + size > len(data) or header[0] >= 1 << 63 or not header[1]:
                self.bad += 1
                return
            self.rings[ring].append(Record(*header, data[at + 32:at + size]))
            at += size


def record_size(header, data, at):
    """Returns the size of a record, or None for an unknown kind."""
    payload = SIZES.get(PAYLOADS.get(header[2]))
    if payload is None:
        return None
    size = 32 + payload
    if header[2] in (NUMBERS["stack"], NUMBERS["sample"]):
        size += struct.unpack_from("<I", data, at + 32)[0] * 8
    elif header[2] == NUMBERS["text"]:
        size += (struct.unpack_from("<I", data, at + 32)[0] + 7) // 8 * 8
    return size


def holes_of(records):
    """Returns the number of sequence numbers that are missing, and of the places where they are."""
    first, seen = records[0].seq, sorted({(record.seq - records[0].seq + (1 << 31)) % (1 << 32) for record in records})
    holes = [b - a - 1 for a, b in zip(seen, seen[1:]) if b - a > 1]
    return sum(holes), len(holes)


def bpf_rings():
    cpus = os.cpu_count()
    return min(cpus, 4) if cpus <= 32 else min((cpus + 7) // 8, 64)


def facts_of(raw):
    """Returns the least and the greatest value of two figures, and the values of others. Stacks that are lost do not count
    as records of inline probes."""
    counts, inline, inline_holes, records, holes, gaps = collections.Counter(), 0, 0, [0, 0], 0, 0
    for ring, found in raw.rings.items():
        missing, places = holes_of(found)
        holes, gaps = holes + missing, gaps + places
        inline_holes += missing if bpf_rings() <= ring < OWN_RINGS else 0
        for record in found:
            name = NAMES[record.kind]
            if ring < OWN_RINGS:
                counts[name] += 1
                inline += ring >= bpf_rings() and name != "stack"
            for i, parts in enumerate(parts_in_window(raw, record, name)):
                records[i] += parts
    inline_lost = max(0, inline_holes - raw.lost.get(NUMBERS["stack"], 0)), inline_holes
    return {"records": records, "inline_lost": inline_lost}, {"records_by_kind": dict(counts), "inline_records": inline, "holes": holes, "gaps": gaps,
                     "bad_records": raw.bad, "window_ns": raw.end - raw.t0, "resnapshots": len(raw.pairs) // 2}


def parts_in_window(raw, record, name):
    """Returns how many transitions and data of a record lie in the window, at least and at most: a park or an end that
    the hit reports was earlier."""
    if name in ("stack", "text"):
        return 1, 1
    if name == "labels_present":
        return 0, 0
    inside = raw.t0 <= record.time <= raw.end
    if name in ("go_sys_enter", "go_sys_exit"):
        return (inside * (1 if raw.flags & CALLS_ONLY else 2),) * 2
    if name not in ("execute_parked", "execute_ended", "park", "ended"):
        return inside, inside
    surely = raw.t0 + DERIVED_NS_MAX < record.time <= raw.end
    perhaps = raw.t0 <= record.time <= raw.end + DERIVED_NS_MAX
    pair = inside * name.startswith("execute")
    return surely + pair, perhaps + pair


def stats(raw, have):
    """Records that the recorder itself had no space for are in the file; they are lost without being counted by probes."""
    bounds, want = facts_of(raw)
    left_out = have["lost"] - sum(raw.lost.values())
    bounds["records"] = [count - left_out for count in bounds["records"]]
    want["holes"] += left_out
    if left_out:
        bounds["gaps"] = 1, want.pop("gaps") + left_out
    print(" ".join(f"{name}={count}" for name, count in want.items() if name != "records_by_kind"), bounds, f"left_out={left_out}")
    yield from (f"{name} is {have[name]}, counted {count}" for name, count in want.items() if have[name] != count)
    for name, (least, most) in bounds.items():
        if not least <= have[name] <= most:
            yield f"{name} is {have[name]}, counted {least} to {most}"


def outside(have, name, least, most):
    """Yields a fault unless a time of the statistics, in ms with one digit, lies between two times in ns."""
    print(f"{name}: {have[name]} of {least / 1e6:.2f} to {most / 1e6:.2f}")
    if not least / 1e6 - 0.06 <= have[name] <= most / 1e6 + 0.06:
        yield f"{name} is {have[name]}, expected {least / 1e6:.2f} to {most / 1e6:.2f}"


def initial(raw, have):
    """The two snapshots have their times. The state is known as soon as the rings were read up to the second one."""
    first, second = raw.snapshots
    last = next(i for i, time in enumerate(raw.watermarks) if i >= second.at and time >= second.end)
    yield from outside(have, "snapshot1_ms", first.end - first.time, second.time - raw.t0)
    yield from outside(have, "snapshot2_ms", second.end - second.time, raw.watermarks[last] - first.end)
    yield from outside(have, "initial_state_ms", raw.watermarks[last] - raw.t0, raw.watermarks[last + 1] - raw.t0)


def starved(raw, have):
    """The time without a CPU is a part of the longer ones between two watermarks, each the begin of a drain. Losses that
    are counted within a second after such a time are due to it; the count is between its drain and the next one."""
    times = [raw.t0] + raw.watermarks
    late = [b - a for a, b in zip(times, times[1:]) if b - a >= LATE_NS]
    yield from outside(have, "starved_longest_ms", LATE_NS / 2, max(late, default=0))
    yield from outside(have, "starved_total_ms", have["starved"] * LATE_NS / 2, sum(late))
    if not 0 < have["starved"] <= len(late):
        yield f"starved {have['starved']} times, but {len(late)} times between two watermarks are long"
    surely, perhaps, latest = 0, 0, -SECOND_NS
    for i in range(1, len(times)):
        latest = times[i] if times[i] - times[i - 1] >= LATE_NS else latest
        perhaps += raw.counted[i] if times[i] - latest <= SECOND_NS else 0
        surely += raw.counted[i] if i + 1 < len(times) and times[i + 1] - latest <= SECOND_NS else 0
    if have["starved"] < len(late):
        surely = 0  # the recorder had a CPU in some of them
    print(f"starved_lost: {have['starved_lost']} of {surely} to {perhaps}; {have['starved']} times, {len(late)} long")
    if not surely <= have["starved_lost"] <= perhaps:
        yield f"starved_lost is {have['starved_lost']}, counted {surely} to {perhaps}"


def main():
    verb, path, statistics = sys.argv[1:]
    have = json.load(open(statistics, encoding="utf-8"))
    faults = list({"stats": stats, "initial": initial, "starved": starved}[verb](Raw(path), have))
    for fault in faults[:20]:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
