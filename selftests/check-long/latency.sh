#!/bin/bash
# timeout: 900
# Every case of selftests/check/latency.sh by each Go that it knows.
EVERY_CASE=1 exec bash "$(dirname "$0")/../check/latency.sh"
