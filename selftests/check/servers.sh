#!/bin/bash
# tier: all
# parallel
# timeout: 900
# long: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/servers
# Third-party servers, from the Go module proxy and from Debian: see selftests/servers.lib.sh. check-long
# has one more.
. "$(dirname "$0")/../lib.sh"
. selftests/servers.lib.sh

ktap_start
all_servers
ktap_end
