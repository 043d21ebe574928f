#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Reads docs/columns.tsv, the table of all columns, JSON keys, metrics and states that the programs print.

    columns.py page                prints the table as Markdown
    columns.py keys COMMAND        lists the keys of JSON on standard input that the table lacks
    columns.py heads COMMAND       lists the heads of text tables on standard input that the table lacks
    columns.py metrics             compares the table with the metrics on standard input
    columns.py states              compares the table with the states of a report on standard input
    columns.py sources FILE...     compares the table with what its sources print, and looks for other
                                   files that write JSON
    columns.py tests               checks that the tests of the table exist and name the row
    columns.py none                counts the rows without a second computation, and lists them

The exit status is 1 if something is missing. Lines of the table have these fields, separated by tabs:

    COMMAND HEAD PATH UNIT TEXT TEST       a column, see the head of docs/columns.tsv
    source COMMAND FILE...                 the files that print the columns of the command
    foreign FILE...                        files that write a format which others define
"""
import collections
import json
import re
import sys

TABLE = "docs/columns.tsv"
NONE = "none yet"
UNITS = set("""base64 bytes bytes/s colour column flag id index list members ms name ns number number/s object
percent ppm ratio s text us version""".split())
# The head of a column; a line of at least two of these is the first one of a table.
HEAD = re.compile(r"[A-Z%][A-Z0-9/%+,. -]*$")
# Texts in capitals that are not heads of columns
NOT_HEADS = {"FILE", "[FILE]", "FILE...", "MISSING", "GOMAXPROCS", "UTC", "GC", "KMGT"}

# Commands whose rows are compared with what they print, in both directions
PRINTED = ("metrics", "page")

Row = collections.namedtuple("Row", "command head path unit text test line")


class Table:
    """The rows of all commands, with objects that several commands print in common."""

    def __init__(self):
        self.rows, self.sources, self.foreign, self.faults = [], collections.defaultdict(list), set(), []
        for number, line in enumerate(open(TABLE, encoding="utf-8"), 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            fields = line.split("\t")
            if fields[0] == "source":
                self.sources[fields[1]] += fields[2].split()
            elif fields[0] == "foreign":
                self.foreign |= set(fields[1].split())
            elif len(fields) == 6:
                self.rows.append(Row(*fields, number))
            else:
                self.faults.append(f"{TABLE}:{number}: {len(fields)} fields, expected 6")
        seen = set()
        for row in self.rows:
            units = re.sub(r"^list of ", "", row.unit).split(" or ")
            if not set(units) <= UNITS:
                self.faults.append(f"{TABLE}:{row.line}: unknown unit '{row.unit}'")
            if row.head == row.path == "-" or not row.text:
                self.faults.append(f"{TABLE}:{row.line}: the row has neither a head nor a key, or no text")
            if row[:3] + (row.unit == "members" and row.text,) in seen:
                self.faults.append(f"{TABLE}:{row.line}: the row occurs twice")
            seen.add(row[:3] + (row.unit == "members" and row.text,))

    def of(self, command):
        return [row for row in self.rows if row.command == command]

    def expanded(self, command, prefix="", depth=0):
        """Yields the paths of all keys of a command, with those of the objects that it contains."""
        for row in self.of(command):
            path = prefix + ("" if row.path == "." else row.path)
            if row.unit == "members":
                if depth < 4:
                    yield from self.expanded(row.text[1:-1], path, depth + 1)
            elif row.path != "-":
                yield path

    def closure(self, command, depth=0):
        """Returns the rows of a command and of the objects that it contains."""
        found = self.of(command)
        for row in self.of(command):
            if row.unit == "members" and depth < 4:
                found = found + self.closure(row.text[1:-1], depth + 1)
        return found

    def heads(self, command):
        return {row.head for row in self.closure(command)} - {"-"}


def key_of(row):
    """Returns the last name of a path, without the brackets of lists."""
    return re.sub(r"(\[\])+$", "", row.path).split(".")[-1]


# --- what the programs print

def flatten(value, path, found):
    if isinstance(value, dict):
        for key, member in value.items():
            found.add(f"{path}.{key}")
            flatten(member, f"{path}.{key}", found)
    elif isinstance(value, list):
        for member in value:
            flatten(member, path + "[]" if path else ".[]", found)


def documents(text):
    decoder, at = json.JSONDecoder(), 0
    while match := re.compile(r"\s*(?=\S)").match(text, at):
        value, at = decoder.raw_decode(text, match.end())
        yield value


def missing_keys(table, command, text):
    known, wild = set(), []
    for path in table.expanded(command):
        path = re.sub(r"(\[\])+$", "", path)
        if "*" in path:
            wild.append(re.compile(re.escape(path).replace(r"\*", r"[^.]+") + "$"))
        else:
            known.add(path)
    found = set()
    for document in documents(text):
        flatten(document, "", found)
    paths = {re.sub(r"(\[\])+", "[]", path) for path in found}
    return len(paths), [f"{command}: the table has no key {path}" for path in sorted(paths)
                        if path not in known and not any(w.match(path) for w in wild)]


def missing_heads(table, command, text):
    heads, found = table.heads(command), []
    for line in text.splitlines():
        rest = line
        for head in sorted(heads, key=len, reverse=True):
            rest = re.sub(rf"(?<!\S){re.escape(head)}(?!\S)", "  ", rest)
        words = [word for word in re.split(r"\s{2,}", line.strip()) if HEAD.match(word)]
        is_head = len(words) > 1 and " ".join(words) == " ".join(line.split())
        if is_head or (len(words) > 1 and rest != line and not rest.strip()):
            found.append((line.strip(), re.split(r"\s{2,}", rest.strip()) if rest.strip() else []))
    return len(found), [f"{command}: the table has no column '{head}' of the line '{line}'"
                        for line, unknown in found for head in unknown]


def compare_metrics(table, text):
    """The metrics of a file; families_omitted is printed only if there are too many."""
    names, known = set(re.findall(r"^# TYPE gotrace_(\S+)", text, re.M)), table.heads("metrics")
    return len(names), [f"metrics: the table has no metric {name}" for name in sorted(names - known)] + [
        f"metrics: there is no metric {name}" for name in sorted(known - names - {"families_omitted"})]


def compare_states(table, text):
    """The states of the report, each of which has a colour."""
    states = {(state["name"], state["kind"]) for state in json.loads(text)["states"]}
    rows = {(row.head, row.path) for row in table.of("page")}
    return len(states), [f"page: the table has no state {name} of kind {kind}" for name, kind in sorted(states - rows)] + [
        f"page: there is no state {name} of kind {kind}" for name, kind in sorted(rows - states)]


# --- what the sources can print

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
NAME = re.compile(r"[a-z][a-z0-9_]*$")
# How the sources call a writer of JSON
WRITERS = {"j", "&j", "p->json", "f->json"}


def code_of(path):
    text = open(path, encoding="utf-8").read()
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", text, flags=re.S)


def arguments(code, at):
    """Returns the arguments of the call whose parenthesis is at `at`."""
    found, depth, begin, i = [], 0, at + 1, at
    while i < len(code):
        c = code[i]
        if c == '"':
            i = STRING.match(code, i).end() - 1 if STRING.match(code, i) else i
        elif c == "'":
            i += 3 if code[i + 1] == "\\" else 2
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if c == "," and depth == 1 or depth == 0:
            found.append(code[begin:i].strip())
            begin = i + 1
        if depth == 0:
            return found
        i += 1
    return []


def keys_of_source(path):
    """Returns the keys that the calls of a file pass as literals to a writer of JSON."""
    code, keys = code_of(path), set()
    for call in re.finditer(r"\b(\w+)\s*\(", code):
        args = arguments(code, call.end() - 1)
        if call[1] in ("number", "milliseconds", "by_kind") and args and args[0] == "out":
            args = args[1:2]
        elif not any(arg in WRITERS for arg in args):
            continue
        elif call[1].startswith("json__"):
            args = args[1:2]
        for arg in args:
            if re.fullmatch(r'"[^"]*"|[^"]*\?\s*"[^"]*"\s*:\s*"[^"]*"', arg):
                keys |= {key for key in STRING.findall(arg) if NAME.match(key)}
    return keys | set(re.findall(r'\\"([a-z][a-z0-9_]*)\\":', code))


def pieces_of(code):
    """Returns the texts of literals, without the directives of printf."""
    for literal in STRING.findall(code):
        literal = re.sub(r"%[-+ 0#*.\d]*[a-zA-Z]|%[-+ 0#*.\d]+$", "  ", literal)
        yield from (piece.strip() for piece in re.split(r"\\n|  +", literal.replace("%%", "%")))


def heads_of_source(path):
    """Returns the heads of tables that occur as literals in a file."""
    options = re.compile(r'^\s*\{ "[^\n]*|OPT_[A-Z]+, "[^"]*"', re.M)
    return {piece for piece in pieces_of(options.sub("", code_of(path)))
            if HEAD.match(piece) and len(piece) > 1 and piece not in NOT_HEADS}


def compare_sources(table, writers):
    faults, commands = list(table.faults), collections.defaultdict(list)
    for command, paths in table.sources.items():
        for path in paths:
            commands[path].append(command)
    for path in writers:
        if keys_of_source(path) and path not in commands and path not in table.foreign:
            faults.append(f"{path} writes JSON, but {TABLE} does not list it as a source")
    for path, of in sorted(commands.items()):
        rows, text = [row for command in of for row in table.closure(command)], "/".join(of)
        keys = {name for row in rows for name in row.path.replace("[]", "").split(".")}
        heads = {row.head for row in rows} - {"-"}
        faults += [f"{path}: the table has no key '{key}' of {text}" for key in sorted(keys_of_source(path) - keys)]
        faults += [f"{path}: the table has no column '{head}' of {text}"
                   for head in sorted(heads_of_source(path) - heads) if heads]
    for row in table.rows:
        if row.unit == "members" and not table.of(row.text[1:-1]):
            faults.append(f"{TABLE}:{row.line}: there is no object {row.text}")
        if row.unit != "members" and row.command not in PRINTED:
            faults += row_without_source(table, row)
    return faults


def row_without_source(table, row):
    code = "\n".join(map(code_of, table.sources.get(row.command, [])))
    key = key_of(row)
    if key not in ("", "-", "*") and f'"{key}"' not in code and f'\\"{key}\\"' not in code:
        yield f"{TABLE}:{row.line}: no source of {row.command} has the key '{key}'"
    if row.head != "-" and row.head not in set(pieces_of(code)):
        yield f"{TABLE}:{row.line}: no source of {row.command} has the column '{row.head}'"


# --- tests

def names(text, word):
    word = re.escape(word)
    return re.search(rf"(?<![A-Za-z0-9_])(gotrace_)?{word}(_total|_count|_sum|_bucket)?(?![A-Za-z0-9_])", text, re.I)


def compare_tests(table):
    faults, texts = list(table.faults), {}
    for row in table.rows:
        is_figure = row.unit not in ("list", "object", "members")
        if row.test in (NONE, "-"):
            if (row.test == NONE) != is_figure:
                faults.append(f"{TABLE}:{row.line}: a figure has a test or '{NONE}'; an object or list '-'")
            continue
        if row.test not in texts:
            try:
                texts[row.test] = open(row.test, encoding="utf-8").read()
            except OSError:
                faults.append(f"{TABLE}:{row.line}: the test {row.test} does not exist")
                texts[row.test] = None
        text, key = texts[row.test], key_of(row)
        words = [row.head] if row.path == "-" else [key, re.sub(r"_(ns|time)$", "", key), row.head]
        if key == "*":
            words.append(re.sub(r"\[\]", "", row.path).split(".")[-2])
        if text is not None and is_figure and not any(names(text, word) for word in words if word not in ("-", "*", "")):
            faults.append(f"{TABLE}:{row.line}: {row.test} does not name '{words[0]}'")
    return faults


def without_test(table):
    return [row for row in table.rows if row.test == NONE]


# --- the page

def cell(text):
    return text.replace("|", "\\|")


def page(table):
    lines = []
    for line in open(TABLE, encoding="utf-8"):
        if not line.startswith("#"):
            break
        if line.startswith("## "):
            lines.append(line[3:].rstrip("\n"))
        elif line.rstrip("\n") == "##":
            lines.append("")
    none = without_test(table)
    lines += ["", f"The table has {len(table.rows)} rows; {len(none)} have no second computation yet."]
    commands = list(dict.fromkeys(row.command for row in table.rows))
    shared = {row.text[1:-1] for row in table.rows if row.unit == "members"}
    printed = [c for c in commands if c not in shared or c in ("path", "report", "events")]
    for title, group in (("Commands", printed), ("Shared objects", [c for c in commands if c not in printed])):
        lines += ["", f"## {title}"]
        for command in sorted(group):
            lines += ["", f"### {command}", "", "| column | key | unit | content | test |", "|---|---|---|---|---|"]
            for row in table.of(command):
                head, path = (f"`{text}`" if text != "-" else "" for text in (row.head, row.path))
                test = "" if row.test == "-" else row.test if row.test == NONE else f"`{row.test}`"
                if row.unit == "members":
                    name = row.text[1:-1]
                    lines.append(f"| {head} | {path} | | the members of [{name}](#{name}) | {test} |")
                else:
                    lines.append(f"| {cell(head)} | {path} | {row.unit} | {cell(row.text)} | {test} |")
    return "\n".join(lines)


def main():
    table, verb, rest = Table(), sys.argv[1], sys.argv[2:]
    count, faults = None, []
    if verb == "page":
        print(page(table))
    elif verb == "keys":
        count, faults = missing_keys(table, rest[0], sys.stdin.read())
    elif verb == "heads":
        count, faults = missing_heads(table, rest[0], sys.stdin.read())
    elif verb == "metrics":
        count, faults = compare_metrics(table, sys.stdin.read())
    elif verb == "states":
        count, faults = compare_states(table, sys.stdin.read())
    elif verb == "sources":
        faults = compare_sources(table, rest)
    elif verb == "tests":
        faults = compare_tests(table)
    elif verb == "none":
        for row in without_test(table):
            print(row.command, row.head, row.path)
        print(f"{len(without_test(table))} of {len(table.rows)} rows have no second computation yet")
    else:
        sys.exit(__doc__)
    for fault in faults:
        print(fault)
    if count is not None and not faults:
        print(count)
    sys.exit(bool(faults) or count == 0)


if __name__ == "__main__":
    main()
