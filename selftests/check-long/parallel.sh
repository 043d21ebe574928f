#!/bin/bash
# timeout: 1200
# More mutants: see selftests/check/parallel.sh.
MUTANTS=${MUTANTS:-20261126 0 10000} exec "$(dirname "$0")/../check/parallel.sh"
