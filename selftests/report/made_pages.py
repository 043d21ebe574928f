#!/usr/bin/python3
"""Replaces the data of a page of `gotrace report`, for tests in a browser. Prints the new page.

    made_pages.py hostile PAGE        its names are replaced by one that would run a script if it became HTML
    made_pages.py large PAGE SPANS    its lanes are those of made-up goroutines with SPANS spans together

The data follow docs/report.md. The same arguments give the same page.
"""
import base64
import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True  # it would change the inputs of selftests/keep
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from private import lebs

LANES = 4000
FUNCTIONS = 40
ARROWS = 200000
POINTS = 4096
MARK = 'id="gotrace-data">'
EVIL = '<img src=x onerror="document.documentElement.dataset.error=1">\u202e'


def encode(numbers):
    return base64.b64encode(lebs(*numbers)).decode()


def hostile(data):
    data["strings"] = [EVIL + s if s else s for s in data["strings"]]
    for f in data["goroutines"]["functions"] + data["goroutines"]["list"]:
        f["name"] = EVIL
    data["limits"] = [EVIL]
    data["trace"]["file"] = EVIL


def spans(chance, n, states):
    """N spans, of which each eighth one stands for several intervals, and the time when the last one ends"""
    numbers, time = [], 0
    for i in range(n):
        gap, length = chance.randrange(2000), chance.randrange(1, 400000)
        merged = i % 8 == 0
        numbers += [gap, length, 2 * chance.randrange(states) + merged, 0]
        if merged:
            state = numbers[-2] // 2
            numbers += [chance.randrange(2, 300), 1 << state, chance.randrange(5000, 10001)]
        time += gap + length
    return encode(numbers), time


def points(chance, whole):
    return encode(n for _ in range(POINTS) for n in (whole // POINTS, chance.randrange(1000), chance.randrange(1000, 2000), 1000000))


def goroutine(chance, number, n, data):
    """A lane, and the row of the same goroutine in the table"""
    text, end = spans(chance, n, len(data["states"]))
    group = 1 + number % FUNCTIONS
    parts = [end] + [0] * (len(data["goroutines"]["parts"]) - 1)
    lane = {"id": f"g:{number}", "kind": "goroutine", "name": group, "group": group, "from": 0, "to": end, "spans": text}
    return lane, {"id": number, "name": data["strings"][group], "from": 0, "to": end, "total": end, "parts": parts}


def large(data, n):
    chance = random.Random(1)
    data["strings"] = [""] + [f"main.function{i}" for i in range(FUNCTIONS)]
    made = [goroutine(chance, i + 1, n // LANES, data) for i in range(LANES)]
    whole = max(lane["to"] for lane, _ in made)
    arrows = [(whole // ARROWS, chance.randrange(LANES), chance.randrange(LANES), 0) for _ in range(ARROWS)]
    data.update(lanes=[lane for lane, _ in made], findings=[], profiles=[], arrows=encode(n for arrow in arrows for n in arrow))
    data["trace"].update(ns=whole)
    data["requests"]["names"] = []
    data["goroutines"].update(functions=[], list=[row for _, row in made])
    for curve in data["curves"].values():
        curve["points"] = points(chance, whole)


def main():
    with open(sys.argv[2], encoding="utf-8") as page:
        before, rest = page.read().split(MARK, 1)
    text, after = rest.split("</script>", 1)
    data = json.loads(text)
    if sys.argv[1] == "hostile":
        hostile(data)
    else:
        large(data, int(sys.argv[3]))
    sys.stdout.write(before + MARK + json.dumps(data).replace("<", "\\u003c") + "</script>" + after)


main()
