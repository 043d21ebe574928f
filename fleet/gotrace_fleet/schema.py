# SPDX-License-Identifier: GPL-2.0
"""The tables and their columns, as docs/tables.md describes them.

The package contains a copy of that page, which selftests/check/sql.sh compares with the output of
`gotrace sql --schema`: there is no second list of columns to keep up to date."""

import importlib.resources
import re

# Columns that are directories of the Parquet files, not columns inside them
PARTITIONS = ("date", "hour", "host", "service", "file")

# Types of the page, in Spark's words
TYPES = {"VARCHAR": "STRING", "BIGINT": "BIGINT", "DATE": "DATE"}


def parse(page):
    """Returns {table: [(column, type)]} of a page like docs/tables.md."""
    tables = {}
    columns = None
    for line in page.splitlines():
        heading = re.fullmatch(r"## ([a-z_]+)", line)
        row = re.match(r"\| `([a-z_]+)` \| ([A-Z]+) \|", line)
        if heading:
            columns = tables.setdefault(heading[1], [])
        elif line.startswith("#"):
            columns = None
        elif row and columns is not None:
            columns.append((row[1], TYPES[row[2]]))
    return {table: columns for table, columns in tables.items() if columns}


def load():
    """Returns the tables of this version of the package."""
    page = importlib.resources.files("gotrace_fleet").joinpath("tables.md")
    return parse(page.read_text(encoding="utf-8"))


def ddl(columns):
    """Returns the columns in the form of Spark's StructType.fromDDL()."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns)
