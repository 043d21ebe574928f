#!/usr/bin/python3
"""Compares the flame graphs in the data of `gotrace report --json` with folded stacks.

    flames.py DATA KIND FOLDED    FOLDED: the output of `gotrace profile KIND --folded` for the trace

Stacks that the report has put into "(other stacks)" must be small, and their sum must be right.
"""
import base64
import collections
import json
import sys

PARTS = 20000  # smaller parts of the whole may be merged


def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def stacks(data, profile):
    result, path = collections.Counter(), []
    all_numbers = list(numbers(profile["nodes"]))
    for depth, frame, own in zip(*[iter(all_numbers)] * 3):
        path[depth:] = [data["strings"][profile["frames"][frame]]]
        if own:
            result[tuple(path)] += own
    return result


def folded(path):
    result = collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, value = line.rstrip("\n").rsplit(" ", 1)
        if int(value):
            result[tuple(stack.split(";"))] += int(value)
    return result


data = json.load(open(sys.argv[1], encoding="utf-8"))
expected = folded(sys.argv[3])
profile = next((p for p in data["profiles"] if p["kind"] == sys.argv[2]), None)
if profile is None:
    sys.exit("the profile is missing" if expected else 0)
# Folded stacks have other characters in place of separators.
seen = collections.Counter()
for stack, value in stacks(data, profile).items():
    seen[tuple(f.replace(";", "_").replace(" ", "_") if f != "(other stacks)" else f for f in stack)] += value
expected = collections.Counter({tuple(f.replace(" ", "_") for f in stack): v for stack, v in expected.items()})
rest = seen.pop(("(other stacks)",), 0)
total = sum(expected.values())
if total != profile["total"]:
    sys.exit(f"the total is {profile['total']}, not {total}")
for stack, value in seen.items():
    if expected.pop(stack, None) != value:
        sys.exit(f"{';'.join(stack)}: {value}")
if sum(expected.values()) != rest:
    sys.exit(f"other stacks: {rest}, not {sum(expected.values())}")
small = [v for s, v in expected.items() if s != ("(unknown)",)]
if small and max(small) >= total / PARTS:
    sys.exit("a large stack was merged")
print(f"{sys.argv[2]}: {len(seen)} stacks")
