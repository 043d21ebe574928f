#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares the web pages of `go tool trace` with `gotrace`.

    trace_tool.py pages TOOL TRACE          reads the pages of a trace, and prints what they show as JSON
    trace_tool.py agrees GOTRACE TRACE named|unnamed PAGES
                                            compares them with the commands of gotrace; unnamed: functions may be missing
    trace_tool.py ends_at NS PAGES          all goroutines, and the timeline of threads, last until then
    trace_tool.py without_end <TEXT         removes the marks of the end from the output of `gotrace text`
    trace_tool.py adds_nothing PAGES OTHER  PAGES show nothing but longer times, compared with OTHER, without the marks

TOOL is the program that `go tool -n trace` names. The exit status is 1 if something differs.
"""
import collections
import html
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request

UNITS = {"ns": 1, "us": 1000, "µs": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
IN_CALLS = {"Sched wait time", "Syscall execution time", "Block time (syscall)", "Unknown time"}
LISTENS = re.compile(r"listening on (http://\S+)")


def nanoseconds(text):
    """Returns the value of a Go duration, such as 1m3.5s. The digits are exact, unlike a float."""
    total, rest = 0, text.strip().removeprefix("-")
    while match := re.match(r"(\d+)(?:\.(\d+))?(ns|us|µs|ms|s|m|h)", rest):
        unit = UNITS[match[3]]
        total += int(match[1]) * unit + int((match[2] or "0").ljust(9, "0")[:9]) * unit // 10**9
        rest = rest[match.end():]
    if rest not in ("", "0"):
        raise ValueError(f"invalid duration '{text}'")
    return -total if text.strip().startswith("-") else total


def rows(page):
    """Yields the cells of each row of a page's tables, without markup."""
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.S):
        yield [html.unescape(re.sub(r"<[^>]*>", " ", cell)).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)]


def served(tool, trace):
    """Starts the tool, and returns it and its address."""
    server = subprocess.Popen([tool, "-http=127.0.0.1:0", trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"BROWSER": "true"})
    said = []
    for line in server.stderr:
        said.append(line)
        if match := LISTENS.search(line):
            return server, match[1]
    server.wait()
    sys.exit(f"{tool}: exit status {server.returncode}: {''.join(said)}")


def read_pages(tool, trace):
    server, address = served(tool, trace)

    def page(path, **values):
        with urllib.request.urlopen(f"{address}/{path}?{urllib.parse.urlencode(values)}", timeout=60) as answer:
            return answer.read().decode()

    try:
        shown = {"groups": {}, "goroutines": {}}
        for cells in list(rows(page("goroutines")))[1:]:
            name = "" if cells[0].startswith("(Inactive") else cells[0]
            shown["groups"][name] = {"count": int(cells[1]), "exec_ns": nanoseconds(cells[2])}
            shown["goroutines"] |= dict(goroutines_of(name, page("goroutine", name=name)))
        # Cells of durations contain tables.
        shown["tasks"] = counts(re.findall(r'<td>([^<]*)</td>\s*<td><a href="/usertask\?[^"]*">(\d+)</a>', page("usertasks")))
        shown["task_events"] = sum(len(cells) == 4 for cells in list(rows(page("usertask")))[1:])
        shown["regions"] = counts(re.findall(r'<td><pre>(.*?)</pre></td>\s*<td><a href="/userregion\?[^"]*">(\d+)</a>', page("userregions")))
        shown["views"] = {view: timeline(json.loads(page("jsontrace", view=view))) for view in ("proc", "thread")}
        shown["views"]["goroutine"] = timeline(json.loads(page("jsontrace", goid=min(shown["goroutines"], key=int))))
        return shown
    finally:
        server.kill()
        server.wait()


def counts(found):
    return {html.unescape(re.sub(r"<[^>]*>", " ", name)).strip(): int(count) for name, count in found}


def goroutines_of(name, page):
    """Yields the goroutines of the first table with details, which has a column without a head for the bars."""
    table = re.search(r'<table class="details">(.*?)</table>', page, re.S)[1]
    heads, *lines = rows(table)
    for cells in lines:
        times = {head: nanoseconds(text) for head, text in list(zip(heads, cells))[3:]}
        yield cells[0], {"function": name, "total_ns": nanoseconds(cells[1]), "times": times}


def timeline(data):
    """Summarizes the events of the Chrome format: tracks, how many events have each name, and the last time."""
    events = data["traceEvents"]
    tracks = sorted({ev["args"]["name"] for ev in events if ev["ph"] == "M" and ev["name"] == "thread_name"})
    names = collections.Counter(f"{ev['ph']} {re.sub(r'G[0-9]+ ', 'G ', ev['name'])}" for ev in events if ev["ph"] != "M")
    end = max((ev.get("ts", 0) + ev.get("dur", 0) for ev in events if ev["ph"] != "M"), default=0)
    return {"tracks": tracks, "events": names, "end_ns": round(end * 1000)}


# --- comparisons

def gotrace(program, *args):
    return json.loads(subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout)


def times_of(goroutine):
    """Returns the times of a goroutine of `gotrace goroutines` by the heads of the page."""
    times = {"Execution time": goroutine["exec"], "Sched wait time": goroutine["sched_wait"],
        "Syscall execution time": goroutine["syscall"], "Block time (syscall)": goroutine["syscall_block"],
        "Unknown time": goroutine["unknown"]}
    return times | {f"Block time ({block['name']})": block["time"] for block in goroutine["block"]}


APART = 1000  # ns: events of the same time are delivered 1 ns after each other


def with_first_reason(theirs, ours):
    """Returns the times of go tool trace with the reason of the first wait, which only gotrace has, as private data.

    The time without a reason counts for the one reason for which gotrace has as much more time.
    """
    unknown = "Block time ()"
    nameless = theirs.get(unknown, 0) - ours.get(unknown, 0)
    more = [head for head, time in ours.items() if head.startswith("Block time (") and head != unknown and
        nameless > 0 and abs(time - theirs.get(head, 0) - nameless) <= APART]
    moved = {unknown: ours.get(unknown, 0), more[0]: theirs.get(more[0], 0) + nameless} if len(more) == 1 else {}
    return theirs | moved


def compare_goroutines(ours, pages, unnamed):
    """Yields what differs: which goroutines there are, and for each its function, its time and each part of it.

    A part begins at its event, or where the generation does. Before Go 1.26, the tool may have no name of a goroutine that never ran.
    """
    theirs, names = pages["goroutines"], {}
    for g in sorted(set(theirs) ^ set(ours), key=int):
        yield f"goroutine {g} is in {'go tool trace' if g in theirs else 'gotrace'} only"
    for g in sorted(set(theirs) & set(ours), key=int):
        have, want = theirs[g], ours[g]
        names[g] = have["function"] if unnamed else want["name"]
        if have["function"] not in ([want["name"], ""] if unnamed else [want["name"]]):
            yield f"goroutine {g}: '{have['function']}' in go tool trace, '{want['name']}' in gotrace"
        times = with_first_reason(have["times"], times_of(want))
        heads = set(times) | set(times_of(want))
        pairs = [("Total", have["total_ns"], want["total"])]
        pairs += [(head, times.get(head, 0), times_of(want).get(head, 0)) for head in sorted(heads)]
        if want["syscall_block"] > APART:
            # Of a system call that goes on, Go counts the time without a P as time in the call and as a wait for a P.
            pairs = [pair for pair in pairs if pair[0] not in IN_CALLS]
            pairs.append(("calls and waits for a P", have["total_ns"] - sum(x for _, x, _ in pairs[1:]),
                want["total"] - sum(y for _, _, y in pairs[1:])))
        for what, x, y in pairs:
            if abs(x - y) > APART:
                yield f"goroutine {g}, {what}: {x} ns in go tool trace, {y} in gotrace"
    groups = collections.defaultdict(lambda: {"count": 0, "exec_ns": 0})
    for g, name in names.items():
        groups[name]["count"] += 1
        groups[name]["exec_ns"] += ours[g]["exec"]
    for name in sorted(set(groups) | set(pages["groups"])):
        have, want = pages["groups"].get(name, {"count": 0, "exec_ns": 0}), groups[name]
        if have["count"] != want["count"] or abs(have["exec_ns"] - want["exec_ns"]) > APART * want["count"]:
            yield f"goroutines of '{name}': {have} in go tool trace, {want} in gotrace"


def agrees(program, trace, names, pages):
    """Yields what differs between the commands of gotrace and the pages."""
    everything = gotrace(program, "goroutines", "--all", "--json", trace)
    yield from compare_goroutines({str(g["id"]): g for g in everything["goroutines"]}, pages, names == "unnamed")
    events = subprocess.run([program, "events", "--json", trace], capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in events.splitlines()]
    kinds, own = collections.Counter(ev["kind"] for ev in events), {"proc": set(), "thread": set()}
    for ev in events:
        own["proc"] |= {f"Proc {p}" for p in (ev.get("p"), ev.get("proc")) if p is not None}
        own["thread"] |= {f"Thread {m}" for m in (ev.get("m"), ev.get("thread")) if m is not None}
    for view, names in own.items():
        shown = {track for track in pages["views"][view]["tracks"] if track.split()[0] in ("Proc", "Thread")}
        if not shown <= names:
            yield f"the view by {view} has {sorted(shown - names)}, of which there is no event"
    # A region or a message that belongs to no task has the task 0, which the tool shows, too.
    tasks = {ev["task"] for ev in events if ev["kind"] in ("TaskBegin", "TaskEnd", "Log", "RegionBegin")}
    of_tasks = sum(kinds[kind] for kind in ("TaskBegin", "TaskEnd", "Log", "RegionBegin", "RegionEnd"))
    for what, have, want in (("tasks", sum(pages["tasks"].values()), len(tasks)),
            ("regions", sum(pages["regions"].values()), kinds["RegionBegin"]),
            ("events of tasks", pages["task_events"], len(tasks) + of_tasks)):
        if have != want:
            yield f"{have} {what} in go tool trace, {want} in gotrace"


def ends_at(pages, ns):
    """Yields each goroutine that is not shown to the end, which is `ns` after the begin, and the view that ends before.

    The recorder's clock and the first event are up to 1 ms apart. A P that is idle is not drawn.
    """
    for g, shown in pages["goroutines"].items():
        if abs(shown["total_ns"] - ns) > 10**6:
            yield f"goroutine {g} has {shown['total_ns']} ns of {ns}"
        if abs(sum(shown["times"].values()) - shown["total_ns"]) > 1000:
            yield f"goroutine {g} has {shown['total_ns']} ns, and parts of {shown['times']}"
    if abs(pages["views"]["thread"]["end_ns"] - ns) > 10**6:
        yield f"the view by thread ends after {pages['views']['thread']['end_ns']} ns of {ns}"


def adds_nothing(pages, before):
    """Yields what is shown in addition to a trace without the marks of the end. Only times may be longer."""
    def content(shown):
        return {"goroutines": {g: (of["function"], sorted(of["times"])) for g, of in shown["goroutines"].items()},
            "groups": {name: group["count"] for name, group in shown["groups"].items()},
            "views": {view: (data["tracks"], data["events"]) for view, data in shown["views"].items()},
            **{key: shown[key] for key in ("tasks", "task_events", "regions")}}

    have, want = content(pages), content(before)
    for key in want:
        if have[key] != want[key]:
            yield f"{key}: {have[key]} instead of {want[key]}"
    for g, shown in pages["goroutines"].items():
        if g in before["goroutines"] and shown["total_ns"] < 2 * before["goroutines"][g]["total_ns"]:
            yield f"goroutine {g} has {before['goroutines'][g]['total_ns']} ns without the marks, {shown['total_ns']} with them"


# --- a trace without the marks of the end

EVENT = re.compile(r"(ProcStatus) dt=(\d+) p=(\d+) pstatus=(\d+)$")
TIMED = re.compile(r"(?!ClockSnapshot)[A-Z]\w* dt=")


def leb_size(number):
    return max(1, (number.bit_length() + 6) // 7)


def without_end(lines):
    """Returns the lines of `gotrace text` without the repeated status of a P at the end of each generation, and how many
    there were. A generation with nothing else is left out: readers reject one without events."""
    generations, marks = [], 0
    for line in lines:
        if (match := re.match(r"EventBatch gen=(\d+) ", line)) and (not generations or generations[-1][0] != match[1]):
            generations.append((match[1], []))
        elif not generations:
            generations.append(("", []))
        generations[-1][1].append(line)
    kept = []
    for number, batches in generations:
        status = [i for i, line in enumerate(batches) if EVENT.match(line)]
        if number and len(status) > 0:
            last = status[-1]
            match = EVENT.match(batches[last])
            others = [i for i in status[:-1] if EVENT.match(batches[i])[3] == match[3]]
            if others or len(kept) > 1:
                marks += 1
                batches = dropped(batches, last, 1 + sum(leb_size(int(match[k])) for k in (2, 3, 4)))
        if not number or any(TIMED.match(line) for line in batches):
            kept += batches
    return kept, marks


def dropped(lines, at, size):
    """Returns the lines without one, whose batch becomes smaller by its size; an empty batch is left out."""
    begin = max(i for i in range(at) if lines[i].startswith("EventBatch "))
    rest = int(re.search(r"size=(\d+)", lines[begin])[1]) - size
    if rest == 0:
        return lines[:begin] + lines[at + 1:]
    return lines[:begin] + [re.sub(r"size=\d+", f"size={rest}", lines[begin])] + lines[begin + 1:at] + lines[at + 1:]


def main():
    verb, *args = sys.argv[1:]
    if verb == "pages":
        json.dump(read_pages(*args), sys.stdout, indent=1)
        return
    if verb == "without_end":
        lines, marks = without_end(sys.stdin.read().splitlines())
        print("\n".join(lines))
        sys.exit(0 if marks else "the trace has no marks of the end")
    shown = json.load(open(args[-1], encoding="utf-8"))
    if verb == "agrees":
        faults = list(agrees(*args[:3], shown))
    elif verb == "ends_at":
        faults = list(ends_at(shown, int(args[0])))
    elif verb == "adds_nothing":
        faults = list(adds_nothing(json.load(open(args[0], encoding="utf-8")), shown))
    else:
        sys.exit(__doc__)
    for fault in faults[:20]:
        print(fault)
    print(f"{len(shown['goroutines'])} goroutines, {sum(shown['tasks'].values())} tasks, {sum(shown['regions'].values())} regions")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
