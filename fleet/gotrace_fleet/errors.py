# SPDX-License-Identifier: GPL-2.0
"""Errors that the command reports in one line."""


class FleetError(Exception):
    """The command failed, for the reason in its text: exit status 1."""


class UsageError(Exception):
    """The command line is wrong: exit status 2."""
