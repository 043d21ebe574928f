#!/bin/bash
# kernels: 6.12 6.1
# timeout: 60
# module: loaded
# Who may open the device, wrong arguments, mappings: selftests/kmod/device.c
exec build/selftests/kmod/device
