#!/bin/bash
# timeout: 1800
# check/requests_presets.sh with stripped programs of all releases whose offsets are known.
. "$(dirname "$0")/../lib.sh"
. selftests/releases.lib.sh

RELEASES="$(last_gos_since 20) ${LAST_GOS##* }"
export RELEASES
exec bash selftests/check/requests_presets.sh
