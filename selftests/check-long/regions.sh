#!/bin/bash
# check/regions.sh with a million nested calls.
# timeout: 900
export REGIONS_DEEP=1000000
exec bash selftests/check/regions.sh
