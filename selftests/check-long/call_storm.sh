#!/bin/bash
# check/call_storm.sh with a million calls, a recursion of a million frames, and a million goroutines.
# timeout: 1800
export CALLS=1000000 MEMORY_MAX=$((400 << 20))
exec bash "$(dirname "$0")/../check/call_storm.sh"
