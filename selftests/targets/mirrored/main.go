// Mirrored annotates the calls of its functions itself, with runtime/trace, so that a recorder that
// turns the same calls into regions can be compared with the program's own trace: recursion that
// grows the stack, panics through several frames, recover, Goexit, several exits, and goroutines that
// change threads within a call.
//
//	mirrored -trace FILE [-n N]
//
// A region is named after its function. It speaks the handshake of package protocol; the done line is
// {"calls": {NAME: N}, "unwound": [NAME]}. The frames of the functions in "unwound" are always left by a
// panic or by Goexit.
package main

import (
	"context"
	"flag"
	"runtime"
	"runtime/trace"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	workers = 4
	deep    = 40 // calls of grow in each other; they need more than the first stack
	panicky = 4  // frames that each panic unwinds
	leaves  = 20 // calls of leaf, and of choose, per round
)

var (
	rounds  = flag.Int("n", 50, "how many `rounds` of each worker")
	file    = flag.String("trace", "", "have the runtime trace it, into `FILE`")
	nothing = context.Background()
)

func main() {
	flag.Parse()
	protocol.Ready()
	stop := protocol.Trace(*file)
	var group sync.WaitGroup
	for i := 0; i < workers; i++ {
		group.Add(1)
		go worker(&group)
	}
	group.Wait()
	stop()
	n := *rounds * workers
	protocol.Done(map[string]any{
		"calls": map[string]int{
			"round": n, "grow": n * deep, "catch": n, "rethrow": n, "throw": 2 * n * panicky, "leave": 3 * n,
			"move": n, "leaf": n * leaves, "choose": n * leaves, "pick": n * leaves, "odd": n*leaves/2 + 2*n, "even": n*leaves/2 + n,
		},
		"unwound": []string{"throw", "rethrow", "leave"},
	})
}

// Each round has a goroutine of its own, whose stack is small at first.
func worker(group *sync.WaitGroup) {
	defer group.Done()
	var one sync.WaitGroup
	for i := 0; i < *rounds; i++ {
		one.Add(2)
		go func() {
			defer one.Done()
			round()
		}()
		go func() {
			defer one.Done()
			leave(2)
		}()
		one.Wait()
	}
}

//go:noinline
func round() (sum int) {
	r := trace.StartRegion(nothing, "round")
	sum = move() + grow(deep-1) + catch() + odd(2)
	calm()
	time.Sleep(time.Microsecond)
	for j := 0; j < leaves; j++ {
		sum += leaf(j) + choose(j) + pick(j, sum)
	}
	r.End()
	return sum
}

//go:noinline
func leaf(i int) int {
	r := trace.StartRegion(nothing, "leaf")
	i = i*i + 1
	r.End()
	return i
}

// choose has several exits, one of them behind a call.
//
//go:noinline
func choose(i int) int {
	r := trace.StartRegion(nothing, "choose")
	switch {
	case i%4 == 0:
		r.End()
		return 7
	case i%4 == 1:
		i *= leaf0(i)
		r.End()
		return i
	case i%4 == 2:
		i = odd(1)
		r.End()
		return i
	}
	i = odd(1) + 3
	r.End()
	return i
}

// pick branches behind its last call, so that its exits need not be its returns.
//
//go:noinline
func pick(i, j int) int {
	r := trace.StartRegion(nothing, "pick")
	i += leaf0(j)
	r.End()
	if i > 9 {
		return i ^ j
	}
	return i * 3
}

//go:noinline
func leaf0(i int) int { return i - 1 }

// odd and even call each other.
//
//go:noinline
func odd(i int) int {
	r := trace.StartRegion(nothing, "odd")
	if i > 0 {
		i = even(i-1) + 1
	}
	r.End()
	return i
}

//go:noinline
func even(i int) int {
	r := trace.StartRegion(nothing, "even")
	if i > 0 {
		i = odd(i-1) + 1
	}
	r.End()
	return i
}

//go:noinline
func grow(n int) int {
	var frame [512]byte
	r := trace.StartRegion(nothing, "grow")
	frame[n] = 1
	if n > 0 {
		n = grow(n-1) + int(frame[n])
	}
	r.End()
	return n
}

// move continues on another thread, as often as not.
//
//go:noinline
func move() int {
	r := trace.StartRegion(nothing, "move")
	done := make(chan int)
	go func() { done <- 1 }()
	n := <-done
	runtime.Gosched()
	r.End()
	return n
}

// catch recovers, and calls a function after that.
//
//go:noinline
func catch() (caught int) {
	defer trace.StartRegion(nothing, "catch").End()
	defer func() {
		if recover() != nil {
			caught = 1
		}
	}()
	return rethrow()
}

// calm recovers, but is no region itself: nothing that is one follows before the goroutine waits.
//
//go:noinline
func calm() {
	defer func() { recover() }()
	throw(panicky - 1)
}

//go:noinline
func rethrow() int {
	defer trace.StartRegion(nothing, "rethrow").End()
	defer func() {
		if v := recover(); v != nil {
			panic("again")
		}
	}()
	return throw(panicky-1) + 1
}

//go:noinline
func throw(n int) int {
	defer trace.StartRegion(nothing, "throw").End()
	if n == 0 {
		panic("on purpose")
	}
	return throw(n-1) + 1
}

//go:noinline
func leave(n int) {
	defer trace.StartRegion(nothing, "leave").End()
	if n == 0 {
		runtime.Goexit()
	}
	leave(n - 1)
	runtime.Gosched()
}
