#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares times in the file of `record --stats` with the system calls of the recorder.

    recorder_calls.py attach CALLS STATS RAW       the attach and its parts
    recorder_calls.py windows CALLS STATS INDEX    the attaches of `record --sample`
    recorder_calls.py held CALLS STATS             how long inline probes hold a thread

CALLS is the output of `strace -f -T --absolute-timestamps=format:unix,precision:ns`. The exit status is 1 if a
time is not between what two calls give.
"""
import collections
import datetime
import json
import re
import sys

from rawfile import Raw, outside

Call = collections.namedtuple("Call", "begin end text")
LINE = re.compile(r"(\d+) +(\d+)\.(\d{9}) (.*)")


def calls_of(path):
    """Returns the calls by their begin, in ns; those that were interrupted by the output of another thread are joined."""
    found, open_calls = [], {}
    for line in open(path, encoding="utf-8", errors="replace"):
        pid, seconds, ns, text = LINE.match(line).groups()
        time, took = int(seconds) * 10**9 + int(ns), re.search(r"<(\d+)\.(\d{6})>$", text)
        end = time + (int(took[1]) * 10**9 + int(took[2]) * 1000 if took else 0)
        if text.endswith("<unfinished ...>"):
            open_calls[pid] = time, text
        elif text.startswith("<... ") and pid in open_calls:
            begin, first = open_calls.pop(pid)
            found.append(Call(begin, begin + end - time, first + text))
        else:
            found.append(Call(time, end, text))
    return sorted(found)


def attach(calls, have, raw_path):
    """The command begins between its execve() and its first look at the target; it then analyses the program, in
    between reads the memory of the target, loads the BPF programs and attaches them until the window begins."""
    raw = Raw(raw_path)
    calls = [call for call in calls if call.begin < raw.wall]
    executed = next(call for call in calls if call.text.startswith("execve("))
    looked = next(call for call in calls if re.match(r'openat\(AT_FDCWD, "/proc/\d+/stat"', call.text))
    first_bpf = next(call for call in calls if call.text.startswith("bpf("))
    checks = [call for call in calls if call.text.startswith("process_vm_readv(") and call.end < first_bpf.begin]
    files = [call for call in calls if call.text.startswith("pread64(") and call.end < checks[0].begin]
    loads = [call for call in calls if "BPF_PROG_LOAD" in call.text]
    links = [call for call in calls if "BPF_LINK_CREATE" in call.text and call.begin > loads[-1].end]
    checked, loaded = checks[-1].end - checks[0].begin, loads[-1].end - first_bpf.begin
    print(f"{len(checks)} reads of memory, {len(loads)} programs, {len(links)} links")
    yield from outside(have, "attach_ms", raw.wall - looked.begin, raw.wall - executed.end)
    yield from outside(have, "attach_analysis_ms", files[-1].end - looked.begin, first_bpf.begin - executed.end - checked)
    yield from outside(have, "attach_checks_ms", checked, first_bpf.begin - files[-1].end)
    yield from outside(have, "attach_load_ms", loaded, links[0].begin - checks[-1].end)
    yield from outside(have, "attach_probes_ms", raw.wall - links[0].begin, raw.wall - loads[-1].end)


def window_bounds(calls, index):
    """Yields the least and the greatest time of each attach. It has all links of a window but the first one, by which
    the recorder measures traps. It ends before the window begins, and begins after a poll() of the process, the first one
    after the programs are loaded."""
    begins = [call.begin for call in calls if re.match(r"poll\(\[\{fd=\d+, events=POLLIN\}\], 1, 0\)", call.text)]
    begins += [call.begin for call in calls if "BPF_PROG_LOAD" in call.text]
    links = [call for call in calls if "BPF_LINK_CREATE" in call.text]
    before = calls[0].begin
    for line in open(index, encoding="utf-8").readlines()[1:]:
        start = wall_ns(line.split("\t")[3])
        own = [call for call in links if before < call.begin < start]
        begin = max([begin for begin in begins if before < begin < own[0].begin], default=before)
        yield own[-1].end - own[1].begin, start - begin
        before = start


def wall_ns(text):
    """Returns the time of a date like 2026-11-30T08:44:04.458972825Z."""
    date, fraction = text.rstrip("Z").split(".")
    return int(datetime.datetime.fromisoformat(date + "+00:00").timestamp()) * 10**9 + int(fraction)


def windows(calls, have, index):
    bounds = list(window_bounds(calls, index))
    least, most = sorted(low for low, _ in bounds), sorted(high for _, high in bounds)
    if len(bounds) != have["windows"]:
        yield f"{have['windows']} windows, but {len(bounds)} in the index"
    for name, i in (("window_attach_min_ms", 0), ("window_attach_median_ms", len(bounds) // 2), ("window_attach_max_ms", -1)):
        yield from outside(have, name, least[i], most[i])


def held(calls, have):
    """The thread is held from the stop after PTRACE_INTERRUPT, which the next call shows, to PTRACE_DETACH. A second time
    is that of the removal."""
    calls = [call for call in calls if call.text.startswith("ptrace(")]
    first = next(i for i, call in enumerate(calls) if "PTRACE_INTERRUPT" in call.text)
    last = next(i for i, call in enumerate(calls) if "PTRACE_DETACH" in call.text)
    yield from outside(have, "inline_held_ms", calls[last - 1].end - calls[first + 1].begin,
                       calls[last].begin - calls[first].begin)


def main():
    verb, calls, statistics, *other = sys.argv[1:]
    have = json.load(open(statistics, encoding="utf-8"))
    faults = list({"attach": attach, "windows": windows, "held": held}[verb](calls_of(calls), have, *other))
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
