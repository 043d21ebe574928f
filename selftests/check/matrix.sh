#!/bin/bash
# beside others
# timeout: 1200
# Releases of Go and ways to build, a dozen cells of the matrix: each release and each way at least once.
# All are in check-long.
. "$(dirname "$0")/../lib.sh"
SELF_DURATION=700ms
. selftests/matrix.lib.sh

cells=(
	"1.19.13 plain" "1.20.14 stripped" "1.21.13 trimpath" "1.22.12 plain" "1.23.12 stripped"
	"1.24.13 external" "1.25.14 race" "1.26.11 pie" "1.26.11 pie-stripped" "1.26.11 noopt"
	"1.26.11 pgo" "1.26.11 debugfile" "1.27.4 plain"
)

ktap_start
for cell in "${cells[@]}"; do
	# shellcheck disable=SC2086 # two words
	run_cell $cell
done
print_table "$ALL_VERSIONS" "$ALL_KINDS"
ktap_end
