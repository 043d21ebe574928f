#!/bin/bash
# kernels: 6.12 6.1
# timeout: 60
# module: loaded
# Permissions of the device, invalid arguments, mappings: selftests/kmod/device.c
exec build/selftests/kmod/device
