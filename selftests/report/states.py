#!/usr/bin/python3
"""Compares what is drawn of the trace of states_trace.py with the times in which it is in each state.

    states.py make TRACE TRUTH          writes the trace, and as JSON what it shows
    states.py totals DATA TRUTH         exact times of the lanes of `gotrace report --json`
    states.py export EXPORT TRUTH       the slices of `gotrace export chrome`
    states.py colors DATA               the colors of any two states differ, in either theme; what the states are called
    states.py pixels URL DATA TRUTH     opens a page in headless Chromium, and reads pixels in either theme: the
                                        color of each state, its share of the area, legend and bars. DATA is what
                                        the page shows
    states.py page PAGE DATA [MUTANT]   prints a page of `gotrace report` with other data, and a mistake in its script

A share of an area may differ by 10 %. Prints what differs, and exits with status 1.
"""
import asyncio
import itertools
import json
import pathlib
import sys

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import states_trace

MS = states_trace.MS
MARK = 'id="gotrace-data">'
LABEL, ROW = 210, 20  # of lanes.js
LANES = "#lanes canvas"
PANEL, ABOVE, TINT = 48, 16, 0.4  # of overview.js: height, what is above the greatest value, coverage
WIDTH = 2560
# Lanes and times in ms in which their states have known shares. " kernel": the strip below a goroutine
AREAS = [
    ("g:1", 10, 90), ("g:1", 110, 190), ("g:1", 310, 390), ("g:1", 510, 590), ("g:1", 643, 657), ("g:3", 643, 657), ("g:3", 10, 390), ("p:0", 10, 90), ("p:0", 110, 190),
    ("p:2", 10, 390), ("t:101", 510, 590), ("t:103", 10, 390), ("gc", 460, 540), ("gc", 10, 90), ("stw", 565, 585), ("task:0", 110, 390),
    ("c:0", 10, 90), ("c:0", 605, 635), ("c:0", 665, 695), ("c:0", 725, 755), ("c:0", 905, 945), ("c:0", 955, 975), ("c:0", 985, 995),
    ("c:1", 10, 390), ("c:1", 910, 990), ("c:2", 10, 390), ("c:2", 500, 800), ("g:1 kernel", 605, 635), ("g:1 kernel", 665, 695),
    ("g:1 kernel", 725, 755), ("g:1 kernel", 805, 835), ("g:1 kernel", 855, 875), ("g:1 kernel", 905, 945), ("g:1 kernel", 955, 975),
    ("g:1 kernel", 10, 90), ("g:2 kernel", 10, 390), ("g:2 kernel", 910, 990),
]
# Each replaces one statement of the page's script.
MUTANTS = {
    "swapped": ("s.mixState[mix] = s.state[s.n];", "s.mixState[mix] = [1, 0][s.state[s.n]] ?? s.state[s.n];"),
    "durations": ("time[first] += share * (Math.min(end, first + 1) - begin);", "time[first] = Math.max(time[first], share);"),
    "shares": ("s.mixShare[mix++] = numbers.next() / SPAN_WHOLE;", "s.mixShare[mix++] = numbers.next() && 1;"),
    "tint": ("mean[x] += p.mean *", "mean[x] += p.most *"),
    "unknown": ("for (let i = spanAfter(s, this.from); i < s.n && s.begin[i] < this.to; i++) {",
                "for (let i = spanAfter(s, this.from); i < s.n && s.begin[i] < this.to; i++) { if (STATES[s.state[i]].name === 'unknown') continue;"),
}

# What a user reads of each state: its name, which exports use, too, and what it means
TEXTS = {
    "running": ("running", "the goroutine has a P and a thread"),
    "runnable": ("runnable", "the goroutine waits for a P"),
    "waiting": ("waiting", "the goroutine is blocked, for example on a channel or a lock"),
    "syscall": ("system call", "the goroutine is in a system call"),
    "gc": ("GC cycle", "the garbage collector marks"),
    "stw": ("stop-the-world pause", "no goroutine may run"),
    "task": ("task", "a task or request is open"),
    "unknown": ("unknown", "events were lost"),
    "kernel-running": ("on CPU", "a thread of the program has the CPU"),
    "cpu-wait": ("waiting for a CPU", "the thread is in a run queue of the kernel"),
    "kernel-throttled": ("throttled", "the thread's cgroup has used up its CPU quota"),
    "kernel-sleeping": ("sleeping", "the thread sleeps until it is woken"),
    "kernel-blocked": ("uninterruptible", "the thread sleeps, for example for a disk, and signals do not wake it"),
    "kernel-stopped": ("stopped", "a signal or a debugger stopped the thread"),
    "kernel-other": ("another process", "a thread of another process has the CPU"),
    "kernel-unknown": ("unknown", "kernel events were lost, or do not show what the CPU ran"),
}

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def shares(spans, start, end):
    """By kind, of the time from `start` to `end`"""
    out = {}
    for a, b, kind in spans:
        if min(b, end) > max(a, start):
            out[kind] = out.get(kind, 0) + (min(b, end) - max(a, start)) / (end - start)
    return out


def sums(spans):
    return shares(spans, 0, 1)  # a share of 1 ns


def same_sums(what, got, wanted):
    """A reader moves events of one time apart, by 1 ns each."""
    for key in got.keys() | wanted.keys():
        expect(abs(got.get(key, 0) - wanted.get(key, 0)) <= 20, f"{what}: {key} for {got.get(key, 0)} ns, expected {wanted.get(key, 0)}")


# --- data and exports


def check_totals(data, truth):
    kinds, lanes = [state["kind"] for state in data["states"]], {lane["id"]: lane for lane in data["lanes"]}
    seen = set()
    for name, spans in truth.items():
        lane, _, kernel = name.partition(" ")
        got = {kinds[state]: ns for state, ns in lanes[lane]["kernel_totals" if kernel else "totals"]}
        same_sums(name, got, sums_of(spans))
        seen |= set(got)
    expect(seen == set(kinds), f"states without a lane: {set(kinds) - seen}")


def sums_of(spans):
    out = {}
    for a, b, kind in spans:
        out[kind] = out.get(kind, 0) + b - a
    return out


# What a slice in an export is called; those of CPUs, tasks and the GC have names of their own.
SLICES = {"running": "running", "runnable": "runnable", "waiting: chan receive": "waiting", "system call": "syscall",
          "waiting for a CPU": "cpu-wait", "throttled": "kernel-throttled", "sleeping": "kernel-sleeping", "uninterruptible": "kernel-blocked",
          "stopped": "kernel-stopped", "unknown": "kernel-unknown"}


def slices(events):
    """(track, depth, name, arguments, ns) of each slice, from begins and ends"""
    tracks, stacks = {}, {}
    for e in events:
        key = (e["pid"], e["tid"])
        if e["ph"] == "M" and e["name"] == "thread_name":
            tracks[key] = e["args"]["name"]
        elif e["ph"] == "B":
            stacks.setdefault(key, []).append(e)
        elif e["ph"] == "E":
            begin = stacks[key].pop()
            yield tracks[key], len(stacks[key]), begin["name"], begin.get("args", {}), round((e["ts"] - begin["ts"]) * 1000)


def check_export(export, truth):
    got = {}
    for track, depth, name, args, ns in slices(export["traceEvents"]):
        word, number = (track.split(" ") + [""])[:2]
        lane = {"G": f"g:{number}", "CPU": f"c:{number}", "P": f"p:{number}", "Tasks": "task:0", "GC": "gc", "Stop-the-world": "stw"}.get(word)
        if not lane:
            continue
        if lane[0] == "g" and lane != "gc":
            kind = "unknown" if name == "unknown" and not depth else SLICES[name]
            lane += " kernel" if depth else ""
        elif lane[0] == "c":
            kind = "kernel-unknown" if name == "unknown" else "kernel-other" if "process" in args else "kernel-running"
        else:
            kind = {"p": "running", "t": "task", "g": "gc", "s": "stw"}[lane[0]]
        lane = got.setdefault(lane, {})
        lane[kind] = lane.get(kind, 0) + ns
    for name, spans in truth.items():
        if not name.startswith("t:"):
            same_sums(name, got.get(name, {}), sums_of(spans))
    print(f"{len(got)} tracks")


def rgb(color):
    return [int(color[i:i + 2], 16) for i in (1, 3, 5)]


def lab(color):
    """CIELAB, for a white point of D65"""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb(color)))
    x, y, z = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def check_colors(data):
    texts = {state["kind"]: (state["name"], state["meaning"]) for state in data["states"]}
    expect(texts == TEXTS, f"texts of states: {[texts.get(kind) for kind in texts.keys() | TEXTS.keys() if texts.get(kind) != TEXTS.get(kind)]}")
    for name, kind in SLICES.items():
        expect(name.split(":")[0] == texts[kind][0], f"{kind} is '{name}' in exports")
    backgrounds = {"light": ["#ffffff", "#f4f6f8"], "dark": ["#14181c", "#1d2329"]}
    for theme, backs in backgrounds.items():
        colors = {state["name"]: state[theme] for state in data["states"]}
        all_colors = list(colors.items()) + [("", back) for back in backs]
        distances = sorted((sum((a - b) ** 2 for a, b in zip(lab(x[1]), lab(y[1]))) ** 0.5, x[0], y[0])
                           for x, y in itertools.combinations(all_colors, 2) if x[0] or y[0])
        expect(distances[0][0] >= 18, f"{theme}: {distances[:3]}")
        print(f"{theme}: {len(colors)} colors, at least {distances[0][0]:.0f} apart")


# --- pages


def page_with(page, data, mutant):
    before, rest = page.split(MARK, 1)
    _, after = rest.split("</script>", 1)
    if mutant:
        old, new = MUTANTS[mutant]
        assert after.count(old) == 1, f"the script does not have '{old}' once"
        after = after.replace(old, new)
    return before + MARK + data.replace("<", "\\u003c") + "</script>" + after


def rows_of(data, folded=None):
    """The lanes in the order of the rows; None: the row of a group."""
    titles, groups = {"cpu": "CPUs", "thread": "Threads", "p": "Ps", "task": "Tasks", "goroutine": "Goroutines"}, {}
    for lane in data["lanes"]:
        groups.setdefault(titles.get(lane["kind"], "GC"), []).append(lane)
    rows = []
    for title, lanes in groups.items():
        rows += [title] if len(lanes) > 1 else []
        rows += [lane["id"] for lane in lanes] if title != folded else []
    return rows


# Sums of red, green, blue and coverage, each times the coverage, of areas of a canvas, as means
READ = """((areas, canvas) => {
	const c = canvas.getContext('2d');
	return areas.map(([x, y, width, height]) => {
		const p = c.getImageData(x, y, width, height).data, sum = [0, 0, 0, 0];
		for (let i = 0; i < p.length; i += 4)
			for (let k = 0; k < 4; k++)
				sum[k] += (k < 3 ? p[i + k] : 255) * p[i + 3] / 255;
		return sum.map(s => s / (width * height));
	});
})(%s, document.querySelector('%s'))"""


def parts_of(mean, colors):
    """How much of each color is in a mean of red, green, blue and coverage, and the error; by least squares"""
    columns = [rgb(color) + [255] for color in colors]
    rows = [[sum(a * b for a, b in zip(x, y)) for y in columns] + [sum(a * b for a, b in zip(x, mean))] for x in columns]
    for i, row in enumerate(rows):
        for other in rows:
            if other is not row:
                factor = other[i] / row[i]
                other[:] = [a - factor * b for a, b in zip(other, row)]
    parts = [row[-1] / row[i] for i, row in enumerate(rows)]
    error = max(abs(m - sum(part * column[k] for part, column in zip(parts, columns))) for k, m in enumerate(mean))
    return parts, error


def check_area(what, mean, wanted, table):
    """`wanted`: share of the area by kind; `table`: colors by kind"""
    kinds = list(wanted)
    parts, error = parts_of(mean, [table[kind] for kind in kinds])
    for kind, part in zip(kinds, parts):
        expect(abs(part - wanted[kind]) <= 0.1 * wanted[kind], f"{what}: {kind} has {part:.3f} of the area, expected {wanted[kind]:.3f}")
    expect(error < 4, f"{what}: other colors than those of {kinds}, by {error:.0f} of 255")
    return max((abs(part / wanted[kind] - 1) for kind, part in zip(kinds, parts)), default=0)


async def check_lanes(tab, data, truth, table, theme):
    rows, scale = rows_of(data), None
    width = await tab.value("document.querySelector('#lanes canvas').clientWidth") - LABEL
    scale = width / data["trace"]["ns"]
    areas, wanted = [], []
    for name, start, end in AREAS:
        lane, _, kernel = name.partition(" ")
        y = rows.index(lane) * ROW + (14 if kernel else 2)
        x = LABEL + round(start * MS * scale)
        areas.append((x, y, LABEL + round(end * MS * scale) - x, 4 if kernel else 11 if "kernel" in data["lanes"][[l["id"] for l in data["lanes"]].index(lane)] else 15))
        wanted.append(shares(truth[name], (x - LABEL) / scale, (x - LABEL + areas[-1][2]) / scale))
    means = await tab.value(READ % (json.dumps(areas), LANES))
    worst = [check_area(f"{theme}: {name} from {start} to {end} ms", mean, share, table)
             for (name, start, end), mean, share in zip(AREAS, means, wanted)]
    print(f"{theme}: {len(areas)} areas with {len({kind for share in wanted for kind in share})} states, shares differ by at most {100 * max(worst):.1f} %")


async def check_folded(tab, data, truth, table, theme):
    """A folded group of CPUs has the full height where all of them are used."""
    y = rows_of(data).index("CPUs") * ROW
    box = json.loads(await tab.value("JSON.stringify(document.querySelector('#lanes canvas').getBoundingClientRect())"))
    for kind in ("mousePressed", "mouseReleased"):
        await tab.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, x=box["left"] + 20, y=box["top"] + y + 10)
    scale = (box["width"] - LABEL) / data["trace"]["ns"]
    area = [LABEL + round(10 * MS * scale), y + 2, round(80 * MS * scale), 15]
    wanted = {}
    cpus = [name for name in truth if name.startswith("c:")]
    for name in cpus:
        for kind, share in shares(truth[name], 10 * MS, 90 * MS).items():
            wanted[kind] = wanted.get(kind, 0) + share / len(cpus)
    [mean] = await tab.value(READ % (json.dumps([area]), LANES))
    check_area(f"{theme}: the folded group of CPUs", mean, wanted, table)
    for kind in ("mousePressed", "mouseReleased"):
        await tab.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, x=box["left"] + 20, y=box["top"] + y + 10)


async def check_overview(tab, data, truth, theme):
    """The tint below the curve of running goroutines ends at their mean number. The visible range, which is tinted, too, is elsewhere."""
    start, end = 10, 90
    await tab.value(f"location.hash = '#from={500 * MS}&to={600 * MS}'")
    await tab.value("[...document.querySelectorAll('#timeline .legend button')].filter(button => (button.ariaPressed === 'true') !== "
                    "button.textContent.startsWith('Running')).forEach(button => button.click())")
    await tab.value("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    mean = sum(share for name, spans in truth.items() if name[0] == "g" and " " not in name
               for kind, share in shares(spans, start * MS, end * MS).items() if kind == "running")
    scale = await tab.value("document.querySelector('#overview').clientWidth") / data["trace"]["ns"]
    top, bottom = ABOVE + 2, PANEL - 1  # without the lines
    [tint] = await tab.value(READ % (json.dumps([[round(start * MS * scale), top, round((end - start) * MS * scale), bottom - top]]), "#overview"))
    got = tint[3] / 255 / TINT * (bottom - top) + PANEL - bottom
    wanted = mean * (PANEL - ABOVE) / 3  # all three goroutines run at times
    expect(abs(got - wanted) <= 0.1 * wanted, f"{theme}: the overview is tinted up to {got:.1f} pixels, expected {wanted:.1f}")


def css(color):
    return "rgb(%d, %d, %d)" % tuple(rgb(color))


async def check_texts(tab, data, table, theme):
    """The legend, and the bars of goroutine 1, whose parts are those of `gotrace latency`"""
    legend = await tab.value("[...document.querySelectorAll('#timeline .legend:not([role]) span')].filter(item => item.querySelector('i'))"
                             ".map(item => [item.textContent, getComputedStyle(item.querySelector('i')).backgroundColor])")
    wanted = list({state["name"]: [state["name"], css(state[theme])] for state in data["states"]}.values())
    expect(sorted(legend) == sorted(wanted), f"{theme}: the legend is {legend}")
    kind_of = {state["part"]: state["kind"] for state in data["states"] if state["part"]}
    row = next(g for g in data["goroutines"]["list"] if g["id"] == 1)
    bar = await tab.value("(row => { const bar = row.querySelector('.bar'), width = bar.getBoundingClientRect().width; return [...bar.children].map(part => "
                          "[getComputedStyle(part).backgroundColor, part.getBoundingClientRect().width / width]); })"
                          "([...document.querySelectorAll('#goroutines tr')].find(row => row.firstChild.textContent.startsWith('G1 ')))")
    parts = [(kind_of[name], ns / sum(row["parts"])) for name, ns in zip(data["goroutines"]["parts"], row["parts"]) if ns]
    expect(len(parts) >= 4, f"goroutine 1 has the parts {parts}")
    expect([color for color, _ in bar] == [css(table[kind]) for kind, _ in parts], f"{theme}: the bar of goroutine 1 has {bar}, expected {parts}")
    for (_, share), (kind, part) in zip(bar, parts):
        expect(abs(share - part) <= 0.1 * part, f"{theme}: {kind} has {share:.3f} of the bar of goroutine 1, expected {part:.3f}")


async def check_pixels(url, data, truth):
    from browser import browser_tab

    async with browser_tab() as tab:
        await tab.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1600, deviceScaleFactor=1, mobile=False)
        for theme in ("light", "dark"):
            await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            await tab.open(url)
            # All rows are visible.
            await tab.value(f"document.getElementById('lanes').style.height = '{ROW * (len(rows_of(data)) + 2)}px'; dispatchEvent(new Event('resize'));"
                            "document.getElementById('lanes').scrollIntoView()")
            table = {state["kind"]: state[theme] for state in data["states"]}
            await check_lanes(tab, data, truth, table, theme)
            await check_folded(tab, data, truth, table, theme)
            await check_texts(tab, data, table, theme)
            await check_overview(tab, data, truth, theme)
        # A page with merged intervals asks `view`, which does not run here, for those of the range that it shows.
        errors = [e for e in tab.errors if "range.json" not in e]
        expect(not errors, f"errors: {errors}")


def main():
    what, path, *more = sys.argv[1:]
    if what == "make":
        truth = states_trace.write(path)
        pathlib.Path(more[0]).write_text(json.dumps(truth), encoding="utf-8")
    elif what == "totals":
        check_totals(load(path), load(more[0]))
    elif what == "export":
        check_export(load(path), load(more[0]))
    elif what == "colors":
        check_colors(load(path))
    elif what == "pixels":
        asyncio.run(check_pixels(path, load(more[0]), load(more[1])))
    else:
        sys.stdout.write(page_with(pathlib.Path(path).read_text(encoding="utf-8"), pathlib.Path(more[0]).read_text(encoding="utf-8"), *more[1:] or [""]))
    for failure in failures[:10]:
        print(failure[:300])
    sys.exit(1 if failures else 0)


main()
