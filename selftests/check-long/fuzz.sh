#!/bin/bash
# timeout: 5400
# check/fuzz.sh with ten times as many executions of each target.
FUZZ_RUNS=100000x exec "$(dirname "$0")/../check/fuzz.sh"
