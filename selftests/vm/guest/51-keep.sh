#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# Sessions that outlive who made them: selftests/kmod/keep.c
exec build/selftests/kmod/keep
