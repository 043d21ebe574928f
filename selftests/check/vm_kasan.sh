#!/bin/bash
# tier: long
# timeout: 14400
# depends on: Kbuild Makefile bpf include kmod userspace selftests
# The groups of check/vm on a kernel with KASAN, lockdep, UBSAN, kmemleak and fault injection: each report of
# one of them is a failure.
exec "$(dirname "$0")/../vm/kasan" "$@"
