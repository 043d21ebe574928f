#!/bin/bash
# timeout: 3600
# 10,000 mutated texts and 5,000 mutated traces: see selftests/check/text.sh.
export MUTANTS=${MUTANTS:-10000 5000}
exec "$(dirname "$0")/../check/text.sh"
