// Library is Go code called by a C program: built with -buildmode=c-shared or c-archive, and linked
// with host/host.c, which calls Begin, then Work repeatedly, then End.
//
// It speaks the handshake of package protocol; the done line claims numbers like truth's.
package main

import "C"

import (
	"runtime"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const workers = 3

var (
	stop   func()
	rounds int
)

func worker(done chan<- int) {
	time.Sleep(50 * time.Microsecond)
	done <- 1
}

// Begin prints ready, and traces itself into the file, if one is given. The call from C blocks in
// Go while the recorder attaches: its goroutine has no start function.
//
//export Begin
func Begin(file *C.char) {
	runtime.GOMAXPROCS(2)
	started := make(chan struct{})
	go func() {
		protocol.Ready()
		close(started)
	}()
	<-started
	stop = protocol.Trace(C.GoString(file))
}

// Work starts some goroutines and waits for them.
//
//export Work
func Work() C.int {
	rounds++
	done, sum := make(chan int), 0
	for i := 0; i < workers; i++ {
		go worker(done)
	}
	for i := 0; i < workers; i++ {
		sum += <-done
	}
	return C.int(sum)
}

// Compute returns a number that takes n steps to find.
//
//export Compute
func Compute(n C.int) C.int {
	x := uint32(n)
	for i := C.int(0); i < n; i++ {
		x = x*1664525 + 1013904223
	}
	return C.int(x >> 1)
}

// End prints the results.
//
//export End
func End() {
	time.Sleep(10 * time.Millisecond)
	stop()
	protocol.Done(map[string]any{"go": runtime.Version(), "expect": []protocol.Claim{
		{Name: "created main.worker", Functions: []string{"main.worker"}, Event: "create",
			Count: workers * rounds, Why: "one go statement each"},
		{Name: "finished main.worker", Functions: []string{"main.worker"}, Event: "destroy",
			Count: workers * rounds, Why: "all have returned"},
		{Name: "sleeps of main.worker", Functions: []string{"main.worker"}, Event: "block",
			Reasons: []string{"sleep"}, Count: workers * rounds, Why: "each sleeps once"},
	}})
}

func main() {}
