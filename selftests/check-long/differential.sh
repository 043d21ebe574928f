#!/bin/bash
# timeout: 3600
# 20,000 mutants: see selftests/check/differential.sh.
export MUTANTS=${MUTANTS:-20260917 0 20000} WORLDS=${WORLDS:-400}
exec "$(dirname "$0")/../check/differential.sh"
