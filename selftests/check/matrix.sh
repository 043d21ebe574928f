#!/bin/bash
# parallel
# timeout: 1200
# long: 5400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# A dozen cells of the matrix of Go releases and build modes: each release and each mode at least
# once. check has only the oldest and the newest release, check-long all cells.
. "$(dirname "$0")/../lib.sh"
SELF_DURATION=700ms
. selftests/matrix.lib.sh

cells=(
	"1.19.13 plain" "1.20.14 stripped" "1.21.13 trimpath" "1.22.12 plain" "1.23.12 stripped"
	"1.24.13 external" "1.25.14 race" "1.26.11 pie" "1.26.11 pie-stripped" "1.26.11 noopt"
	"1.26.11 pgo" "1.26.11 debugfile"
)
for version in $LAST_GOS; do
	[[ " ${cells[*]} " == *" $version "* ]] || cells+=("$version plain")
done

[ $TIER != check ] || cells=("1.19.13 plain" "${LAST_GOS##* } stripped")

# VERSIONS and KINDS select some cells of all.
every_cell()
{
	local version kind

	for version in ${VERSIONS:-$ALL_VERSIONS}; do
		for kind in ${KINDS:-$ALL_KINDS}; do
			! has_kind "$version" "$kind" || echo "$version $kind"
		done
	done
}

[ -z "$(by_tier "" "" every)${VERSIONS-}${KINDS-}" ] || mapfile -t cells < <(every_cell)
ktap_start
for cell in "${cells[@]}"; do
	run_cell $cell
done
print_table "$ALL_VERSIONS" "$ALL_KINDS"
ktap_end
