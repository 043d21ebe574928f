// Regions calls functions that a recorder turns into regions, and counts the calls: recursion that
// grows the stack, panics that are recovered, goroutines that exit inside, several exits of one
// function, and one function that the compiler inlines everywhere.
//
//	regions [-n N]
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
	deep    = 60 // calls of grow in each other; they need more than the first stack
	panicky = 4  // frames that each panic unwinds
)

var rounds = flag.Int("n", 200, "how many goroutines of each kind")

func main() {
	flag.Parse()
	protocol.Ready()
	for i := 0; i < *rounds; i++ {
		var group sync.WaitGroup
		group.Add(2)
		go worker(&group, i)
		go exiting(&group)
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
	claim("main.exiting", "main.leave", 3*n, 0) // readers end these with their goroutine
	protocol.Done(map[string]any{"expect": expect})
}

func worker(group *sync.WaitGroup, i int) {
	defer group.Done()
	work(i)
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
	return inlined(catch()) + grow(deep-1)
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
