#!/bin/bash
# timeout: 900
# Two debuggers and all modes of the recorder: see selftests/check/debuggers.sh.
LONG=1 exec "$(dirname "$0")/../check/debuggers.sh"
