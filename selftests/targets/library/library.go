// Library is Go code that a program of C calls: built with -buildmode=c-shared or c-archive, and linked
// with host/host.c, which calls Begin, then Work again and again, then End.
//
// It speaks the handshake of package protocol; the done line claims numbers as truth's does.
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

// Begin is ready, and traces itself into the file, if there is one. The call from C waits in Go while
// the recorder comes: its goroutine has no start function.
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

// Work waits for some goroutines that it starts.
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

// End says what was done.
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
