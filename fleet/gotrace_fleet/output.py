# SPDX-License-Identifier: GPL-2.0
"""Prints rows in the forms of `gotrace sql`: CSV, JSON or a table.

CSV is byte for byte the same: null is empty and an empty text is "", a text is quoted only if that
is necessary, and a DOUBLE has 15 digits."""

import datetime
import decimal
import itertools
import json
import math

WIDEST = 60  # characters that a column of a table is made wide at most
MEASURED = 2048  # rows of which the widths of a table are computed
NAMED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def plain(value):
    """Returns a value as text, without quotes."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return str(value)


def escaped(text):
    """Returns the text without characters that could control a terminal."""

    def character(c):
        code = ord(c)
        if code in NAMED:
            return "\\" + NAMED[code]
        if c.isprintable():
            return c
        if code < 0x80:
            return f"\\x{code:02x}"
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return "".join(map(character, text))


def csv_field(text, show):
    """Quotes the text if that is necessary."""
    if any(c in text for c in ',"\n\r'):
        return '"' + '""'.join(map(show, text.split('"'))) + '"'
    return show(text)


def csv_cell(value, show):
    """An empty text differs from null."""
    return '""' if value == "" else csv_field(plain(value), show)


def write_csv(out, names, rows):
    """On a terminal, no name may control it."""
    show = escaped if out.isatty() else str
    out.write(",".join(csv_field(name, show) for name in names) + "\n")
    for row in rows:
        out.write(",".join(csv_cell(value, show) for value in row) + "\n")


def json_value(value):
    """Returns what JSON has for a value: it has neither infinity nor dates."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return float(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    return plain(value)


def json_text(value):
    """Returns a text, a number or null in JSON."""
    return json.dumps(value, ensure_ascii=False)


def write_json(out, names, rows):
    """One object, whose member "rows" is an array of one object per row, with names as often as they occur."""
    out.write('{\n  "rows": [')
    separator = "\n"
    for row in rows:
        members = (f"{json_text(name)}: {json_text(json_value(value))}" for name, value in zip(names, row, strict=True))
        out.write(f"{separator}    {{\n      " + ",\n      ".join(members) + "\n    }")
        separator = ",\n"
    out.write("\n  ]\n}\n" if separator == ",\n" else "]\n}\n")


def is_number(value):
    """True for what is aligned to the right."""
    return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)


def write_table(out, names, rows):
    """Columns as wide as the first rows need; null is a hyphen."""
    rows = iter(rows)
    first = list(itertools.islice(rows, MEASURED))
    columns = range(len(names))
    right = [any(is_number(row[i]) for row in first) for i in columns]

    def cell(value):
        return "-" if value is None else escaped(plain(value))

    def line(cells):
        padded = [cells[i].rjust(width[i]) if right[i] else cells[i].ljust(width[i]) for i in columns]
        if padded and not right[-1]:
            padded[-1] = cells[-1]
        out.write("  ".join(padded) + "\n")

    width = [max([len(names[i]), *(min(len(cell(row[i])), WIDEST) for row in first)]) for i in columns]
    line([escaped(name) for name in names])
    for row in first:
        line([cell(value) for value in row])
    for row in rows:
        line([cell(value) for value in row])


FORMATS = {"csv": write_csv, "json": write_json, "table": write_table}
