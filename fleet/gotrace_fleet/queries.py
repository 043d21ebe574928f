# SPDX-License-Identifier: GPL-2.0
"""The named queries: the files of userspace/sql/queries, which `gotrace sql` also runs.

The first line of each is a comment that describes it."""

import importlib.resources

from gotrace_fleet.errors import UsageError

SUFFIX = ".sql"


def load():
    """Returns {name: text}, in the order of the names."""
    folder = importlib.resources.files("gotrace_fleet").joinpath("queries")
    files = (file for file in folder.iterdir() if file.name.endswith(SUFFIX))
    named = {file.name[: -len(SUFFIX)]: file.read_text(encoding="utf-8") for file in files}
    return dict(sorted(named.items()))


def find(name):
    """Returns the text of a named query."""
    named = load()
    if name not in named:
        raise UsageError(f"unknown query '{name}': --list lists the named queries")
    return named[name]


def listing():
    """Returns one line per query: its name and description, as `gotrace sql --list` prints them."""
    return [f"{name:<18} {text.splitlines()[0].lstrip('- ')}" for name, text in load().items()]
