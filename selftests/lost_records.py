#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Takes records out of a raw input file by seed, replays it, and compares the sums that gotrace prints with those of the
whole recording: each may differ by at most the lost time that is printed. That is at most twice what is truly unknown,
which is computed from the sequence numbers of the raw file and from the events of the trace.

    lost_records.py RAW FOLDER FIRST N     the seeds FIRST to FIRST + N - 1
    lost_records.py one RAW TRACE SEED     only makes the trace of one seed

Prints one line for each seed that fails, and a summary. The exit status is 1 if one has failed.
"""
import bisect
import collections
import json
import os
import random
import struct
import subprocess
import sys

import rawfile

SECOND_NS = 1_000_000_000
SLACK_NS = 2_000  # ticks of which an event may be later than its record, because times of threads never collide
HELD_NS = 2_000_000  # for which a record is held back, and what comes behind it
GAP_NS = 1_000_000  # after which the sequencer takes a missing record for lost


class Thinned:
    """A raw file without some of its records. `gaps`: the times between which records of a ring are missing."""

    def __init__(self, data, seed):
        self.random = random.Random(seed)
        self.share = 0.01 * 80 ** self.random.random()
        self.burst = 1 if seed % 2 else self.random.choice([5, 50, 500])
        # A recorder knows the kinds of lost records by counters; without them, only that they are missing.
        self.counters = bool(seed % 4 < 2)
        self.t0, = struct.unpack_from("<Q", data, 16)
        self.times = set()
        self.left, self.taken, self.counts = {}, 0, collections.Counter()
        self.seen, self.gaps, self.missing, self.ripe = {}, [], {}, 0
        self.last_of_ring = self.last_records(data)
        self.data = self.copy(data)

    def chunks(self, data):
        at = struct.unpack_from("<I", data, 12)[0]
        while at + 8 <= len(data):
            kind, length = struct.unpack_from("<II", data, at)
            end = at + 8 + (length + 7) // 8 * 8
            yield kind, data[at + 8:at + 8 + length], data[at:end]
            at = end

    def records(self, payload):
        at = 8
        while at < len(payload):
            header = struct.unpack_from("<QIHHQII", payload, at)
            size = rawfile.record_size(header, payload, at)
            yield header, payload[at:at + size]
            at += size

    def last_records(self, data):
        last = {}
        for kind, payload, _ in self.chunks(data):
            if kind == rawfile.RECORDS:
                ring = struct.unpack_from("<Q", payload)[0]
                for header, _ in self.records(payload):
                    last[ring] = max(last.get(ring, 0), header[6])
        return last

    def is_taken(self, ring, header):
        if ring >= rawfile.OWN_RINGS or header[0] <= self.t0 or (not self.counters and header[6] == self.last_of_ring[ring]):
            return False
        left = self.left.get(ring, 0)
        if not left and self.random.random() < self.share / (self.burst * (1 - self.share) + self.share):
            left = self.burst
        self.left[ring] = max(0, left - 1)
        return left > 0

    def copy(self, data):
        out = [data[:struct.unpack_from("<I", data, 12)[0]]]
        for kind, payload, whole in self.chunks(data):
            if kind == rawfile.RECORDS:
                whole = self.thin(payload)
            if kind == rawfile.END:
                self.end, = struct.unpack_from("<Q", payload)
                out += self.counters_so_far()
            out.append(whole)
            if kind == rawfile.WATERMARK and self.ripe and struct.unpack_from("<Q", payload)[0] > self.ripe:
                out += self.counters_so_far()
                self.ripe = 0
        self.gaps += [(begin, self.end) for begin in self.missing.values()]
        self.gaps = merged(self.gaps)
        return b"".join(out)

    def counters_so_far(self):
        """The recorder reads them when it has found a gap, and at the end."""
        if not self.counters:
            return []
        return [struct.pack("<IIQQ", rawfile.LOST, 16, number, self.counts[number]) for number in sorted(self.counts)]

    def thin(self, payload):
        ring = struct.unpack_from("<Q", payload)[0]
        kept = [payload[:8]]
        for header, record in self.records(payload):
            if self.is_taken(ring, header):
                self.missing.setdefault(ring, self.seen.get(ring, self.t0))
                self.counts[header[2]] += 1
                self.taken += 1
                self.times.add(header[0])
                continue
            if ring in self.missing:
                self.gaps.append((self.missing.pop(ring), header[0]))
                self.ripe = self.ripe or header[0] + GAP_NS
            self.seen[ring] = header[0]
            kept.append(record)
        body = b"".join(kept)
        if len(kept) == 1:
            return b""
        return struct.pack("<II", rawfile.RECORDS, len(body)) + body + bytes(-len(body) % 8)


def merged(gaps):
    """Returns disjoint gaps in ascending order."""
    result = []
    for begin, end in sorted(gaps):
        if result and begin <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    return result


def gotrace(*arguments):
    return subprocess.run(["build/gotrace", *arguments], check=True, capture_output=True, text=True).stdout


def replay(raw, trace):
    subprocess.run(["build/gotrace-bpf", "replay", raw, "-o", trace, "--force"], check=True, capture_output=True)


class Sums:
    """What gotrace prints of a trace, by goroutine: the known times of each kind, and what is lost."""

    def __init__(self, trace):
        self.known, self.lost, self.latency_lost = {}, collections.Counter(), collections.Counter()
        self.created, self.unknown, self.trace = {}, collections.Counter(), trace
        summary = json.loads(gotrace("goroutines", "--all", "--json", trace))
        self.lossy = False
        for g in summary["goroutines"]:
            self.lossy |= "lost_ns" in g
            times = collections.Counter({key: g[key] for key in ("exec", "sched_wait", "gc_work")})
            times["syscall"] = g["syscall"] + g["syscall_block"]
            for block in g["block"]:
                times["block: " + block["name"]] += block["time"]
            self.known[g["id"]] = times
            self.lost[g["id"]] = g.get("lost_ns", 0)
            self.created[g["id"]] = g["created"]
        self.latency = {}
        for g in json.loads(gotrace("latency", "--all", "--json", trace))["goroutines"]:
            self.latency[g["id"]] = {key: g[key] for key in g if key.endswith("_ns") and key not in ("total_ns", "lost_ns", "unknown_ns")}
            self.latency_lost[g["id"]] = g.get("lost_ns", 0)
            self.unknown[g["id"]] = g["unknown_ns"]
        self.folded = collections.Counter()
        for line in gotrace("export", "folded", trace).splitlines():
            stack, ns = line.rsplit(" ", 1)
            self.folded[stack.rsplit(";", 1)[-1]] += int(ns)


def transitions(trace):
    """Yields the changes of goroutines' states."""
    for line in gotrace("events", "--json", trace).splitlines():
        event = json.loads(line)
        if event.get("kind") == "StateTransition" and "goroutine" in event and event["from"] != event["to"]:
            yield event


class Held:
    """When the events of the whole recording were, as far as their records were not taken. A record that is held back is
    the earliest one that has not been an event of the trace yet."""

    def __init__(self, times_of_whole, taken):
        self.times, self.taken, self.next = times_of_whole, taken, collections.Counter()

    def time(self, key, time):
        times, i = self.times.get(key, []), self.next[key]
        while i < len(times) and (times[i] < time - HELD_NS or times[i] in self.taken):
            i += 1
        self.next[key] = i + 1
        return times[i] if i < len(times) and times[i] <= time else time


def unknown_times(trace, held, gaps, end):
    """For each goroutine: for how long nothing is known of it, from the begin of each gap to its next event after it. An
    event that the whole recording has earlier was held back until then, because what precedes it was lost: in between, the
    state in the trace is wrong."""
    events, ended, unknown = collections.defaultdict(list), {}, collections.defaultdict(list)
    for event in transitions(trace):
        g, time = event["goroutine"], event["time"]
        before = held.time((g, event["event"]), time)
        if before < time:
            unknown[g].append([before, time])
        if event["event"] == "GoSyscallEndBlocked" or event.get("reason") == "unspecified":
            continue  # the recorder may have inserted it, for another goroutine's record
        events[g].append((before, time))
        if event["to"] == "NotExist":
            ended[g] = time
    for g, found in events.items():
        records = [record for record, _ in found]
        first, last = found[0][1], ended.get(g, end)
        for begin, stop in gaps:
            i = bisect.bisect_left(records, stop)
            until = min(found[i][1] if i < len(found) else last, last)
            if max(begin, first) < until:
                unknown[g].append([max(begin, first), until])
    return {g: sum(stop - begin for begin, stop in merged(found)) for g, found in unknown.items()}


def compare(name, whole, lossy, lost, faults):
    for key in whole.keys() | lossy.keys():
        difference = abs(whole.get(key, 0) - lossy.get(key, 0))
        if difference > lost + SLACK_NS:
            faults.append(f"{name}: {key} differs by {difference} ns, and {lost} ns are lost")


def check(whole, sums, thinned, faults):
    total = {side: collections.Counter() for side in ("whole", "lossy")}
    for g, known in sums.known.items():
        total["lossy"].update(known)
        if g in whole.known and whole.created[g] == sums.created[g]:
            compare(f"goroutines: {g}", whole.known[g], known, sums.lost[g], faults)
            compare(f"latency: {g}", whole.latency[g], sums.latency[g],
                    sums.latency_lost[g] + sums.unknown[g] + whole.unknown[g], faults)
        if sums.lost[g] != sums.latency_lost[g]:
            faults.append(f"{g}: {sums.lost[g]} ns are lost by goroutines, {sums.latency_lost[g]} by latency")
    for known in whole.known.values():
        total["whole"].update(known)
    lost = sum(sums.lost.values())
    compare("goroutines: sum", total["whole"], total["lossy"], lost, faults)
    if sums.folded.pop("[lost]", 0) != lost:
        faults.append("folded: the lost time is not that of goroutines")
    compare("folded", whole.folded, sums.folded, lost, faults)
    if not sums.lossy:
        faults.append("goroutines does not print lost_ns")
    truth = unknown_times(sums.trace, Held(whole.times, thinned.times), thinned.gaps, thinned.end)
    for g, ns in sums.lost.items():
        if ns > 2 * truth.get(g, 0) + SLACK_NS:
            faults.append(f"{g}: {ns} ns are lost, {truth.get(g, 0)} ns are unknown")
    return lost, sum(truth.values()), sum(sum(t.values()) for t in whole.known.values())


def one(data, whole, folder, seed):
    thinned = Thinned(data, seed)
    raw, trace = os.path.join(folder, f"{seed}.raw"), os.path.join(folder, f"{seed}.trace")
    with open(raw, "wb") as file:
        file.write(thinned.data)
    replay(raw, trace)
    if not thinned.taken:
        return 0, 0, 0, 0
    faults = []
    lost, truth, all_time = check(whole, Sums(trace), thinned, faults)
    about = (f"seed {seed}: {thinned.taken} records ({100 * thinned.share:.1f} %, in bursts of {thinned.burst}, "
             f"{'counted' if thinned.counters else 'not counted'}), {lost / SECOND_NS:.3f} s lost, {truth / SECOND_NS:.3f} s unknown")
    for fault in faults[:5]:
        print(f"{about}: {fault}")
    if not faults:
        os.unlink(raw)
        os.unlink(trace)
    return len(faults), lost, truth, all_time


def main():
    if sys.argv[1] == "one":
        path, trace, seed = sys.argv[2:5]
        with open(trace + ".raw", "wb") as file:
            file.write(Thinned(open(path, "rb").read(), int(seed)).data)
        replay(trace + ".raw", trace)
        return
    path, folder, first, n = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    data = open(path, "rb").read()
    trace = os.path.join(folder, "whole.trace")
    replay(path, trace)
    whole = Sums(trace)
    whole.times = collections.defaultdict(list)
    for event in transitions(trace):
        whole.times[event["goroutine"], event["event"]].append(event["time"])
    if whole.lossy:
        sys.exit("the recording has losses")
    results = [one(data, whole, folder, seed) for seed in range(first, first + n)]
    bad = sum(1 for result in results if result[0])
    lost, truth = sum(r[1] for r in results), sum(r[2] for r in results)
    print(f"{n} seeds, {bad} failed: {lost / SECOND_NS:.3f} s lost, {truth / SECOND_NS:.3f} s unknown, of {sum(r[3] for r in results) / SECOND_NS:.3f} s")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
