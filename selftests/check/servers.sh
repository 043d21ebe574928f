#!/bin/bash
# beside others
# timeout: 900
# Servers that others wrote, from the Go module proxy and from Debian: see selftests/servers.lib.sh.
. "$(dirname "$0")/../lib.sh"
. selftests/servers.lib.sh

ktap_start
all_servers
ktap_end
