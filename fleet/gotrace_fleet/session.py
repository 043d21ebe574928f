# SPDX-License-Identifier: GPL-2.0
"""Starts Spark with the settings that make its answers equal those of `gotrace sql`, and runs queries.

Spark's programs print many lines about themselves. They go to a temporary file, of which only the
last line of a failure to start is shown, unless the caller wants to see them."""

import contextlib
import os
import tempfile
import time

from gotrace_fleet import queries
from gotrace_fleet.errors import FleetError

# Times are printed in UTC, and a sum that is too large is an error rather than a wrong number.
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def last_line(log):
    """Returns the last line of a file, or ''."""
    log.seek(0)
    lines = log.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


@contextlib.contextmanager
def quiet():
    """Sends standard error of this process, and of those that it starts, to a temporary file."""
    saved = os.dup(2)
    try:
        with tempfile.TemporaryFile() as log:
            os.dup2(log.fileno(), 2)
            try:
                yield
            except Exception as error:
                raise FleetError(f"cannot start Spark: {last_line(log) or error}") from error
            finally:
                os.dup2(saved, 2)
    finally:
        os.close(saved)


def start(master=None, settings=(), verbose=False):
    """Returns a session. Without a master, it is that of spark-submit or of Spark's configuration."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise FleetError(f"pyspark is missing: pip install pyspark ({error})") from error

    os.environ["TZ"] = "UTC"
    time.tzset()
    builder = SparkSession.builder.appName("gotrace_fleet")
    if master:
        builder = builder.master(master)
    for key, value in [*SETTINGS.items(), *settings]:
        builder = builder.config(key, value)
    with contextlib.nullcontext() if verbose else quiet():
        return builder.getOrCreate()


def reason(error):
    """Returns the first line of an error of Spark, whose messages go on with stacks and plans."""
    java = getattr(error, "java_exception", None)  # Py4J's own message only has the name of an object
    text = getattr(error, "desc", None) or (java and java.getMessage()) or str(error)
    return next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)


# Functions that call any method of the Java virtual machine, and those that open the files of their options
REFUSED = {"reflect", "try_reflect", "java_method", "from_xml", "schema_of_xml"} | {
    f"{way}_{kind}" for way in ("from", "to", "schema_of") for kind in ("avro", "protobuf")
}


def parts(gateway, node):
    """Yields the objects that a node of a parsed query consists of, in any depth: plans, expressions, lists."""
    from py4j.java_gateway import JavaObject, is_instance_of

    rest = [node]
    while rest:
        node = rest.pop()
        if not isinstance(node, JavaObject):  # a name or a number
            continue
        yield node
        if is_instance_of(gateway, node, "scala.collection.Iterable"):
            rest.extend(each(node.iterator()))
        elif is_instance_of(gateway, node, "scala.Product"):
            rest.extend(each(node.productIterator()))


def each(iterator):
    """Yields the elements of an iterator of Scala."""
    while iterator.hasNext():
        yield iterator.next()


def refuse_escapes(gateway, plan):
    """Raises an error if a parsed query can reach more than the tables: others may have written it."""
    for node in parts(gateway, plan):
        kind = node.getClass().getSimpleName()
        if "WithUnresolvedIdentifier" in kind:
            raise FleetError("IDENTIFIER() is refused: it hides a name")
        if "ScriptTransform" in kind:
            raise FleetError("TRANSFORM is refused: it executes programs")
        if kind == "UnresolvedFunction":
            name = list(each(node.nameParts().iterator()))[-1].lower()
            if name in REFUSED:
                raise FleetError(f"the function {name} is refused: it can execute code or open files")
        if kind == "UnresolvedRelation":
            names = list(each(node.multipartIdentifier().iterator()))
            if len(names) > 1:
                raise FleetError(f"the table {'.'.join(names)} is refused: only those of the directory can be read")


def trimmed(text):
    """Returns a statement without what may follow it."""
    return text.rstrip().rstrip(";")


def checked(spark, text):
    """Returns the text of a query. Other statements are refused: Spark would execute them at once.

    A query is what can be in parentheses behind FROM."""
    from pyspark.errors import PySparkException

    text = trimmed(text)
    parse = spark._jsparkSession.sessionState().sqlParser().parsePlan
    try:
        plan = parse(text)
    except PySparkException as error:
        raise FleetError(reason(error)) from error
    try:
        parse(f"SELECT * FROM (\n{text}\n)")
    except PySparkException as error:
        raise FleetError("only queries are accepted, such as SELECT") from error
    if text not in map(trimmed, queries.load().values()):
        refuse_escapes(spark.sparkContext._gateway, plan)
    return text


def query(spark, text):
    """Returns the result of a query as a DataFrame, whose rows are computed as they are read."""
    return spark.sql(checked(spark, text))
