#!/bin/bash
# check/waits.sh with a longer trace of the server and more of its goroutines.
# timeout: 1800
export WAITS_DURATION=4s WAITS_GOROUTINES=200
exec bash selftests/check/waits.sh
