#!/bin/bash
# timeout: 2400
# The same as check/library.sh, with each release.
. "$(dirname "$0")/../lib.sh"
LIBRARY_GOS=$TARGET_GOS exec selftests/check/library.sh
