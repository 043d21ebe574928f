package main

// This file sets a seccomp filter that kills the process for the system calls that inline probes need
// in it, and that the Go runtime does not make.

import (
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	sysSeccomp     = 317
	setModeFilter  = 1
	allThreads     = 1 // SECCOMP_FILTER_FLAG_TSYNC
	retKillProcess = 0x80000000
	retAllow       = 0x7fff0000

	loadWord, jumpIfEqual, and, ret = 0x20, 0x15, 0x54, 0x06

	flagsOfMmap = 16 + 3*8 // offset in struct seccomp_data
)

type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

var filter = [...]instruction{
	{loadWord, 0, 0, 0},
	{jumpIfEqual, 7, 0, syscall.SYS_PRCTL},
	{jumpIfEqual, 6, 0, syscall.SYS_OPENAT},
	{jumpIfEqual, 5, 0, syscall.SYS_MREMAP},
	{jumpIfEqual, 0, 3, syscall.SYS_MMAP},
	{loadWord, 0, 0, flagsOfMmap},
	{and, 0, 0, syscall.MAP_SHARED | syscall.MAP_PRIVATE | syscall.MAP_ANON},
	{jumpIfEqual, 0, 1, syscall.MAP_PRIVATE | syscall.MAP_ANON}, // as the runtime calls it
	{ret, 0, 0, retAllow},
	{ret, 0, 0, retKillProcess},
}

type program struct {
	n      uint16
	filter *instruction
}

func filterAndWork(duration time.Duration) int {
	workers := work(duration / 2)
	p := program{uint16(len(filter)), &filter[0]}
	_, _, errno := syscall.RawSyscall(sysSeccomp, setModeFilter, allThreads, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		protocol.Fail(errno)
	}
	return workers + work(duration/2)
}
