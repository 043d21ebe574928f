package main

// This file forks without executing another program: the child has a copy of the memory, with the
// inline probes in it, and of all threads only the one that forked.

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var child int

// forkAndWork has a child that works like its parent, and five times as long.
func forkAndWork(duration time.Duration) int {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		protocol.Fail(errno)
	}
	if pid == 0 {
		workWith(5*duration, sleepWithP)
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	child = int(pid)
	return work(duration)
}

// sleepWithP keeps the P: no other thread is there to take it.
func sleepWithP(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// reap waits for the child, and exits as it did.
func reap() {
	var status syscall.WaitStatus
	if child == 0 {
		return
	}
	protocol.Must(syscall.Wait4(child, &status, 0, nil))
	if !status.Exited() {
		os.Exit(3)
	}
	os.Exit(status.ExitStatus())
}
