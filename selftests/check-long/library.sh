#!/bin/bash
# timeout: 2400
# The same as in check, by each release.
. "$(dirname "$0")/../lib.sh"
LIBRARY_GOS=$TARGET_GOS exec selftests/check/library.sh
