#!/bin/bash
# timeout: 3000
# `make fidelity` with its limits: our target and servers that others wrote, recorded while they trace
# themselves, by every Go release of FIDELITY_GOS; a release's runs are summed up and judged together.
. "$(dirname "$0")/../lib.sh"
. selftests/fidelity.lib.sh

ktap_start
REPORTS=$tmp/reports
mkdir -p "$REPORTS"
for go in $FIDELITY_GOS; do
	try "$go: selftrace, at leisure" compared_quietly "$go" 1
	try "$go: selftrace" compared_target "$go" 1
	for name in $(servers_of "$go"); do
		try "$go: $name" compared_server "$go" "$name" 1
	done
	try "$go: known counts" compared_truth "$go" 1
done
try "each release holds the limits" build/reference/fidelity -readme README.md "$REPORTS" && note "$(cat "$tmp/try.out")"
ktap_end
