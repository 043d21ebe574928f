// Locked computes on threads of its own, so that a thread's waits for a CPU are its goroutine's.
//
//	locked [-duration D] [-n N] [-nap D]
//
// Each of N goroutines is locked to a thread, has a P, and cannot be preempted if asynchronous preemption is off
// (GODEBUG). With -nap it sleeps for so long after each 2 ms of CPU time, in a system call of which the
// runtime does not know. It speaks the handshake of package protocol; the done line has the IDs of the threads, and
// the times of CLOCK_MONOTONIC between which all of them were in their loops.
package main

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	nap  = flag.Duration("nap", 0, "how long to sleep after each 2 ms of CPU time")
	quit atomic.Bool
)

func compute(tid *int, begun, ended *sync.WaitGroup) {
	defer ended.Done()
	runtime.LockOSThread()
	*tid = syscall.Gettid()
	begun.Done()
	for start := clocks.CPU(); !quit.Load(); {
		if *nap > 0 && clocks.CPU()-start > 2e6 {
			clocks.Sleep(int64(*nap))
			start = clocks.CPU()
		}
	}
}

func main() {
	duration := flag.Duration("duration", time.Second, "how long to work")
	n := flag.Int("n", 1, "how many `goroutines`")
	flag.Parse()
	protocol.Ready()
	runtime.GOMAXPROCS(*n + 1)
	var begun, ended sync.WaitGroup
	tids := make([]int, *n)
	begun.Add(*n)
	ended.Add(*n)
	for i := range tids {
		go compute(&tids[i], &begun, &ended)
	}
	begun.Wait()
	from := clocks.Wall()
	time.Sleep(*duration)
	to := clocks.Wall()
	quit.Store(true)
	ended.Wait()
	protocol.Done(map[string]any{"threads": tids, "from": from, "to": to})
}
