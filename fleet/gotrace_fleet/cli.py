# SPDX-License-Identifier: GPL-2.0
"""The command: arguments, exit status, and one line for each error."""

import argparse
import os
import sys

from gotrace_fleet import __version__, output, queries, session, views
from gotrace_fleet.errors import FleetError, UsageError

NAME = "gotrace_fleet"
DESCRIPTION = """Runs a query in SQL by Spark over the Parquet files of 'gotrace export parquet'. DIR is
the directory that contains the tables, or s3a://BUCKET/PREFIX. The queries of --list are those of
'gotrace sql', and their answers are the same."""


class Parser(argparse.ArgumentParser):
    """Reports an error in one line."""

    def error(self, message):
        raise UsageError(message)


def setting(text):
    """Returns (key, value) of an argument KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not key.startswith("spark.") or not equals:
        raise argparse.ArgumentTypeError(f"invalid setting '{text}': expected spark.NAME=VALUE")
    return key, value


def parser():
    """Returns the parser of the command line."""
    p = Parser(prog=NAME, usage="%(prog)s [OPTION...] (QUERY | --run NAME) DIR | --list", description=DESCRIPTION)
    p.add_argument("argument", nargs="*", metavar="QUERY DIR", help="the query, and where the tables are")
    p.add_argument("--run", metavar="NAME", help="run the named query, instead of QUERY")
    p.add_argument("--list", action="store_true", help="list the named queries; with --run NAME, print that query")
    p.add_argument("--master", metavar="URL", help="Spark's master, such as local[4] or spark://HOST:7077")
    p.add_argument("--conf", action="append", default=[], type=setting, metavar="KEY=VALUE",
                   help="a setting of Spark, such as spark.executor.memory=4g")
    p.add_argument("--format", choices=sorted(output.FORMATS), help="table is the default on a terminal, else csv")
    p.add_argument("--explain", action="store_true", help="print Spark's plan instead of running the query")
    p.add_argument("--verbose", action="store_true", help="show Spark's own messages")
    p.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    return p


def parse(argv):
    """Returns the options, with .query and .directory."""
    a = parser().parse_intermixed_args(argv)
    if a.list:
        if a.argument:
            raise UsageError("--list takes no arguments")
        return a
    words = list(a.argument)
    if a.run is not None:
        a.query = queries.find(a.run)
    elif words:
        a.query = words.pop(0)
    else:
        raise UsageError("missing argument QUERY, such as 'SELECT * FROM runs'")
    if len(words) != 1:
        raise UsageError("missing argument DIR" if not words else f"unexpected argument '{words[1]}'")
    a.directory = words[0]
    return a


def answer(a, spark, out):
    """Prints the rows, or the plan."""
    views.register(spark, a.directory)
    result = session.query(spark, a.query)
    if a.explain:
        result.explain(mode="formatted")
        return
    form = a.format or ("table" if out.isatty() else "csv")
    output.FORMATS[form](out, result.columns, result.toLocalIterator())


def run(a, out):
    """Runs a query in a session of its own."""
    spark = session.start(a.master, a.conf, a.verbose)
    try:
        answer(a, spark, out)
    except (FleetError, UsageError, BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # of Spark, Py4J and Hadoop, which have no common base
        raise FleetError(session.reason(error)) from error
    finally:
        spark.stop()


def do(argv, out):
    """Does what the arguments request."""
    a = parse(argv)
    if a.list and a.run is not None:
        out.write(queries.find(a.run))
    elif a.list:
        out.write("".join(line + "\n" for line in queries.listing()))
    else:
        run(a, out)
    out.flush()


def main(argv=None):
    """Returns the exit status: 1 after a failure, 2 for a wrong command line."""
    out = sys.stdout
    out.reconfigure(encoding="utf-8", newline="\n")
    try:
        do(sys.argv[1:] if argv is None else argv, out)
    except UsageError as error:
        print(f"{NAME}: {error}; see '{NAME} --help'", file=sys.stderr)
        return 2
    except FleetError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # such as that of `head`: what Python flushes at its end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
