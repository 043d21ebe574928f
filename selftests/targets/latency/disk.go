package main

// Threads in uninterruptible sleep in the kernel: for a child that has the address space, and for a
// slow disk.

import (
	"fmt"
	"syscall"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
	"gotrace-bpf/selftests/targets/internal/slowfs"
)

const page = 4096

func child() []part {
	used := make(chan use)
	go parent(used)
	r := <-used
	return append(r.split("main.parent"),
		r.asleep("main.parent", kernelBlocked, ""),
		share("main.parent", 0.7, 1, kernelBlocked))
}

func parent(used chan<- use) {
	used <- locked(func(until int64) {
		for clocks.Wall() < until {
			holdParent(20e6)
		}
	})
}

// holdParent makes a child sleep before it ends: only then does the parent continue. The child has
// a copy of the memory, and is not recorded.
//
//go:nosplit
//go:norace
func holdParent(ns int64) {
	const anyChild = 0x40000000 // __WALL
	pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, syscall.CLONE_VFORK, 0, 0, 0, 0, 0)
	if pid == 0 {
		clocks.Sleep(ns)
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	syscall.RawSyscall6(syscall.SYS_WAIT4, pid, 0, anyChild, 0, 0, 0)
}

var slowFile string

func mountSlow() { slowFile = slowfs.Start(besideCommand("be-slow"), start) }

func openSlow() int {
	fd, err := syscall.Open(slowFile, syscall.O_RDONLY, 0)
	if err != nil {
		protocol.Fail(fmt.Errorf("%s: %w", slowFile, err))
	}
	return fd
}

func slowDisk() []part {
	used := make(chan use)
	go diskReader(used)
	r := <-used
	return append(r.split("main.diskReader"),
		r.asleep("main.diskReader", syscallBlocked, "pread64"),
		share("main.diskReader", 0.7, 1, syscallBlocked))
}

func diskReader(used chan<- use) {
	fd := openSlow()
	var buf [page]byte
	used <- locked(func(until int64) {
		for at := int64(0); clocks.Wall() < until; at += page {
			if n, err := syscall.Pread(fd, buf[:], at); n != page {
				protocol.Fail(fmt.Errorf("%s: %d bytes, %v", slowFile, n, err))
			}
		}
	})
	syscall.Close(fd)
}

func slowFaults() []part {
	used := make(chan use)
	go toucher(used)
	r := <-used
	return append(r.split("main.toucher"),
		r.asleep("main.toucher", kernelBlocked, "page fault"),
		share("main.toucher", 0.7, 1, kernelBlocked))
}

// toucher reads the file through a memory mapping.
func toucher(used chan<- use) {
	fd := openSlow()
	memory := protocol.Must(syscall.Mmap(fd, 0, slowfs.Size, syscall.PROT_READ, syscall.MAP_SHARED))
	base := unsafe.Pointer(&memory[0])
	used <- locked(func(until int64) {
		for at := uintptr(0); clocks.Wall() < until && at < slowfs.Size; at += page {
			touched += *(*byte)(unsafe.Add(base, at))
		}
	})
	syscall.Close(fd)
}

var touched byte
