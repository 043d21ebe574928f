#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# The module goes only when nobody uses it: selftests/kmod/unload.c
exec build/selftests/kmod/unload
