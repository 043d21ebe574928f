#!/usr/bin/python3
"""Checks in headless Chromium how a page of `gotrace report` shows CPU samples.

    rate.py known URL NS          as time: the title has no remark, and the whole is NS
    rate.py unknown URL SAMPLES   as counts: "(rate unknown)" is in the title, the whole is SAMPLES, and no frame has a time

The flame graph is read from the elements that are drawn, and the totals are given by the caller.
"""
import asyncio
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from browser import browser_tab, check

HEADING = "document.querySelector('#profile-cpu h2')?.innerText"
FRAMES = "[...document.querySelectorAll('#profile-cpu .flame button')].filter(button => button.offsetWidth > 0).map(button => button.title)"
TIMES = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
TITLE = re.compile(r"(?s)(.*): ([0-9][0-9.,\u202f ]*) ?(ns|us|µs|ms|s|samples), [0-9.]+ %$")


def amount(digits):
    """Returns a number, and by how much its last digit was rounded at most."""
    digits = re.sub(r"[, \u202f]", "", digits)
    return float(digits), 0.5 * 10 ** -len(digits.partition(".")[2])


async def run(how, url, total):
    async with browser_tab() as tab:
        await tab.open(url)
        heading, frames = await tab.value(HEADING), await tab.value(FRAMES)
        check(heading == {"known": "CPU samples", "unknown": "CPU samples (rate unknown)"}[how], f"the title is '{heading}'")
        check(len(frames) > 1, f"the flame graph has {len(frames)} frames")
        for title in frames:
            match = TITLE.match(title)
            check(match and (match[3] == "samples") == (how == "unknown"), f"a frame of a rate that is {how}: '{title}'")
        name, digits, unit = TITLE.match(frames[0]).groups()
        value, rounded = amount(digits)
        factor = TIMES.get(unit, 1)
        check(name == "all" and abs(value * factor - total) <= rounded * factor, f"the whole is '{frames[0]}' instead of {total}")
        check(not tab.errors, f"errors: {tab.errors}")
        print(f"'{heading}', {len(frames)} frames, the whole is {frames[0]}")


asyncio.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3])))
