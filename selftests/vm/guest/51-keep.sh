#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# Sessions that outlive their owner: selftests/kmod/keep.c
exec build/selftests/kmod/keep
