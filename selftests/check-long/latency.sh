#!/bin/bash
# timeout: 900
# Every case of selftests/check/latency.sh with each supported Go release.
EVERY_CASE=1 exec bash "$(dirname "$0")/../check/latency.sh"
