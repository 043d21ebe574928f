#!/bin/bash
# timeout: 1500
# The kernel module's KUnit suites, in user-mode Linux: `make check-kunit`.
exec "$(dirname "$0")/../kunit"
