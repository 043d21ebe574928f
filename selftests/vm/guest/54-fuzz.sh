#!/bin/bash
# kernels: 6.12 6.1
# timeout: 300
# module: loaded
# Random requests from a fixed seed: selftests/kmod/fuzz.c
exec build/selftests/kmod/fuzz
