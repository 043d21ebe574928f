#!/usr/bin/env python3
"""Answers queries over directories of Parquet files by Spark, all of them in one session.

    answers.py MASTER (DIR OUT)... [spark.NAME=VALUE...] <JOBS

Answers every named query over each DIR, to OUT/NAME.csv, and prints one line for each: OUT, the name
of the query, the seconds that passed, and the CPU time in seconds of this process and all that it
started, which are driver and executors; OUT/NAME.plan is the plan that was executed. Then come the
jobs of standard input: lines of three JSON strings and tabs, DIR, FILE and QUERY. The answer, or the
error behind "error: ", is written to FILE."""

import json
import os
import pathlib
import re
import sys
import time

from gotrace_fleet import output, queries, session, views
from gotrace_fleet.errors import FleetError


def cpu_seconds():
    """Returns the CPU time of this process and of its descendants that live."""
    ticks, parents = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            # Behind the name, which may contain spaces: state, parent, ..., user and system time
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if entry.name.isdigit():
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = int(fields[11]) + int(fields[12])

    def is_ours(pid):
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return sum(n for pid, n in ticks.items() if is_ours(pid)) / os.sysconf("SC_CLK_TCK")


def write(result, path):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        output.write_csv(out, result.columns, result.toLocalIterator())


def named(spark, directory, out):
    out.mkdir(exist_ok=True)
    views.register(spark, directory)
    for name, text in queries.load().items():
        cpu, began = cpu_seconds(), time.monotonic()
        result = session.query(spark, text)
        write(result, out / f"{name}.csv")
        print(f"{out} {name} {time.monotonic() - began:.2f} {cpu_seconds() - cpu:.2f}", flush=True)
        plan = result._jdf.queryExecution().executedPlan().toString()
        (out / f"{name}.plan").write_text(plan, encoding="utf-8")


def job(spark, line):
    directory, out, text = map(json.loads, line.rstrip("\n").split("\t"))
    try:
        views.register(spark, directory)
        write(session.query(spark, text), out)
    except FleetError as error:
        pathlib.Path(out).write_text(f"error: {error}\n", encoding="utf-8")
    except Exception as error:
        pathlib.Path(out).write_text(f"error: {session.reason(error)}\n", encoding="utf-8")


def main():
    settings = [tuple(text.split("=", 1)) for text in sys.argv[2:] if re.match(r"spark\.[A-Za-z0-9.]+=", text)]
    paths = sys.argv[2 : len(sys.argv) - len(settings)]
    spark = session.start(sys.argv[1], settings)
    for directory, out in zip(paths[::2], paths[1::2]):
        named(spark, directory, pathlib.Path(out))
    for line in sys.stdin:
        job(spark, line)
    spark.stop()


main()
