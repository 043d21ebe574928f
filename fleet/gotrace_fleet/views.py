# SPDX-License-Identifier: GPL-2.0
"""Makes the directories of `gotrace export parquet` views of a Spark session, one per table.

The types of all columns are given, also of those that are directories: Spark would otherwise take
the host "007" for a number. A table without rows has no directory, and becomes an empty view."""

import os
import re

from gotrace_fleet import schema
from gotrace_fleet.errors import FleetError

# An option of Spark's readers: a path is a name, not a pattern.
NO_PATTERNS = ("__globPaths__", "false")

# A byte that is not ASCII, in the name of a directory
WIDE_BYTE = re.compile("%25[89A-Fa-f]")


def location(directory):
    """Returns what Spark shall read: a URI as it is, a directory of this machine as an absolute path.

    Without the scheme, Spark would look for it in the cluster's default file system."""
    if re.match("[a-z][a-z0-9+.-]*://", directory):
        return directory.rstrip("/")
    return "file://" + os.path.abspath(directory)


def exists(spark, path):
    """True if a file system that Spark knows has the directory, or objects below the prefix."""
    where = spark._jvm.org.apache.hadoop.fs.Path(path)
    return where.getFileSystem(spark._jsc.hadoopConfiguration()).exists(where)


def text(column):
    """Spark decodes each %XX in the name of a directory to one character, instead of to one byte."""
    return f"decode(encode(`{column}`, 'ISO-8859-1'), 'UTF-8') AS `{column}`"


def selected(columns, wide):
    """Returns the columns, in their order, as expressions; wide: some directories are not ASCII."""
    return [
        text(name) if wide and name in schema.PARTITIONS and kind == "STRING" else f"`{name}`"
        for name, kind in columns
    ]


def read(spark, path, columns):
    """Returns a table as a DataFrame."""
    files = spark.read.schema(schema.ddl(columns)).option(*NO_PATTERNS).parquet(path)
    wide = any(WIDE_BYTE.search(name) for name in files.inputFiles())
    return files.selectExpr(*selected(columns, wide))


def empty(spark, columns):
    """Returns a table without rows."""
    nulls = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in columns)
    return spark.sql(f"SELECT {nulls} WHERE false")


def register(spark, directory):
    """Makes each table a view, and returns the names of those that have files."""
    base = location(directory)
    tables = schema.load()
    present = [name for name in tables if exists(spark, f"{base}/{name}")]
    if not present:
        raise FleetError(f"{directory}: the directory contains none of the tables of 'gotrace export parquet'")
    for name, columns in tables.items():
        if name in present:
            frame = read(spark, f"{base}/{name}", columns)
        else:
            frame = empty(spark, columns)
        frame.createOrReplaceTempView(name)
    return present
