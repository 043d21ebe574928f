#!/bin/bash
# timeout: 1800
# check/diff.sh with 40 pairs of random loads.
PAIRS=40 exec "$(dirname "$0")/../check/diff.sh"
