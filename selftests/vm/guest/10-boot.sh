#!/bin/bash
# kernels: 6.12 6.1
# The machine has what the other tests need: BPF and BTF, tracing, the tree at its own path.
. "$(dirname "$0")/../../lib.sh"

ktap_start
try "the kernel has BTF" test -s /sys/kernel/btf/vmlinux
try "uprobes are available" test -e /sys/bus/event_source/devices/uprobe/type
try "programs of this tree run" build/gotrace-bpf --version
try "the share is writable" touch "$VM_SHARE/writable"
ktap_end
