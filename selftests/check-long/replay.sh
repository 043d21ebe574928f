#!/bin/bash
# timeout: 3600
# 20,000 simulated schedules and 8,000 variants of real records: see selftests/check/replay.sh.
export VARIANTS=${VARIANTS:-2000 13000 5000 4000}
exec "$(dirname "$0")/../check/replay.sh"
