package main

// This file sets up syscall user dispatch (prctl(2)) in a thread.

import (
	"runtime"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	prSetSyscallUserDispatch = 59
	prSysDispatchOn          = 1

	// System calls of all code are permitted, so that nothing else changes.
	dispatchFrom, dispatchBytes = 1, 1 << 46
)

func dispatchHere() {
	runtime.LockOSThread()
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetSyscallUserDispatch,
		prSysDispatchOn, dispatchFrom, dispatchBytes, 0, 0)
	if errno != 0 {
		protocol.Fail(errno)
	}
}

// dispatch has such a thread that waits in read(2), where it cannot be used for system calls.
func dispatch(duration time.Duration) int {
	var fds [2]int
	ready := make(chan bool)
	protocol.Check(syscall.Pipe(fds[:]))
	go func() {
		dispatchHere()
		close(ready)
		syscall.Read(fds[0], make([]byte, 1))
	}()
	<-ready
	return work(duration)
}

// dispatchAsleep has such a thread in nanosleep(2). Nothing else happens, so that runtime.sysmon
// does not wait in nanosleep.
func dispatchAsleep(duration time.Duration) int {
	ready := make(chan bool)
	go func() {
		dispatchHere()
		close(ready)
		for {
			syscall.Nanosleep(&syscall.Timespec{Sec: 3600}, nil)
		}
	}()
	<-ready
	time.Sleep(duration)
	return 0
}
