#!/bin/bash
# Mutation test: the unit tests catch at least 85 % of 200 mutants.
# tier: long
# timeout: 3600
. "$(dirname "$0")/../lib.sh"

caught()
{
	local status=0

	selftests/mutants/run >"$tmp/mutants" 2>&1 || status=$?
	grep -v '^  [A-Z]' "$tmp/mutants" | sed 's/^/# /' >&3
	return $status
}

ktap_start 1
exec 3>&1
try "the unit tests catch 85 % of 200 mutants" caught
ktap_end
