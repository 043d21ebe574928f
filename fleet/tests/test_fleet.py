# SPDX-License-Identifier: GPL-2.0
"""Tests of what needs no Spark: python -m unittest discover -s fleet/tests, with fleet/ in PYTHONPATH."""

import contextlib
import datetime
import decimal
import io
import math
import unittest

from gotrace_fleet import cli, output, queries, schema, views
from gotrace_fleet.errors import UsageError

PAGE = """# Tables

| `not` | VARCHAR | a table |

## one

One row: a thing.

| column | type | content |
|---|---|---|
| `a` | BIGINT | number \\| bar |
| `date` | DATE | when |

## Without columns

## empty

## two
| `b_c` | VARCHAR |  |
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def written(form, names, rows, out=None):
    out = out or io.StringIO()
    output.FORMATS[form](out, names, iter(rows))
    return out.getvalue()


class Schema(unittest.TestCase):
    def test_page(self):
        self.assertEqual(
            schema.parse(PAGE), {"one": [("a", "BIGINT"), ("date", "DATE")], "two": [("b_c", "STRING")]}
        )

    def test_of_the_project(self):
        tables = schema.load()
        self.assertIn("runs", tables)
        for columns in tables.values():
            self.assertEqual({name for name, _ in columns[-5:]}, set(schema.PARTITIONS))

    def test_ddl(self):
        self.assertEqual(schema.ddl([("a", "BIGINT"), ("date", "DATE")]), "`a` BIGINT, `date` DATE")


class Queries(unittest.TestCase):
    def test_each_is_described(self):
        self.assertEqual(len(queries.listing()), len(queries.load()))
        for line in queries.listing():
            self.assertRegex(line, r"^[a-z-]+ +[A-Z]")

    def test_unknown(self):
        for name in ("none", "", "../queries/runs", "runs.sql"):
            with self.assertRaises(UsageError):
                queries.find(name)


class Views(unittest.TestCase):
    def test_location(self):
        self.assertEqual(views.location("s3a://bucket/a b/"), "s3a://bucket/a b")
        self.assertEqual(views.location("/a:b/../c"), "file:///c")
        self.assertTrue(views.location("x").startswith("file:///"))

    def test_only_wide_names_are_decoded(self):
        columns = [("g", "BIGINT"), ("name", "STRING"), ("date", "DATE"), ("host", "STRING")]
        self.assertEqual(views.selected(columns, False), ["`g`", "`name`", "`date`", "`host`"])
        self.assertEqual(views.selected(columns, True)[:3], ["`g`", "`name`", "`date`"])
        self.assertIn("decode(", views.selected(columns, True)[3])


class Output(unittest.TestCase):
    def test_csv(self):
        rows = [(None, "", "a,b", 'q"', "l\n"), (True, -(2**63), 1 / 3, 1e300, "\r")]
        self.assertEqual(
            written("csv", list("abcd") + ["e,"], rows),
            'a,b,c,d,"e,"\n,"","a,b","q""","l\n"\ntrue,-9223372036854775808,0.333333333333333,1e+300,"\r"\n',
        )

    def test_csv_of_other_types(self):
        row = (decimal.Decimal("1.50"), datetime.date(2026, 11, 27), datetime.datetime(2026, 1, 2, 3, 4, 5, 6))
        self.assertEqual(written("csv", list("abc"), [row]), "a,b,c\n1.50,2026-11-27,2026-01-02 03:04:05.000006\n")

    def test_csv_on_a_terminal(self):
        self.assertEqual(written("csv", ["x"], [('\x1b[31m",',)], Terminal()), 'x\n"\\x1b[31m"","\n')

    def test_json(self):
        self.assertEqual(written("json", ["a"], []), '{\n  "rows": []\n}\n')
        self.assertEqual(
            written("json", ["a", "b"], [(1, None), (math.inf, "é")]),
            '{\n  "rows": [\n    {\n      "a": 1,\n      "b": null\n    },\n'
            '    {\n      "a": null,\n      "b": "é"\n    }\n  ]\n}\n',
        )

    def test_json_with_equal_names(self):
        text = written("json", ["a", "a"], [(1, "x")])
        self.assertEqual(text, '{\n  "rows": [\n    {\n      "a": 1,\n      "a": "x"\n    }\n  ]\n}\n')

    def test_table(self):
        self.assertEqual(
            written("table", ["name", "n"], [("a\n", 5), (None, 12)]), "name   n\na\\n    5\n-     12\n"
        )

    def test_table_of_many_rows(self):
        lines = written("table", ["n"], ((i,) for i in range(output.MEASURED + 10))).splitlines()
        self.assertEqual([int(line) for line in lines[1:]], list(range(output.MEASURED + 10)))


class Command(unittest.TestCase):
    def refused(self, *argv):
        with self.assertRaises(UsageError):
            cli.parse(argv)

    def test_arguments(self):
        a = cli.parse(["--run", "runs", "dir", "--conf", "spark.a=b=c"])
        self.assertEqual((a.directory, a.conf), ("dir", [("spark.a", "b=c")]))
        a = cli.parse(["SELECT 1", "--format", "csv", "dir"])
        self.assertEqual((a.query, a.directory), ("SELECT 1", "dir"))

    def test_wrong_arguments(self):
        self.refused()
        self.refused("SELECT 1")
        self.refused("SELECT 1", "a", "b")
        self.refused("--run", "none", "a")
        self.refused("--run", "runs")
        self.refused("--list", "a")
        self.refused("--format", "xml", "SELECT 1", "a")
        self.refused("--conf", "a=b", "SELECT 1", "a")
        self.refused("--nothing")

    def test_exit_status(self):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            out = io.TextIOWrapper(io.BytesIO())
            with contextlib.redirect_stdout(out):
                self.assertEqual(cli.main(["--nothing"]), 2)
                self.assertEqual(cli.main(["--list"]), 0)
        self.assertEqual(len(errors.getvalue().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
