# SPDX-License-Identifier: GPL-2.0
"""python -m gotrace_fleet: see cli.py."""

import sys

from gotrace_fleet.cli import main

sys.exit(main())
