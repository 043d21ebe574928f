// Spin uses CPU time in functions that a profile must show: a goroutine that stays in one, one that
// calls through several, and one that is mostly in system calls.
//
//	spin [-duration D]
//
// It speaks the handshake of package protocol; the done line has the CPU time that the process has used
// since "start", in nanoseconds.
package main

import (
	"flag"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	quit atomic.Bool
	sink atomic.Uint64
)

func main() {
	duration := flag.Duration("duration", 2*time.Second, "how long to work")
	flag.Parse()
	protocol.Ready()
	before := protocol.CPU()
	var all sync.WaitGroup
	all.Add(2)
	go spinner(&all)
	go caller(&all)
	time.Sleep(*duration)
	quit.Store(true)
	all.Wait()
	spun := protocol.CPU()
	quit.Store(false)
	all.Add(1)
	go reader(&all)
	time.Sleep(*duration / 4)
	quit.Store(true)
	all.Wait()
	protocol.Done(map[string]int64{"cpu_ns": protocol.CPU() - before, "spun_ns": spun - before})
}

func spinner(all *sync.WaitGroup) {
	defer all.Done()
	for !quit.Load() {
		burn(1 << 20)
	}
}

// burn needs no frame.
//
//go:noinline
func burn(n int) {
	x := uint64(n)
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

func caller(all *sync.WaitGroup) {
	defer all.Done()
	for !quit.Load() {
		outer(200)
	}
}

//go:noinline
func outer(n int) { sink.Add(middle(n)) }

//go:noinline
func middle(n int) (sum uint64) {
	for i := 0; i < n; i++ {
		sum += inner(uint64(i))
	}
	return sum
}

//go:noinline
func inner(n uint64) uint64 {
	for i := 0; i < 1000; i++ {
		n = n*31 + 7
	}
	return n
}

func reader(all *sync.WaitGroup) {
	defer all.Done()
	fd := protocol.Must(syscall.Open("/dev/zero", syscall.O_RDONLY, 0))
	for buf := make([]byte, 1<<20); !quit.Load(); {
		syscall.Read(fd, buf)
	}
	syscall.Close(fd)
}
