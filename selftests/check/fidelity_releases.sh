#!/bin/bash
# tier: long
# timeout: 3000
# `make fidelity` with its limits: the target selftrace and third-party servers, recorded while they
# trace themselves, with every Go release of FIDELITY_GOS; the runs of a release are summed up and
# checked against the limits together.
. "$(dirname "$0")/../lib.sh"
. selftests/fidelity.lib.sh

ktap_start
REPORTS=$tmp/reports
mkdir -p "$REPORTS"
for go in $FIDELITY_GOS; do
	try "$go: selftrace, mostly idle" compared_quietly "$go" 1
	try "$go: selftrace" compared_target "$go" 1
	for name in $(servers_of "$go"); do
		try "$go: $name" compared_server "$go" "$name" 1
	done
	try "$go: known counts" compared_truth "$go" 1
done
try "each release is within the limits" build/reference/fidelity -readme README.md "$REPORTS" && note "$(cat "$tmp/try.out")"
ktap_end
