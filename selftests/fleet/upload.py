#!/usr/bin/env python3
"""Copies a directory into a bucket by Hadoop's connector, as `hadoop fs -put` does.

    upload.py DIR URI [spark.NAME=VALUE...]"""

import sys

from gotrace_fleet import session


def main():
    directory, uri, *settings = sys.argv[1:]
    spark = session.start("local[2]", [tuple(text.split("=", 1)) for text in settings])
    path = spark._jvm.org.apache.hadoop.fs.Path
    destination = path(uri)
    files = destination.getFileSystem(spark._jsc.hadoopConfiguration())
    files.copyFromLocalFile(path("file://" + directory), destination)
    spark.stop()


main()
