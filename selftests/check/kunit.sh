#!/bin/bash
# parallel: first
# tier: all
# timeout: 1500
# The kernel module's KUnit suites, in user-mode Linux: `make check-kunit`.
# depends on: Kbuild kmod include selftests/kunit
exec "$(dirname "$0")/../kunit"
