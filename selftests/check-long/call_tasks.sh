#!/bin/bash
# check/call_tasks.sh with a million calls that are compared, and every release whose own trace has the new
# format.
# timeout: 3000
. "$(dirname "$0")/../lib.sh"
. selftests/releases.lib.sh

OWN_GOS=$(last_gos_since 22 | sed 's/[^ ]*/go&/g')
for go in $OWN_GOS; do
	make --no-print-directory TARGET_GOS="$go" "build/targets/$go/tasked" || exit 1
done
export OWN_GOS OWN_ROUNDS=7000 TARGET_GOS=$ORACLE_GO
exec bash selftests/check/call_tasks.sh
