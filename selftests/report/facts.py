#!/usr/bin/python3
"""Compares facts in the data of `gotrace report --json` with the events of the trace and with other commands.

    facts.py DATA GOTRACE TRACE            lanes of goroutines, the slowest requests, links, limits and names
    facts.py detects DATA GOTRACE TRACE    each of them is found to differ if it is another one
"""
import json
import re
import subprocess
import sys


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
    worst = {one["id"]: one for one in run(gotrace, "requests", "--worst", "100", "--json", trace)["worst"]}
    return {"start": goroutines["start"], "end": goroutines["end"], "goroutines": {g["id"]: g for g in goroutines["goroutines"]}, "tasks": tasks,
        "ended": ended, "worst": worst, "parts": part_names(run(gotrace, "latency", "--json", trace)), "stat": run(gotrace, "stat", "--json", trace), "file": trace}


def part_names(latency):
    """The parts of a goroutine's time, in their order"""
    keys = latency["functions"][0] if latency["functions"] else {}
    return [key.removesuffix("_ns") for key in keys if key.endswith("_ns") and key not in ("total_ns", "unknown_ns")]


def compare(data, known):
    """Yields what differs."""
    start, strings = known["start"], data["strings"]
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
    for name, curve in data["curves"].items():
        if curve["unit"] != ("bytes" if name in ("heap", "goal") else "count"):
            yield f"curve {name}: unit {curve['unit']}"
    private = known["stat"]["private"]
    kernel = {"cpu_on", "cpu_off", "waking", "sys_enter", "sys_exit", "thread", "thread_name", "fault_begin", "fault_end"}
    lost = {loss["kind"] for loss in private["losses"]}
    for what, is_lost in (("Some kernel events were lost.", lost & kernel), ("Some events of Go were lost.", lost - kernel)):
        if (what in data["limits"]) != bool(is_lost):
            yield f"limits: {data['limits']} with losses of {sorted(lost)}"


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
    yield other("curves.*.unit", lambda d: next(iter(d["curves"].values())).__setitem__("unit", "x"))
    named = next((i for i, name in enumerate(data["requests"]["names"]) if name["worst"]), None)
    if named is not None:
        for key in ("id", "goroutine"):
            yield other(f"worst[].{key}", lambda d, key=key: d["requests"]["names"][named]["worst"][0].__setitem__(key, 10**9))
        yield other("worst[].parts", lambda d: d["requests"]["names"][named]["worst"][0]["parts"].append(1))
    for i, k in ((i, k) for i, finding in enumerate(data["findings"]) for k, link in enumerate(finding["links"]) if "section" in link):
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
