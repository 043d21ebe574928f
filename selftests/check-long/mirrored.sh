#!/bin/bash
# check/mirrored.sh with more than a million calls, and every release whose own trace has the new format.
# timeout: 3000
. "$(dirname "$0")/../lib.sh"
. selftests/releases.lib.sh

MIRRORED_GOS=$(last_gos_since 22 | sed 's/[^ ]*/go&/g')
for go in $MIRRORED_GOS; do
	make --no-print-directory TARGET_GOS="$go" "build/targets/$go/mirrored" || exit 1
done
export MIRRORED_GOS MIRRORED_ROUNDS=450
exec bash selftests/check/mirrored.sh
