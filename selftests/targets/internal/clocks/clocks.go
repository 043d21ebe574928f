// Package clocks reads the kernel's counts of the calling thread's CPU time and waiting time. No
// function checks the stack, so a goroutine cannot be preempted in them: between two readings of a
// goroutine that is locked to its thread, and only calls these and raw system calls, Go's scheduler
// is not involved, if GODEBUG=asyncpreemptoff=1 is set.
package clocks

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	monotonic = 1 // CLOCK_MONOTONIC
	process   = 2 // CLOCK_PROCESS_CPUTIME_ID
	threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	openat    = syscall.SYS_OPENAT
	here      = -100 // AT_FDCWD
)

// Reading is the state of the clocks, or what has passed between two; nanoseconds.
type Reading struct {
	Wall   int64
	CPU    int64 // the thread's, to the nanosecond
	OnCPU  int64 // the same by schedstat, up to a tick old
	Delay  int64 // time that the thread was runnable without a CPU
	Thread int
}

var schedstat = [...]byte{'/', 'p', 'r', 'o', 'c', '/', 't', 'h', 'r', 'e', 'a', 'd', '-', 's', 'e', 'l', 'f', '/',
	's', 'c', 'h', 'e', 'd', 's', 't', 'a', 't', 0}

// Now reads all of them.
//
//go:nosplit
func Now() (r Reading) {
	var text [64]byte
	fd, _, _ := syscall.RawSyscall6(openat, ^uintptr(-here-1), uintptr(unsafe.Pointer(&schedstat[0])), 0, 0, 0, 0)
	n, _, _ := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
	syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	for i, field := 0, 0; i < int(n) && i < len(text); i++ {
		switch c := text[i]; {
		case c < '0' || c > '9':
			field++
		case field == 0:
			r.OnCPU = r.OnCPU*10 + int64(c-'0')
		case field == 1:
			r.Delay = r.Delay*10 + int64(c-'0')
		}
	}
	thread, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	r.Thread = int(thread)
	r.CPU = read(threadCPU)
	r.Wall = read(monotonic)
	return r
}

// Stolen is the time that the hypervisor ran something else on one of this machine's CPUs, in
// nanoseconds; up to a tick old. A thread that was on the CPU has not used it by its own clocks,
// if the kernel has CONFIG_PARAVIRT_TIME_ACCOUNTING.
func Stolen() int64 {
	var cpu string
	var ticks [8]int64
	text, err := os.ReadFile("/proc/stat")
	if err == nil {
		_, err = fmt.Sscan(string(text), &cpu, &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5],
			&ticks[6], &ticks[7])
	}
	protocol.Check(err)
	return ticks[7] * 1e7
}

// Since returns the differences to an earlier reading.
func (r Reading) Since(before Reading) Reading {
	return Reading{
		r.Wall - before.Wall, r.CPU - before.CPU, r.OnCPU - before.OnCPU, r.Delay - before.Delay, r.Thread,
	}
}

// Wall is CLOCK_MONOTONIC.
//
//go:nosplit
func Wall() int64 { return read(monotonic) }

// CPU is the CPU time of the calling thread.
//
//go:nosplit
func CPU() int64 { return read(threadCPU) }

// Process is the CPU time of the process, all its threads.
func Process() int64 { return read(process) }

//go:nosplit
func read(clock uintptr) int64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return t.Sec*1e9 + t.Nsec
}

// Sleep is nanosleep, without the runtime's knowledge.
//
//go:nosplit
func Sleep(ns int64) {
	t := syscall.Timespec{Sec: ns / 1e9, Nsec: ns % 1e9}
	for syscall.EINTR == sleep(&t) {
	}
}

//go:nosplit
func sleep(t *syscall.Timespec) syscall.Errno {
	_, _, err := syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(t)), uintptr(unsafe.Pointer(t)), 0)
	return err
}

// Burn uses about 50 us of CPU time, without a call.
//
//go:nosplit
//go:noinline
func Burn() uint64 {
	x := uint64(1)
	for i := 0; i < 30000; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
