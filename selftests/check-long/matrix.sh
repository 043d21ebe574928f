#!/bin/bash
# timeout: 5400
# Every release of Go, built in every mode: see selftests/matrix.lib.sh. VERSIONS and KINDS select
# some.
. "$(dirname "$0")/../lib.sh"
. selftests/matrix.lib.sh
VERSIONS=${VERSIONS:-$ALL_VERSIONS}
KINDS=${KINDS:-$ALL_KINDS}

ktap_start
for version in $VERSIONS; do
	for kind in $KINDS; do
		has_kind "$version" "$kind" && run_cell "$version" "$kind"
	done
done
print_table "$VERSIONS" "$KINDS"
ktap_end
