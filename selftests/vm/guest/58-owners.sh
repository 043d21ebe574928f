#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# Former owners of sessions: selftests/kmod/owners.c
exec build/selftests/kmod/owners
