#!/bin/bash
# kernels: 6.12
# timeout: 120
# module: loaded
# What BPF programs call, with wrong arguments, and what the verifier refuses: selftests/kmod/kfuncs.c
exec build/selftests/kmod/kfuncs
