#!/bin/bash
# kernels: 6.12 6.1
# timeout: 120
# module: loaded
# Behaviour when memory is exhausted: selftests/kmod/memory.c
exec build/selftests/kmod/memory
