#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# What is there when memory is not: selftests/kmod/memory.c
exec build/selftests/kmod/memory
