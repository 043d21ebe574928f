#!/bin/bash
# timeout: 3600
# Every target 20 times: see selftests/check/record.sh.
RUNS=20 exec "$(dirname "$0")/../check/record.sh"
