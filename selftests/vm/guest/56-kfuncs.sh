#!/bin/bash
# kernels: 6.12
# timeout: 120
# module: loaded
# The kfuncs with invalid arguments, and programs that the verifier rejects: selftests/kmod/kfuncs.c
exec build/selftests/kmod/kfuncs
