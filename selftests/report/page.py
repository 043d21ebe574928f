#!/usr/bin/python3
"""Opens pages of `gotrace report` and `gotrace view` in headless Chromium and checks what a user would see.

    page.py [--text|--answers] URL [NAME...]    the page has no errors, shows the names as text, and answers keys and links

--text ends after the names; --answers leaves out looks, themes, help and findings.

Talks to the browser by the DevTools protocol. Prints the times of the first picture, of a zoom and of a
search; exits with 1, and the reason, if a check fails.
"""
import asyncio
import json
import pathlib
import sys

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from browser import browser_tab, check

WIDTHS = (375, 1280, 2560)

# The time that a statement and the picture after it take
MEASURE = "new Promise(done => { const t = performance.now(); %s; requestAnimationFrame(() => setTimeout(() => done(performance.now() - t))); })"
RANGE = "document.querySelector('#timeline .tools .detail').textContent"
# Whether a lane has the color of a state, to the right of the labels
DRAWN = """(() => {
	const c = document.querySelector('#lanes canvas'), left = c.clientWidth < 600 ? 110 : 210, style = getComputedStyle(document.documentElement);
	const colors = new Set(['running', 'runnable', 'syscall', 'waiting'].map(kind => parseInt(style.getPropertyValue('--' + kind).trim().slice(1), 16)));
	const p = c.getContext('2d').getImageData(left, 0, c.width - left, c.height).data;
	for (let i = 0; i < p.length; i += 4)
		if (colors.has(p[i] << 16 | p[i + 1] << 8 | p[i + 2]))
			return true;
	return false;
})()"""
SEARCH = "{ const s = document.querySelector('#timeline input'); s.value = '%s'; s.dispatchEvent(new Event('input')); }"


async def looks_right(tab):
    for theme in ("light", "dark"):
        await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        for width in WIDTHS:
            await tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            await tab.value("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
            over = await tab.value("document.documentElement.scrollWidth - innerWidth")
            check(over <= 0, f"{theme}, {width} pixels: the page is {over} pixels too wide")
            check(await tab.value(DRAWN), f"{theme}, {width} pixels: no lane is drawn")


DATA = "JSON.parse(document.getElementById('gotrace-data').textContent)"
TIP = "[...document.querySelectorAll('.tip')].filter(tip => !tip.hidden).map(tip => tip.innerText).join('')"


async def themes(tab, url):
    """The theme of the system, until the switch is used; then the chosen one, also after a reload"""
    shown = "document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor"
    looks = []
    for theme in ("light", "dark"):
        await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        await tab.until(f"document.documentElement.dataset.theme === '{theme}'", "the page does not follow the system's theme")
        looks.append(await tab.value(shown))
    check(looks[0] != looks[1], "light and dark look the same")
    await tab.value("document.getElementById('theme').click()")
    check(await tab.value(shown) == looks[0], "the switch does not change the theme")
    await tab.open(url)
    check(await tab.value(shown) == looks[0], "the chosen theme is forgotten")


async def helps(tab):
    is_open = "document.getElementById('help').open"
    await tab.value("document.getElementById('lanes').focus()")
    await tab.key("?")
    check(await tab.value(is_open), "? does not open the help")
    await tab.value("document.querySelector('#help form button').click()")
    check(not await tab.value(is_open), "the help does not close")
    await tab.value("document.getElementById('help-button').click()")
    check(await tab.value(is_open), "the button does not open the help")
    await tab.value("document.getElementById('help').close()")
    names = await tab.value("[...document.querySelectorAll('#timeline .legend button')].map(button => button.textContent).join('; ')")
    for name in ("Running goroutines", "Runnable goroutines", "Waiting goroutines", "Goroutines in system calls", "Threads waiting for a CPU"):
        check(f"{name} (at most " in names, f"the legend of the curves does not have '{name}': {names}")
    toggle = "(button => (button.click(), button.ariaPressed))(document.querySelector('#timeline .legend button'))"
    check({await tab.value(toggle), await tab.value(toggle)} == {"true", "false"}, "the legend does not show and hide a curve")


async def shows_tips(tab):
    """What an interval is, at the pointer and by keys"""
    await tab.value("document.getElementById('lanes').scrollIntoView(), document.getElementById('lanes').focus()")
    await tab.key("ArrowDown")
    await tab.key("Enter")  # the first group may be folded
    for _ in range(30):
        await tab.key("ArrowDown")
        await tab.key(".")
        if await tab.value(TIP):
            break
    text = await tab.value(TIP)
    check(" from " in text and len(text.split("\n")) >= 2, f"the key shows no interval: '{text}'")
    await tab.key("Escape")
    check(not await tab.value(TIP), "Escape does not hide the tooltip")
    box = json.loads(await tab.value("JSON.stringify(document.querySelector('#lanes canvas').getBoundingClientRect())"))
    for y in range(10, int(box["height"]), 20):
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=box["left"] + box["width"] * 0.7, y=box["top"] + y)
        if " from " in await tab.value(TIP):
            break
    check(" from " in await tab.value(TIP), "the pointer shows no interval")
    await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)


async def follows_examples(tab):
    """A finding's link shows its range and its lane."""
    for i, finding in enumerate(await tab.value(DATA + ".findings")):
        for k, link in enumerate(finding["links"]):
            if "from" not in link:
                continue
            await tab.value(f"document.querySelectorAll('#findings li')[{i}].querySelectorAll('button')[{k}].click()")
            # The address follows after a moment. Until then it has the range of the link before, often with the same lane.
            shown = "(v => ({ lane: v.get('lane') || '', from: Number(v.get('from')), to: Number(v.get('to')) }))(new URLSearchParams(location.hash.slice(1)))"
            begin, end, longest = link["from"], link["to"], max(1.21 * (link["to"] - link["from"]), 101)
            await tab.until(f"(s => s.lane === '{link.get('lane', '')}' && s.from <= {begin} && {end} <= s.to && s.to - s.from <= {longest})({shown})",
                f"'{link['text']}' does not show {begin} to {end} in its lane, and little else")


async def finds_rows(tab):
    """The search of a table finds rows that are not shown yet."""
    rows = await tab.value(DATA + ".goroutines.list")
    if len(rows) <= 200:
        return
    name, shown = f"G{rows[-1]['id']} {rows[-1]['name']}", "[...document.querySelectorAll('#goroutines td:first-child')].map(cell => cell.textContent)"
    check(name not in await tab.value(shown), f"'{name}' is among the first rows")
    await tab.value("{ const s = [...document.querySelectorAll('#goroutines input')].at(-1); s.value = '%s'; s.dispatchEvent(new Event('input')); }" % name.split(" ")[0])
    check(name in await tab.value(shown), f"the search does not find '{name}'")


async def answers(tab, url):
    whole = await tab.value(RANGE)
    await tab.value("document.getElementById('lanes').focus()")
    await tab.key("w")
    zoomed = await tab.value(RANGE)
    check(zoomed != whole, "w does not zoom")
    await tab.until("location.hash.startsWith('#from=')", "the address does not have the range")
    await tab.key("ArrowDown")
    await tab.key("ArrowDown")
    check("Click a lane" not in await tab.value("document.getElementById('selected').textContent"), "the arrow keys select nothing")
    await tab.key("Home")
    check(await tab.value(RANGE) == whole, "Home does not show everything")
    lane = await tab.value("document.querySelector('#goroutines td button')?.textContent.match(/^G([0-9]+)/)?.[1]")
    if lane:
        await tab.open(f"{url}#from=1000&to=2001000&lane=g:{lane}")
        check("(2.000 ms)" in await tab.value(RANGE), "a link does not choose the range")
        check((await tab.value("document.getElementById('selected').textContent")).startswith(f"G{lane} "), "a link does not choose the lane")
    times = [await tab.value(MEASURE % "document.querySelectorAll('#timeline .tools button')[0].click()") for _ in range(5)]
    search = await tab.value(MEASURE % (SEARCH % "main"))
    print(f"zoom: at most {max(times):.0f} ms; search: {search:.0f} ms")
    await asyncio.sleep(0.5)
    text = await tab.value("document.getElementById('selected').textContent")
    check("Cannot read" not in text, text)


async def run(how, url, names):
    async with browser_tab() as tab:
        await tab.open(url)
        print(f"first picture: {await tab.value('performance.now()'):.0f} ms after the request at most")
        text = await tab.value("document.body.textContent")
        for name in names:
            check(name in text, f"'{name}' is not in the text of the page")
        check(await tab.value("document.images.length") == 0, "a name of the trace has become an image")
        if how == "--all":
            await looks_right(tab)
            await themes(tab, url)
            await helps(tab)
        if how != "--text":
            await shows_tips(tab)
        if how == "--all" and await tab.value("document.getElementById('gotrace-data').textContent !== ''"):
            await follows_examples(tab)
            await finds_rows(tab)
        if how != "--text":
            await tab.open(url)
            await answers(tab, url)
        check(not tab.errors, f"errors: {tab.errors}")
        check(await tab.value("document.documentElement.dataset.error") is None, "an error was noted")


how = sys.argv.pop(1) if sys.argv[1].startswith("--") else "--all"
asyncio.run(run(how, sys.argv[1], sys.argv[2:]))
