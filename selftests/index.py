#!/usr/bin/python3
"""Compares the output of `gotrace index --json` with the index itself, read as reader/index.h describes it.

    index.py INDEX JSON

The states fill the file from its first line to the directory, and have the checksums of the directory.
"""
import json
import struct
import sys
import zlib

MAGIC, END = b"gotrace index 1\n", 52


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        n = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n


def generations(data):
    offset, length, checksum = struct.unpack("<QQI", data[-END:-END + 20])
    assert data.startswith(MAGIC) and offset + length + END == len(data)
    directory = data[offset:offset + length]
    assert zlib.crc32(directory) == checksum
    numbers, at = Numbers(directory), len(MAGIC)
    numbers.next()
    for _ in range(numbers.next()):
        place, number, _, _, sync, first, last, events = (numbers.next() for _ in range(8))
        counts = {numbers.next(): numbers.next() for _ in range(numbers.next())}
        state, size, checksum = (numbers.next() for _ in range(3))
        if size:
            assert state == at and zlib.crc32(data[state:state + size]) == checksum
            at += size
        yield {"generation": number, "offset": place, "sync": sync, "first": first, "last": last, "events": events, "state_bytes": size,
               "counts": sorted(counts.values())}
    assert numbers.at == length and at == offset


with open(sys.argv[1], "rb") as index, open(sys.argv[2], encoding="utf-8") as printed:
    wanted = list(generations(index.read()))
    got = [g | {"counts": sorted(g["counts"].values())} for g in json.load(printed)["generations"]]
for ours, theirs in zip(got, wanted):
    if ours != theirs:
        print(f"printed: {ours}\nindex:   {theirs}")
print(f"{len(wanted)} generations, states of {sum(g['state_bytes'] for g in wanted)} bytes")
sys.exit(got != wanted or not wanted[0]["state_bytes"])
