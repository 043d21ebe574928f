#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# A session's rings, with many writers and a reader: selftests/kmod/ring.c
exec build/selftests/kmod/ring
