// Parked is an idle program: N goroutines wait on channels, mutexes, sleeps and for ever, and
// nothing happens. It is for looking at the state of goroutines that a recording never sees run.
//
//	parked [-n N] [-duration D]
//
// It speaks the handshake of package protocol, with -duration between "start" and "done".
package main

import (
	"flag"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	n := flag.Int("n", 1000, "goroutines to park")
	duration := flag.Duration("duration", time.Second, "time between start and done")
	flag.Parse()

	var mu sync.Mutex
	mu.Lock()
	c := make(chan int)
	kinds := []func(){
		func() { parkedReceive(c) }, func() { parkedMutex(&mu) }, parkedSleep, parkedForEver,
	}
	for i := 0; i < *n; i++ {
		go kinds[i%len(kinds)]()
	}
	time.Sleep(50 * time.Millisecond) // for all to have parked
	protocol.Ready()
	time.Sleep(*duration)
	protocol.Done(map[string]int{"parked": *n})
}

func parkedReceive(c <-chan int) { <-c }
func parkedMutex(mu *sync.Mutex) { mu.Lock() }
func parkedSleep()               { time.Sleep(1000 * time.Hour) }
func parkedForEver()             { select {} }
