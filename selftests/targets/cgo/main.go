// Cgo switches between Go and C in the ways that the scheduler handles: calls of C that return at
// once or block, C that calls back into Go on the goroutine's own thread, and threads created by C
// that call Go, once or repeatedly, and then end.
//
//	cgo [-trace FILE] [-warm] [-rounds N]
//
// It speaks the handshake of package protocol; the done line claims numbers like truth's. With
// -warm it has created C threads before it prints ready. Unlike the other targets it is built with
// CGO_ENABLED=1.
package main

/*
#cgo CFLAGS: -O1 -g
#cgo LDFLAGS: -lpthread
void call_back(int n);
void run_thread(int calls, int pause_us);
void doze(int us);
*/
import "C"

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var callbacks atomic.Int64

// goCallback is called by C. It blocks occasionally, so that the P is released in a callback.
//
//export goCallback
func goCallback(n C.int) {
	callbacks.Add(1)
	if n%3 == 0 {
		time.Sleep(100 * time.Microsecond)
	}
	if n%5 == 0 {
		C.doze(50) // Go, C, Go, C
	}
}

func caller(group *sync.WaitGroup, rounds int) {
	defer group.Done()
	for i := 0; i < rounds; i++ {
		C.doze(0)
		C.call_back(C.int(i))
	}
}

// threads makes C create a thread, which calls Go and ends, in each round.
func threads(group *sync.WaitGroup, rounds int) {
	defer group.Done()
	for i := 0; i < rounds; i++ {
		C.run_thread(C.int(1+i%4), C.int(i%3*100))
	}
}

// dozer makes a system call of Go after each call of C, in which it often has lost its P.
func dozer(group *sync.WaitGroup, rounds int) {
	defer group.Done()
	for i := 0; i < rounds; i++ {
		C.doze(100)
		syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
}

func main() {
	file := flag.String("trace", "", "have the runtime trace it too, into `FILE`")
	warm := flag.Bool("warm", false, "start C threads before printing ready")
	rounds := flag.Int("rounds", 11, "how often each goroutine does its work")
	flag.Parse()
	runtime.GOMAXPROCS(2)
	if *warm {
		C.run_thread(3, 100)
	}
	protocol.Ready()
	stop := protocol.Trace(*file)
	const goroutines = 37 // of both kinds
	var group sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		group.Add(2)
		go caller(&group, *rounds)
		go threads(&group, *rounds)
		if i%4 == 3 || i == goroutines-1 {
			group.Wait()
		}
	}
	const dozers, dozes = 8, 100
	for i := 0; i < dozers; i++ {
		group.Add(1)
		go dozer(&group, dozes)
	}
	group.Wait()
	time.Sleep(10 * time.Millisecond)
	stop()
	protocol.Done(map[string]any{"go": runtime.Version(), "expect": []protocol.Claim{
		{Name: "created main.caller", Functions: []string{"main.caller"}, Event: "create",
			Count: goroutines, Why: "one go statement each"},
		{Name: "finished main.threads", Functions: []string{"main.threads"}, Event: "destroy",
			Count: goroutines, Why: "all have returned"},
		{Name: "calls of C", Functions: []string{"main.threads"}, Event: "syscall",
			Count: goroutines * *rounds, Why: "cgocall enters a system call, once a call"},
		{Name: "ends of calls of C", Functions: []string{"main.threads"}, Event: "syscall-end",
			Count: goroutines * *rounds, Why: "each of them returned"},
		{Name: "calls of C and of the kernel", Functions: []string{"main.dozer"}, Event: "syscall",
			Count: 2 * dozers * dozes, Why: "one of each in a round"},
		{Name: "their ends", Functions: []string{"main.dozer"}, Event: "syscall-end",
			Count: 2 * dozers * dozes, Why: "each of them returned"},
	}})
}
