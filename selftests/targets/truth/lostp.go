package main

// This file has the phase whose syscalls certainly lose their P: counted goroutines block in
// read(2) with GOMAXPROCS at 1, and the writer continues only once the kernel reports that the
// reader sleeps there. The writer can run only with the single P; so the reader had to release it,
// and finds it taken or changed when it returns.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	errGCOn    = errors.New("truth: GC was turned on")
	errNoSleep = errors.New("truth: the reader does not block in read")
)

func lostProcessors() []claim {
	const n = 101
	old := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(1)
	resizes := 2
	if old == 1 {
		resizes = 0 // no change, no STW
	}
	var fds [2]int
	protocol.Check(syscall.Pipe(fds[:]))
	threads := make(chan int, 1)
	gather(1, func(g *sync.WaitGroup) {
		g.Add(1)
		go blockingReader(g, fds[0], n, threads)
		go pipeWriter(g, fds[1], n, threads)
	})
	syscall.Close(fds[0])
	syscall.Close(fds[1])
	runtime.GOMAXPROCS(old)

	one := []string{"main.blockingReader"}
	return append(lives("main.blockingReader", 1),
		expect("blocking reads", one, "syscall", nil, n, "one entersyscall each"),
		expect("blocking reads that lost their P", one, "syscall-blocked", nil, n,
			"the only P was the writer's while the reader slept"),
		expect("resizes", nil, "range", []string{"stop-the-world (GOMAXPROCS)"}, resizes,
			"each real change stops the world once"))
}

// blockingReader stays on its thread, so that the writer can observe that thread. It makes no other
// syscalls that involve the scheduler.
func blockingReader(group *sync.WaitGroup, fd, n int, threads chan<- int) {
	runtime.LockOSThread()
	tid, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	threads <- int(tid)
	var buf [1]byte
	for i := 0; i < n; i++ {
		if m, err := syscall.Read(fd, buf[:]); m != 1 || err != nil {
			protocol.Fail(fmt.Errorf("truth: read gave %d, %v", m, err))
		}
	}
	runtime.UnlockOSThread()
	group.Done()
}

func pipeWriter(group *sync.WaitGroup, fd, n int, threads <-chan int) {
	tid := <-threads
	for i := 0; i < n; i++ {
		waitUntilReading(tid)
		syscall.Write(fd, []byte{1})
		// The byte wakes the reader, which must have left the read before the next check.
		waitUntilConsumed(fd)
	}
	group.Done()
}

// waitUntilReading waits until the thread sleeps in read(2).
func waitUntilReading(tid int) {
	file := fmt.Sprintf("/proc/self/task/%d/syscall", tid)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		text := protocol.Must(os.ReadFile(file))
		// "NUMBER ARGS..." of the syscall a thread sleeps in, "running" otherwise. read is 0.
		if strings.HasPrefix(string(text), "0 ") {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
	protocol.Fail(errNoSleep)
}

// waitUntilConsumed waits until the pipe is empty again (FIONREAD).
func waitUntilConsumed(fd int) {
	for {
		var unread int32
		ioctlUnread(fd, &unread)
		if unread == 0 {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}
