#!/bin/bash
# parallel: first
# timeout: 600
# depends on: Kbuild Makefile bpf include kmod userspace selftests/vm selftests/kmod
# The kernel module in one virtual machine, with Debian's 6.12: all groups of selftests/vm/guest that need it. vm.sh
# runs all groups, on both kernels.
exec nice -n -10 "$(dirname "$0")/../vm/run" 6.12/50-ring 6.12/51 6.12/52 6.12/53 6.12/54 6.12/55 6.12/56 6.12/57 6.12/58
