#!/bin/bash
# timeout: 1200
# The kernel module and the recorder on kernels of their own, in virtual machines: `make check-vm`.
# Long enough to hear of a machine that hangs: one has 780 s, and then the one that counts instructions 300 s.
exec "$(dirname "$0")/../vm/run"
