#!/bin/bash
# A million goroutines, ten thousand threads: see selftests/check/scale.sh. Needs 3 GB.
# timeout: 1200
export GOROUTINES=1000000 THREADS=10000 CHURN=20000 MEMORY_MAX=$((400 << 20))
export GOS="go1.26.8 go1.22.12 go1.21.13"
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory TARGET_GOS="$GOS" $(printf 'build/targets/%s/parked ' $GOS) >&2 || exit 1
exec bash selftests/check/scale.sh
