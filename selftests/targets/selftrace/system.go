package main

// This file has the workers that leave Go: network, blocking and non-blocking syscalls, locked OS
// threads.

import (
	"io"
	"net"
	"runtime"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// startNetwork has n clients talk to an echo server over loopback TCP.
func (w *workload) startNetwork(n int) {
	listener := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	w.run(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.run(func() { echo(conn) })
		}
	})
	for i := 0; i < n; i++ {
		conn := protocol.Must(net.Dial("tcp", listener.Addr().String()))
		w.run(func() { w.client(conn) })
	}
	w.run(func() {
		<-w.quit
		listener.Close()
	})
}

func echo(conn net.Conn) {
	defer conn.Close()
	io.Copy(conn, struct{ io.Reader }{conn}) // hides ReadFrom: no splice, so read and write show
}

func (w *workload) client(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 64)
	for w.pause(5 * time.Millisecond) {
		w.counts.requests.Add(1)
		if _, err := conn.Write(buf); err != nil {
			return
		}
		if _, err := io.ReadFull(conn, buf); err != nil {
			return
		}
	}
}

// startSyscalls starts n readers of pipes that bypass the network poller, so that the thread blocks
// in the kernel and loses its P, and one worker whose syscalls never block.
func (w *workload) startSyscalls(n int) {
	for i := 0; i < n; i++ {
		i := i
		var fds [2]int
		protocol.Check(syscall.Pipe(fds[:]))
		w.run(func() { w.pipeReader(fds[0]) })
		w.run(func() { w.pipeWriter(fds[1], time.Duration(i+1)*4*time.Millisecond) })
	}
	w.run(w.plainSyscalls)
	for i := 0; i < 3; i++ {
		w.startLockedThread()
	}
}

func (w *workload) pipeReader(fd int) {
	defer syscall.Close(fd)
	var buf [1]byte
	for {
		n, err := syscall.Read(fd, buf[:])
		if n == 0 || err != nil && err != syscall.EINTR {
			return
		}
		w.counts.pipeReads.Add(1)
	}
}

func (w *workload) pipeWriter(fd int, every time.Duration) {
	defer syscall.Close(fd)
	for w.pause(every) {
		syscall.Write(fd, []byte{1})
	}
}

// plainSyscalls makes bursts of syscalls that return at once. syscall.Getppid does not work: it is
// a RawSyscall, which bypasses the scheduler.
func (w *workload) plainSyscalls() {
	for w.pause(5 * time.Millisecond) {
		for i := 0; i < 10; i++ {
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
		}
		w.counts.syscalls.Add(10)
	}
}

// startLockedThread has a goroutine wired to its thread answer another one that is not: each
// answer hands the P from thread to thread.
func (w *workload) startLockedThread() {
	ask, answer := make(chan int), make(chan int)
	w.run(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for v := range ask {
			w.counts.lockedThreads.Add(1)
			answer <- v + 1
		}
	})
	w.run(func() {
		defer close(ask)
		for w.pause(6 * time.Millisecond) {
			ask <- 1
			<-answer
		}
	})
}
