// Reads makes system calls: very many short ones, which read a byte of /dev/zero, and some long ones,
// which sleep. A CPU profile of itself interrupts them by signals.
//
//	reads [-reads N] [-rate N] [-readers N] [-naps N] [-nap D]
//
// It speaks the handshake of package protocol; the done line is {"reads":N,"naps":N,"interrupted":N,
// "cpu_ns":NS}. Naps that a signal interrupted are counted apart.
package main

import (
	"flag"
	"io"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var reads, naps, interrupted atomic.Int64

func main() {
	rate := flag.Int("rate", 20000, "short `calls` per second")
	total := flag.Int("reads", 20000, "short `calls` in all")
	readers := flag.Int("readers", 2, "how many goroutines read")
	n := flag.Int("naps", 20, "long `calls` in all")
	length := flag.Duration("nap", 5*time.Millisecond, "how long one takes")
	flag.Parse()
	zero := protocol.Must(syscall.Open("/dev/zero", syscall.O_RDONLY, 0))
	protocol.Ready()
	protocol.Check(pprof.StartCPUProfile(io.Discard))
	start, group := protocol.CPU(), sync.WaitGroup{}
	for i := 0; i < *readers; i++ {
		group.Add(1)
		go read(&group, zero, *rate / *readers, *total / *readers)
	}
	for i := 0; i < *n; i++ {
		nap(*length)
	}
	group.Wait()
	used := protocol.CPU() - start
	pprof.StopCPUProfile()
	protocol.Done(map[string]int64{"reads": reads.Load(), "naps": naps.Load(),
		"interrupted": interrupted.Load(), "cpu_ns": used})
}

// read makes the calls of each millisecond at once.
func read(group *sync.WaitGroup, zero, rate, total int) {
	defer group.Done()
	var buf [1]byte
	start := time.Now()
	for done := 0; done < total; time.Sleep(time.Millisecond) {
		due := int(time.Since(start).Seconds() * float64(rate))
		for ; done < due && done < total; done++ {
			if n, err := syscall.Read(zero, buf[:]); n != 1 {
				protocol.Fail(err)
			}
			reads.Add(1)
		}
	}
}

// nap is one call, long unless a signal interrupts it.
//
//go:noinline
func nap(length time.Duration) {
	timeout := syscall.NsecToTimeval(int64(length))
	switch _, err := syscall.Select(0, nil, nil, nil, &timeout); err {
	case nil:
		naps.Add(1)
	case syscall.EINTR:
		interrupted.Add(1)
	default:
		protocol.Fail(err)
	}
}
