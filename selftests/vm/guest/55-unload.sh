#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# The module can be unloaded only when it is not in use: selftests/kmod/unload.c
exec build/selftests/kmod/unload
