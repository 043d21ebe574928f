#!/bin/bash
# parallel: first
# timeout: 1200
# depends on: Kbuild Makefile bpf include kmod userspace selftests
# Tests the kernel module and the recorder on several kernels in virtual machines: `make check-vm`,
# which always runs. The time limit is enough to report a machine that hangs: each one has 780 s. Other
# scripts run at the same time, at a lower priority: only the machines have deadlines.
exec nice -n -10 "$(dirname "$0")/../vm/run" "$@"
