#!/bin/bash
# check/triggers.sh with 100 of each condition, and 5 minutes of the quiet load.
# timeout: 3600
export TRIGGER_COUNT=100 TRIGGER_QUIET=215
exec bash selftests/check/triggers.sh
