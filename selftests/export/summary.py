#!/usr/bin/env python3
"""Reads an export of a trace with the published schema of its format, checks that it is well
formed, and prints what it contains as JSON: times by track and name, counters, arrows, samples.

    summary.py perfetto|chrome FILE
    summary.py marks perfetto|chrome FILE...    in the form of trace_processor.py and viewers.py, each to
                                        FILE.decoded
    summary.py schema SCHEMA FILE       only validates JSON

A slice is an end minus its begin. Equal contents in both formats give equal summaries, except for
the stacks of CPU samples. selftests/check/export.sh compares the sums with those of gotrace."""

import collections
import json
import re
import sys


class Summary:
    """Slices, counters and arrows, whatever the format."""

    def __init__(self):
        self.open = collections.defaultdict(list)  # by track: (name, time, arguments)
        self.last = {}
        self.sums = collections.defaultdict(lambda: [0, 0])  # (group, owner, path): count, ns
        self.empty = collections.Counter()  # like sums: slices that last 0 ns
        self.counters = collections.defaultdict(list)
        self.starts, self.ends = collections.Counter(), collections.Counter()
        self.instants = collections.Counter()
        self.pairs = collections.Counter()
        self.flow_names = {}
        self.stacks = collections.Counter()

    def _advance(self, track, time):
        assert time >= self.last.get(track, time), f"track {track}: time decreases"
        self.last[track] = time

    def begin(self, track, time, name):
        self._advance(track, time)
        self.open[track].append((name, time))

    def end(self, track, time, group, owner):
        self._advance(track, time)
        assert self.open[track], f"track {track}: an end without a begin"
        path = "/".join(name for name, _ in self.open[track])
        _, begun = self.open[track].pop()
        total = self.sums[group, owner, path]
        total[0] += 1
        total[1] += time - begun
        self.empty[group, owner, path] += time == begun

    def flow_start(self, flow, name):
        self.starts[flow] += 1
        self.flow_names[flow] = name

    def flow_end(self, flow):
        self.ends[flow] += 1
        assert flow in self.starts, f"arrow {flow} ends, but does not start"

    def with_marks(self):
        """For the trace processor and the viewers, a slice that lasts 0 ns and an instant are the same."""
        marks = collections.Counter(self.instants)
        for key, count in self.empty.items():
            self.sums[key][0] -= count
            marks[key[2].split("/")[-1]] += count
        self.sums = {key: total for key, total in self.sums.items() if total[0]}
        summary = self.as_json() | {"marks": dict(+marks)}
        del summary["instants"]
        return summary

    def as_json(self):
        assert not any(self.open.values()), "slices without an end"
        for flow in self.starts:
            assert self.starts[flow] == 1 and self.ends[flow] <= 1, f"arrow {flow} is not unique"
            self.pairs[self.flow_names[flow]] += self.ends[flow]
        groups = collections.defaultdict(lambda: collections.defaultdict(dict))
        for (group, owner, path), (count, ns) in sorted(self.sums.items()):
            groups[group][owner][path] = {"count": count, "ns": ns}
        return {
            "slices": groups,
            "counters": self.counters,
            "arrows": dict(sorted(self.pairs.items())),
            "instants": dict(sorted(self.instants.items())),
            "samples": sum(self.stacks.values()),
            "stacks": dict(sorted(self.stacks.items())),
        }


def owner_of(name):
    """The name of a track without what follows its ID: "G 12 main.main" is "G 12"."""
    match = re.match(r"((?:.* of |.* on )?(?:G|P|CPU|Thread|thread) \d+)", name)
    return match.group(1) if match else name


# --- Perfetto


class Names:
    """Interned data of a sequence since its state was cleared."""

    KINDS = ("event_names", "debug_annotation_names", "debug_annotation_string_values",
             "function_names", "mapping_paths", "mappings", "frames", "callstacks")

    def __init__(self):
        self.of = {kind: {} for kind in self.KINDS}

    def add(self, data):
        for kind in self.KINDS:
            for entry in getattr(data, kind):
                assert entry.iid and entry.iid not in self.of[kind], f"{kind} {entry.iid} again"
                self.of[kind][entry.iid] = entry

    def stack(self, iid):
        functions = []
        for frame_id in self.of["callstacks"][iid].frame_ids:
            frame = self.of["frames"][frame_id]
            assert frame.mapping_id in self.of["mappings"]
            name = self.of["function_names"].get(frame.function_name_id)
            functions.append(name.str.decode() if name else "")
        return ";".join(functions)


def packets(path):
    """Each TracePacket of a file, one at a time."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        assert data[at] == 0x0A, "not a packet"
        at += 1
        size = shift = 0
        while True:
            size |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        packet = schema.TracePacket.FromString(data[at:at + size])
        assert packet.ByteSize() == size, "a packet has other fields than the schema"
        at += size
        yield packet


class Perfetto:
    def __init__(self):
        self.out = Summary()
        self.tracks, self.names, self.process_of = {}, None, {}
        self.clock = None

    def root(self, uuid):
        while self.tracks[uuid].parent_uuid:
            uuid = self.tracks[uuid].parent_uuid
        return self.tracks[uuid].name

    def add_track(self, track):
        known = self.tracks.get(track.uuid)
        assert not known or known.parent_uuid == track.parent_uuid, "a track has moved"
        assert not track.parent_uuid or track.parent_uuid in self.tracks
        self.tracks[track.uuid] = track

    def add_event(self, packet):
        event, out = packet.track_event, self.out
        kind = event.Type.Name(event.type)
        track, time = event.track_uuid, packet.timestamp
        if kind == "TYPE_COUNTER":
            assert self.tracks[track].HasField("counter")
            out.counters[self.tracks[track].name].append(event.counter_value)
            return
        if kind == "TYPE_SLICE_END":
            out.end(track, time, self.root(track), owner_of(self.tracks[track].name))
            return
        name = self.names.of["event_names"][event.name_iid].name
        for argument in event.debug_annotations:
            assert argument.name_iid in self.names.of["debug_annotation_names"]
            text = argument.string_value_iid
            assert not text or text in self.names.of["debug_annotation_string_values"]
        if kind == "TYPE_SLICE_BEGIN":
            out.begin(track, time, name)
        else:
            assert kind == "TYPE_INSTANT"
            out.instants[name] += 1
        for flow in event.flow_ids:
            out.flow_start(flow, name)
        for flow in event.terminating_flow_ids:
            out.flow_end(flow)

    def add(self, packet):
        if packet.sequence_flags & 1:
            self.names = Names()
        if packet.HasField("interned_data"):
            self.names.add(packet.interned_data)
        if packet.HasField("track_descriptor"):
            self.add_track(packet.track_descriptor)
        elif packet.HasField("track_event"):
            self.add_event(packet)
        elif packet.HasField("process_tree"):
            for thread in packet.process_tree.threads:
                self.process_of[thread.tid] = thread.tgid
        elif packet.HasField("perf_sample"):
            assert self.process_of[packet.perf_sample.tid] == packet.perf_sample.pid
            self.out.stacks[self.names.stack(packet.perf_sample.callstack_iid)] += 1
        else:
            assert packet.HasField("clock_snapshot")
            self.clock = packet.clock_snapshot

    def read(self, path):
        for packet in packets(path):
            self.add(packet)
        assert self.clock and self.clock.primary_trace_clock == 3
        return self.out


# --- Chrome


def chrome(path):
    out, processes, threads = Summary(), {}, {}
    for event in json.load(open(path))["traceEvents"]:
        phase, pid, tid = event["ph"], event["pid"], event["tid"]
        if phase == "M":
            if event["name"] == "process_name":
                processes[pid] = event["args"]["name"]
            elif event["name"] == "thread_name":
                threads[tid] = event["args"]["name"]
            continue
        time = round(event["ts"] * 1000)
        if phase == "B":
            out.begin(tid, time, event["name"])
        elif phase == "E":
            out.end(tid, time, processes[pid], owner_of(threads[tid]))
        elif phase == "C":
            out.counters[event["name"]].append(event["args"]["value"])
        elif phase == "i" and event["name"] == "CPU sample":
            out.stacks[event["args"]["stack"]] += 1
        elif phase == "i":
            out.instants[event["name"]] += 1
            last_instant = event["name"]
        elif phase == "s":
            out.flow_start(event["id"], last_instant)
        else:
            assert phase == "f" and event["bp"] == "e"
            out.flow_end(event["id"])
    return out


def read(kind, path):
    return Perfetto().read(path) if kind == "perfetto" else chrome(path)


def main():
    kind, *paths = sys.argv[1:]
    if kind == "schema":
        import jsonschema

        jsonschema.validate(json.load(open(paths[1])), json.load(open(paths[0])))
        return
    if kind == "marks":
        for path in paths[1:]:
            with open(path + ".decoded", "w") as out:
                json.dump(read(paths[0], path).with_marks(), out, indent=1, sort_keys=True)
        return
    json.dump(read(kind, paths[0]).as_json(), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
