#!/usr/bin/python3
"""Compares facts in the data of `gotrace report --json` with the events of the trace and with other commands.

    facts.py DATA GOTRACE TRACE            lanes of goroutines, the slowest requests, links, limits, names, and the parts
                                           of the time that have the colors of states
    facts.py detects DATA GOTRACE TRACE    each of them is found to differ if it is another one
"""
import json
import re
import subprocess
import sys

CURVES = {"heap": "Heap", "goal": "Heap goal", "goroutines": "Goroutines", "running": "Running goroutines", "runnable": "Runnable goroutines",
    "waiting": "Waiting goroutines", "syscall": "Goroutines in system calls", "runqueue": "Threads waiting for a CPU"}
WAITS = "wait for a P|wait for a CPU|system call|wait for a lock or wait group"
# What else a goroutine that Go calls running or in a system call may do, by `gotrace latency`
WITHIN = ("oncpu", "kernel_runnable", "throttled", "kernel_blocked", "syscall_blocked")
PARTS = WITHIN + ("go_runnable", "go_blocked")


def run(gotrace, *args):
    return json.loads(subprocess.run([gotrace, *args], capture_output=True, text=True, check=True).stdout)


def read(gotrace, trace):
    """Returns what the data are compared with."""
    events = subprocess.run([gotrace, "events", "--json", trace], capture_output=True, text=True, check=True).stdout.splitlines()
    goroutines = run(gotrace, "goroutines", "--all", "--json", trace)
    tasks, ended = {}, {}
    for line in events:
        event = json.loads(line)
        if event["kind"] == "StateTransition" and event["to"] == "NotExist" and "goroutine" in event:
            ended[event["goroutine"]] = event["time"]
        elif event["kind"] == "TaskBegin":
            tasks.setdefault(event["task"], {"name": event["type"], "g": event["g"], "from": event["time"], "to": None})
        elif event["kind"] == "TaskEnd" and event["task"] in tasks and tasks[event["task"]]["to"] is None:
            tasks[event["task"]]["to"] = event["time"]
    latency = run(gotrace, "latency", "--all", "--json", trace)
    worst = {one["id"]: one for one in run(gotrace, "requests", "--worst", "100", "--json", trace)["worst"]}
    return {"start": goroutines["start"], "end": goroutines["end"], "goroutines": {g["id"]: g for g in goroutines["goroutines"]}, "tasks": tasks,
        "ended": ended, "worst": worst, "parts": part_names(latency), "times": {g["id"]: g for g in latency["goroutines"]},
        "stat": run(gotrace, "stat", "--json", trace), "file": trace}


def part_names(latency):
    """The parts of a goroutine's time, in their order"""
    keys = latency["functions"][0] if latency["functions"] else {}
    return [key.removesuffix("_ns") for key in keys if key.endswith("_ns") and key not in ("total_ns", "unknown_ns")]


def compare(data, known):
    """Yields what differs."""
    start, strings = known["start"], data["strings"]
    lost = {loss["kind"] for loss in known["stat"]["private"]["losses"]}
    version = re.search(r'GOTRACE_VERSION "(.*)"', open("include/gotrace/version.h", encoding="utf-8").read())[1]
    of_data = int(re.search(r"This is version (\d+) of it", open("docs/report.md", encoding="utf-8").read())[1])
    for what, have, want in (("version", data["version"], of_data), ("live", data["live"], False), ("file", data["trace"]["file"], known["file"]),
            ("tool", data["trace"]["tool"], f"gotrace {version}"), ("goroutines.parts", data["goroutines"]["parts"], known["parts"]),
            ("requests.parts", data["requests"]["parts"], known["parts"])):
        if have != want:
            yield f"{what}: {have} instead of {want}"
    for lane in data["lanes"]:
        if lane["kind"] != "goroutine":
            continue
        g = known["goroutines"][int(lane["id"][2:])]
        want = (g["name"], (g["created"] or start) - start, known["ended"].get(g["id"], known["end"]) - start)
        have = (strings[lane["group"]], lane["from"], lane["to"])
        if have != want:
            yield f"lane {lane['id']}: group, from and to are {have} instead of {want}"
    for name in data["requests"]["names"]:
        yield from compare_worst(name, data["requests"]["parts"], known)
    sections = {"requests", "goroutines", "timeline", "waits", "mmu", "causes"} | {f"profile-{p['kind']}" for p in data["profiles"]}
    for link in (link for finding in data["findings"] for link in finding["links"]):
        if "section" in link and (link["section"] not in sections or "name" in link and link["name"] not in {n["name"] for n in data["requests"]["names"]}):
            yield f"link to section {link['section']} and name {link.get('name')}"
    for link in (link for finding in data["findings"] for link in finding["links"]):
        if link["text"] != text_of(link, known):
            yield f"link '{link['text']}' instead of '{text_of(link, known)}'"
    if not lost:
        yield from compare_states(data, known["times"])
    for name, curve in data["curves"].items():
        if curve["name"] != CURVES[name]:
            yield f"curve {name}: name {curve['name']}"
        if curve["unit"] != ("bytes" if name in ("heap", "goal") else "count"):
            yield f"curve {name}: unit {curve['unit']}"
    kernel = {"cpu_on", "cpu_off", "waking", "sys_enter", "sys_exit", "thread", "thread_name", "fault_begin", "fault_end"}
    for what, is_lost in (("Some kernel events were lost.", lost & kernel), ("Some events of Go were lost.", lost - kernel)):
        if (what in data["limits"]) != bool(is_lost):
            yield f"limits: {data['limits']} with losses of {sorted(lost)}"


def text_of(link, known):
    """What a link is called, by its other members"""
    if "section" in link:
        return f"all {link['section']}"
    if "task" in link:
        return f"example: {link['ns'] / 1e6:.3f} ms of {(link['to'] - link['from']) / 1e6:.3f} ms in task {link['task']}"
    kind = re.match(f"the longest ({WAITS}): ", link["text"])
    name = known["goroutines"][int(link["lane"][2:])]["name"]
    return f"the longest {kind and kind[1]}: {link['ns'] / 1e6:.3f} ms of {link['lane'].replace('g:', 'G')} {name}"


def compare_states(data, times):
    """The time of each goroutine in the states of a part, where nothing else has the color of the part"""
    parts = [state["part"] for state in data["states"]]
    for lane in data["lanes"]:
        if lane["kind"] != "goroutine":
            continue
        g = times[int(lane["id"][2:])]
        have, want = dict.fromkeys(PARTS, 0), {part: g[f"{part}_ns"] for part in PARTS}
        for state, ns in lane["totals"] + lane.get("kernel_totals", []):
            if parts[state]:
                have[parts[state]] += ns
        for part in ("go_runnable", "go_blocked", "kernel_runnable", "throttled"):
            if have[part] != want[part]:
                yield f"lane {lane['id']}: {have[part]} ns in states of the part {part} instead of {want[part]}"
        if have["oncpu"] + have["syscall_blocked"] != sum(want[part] for part in WITHIN) or have["syscall_blocked"] < want["syscall_blocked"]:
            yield f"lane {lane['id']}: {have} for {want}"


def compare_worst(name, parts, known):
    for one in name["worst"]:
        task, listed = known["tasks"].get(one["id"]), known["worst"].get(one["id"])
        if task is None or listed is None:
            yield f"{name['name']}: task {one['id']} is not among the tasks and the slowest requests"
            continue
        have = (name["name"], one["goroutine"], one["from"], one["to"])
        want = (task["name"], task["g"], task["from"] - known["start"], task["to"] - known["start"])
        if have != want:
            yield f"task {one['id']}: {have} instead of {want}"
        times = [listed["time"][f"{part}_ns"] for part in parts]
        if one["parts"] != times:
            yield f"task {one['id']}: parts {one['parts']} instead of {times}"


def changes(data):
    """Yields the data with one fact that is another one, and which it is."""
    def other(what, change):
        copy = json.loads(json.dumps(data))
        change(copy)
        return what, copy

    lane = next(i for i, lane in enumerate(data["lanes"]) if lane["kind"] == "goroutine")
    for key in ("group", "from", "to"):
        yield other(f"lanes[].{key}", lambda d, key=key: d["lanes"][lane].__setitem__(key, d["lanes"][lane][key] + 1))
    for key, value in (("version", 99), ("live", True), ("limits", data["limits"][1:] or ["Some events of Go were lost."])):
        yield other(key, lambda d, key=key, value=value: d.__setitem__(key, value))
    for key in ("file", "tool"):
        yield other(f"trace.{key}", lambda d, key=key: d["trace"].__setitem__(key, "x"))
    for key in ("goroutines", "requests"):
        yield other(f"{key}.parts", lambda d, key=key: d[key]["parts"].reverse())
    for key in ("name", "unit"):
        yield other(f"curves.*.{key}", lambda d, key=key: next(iter(d["curves"].values())).__setitem__(key, "x"))
    used = {state for lane in data["lanes"] if lane["kind"] == "goroutine" for state, ns in lane["totals"] + lane.get("kernel_totals", []) if ns}
    for i in used if not data["limits"] else ():
        if data["states"][i]["part"] in ("oncpu", "go_runnable", "go_blocked", "syscall_blocked", "kernel_runnable", "throttled"):
            yield other(f"states[{i}].part", lambda d, i=i: d["states"][i].__setitem__("part", None))
    named = next((i for i, name in enumerate(data["requests"]["names"]) if name["worst"]), None)
    if named is not None:
        for key in ("id", "goroutine"):
            yield other(f"worst[].{key}", lambda d, key=key: d["requests"]["names"][named]["worst"][0].__setitem__(key, 10**9))
        yield other("worst[].parts", lambda d: d["requests"]["names"][named]["worst"][0]["parts"].append(1))
    for i, k in ((i, k) for i, finding in enumerate(data["findings"]) for k, link in enumerate(finding["links"])):
        yield other("links[].text", lambda d, i=i, k=k: d["findings"][i]["links"][k].__setitem__("text", "x"))
        if "section" not in data["findings"][i]["links"][k]:
            continue
        yield other("links[].section", lambda d, i=i, k=k: d["findings"][i]["links"][k].__setitem__("section", "x"))
        if "name" in data["findings"][i]["links"][k]:
            yield other("links[].name", lambda d, i=i, k=k: d["findings"][i]["links"][k].__setitem__("name", "x"))


def main():
    is_test = sys.argv[1] == "detects"
    data, known = json.load(open(sys.argv[1 + is_test], encoding="utf-8")), read(*sys.argv[2 + is_test:])
    faults = list(compare(data, known))
    if is_test and not faults:
        faults = [f"another {what} is not found" for what, copy in changes(data) if not list(compare(copy, known))]
    for fault in faults[:20]:
        print(fault)
    worst = sum(len(name["worst"]) for name in data["requests"]["names"])
    print(f"{sum(lane['kind'] == 'goroutine' for lane in data['lanes'])} goroutines, {worst} requests, {len(data['findings'])} findings")
    sys.exit(bool(faults))


main()
