#!/bin/bash
# timeout: 900
# The same as in check, for longer.
LOAD_SECONDS=15 exec "$(dirname "$0")/../check/servers.sh"
