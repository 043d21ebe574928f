#!/bin/bash
# timeout: 1200
# The kernel module and the recorder on kernels of their own, in virtual machines: `make check-vm`.
exec "$(dirname "$0")/../vm/run"
