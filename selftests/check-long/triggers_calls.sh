#!/bin/bash
# check/triggers_calls.sh with 100 of each condition, and 5 minutes of the quiet load.
# timeout: 5400
export TRIGGER_COUNT=100 TRIGGER_EXITS=100 TRIGGER_QUIET=6000
exec bash selftests/check/triggers_calls.sh
