#!/bin/bash
# Every Go release that writes this format: see selftests/check/size.sh.
# timeout: 600
export GOS="go1.22.12 go1.23.12 go1.24.9 go1.25.7 go1.26.8"
cd "$(dirname "$0")/../.." || exit 1
make --no-print-directory TARGET_GOS="$GOS" $(printf 'build/targets/%s/selftrace ' $GOS) >&2 || exit 1
exec bash selftests/check/size.sh
