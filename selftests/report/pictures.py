#!/usr/bin/python3
"""Makes the pictures of the page of `gotrace report` that docs/ contains.

    pictures.py URL DIR    DIR/report.png, dark, and DIR/report-request.png, light: the example of the
                           first finding, with the pointer on its lane

The pictures in docs/ show a recording of the target `requests -n 60 -clients 8`.
"""
import asyncio
import base64
import pathlib
import sys

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from browser import browser_tab, check

WIDTH, HEIGHT = 1264, 1010
TIP = "[...document.querySelectorAll('.tip')].filter(tip => !tip.hidden).map(tip => tip.innerText).join('')"


async def look(tab, theme):
    await tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    await tab.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    await asyncio.sleep(1)


async def save(tab, path, top, height):
    shot = await tab.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
        clip={"x": 0, "y": top, "width": WIDTH, "height": height, "scale": 1})
    pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))


# The lane that the example selected is where the tip has its name.
async def point_at_selected(tab):
    name = (await tab.value("document.querySelector('#selected').innerText")).split(":")[0]
    top, height = await tab.value("(r => [r.top, r.height])(document.querySelector('#lanes').getBoundingClientRect())")
    for y in range(int(top) + 10, int(top + height), 6):
        await tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=WIDTH * 0.6, y=y)
        await asyncio.sleep(0.05)
        if (await tab.value(TIP)).startswith(name):
            return
    check(False, f"no lane of {name} is visible")


async def main(url, folder):
    async with browser_tab() as tab:
        await tab.open(url)
        await look(tab, "dark")
        await save(tab, f"{folder}/report.png", 0, HEIGHT)
        await look(tab, "light")
        await tab.value("document.querySelector('#findings button.link').click()")
        await tab.value("document.activeElement.blur()")
        await asyncio.sleep(2)
        await point_at_selected(tab)
        top, height = await tab.value("(r => [r.top + scrollY, r.height])(document.querySelector('#timeline').getBoundingClientRect())")
        await save(tab, f"{folder}/report-request.png", top, height)


if len(sys.argv) != 3:
    sys.exit("usage: pictures.py URL DIR")
asyncio.run(main(*sys.argv[1:]))
