#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Decodes the timeline of `gotrace view --json` and compares it with other commands.

    timeline.py lanes DATA                   what holds for each timeline
    timeline.py states DATA GOROUTINES       exact and decoded times by goroutine and state, with
                                             `gotrace goroutines --all --json`
    timeline.py same DATA OTHER              exact times of two levels of detail
    timeline.py events DATA EVENTS           heap, arrows, goroutines, with `gotrace events --json`
    timeline.py mmu DATA EVENTS              utilization, computed from intervals
    timeline.py kernel DATA EVENTS           the kernel's states under each goroutine, computed from
                                             `gotrace events --kernel --json`
    timeline.py runqueue DATA EXPORT         threads that wait for a CPU, with `gotrace export chrome`, whose
                                             counters selftests/export/counters.py compares with their states
    timeline.py part DATA PART FROM TO       a part has the spans of the whole, cut to [FROM, TO)
    timeline.py sums DATA PART FROM TO       a part with merged spans has the exact times of the whole

Prints what differs, and exits with status 1.
"""
import base64
import bisect
import json
import sys

GO_STATES = {0: "exec", 1: "sched_wait", 2: "wait", 3: "syscall"}


def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0, "the last number is cut off"


def shares(source):
    """By state, of 10000"""
    bits = next(source)
    return {i: next(source) for i in range(bits.bit_length()) if bits >> i & 1}


def spans(text):
    """(from, to, state, detail, count, shares by state); shares of None: not aggregated"""
    end = 0
    source = numbers(text)
    for gap in source:
        length, state, detail = next(source), next(source), next(source)
        more = (next(source), shares(source)) if state & 1 else (1, None)
        start = end + gap
        end = start + length
        yield (start, end, state >> 1, detail, *more)


def groups(text, n):
    source = numbers(text)
    return list(zip(*[source] * n, strict=True))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load_events(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(f"{what}: {got}, expected {wanted}")


def check_lanes(data):
    """What holds for each lane: order, bounds, and spans that add up to the exact times."""
    for lane in data["lanes"]:
        sums = {}
        end = 0
        merged = False
        for start, to, state, detail, count, share in spans(lane["spans"]):
            assert end <= start <= to and count > 0 and detail < len(data["strings"])
            assert lane["from"] <= start and to <= lane["to"]
            assert share is None or count > 1
            end = to
            merged |= share is not None
            for s, part in (share or {state: 10000}).items():
                sums[s] = sums.get(s, 0) + part / 10000 * (to - start)
            # The named state is the most frequent one, and there may be time without any.
            assert share is None or (share.get(state, 0) == max(share.values(), default=0) and sum(share.values()) <= 10000 + len(share))
        exact = dict(lane["totals"])
        if not merged:
            expect(lane["id"], {s: n for s, n in sums.items() if n}, exact)
        for state, ns in sums.items():  # a share is rounded to 1/10000
            assert abs(ns - exact.get(state, 0)) <= 5e-5 * (end - lane["from"]) + 1, (lane["id"], state, ns, exact)
        assert sum(exact.values()) <= lane["to"] - lane["from"]


def check_states(data, goroutines):
    lanes = {lane["id"]: lane for lane in data["lanes"] if lane["kind"] == "goroutine"}
    expect("lanes", len(lanes), min(4000, len(goroutines["goroutines"])))
    for g in goroutines["goroutines"]:
        lane = lanes.get(f"g:{g['id']}")
        if not lane:
            continue
        forever = sum(b["time"] for b in g["block"] if b["name"] == "forever")
        exact = {GO_STATES[s]: ns for s, ns in lane["totals"]}
        got = {name: exact.get(name, 0) for name in GO_STATES.values()}
        wanted = {
            "exec": g["exec"],
            "sched_wait": g["sched_wait"],
            "syscall": g["syscall"] + g["syscall_block"],
            "wait": sum(b["time"] for b in g["block"]),
        }
        if forever or any(d[3] for d in [s for s in spans(lane["spans"])][-1:]
                          if "forever" in data["strings"][d[3]]):
            del got["wait"], wanted["wait"]  # `goroutines` does not count all of that
        expect(lane["id"], got, wanted)
        name = data["strings"][lane["name"]]
        expect("name", name, f"G {g['id']} {g['name']}".strip())


def check_same(data, other):
    exact = {lane["id"]: (lane["totals"], lane.get("kernel_totals")) for lane in data["lanes"]}
    for lane in other["lanes"]:
        expect(lane["id"], (lane["totals"], lane.get("kernel_totals")), exact[lane["id"]])
    n = sum(1 for lane in other["lanes"] for _ in spans(lane["spans"]))
    print(f"{n} spans")
    if not any("merged" in limit for limit in other["limits"]):
        failures.append("nothing was merged")


def points_of(data, curve):
    """(time, least, greatest, mean in thousandths)"""
    time = 0
    for gap, *values in groups(data["curves"].get(curve, {}).get("points", ""), 4):
        time += gap
        yield (time, *values)


def compare_curve(data, curve, raw):
    """Each point has the least, the greatest and the mean of the values (time, value) up to the next point."""
    points = list(points_of(data, curve))
    times = [p[0] for p in points]
    parts = {}
    for time, value in raw:
        parts.setdefault(bisect.bisect_right(times, time) - 1, []).append(value)
    expect(curve, [p[:3] for p in points], [(times[i], min(v), max(v)) for i, v in sorted(parts.items())])
    sums = [0] * len(points)
    for (time, value), (until, _) in zip(raw, raw[1:] + [(data["trace"]["ns"], 0)]):
        sums[bisect.bisect_right(times, time) - 1] += value * (until - time)
    for (time, _, _, mean), until, total in zip(points, times[1:] + [data["trace"]["ns"]], sums):
        if until > time and abs(mean - 1000 * total / (until - time)) > 1 + 1e-6 * mean:
            failures.append(f"{curve}: mean {mean} from {time}, expected {1000 * total / (until - time)}")
    print(f"{curve}: {len(raw)} values, {len(points)} points")


def check_states_over_time(data, events):
    """How many goroutines are in each state, whenever that changes"""
    curves = {"Running": "running", "Runnable": "runnable", "Waiting": "waiting", "Syscall": "syscall"}
    state, numbers_of, raw = {}, dict.fromkeys(curves, 0), {curve: [] for curve in curves}
    for e in events:
        if e["kind"] != "StateTransition" or "goroutine" not in e:
            continue
        before = state.get(e["goroutine"])
        state[e["goroutine"]] = e["to"]
        if before in numbers_of:
            numbers_of[before] -= 1
        if e["to"] in numbers_of:
            numbers_of[e["to"]] += 1
        time = e["time"] - events[0]["time"]
        for name in curves if before != e["to"] else ():
            if raw[name] and raw[name][-1][0] == time:
                raw[name].pop()  # several of one event
            raw[name].append((time, numbers_of[name]))
    for name, curve in curves.items():
        compare_curve(data, curve, raw[name])


def check_events(data, events):
    start = events[0]["time"]
    for name, metric in (("heap", "/memory/classes/heap/objects:bytes"),
                         ("goal", "/gc/heap/goal:bytes")):
        raw = [(e["time"] - start, e["value"]) for e in events
               if e["kind"] == "Metric" and e["name"] == metric]
        compare_curve(data, name, raw)
    check_states_over_time(data, events)
    arrows = {}
    for _, source, target, reason in groups(data["arrows"], 4):
        assert source < len(data["lanes"]) and target < len(data["lanes"])
        reason = data["strings"][reason]
        arrows[reason] = arrows.get(reason, 0) + 1
    wanted = {"unblock": 0, "create goroutine": 0}
    alive = {}
    for e in events:
        if e["kind"] != "StateTransition" or "goroutine" not in e:
            continue
        alive[e["goroutine"]] = e["to"]
        if e.get("g") is None or e["g"] == e["goroutine"]:
            continue
        if e["event"] in ("GoUnblock", "GoSwitch", "GoSwitchDestroy") and e["from"] == "Waiting":
            wanted["unblock"] += 1
        elif e["from"] == "NotExist":
            wanted["create goroutine"] += 1
    if not any("rrows" in limit or "no lane" in limit for limit in data["limits"]):
        expect("arrows", {k: arrows.get(k, 0) for k in wanted}, wanted)
        print(arrows)
    count = groups(data["curves"]["goroutines"]["points"], 4)
    expect("goroutines", count[-1][2], sum(1 for s in alive.values() if s != "NotExist"))


def gc_intervals(events):
    """When the GC stops the world, and each goroutine works for it: (from, to) in ns."""
    stw, work, begun, assists, workers, running = [], [], {}, set(), set(), set()
    stopped = None
    for e in events:
        time, g = e["time"], e.get("goroutine")
        before = {x for x in (assists | workers) if x in running}
        if e["kind"] == "StateTransition" and g is not None:
            if e["to"] == "Running":
                running.add(g)
            else:
                running.discard(g)
                workers.discard(g)
        elif e["kind"] == "Label" and e["label"].startswith("GC ") and e["label"] != "GC (idle)":
            workers.add(g)
            running.add(g)
        elif e["kind"].startswith("Range") and e["name"] == "GC mark assist":
            (assists.discard if e["kind"] == "RangeEnd" else assists.add)(g)
        elif e["event"] == "STWBegin" and e["name"].startswith("stop-the-world (GC"):
            stopped = time
        elif e["event"] == "STWEnd" and stopped is not None:
            stw.append((stopped, time))
            stopped = None
        now = {x for x in (assists | workers) if x in running}
        for x in now - before:
            begun[x] = time
        for x in before - now:
            work.append((begun.pop(x), time))
    end = events[-1]["time"]
    if stopped is not None:
        stw.append((stopped, end))
    return stw, work + [(t, end) for t in begun.values()]


def check_mmu(data, events):
    procs = [(e["time"], e["value"]) for e in events
             if e["kind"] == "Metric" and e["name"] == "/sched/gomaxprocs:threads"]
    if not procs:
        expect("mmu", data["mmu"], [])
        return
    first, last = procs[0][0], events[-1]["time"]
    stw, work = gc_intervals(events)
    changes = sorted({first, last} | {t for t, _ in procs} |
                     {t for i in stw + work for t in i if first <= t <= last})
    sums = [0.0]
    for a, b in zip(changes, changes[1:]):
        if any(s <= a and b <= e for s, e in stw):
            share = 0.0
        else:
            n = [n for t, n in procs if t <= a][-1]
            share = max(0.0, 1 - sum(1 for s, e in work if s <= a and b <= e) / n)
        sums.append(sums[-1] + share * (b - a))

    def integral(t):
        i = min(bisect.bisect_right(changes, t) - 1, len(changes) - 2)
        part = (t - changes[i]) / (changes[i + 1] - changes[i])
        return sums[i] + part * (sums[i + 1] - sums[i])

    for window, share in data["mmu"]:
        w = min(window, last - first)
        starts = [s for t in changes for s in (t, t - w) if first <= s <= last - w]
        least = min(integral(s + w) - integral(s) for s in starts) / w
        if abs(least - share) > 1e-6:
            failures.append(f"mmu of {window} ns: {share}, expected {least}")
    print(f"{len(data['mmu'])} windows, {len(changes)} changes, from {data['mmu'][0][1]}")


OFF_STATES = {"preempted": "waiting for a CPU", "yielded": "waiting for a CPU", "throttled": "throttled",
              "sleeping": "sleeping", "disk": "uninterruptible", "stopped": "stopped", "dead": None}


def thread_states(events):
    """By thread: the times at which its state in the kernel changes, and the states; None: unknown or ended."""
    changes = {}  # thread: [[time], [state], woken before it left its CPU]

    def change(thread, time, state):
        times, states, _ = changes.setdefault(thread, [[], [], False])
        changes[thread][2] = False
        if not states or states[-1] != state:
            times.append(time)
            states.append(state)

    for e in events:
        if e["kind"] != "Kernel" or e["event"] in ("cpu", "occupant", "moved"):
            continue
        thread, time, what = e["m"], e["time"], e["event"]
        before = changes.get(thread, [[], [None], False])
        state = before[1][-1] if before[1] else None
        if what == "off_cpu":
            awake = before[2] and e["why"] in ("sleeping", "disk")
            change(thread, time, "waiting for a CPU" if awake else OFF_STATES.get(e["why"]))
        elif what == "waking":
            by = e["by"]["m"]
            if not e.get("interrupt") and by != thread and by in changes:
                change(by, time, "on CPU")
            if state == "on CPU":
                before[2] |= by != thread
            elif state not in ("waiting for a CPU", "throttled") or thread not in changes:
                change(thread, time, "waiting for a CPU")
        elif what == "created":
            change(thread, time, "waiting for a CPU")
        elif what == "ended":
            change(thread, time, None)
        elif what != "named":
            change(thread, time, "on CPU")
    return changes


def stays(events):
    """By goroutine: (from, to, thread) while it runs or is in a system call"""
    on, out = {}, {}

    def leave(g, time):
        if g in on:
            since, thread = on.pop(g)
            out.setdefault(g, []).append((since, time, thread))

    for e in events:
        g = e.get("goroutine")
        if e["kind"] != "StateTransition" or g is None or e["from"] == e["to"]:
            continue
        leave(g, e["time"])
        if e["to"] in ("Running", "Syscall"):
            # What exists when the trace begins was in its state since then.
            on[g] = (events[0]["time"] if e["from"] == "Undetermined" else e["time"], e["m"])
    for g in list(on):
        leave(g, events[-1]["time"])
    return out


def joined(intervals):
    """Without empty ones; neighbours with the same state are one."""
    out = []
    for a, b, state in intervals:
        if a < b and out and out[-1][1] == a and out[-1][2] == state:
            out[-1][1] = b
        elif a < b:
            out.append([a, b, state])
    return out


def check_kernel(data, events):
    threads, start = thread_states(events), events[0]["time"]
    names = [state["name"] for state in data["states"]]
    lanes = {lane["id"]: lane for lane in data["lanes"]}
    compared = unknown = 0
    for g, intervals in stays(events).items():
        if f"g:{g}" not in lanes:
            continue
        wanted, got = [], []
        strip = [(a, b, names[s]) for a, b, s, *_ in spans(lanes[f"g:{g}"].get("kernel", ""))]
        ends = [b for _, b, _ in strip]
        for since, to, thread in intervals:
            times, states, _ = threads.get(thread, [[], [], False])
            # Before its first event, only the table of threads in the trace has the state of a thread.
            first = max(since, min(times[0], to)) if times else to
            unknown += first - since
            i = bisect.bisect_right(times, first) - 1
            while first < to:
                end = min(times[i + 1] if i + 1 < len(times) else to, to)
                if states[i] not in (None, "on CPU"):
                    wanted.append((first - start, end - start, states[i]))
                first, i = end, i + 1
            first = max(since, min(times[0], to)) - start if times else to - start
            for a, b, state in strip[bisect.bisect_right(ends, first):]:
                if a >= to - start:
                    break
                got.append((max(a, first), min(b, to - start), state))
        got, wanted = joined(got), joined(wanted)
        compared += len(wanted)
        if got != wanted:
            i = next((i for i, (x, y) in enumerate(zip(got, wanted)) if x != y), min(len(got), len(wanted)))
            failures.append(f"g:{g}: {len(got)} states, expected {len(wanted)}: {got[i:i + 2]}, expected {wanted[i:i + 2]}")
    print(f"{compared} states of threads under goroutines; unknown for {unknown / 1e6:.3f} ms")
    if not compared:
        failures.append("no goroutine has a state of its thread")


def check_part(data, part, start, to):
    whole = {lane["id"]: lane for lane in data["lanes"]}
    n = 0
    for lane in part["lanes"]:
        if lane["kind"] == "task":
            continue  # numbered in the order in which they are open
        if lane["id"] not in whole and any("no lane" in limit for limit in data["limits"]):
            continue
        cut = [(max(a, start), min(b, to), s) for a, b, s, *_ in spans(whole[lane["id"]]["spans"])
               if a < to and b > start]
        got = [(a, b, s) for a, b, s, *_ in spans(lane["spans"]) if b > a]
        n += len(got)
        expect(lane["id"], got, cut)
    print(f"{n} spans in {len(part['lanes'])} lanes")
    if not n:
        failures.append("the part is empty")


def check_sums(data, part, start, to):
    """No span of the whole is merged: its spans in the range add up to the totals of the part."""
    lanes = {lane["id"]: lane for lane in part["lanes"]}
    for lane in data["lanes"]:
        got = lanes.pop(lane["id"], {})
        for name, total in (("spans", "totals"), ("kernel", "kernel_totals")):
            wanted = {}
            for a, b, state, _, _, share in spans(lane.get(name, "")):
                assert share is None, "the whole has merged spans"
                if min(b, to) > max(a, start):
                    wanted[state] = wanted.get(state, 0) + min(b, to) - max(a, start)
            expect(f"{lane['id']} {name}", dict(got.get(total, [])), wanted)
    expect("other lanes", list(lanes), [])
    n = [share for lane in part["lanes"] for *_, share in spans(lane["spans"])]
    print(f"{len(n)} spans, {len(n) - n.count(None)} merged")


def main():
    what, path = sys.argv[1:3]
    data = load(path)
    check_lanes(data)
    if what == "lanes":
        pass
    elif what == "states":
        check_states(data, load(sys.argv[3]))
    elif what == "same":
        check_same(data, load(sys.argv[3]))
    elif what == "events":
        check_events(data, load_events(sys.argv[3]))
    elif what == "mmu":
        check_mmu(data, load_events(sys.argv[3]))
    elif what == "kernel":
        check_kernel(data, load_events(sys.argv[3]))
    elif what == "runqueue":
        compare_curve(data, "runqueue", [(round(e["ts"] * 1000), e["args"]["value"]) for e in load(sys.argv[3])["traceEvents"]
                                         if e["ph"] == "C" and e["name"] == "Threads waiting for a CPU"])
        expect("a run queue", bool(data["curves"]["runqueue"]["points"]), True)
    elif what == "part":
        check_part(data, load(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    elif what == "sums":
        check_sums(data, load(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    for failure in failures[:10]:
        print(failure[:1000])
    sys.exit(1 if failures else 0)


main()
