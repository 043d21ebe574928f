#!/bin/bash
# timeout: 1800
# Every fault in every mode of the recorder: see selftests/check/faults.sh.
LONG=1 exec "$(dirname "$0")/../check/faults.sh"
