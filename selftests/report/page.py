#!/usr/bin/python3
"""Opens pages of `gotrace report` and `gotrace view` in headless Chromium and checks what a user would see.

    page.py URL [NAME...]    the page has no errors, shows the names as text, and answers keys and links

Talks to the browser by the DevTools protocol. Prints the times of the first picture, of a zoom and of a
search; exits with 1, and the reason, if a check fails.
"""
import asyncio
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


async def run(url, names):
    async with browser_tab() as tab:
        await tab.open(url)
        print(f"first picture: {await tab.value('performance.now()'):.0f} ms after the request at most")
        text = await tab.value("document.body.textContent")
        for name in names:
            check(name in text, f"'{name}' is not in the text of the page")
        check(await tab.value("document.images.length") == 0, "a name of the trace has become an image")
        await looks_right(tab)
        await answers(tab, url)
        check(not tab.errors, f"errors: {tab.errors}")
        check(await tab.value("document.documentElement.dataset.error") is None, "an error was noted")


asyncio.run(run(sys.argv[1], sys.argv[2:]))
