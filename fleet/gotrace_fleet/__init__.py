# SPDX-License-Identifier: GPL-2.0
"""Queries of gotrace, run by Spark over Parquet files of `gotrace export parquet`.

schema.py has the tables, views.py registers them, queries.py has the named queries, output.py
prints rows as `gotrace sql` does, session.py starts Spark, and cli.py is the command."""

__version__ = "0.1"
