package main

// This file reads the number of unread bytes of a pipe.

import (
	"syscall"
	"unsafe"
)

const fionread = 0x541b

func ioctlUnread(fd int, unread *int32) {
	syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), fionread, uintptr(unsafe.Pointer(unread)))
}
