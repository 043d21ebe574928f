#!/bin/bash
# timeout: 900
# The same as check/servers.sh, for longer, and with all servers.
ALL_SERVERS=1 LOAD_SECONDS=15 exec "$(dirname "$0")/../check/servers.sh"
