#!/bin/bash
# kernels: 6.1
# timeout: 480
# The tests of an ordinary user on a kernel before 6.10 with the fix of CVE-2025-38466: each probe is a perf event, which
# requires CAP_SYS_ADMIN there.
exec bash selftests/check/ordinary_user.sh
