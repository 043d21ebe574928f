#!/bin/bash
# kernels: 6.12 6.1
# timeout: 300
# module: loaded
# Random requests from a fixed seed: selftests/kmod/fuzz.c; four times as many in check-long
if [ -n "${LONG-}" ]; then
	exec build/selftests/kmod/fuzz
else
	exec build/selftests/kmod/fuzz 50000
fi
