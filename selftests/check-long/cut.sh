#!/bin/bash
# timeout: 3600
# 40 random windows of each trace: see selftests/check/cut.sh.
export CUTS=${CUTS:-40}
exec "$(dirname "$0")/../check/cut.sh"
