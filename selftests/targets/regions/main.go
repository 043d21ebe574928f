// Regions calls functions that a recorder turns into regions, and counts the calls: recursion that
// grows the stack, panics that are recovered, goroutines that exit inside, several exits of one
// function, one function that the compiler inlines everywhere, and one that it inlines where it is
// called by its name.
//
//	regions [-n N] [-deep N]
//
// It speaks the handshake of package protocol; the done line is {"expect":[...]}, see protocol.Claim.
package main

import (
	"flag"
	"runtime"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	deep    = 60   // calls of grow in each other; they need more than the first stack
	panicky = 4    // frames that each panic unwinds
	most    = 1024 // open regions of a goroutine that are recorded
)

var (
	rounds = flag.Int("n", 200, "how many goroutines of each kind")
	depth  = flag.Int("deep", 0, "`calls` of dive in each other")
)

var indirect func(int) int // both

func main() {
	flag.Parse()
	indirect = both
	protocol.Ready()
	for i := 0; i < *rounds; i++ {
		var group sync.WaitGroup
		group.Add(2)
		go worker(&group, i)
		go exiting(&group)
		group.Wait()
	}
	if *depth > 0 {
		var group sync.WaitGroup
		group.Add(1)
		go diver(&group)
		group.Wait()
	}
	time.Sleep(20 * time.Millisecond) // so that the trace contains their ends
	var expect []protocol.Claim
	claim := func(goroutine, name string, begins, ends int) {
		for event, n := range map[string]int{"region": begins, "region-end": ends} {
			expect = append(expect, protocol.Claim{Name: event + " " + name, Functions: []string{goroutine},
				Event: event, Reasons: []string{name}, Count: n})
		}
	}
	n := *rounds
	claim("main.worker", "Work", n, n)
	claim("main.worker", "main.grow", n*deep, n*deep)
	claim("main.worker", "main.catch", n, n)
	claim("main.worker", "main.throw", n*panicky, n*panicky)
	claim("main.worker", "main.both", n, n)
	if *depth > 0 {
		written := *depth
		if written > most {
			written = most
		}
		claim("main.diver", "main.dive", written+1, written+1)
	}
	claim("main.exiting", "main.leave", 3*n, 0) // readers end these with their goroutine
	protocol.Done(map[string]any{"expect": expect})
}

func worker(group *sync.WaitGroup, i int) {
	defer group.Done()
	work(i)
	indirect(i)
}

// Behind the calls that are too deep, another one is recorded.
func diver(group *sync.WaitGroup) {
	defer group.Done()
	dive(*depth)
	dive(1)
}

//go:noinline
func dive(n int) int {
	if n == 1 {
		return 1
	}
	return dive(n-1) + 1
}

func exiting(group *sync.WaitGroup) {
	defer group.Done()
	leave(2)
}

//go:noinline
func work(i int) int {
	if i%2 == 0 {
		return grow(deep-1) + catch()
	}
	return inlined(catch()) + both(grow(deep-1))
}

func both(i int) int {
	runtime.Gosched()
	return i - 1
}

func inlined(i int) int {
	runtime.Gosched()
	return i + 1
}

//go:noinline
func grow(n int) int {
	var frame [512]byte
	frame[n] = 1
	if n == 0 {
		return int(frame[0])
	}
	return grow(n-1) + int(frame[n])
}

//go:noinline
func catch() (caught int) {
	defer func() {
		if recover() != nil {
			caught = 1
		}
	}()
	return throw(panicky - 1)
}

//go:noinline
func throw(n int) int {
	if n == 0 {
		panic("thrown on purpose")
	}
	return throw(n-1) + 1
}

//go:noinline
func leave(n int) {
	if n == 0 {
		runtime.Goexit()
	}
	leave(n - 1)
	runtime.Gosched()
}
