package main

// This file holds the phases that any scheduling leaves countable. Preemption adds stops and
// blocks with the reason "preempted", and starts; none of those is claimed.

import (
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// gather starts n goroutines by start and waits until all have called Done.
func gather(n int, start func(group *sync.WaitGroup)) {
	var group sync.WaitGroup
	group.Add(n)
	for i := 0; i < n; i++ {
		start(&group)
	}
	group.Wait()
}

// lives claims that n goroutines of a function came and went.
func lives(function string, n int) []claim {
	return []claim{
		expect("created "+function, []string{function}, "create", nil, n, "one go statement each"),
		expect("finished "+function, []string{function}, "destroy", nil, n, "all have returned"),
	}
}

func churn() []claim {
	const plain, args = 1009, 503
	gather(plain, func(g *sync.WaitGroup) { go churnChild(g) })
	// Starting a call with more arguments goes through a wrapper of the compiler's; the runtime
	// names the goroutine by the wrapped function.
	gather(args, func(g *sync.WaitGroup) { go churnChildArgs(g, 1, "two") })
	return append(lives("main.churnChild", plain), lives("main.churnChildArgs", args)...)
}

func churnChild(group *sync.WaitGroup) { group.Done() }

//go:noinline
func churnChildArgs(group *sync.WaitGroup, _ int, _ string) { group.Done() }

func goexits() []claim {
	const n = 211
	gather(n, func(g *sync.WaitGroup) { go goexitChild(g) })
	return lives("main.goexitChild", n)
}

func goexitChild(group *sync.WaitGroup) {
	defer group.Done()
	runtime.Goexit()
}

// meetings: over an unbuffered channel each value is handed over with the channel locked, so
// whichever side came first is parked and the other is not: one block and one unblock a value,
// whatever the order and the number of Ps.
func meetings() []claim {
	const n = 10007
	ping, pong := make(chan int), make(chan int)
	gather(1, func(g *sync.WaitGroup) {
		g.Add(1)
		go pingA(g, n, ping, pong)
		go pingB(g, n, ping, pong)
	})
	meeting := []string{"chan send", "chan receive"}
	both := []string{"main.pingA", "main.pingB"}
	const why = "each of two meetings a round trip parks exactly the side that came first"
	return append(append(lives("main.pingA", 1), lives("main.pingB", 1)...),
		expect("ping-pong blocks", both, "block", meeting, 2*n, why),
		expect("ping-pong unblocks", both, "unblock", meeting, 2*n, why))
}

func pingA(group *sync.WaitGroup, n int, ping chan<- int, pong <-chan int) {
	for i := 0; i < n; i++ {
		ping <- i
		<-pong
	}
	group.Done()
}

func pingB(group *sync.WaitGroup, n int, ping <-chan int, pong chan<- int) {
	for i := 0; i < n; i++ {
		pong <- <-ping
	}
	group.Done()
}

func sleeps() []claim {
	const goroutines, each = 13, 17
	gather(goroutines, func(g *sync.WaitGroup) { go sleeper(g, each) })
	return append(lives("main.sleeper", goroutines), expect("sleeps", []string{"main.sleeper"},
		"block", []string{"sleep"}, goroutines*each,
		"time.Sleep of a positive duration always parks, once"))
}

func sleeper(group *sync.WaitGroup, n int) {
	for i := 0; i < n; i++ {
		time.Sleep(time.Millisecond)
	}
	group.Done()
}

func yields() []claim {
	const goroutines, each = 3, 997
	gather(goroutines, func(g *sync.WaitGroup) { go yielder(g, each) })
	return append(lives("main.yielder", goroutines), expect("yields", []string{"main.yielder"},
		"stop", []string{"runtime.Gosched"}, goroutines*each,
		"runtime.Gosched stops the caller even when nothing else is runnable"))
}

func yielder(group *sync.WaitGroup, n int) {
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
	group.Done()
}

// plainSyscalls: syscall.Syscall tells the scheduler, syscall.RawSyscall (so syscall.Getppid)
// does not.
func plainSyscalls() []claim {
	const n = 10009
	gather(1, func(g *sync.WaitGroup) { go syscaller(g, n) })
	gather(1, func(g *sync.WaitGroup) { go rawSyscaller(g, n) })
	one, raw := []string{"main.syscaller"}, []string{"main.rawSyscaller"}
	return []claim{
		expect("syscalls", one, "syscall", nil, n, "one entersyscall each"),
		expect("syscalls' ends", one, "syscall-end", nil, n, "each of them returned"),
		expect("raw syscalls", raw, "syscall", nil, 0, "RawSyscall does not tell the scheduler"),
	}
}

func syscaller(group *sync.WaitGroup, n int) {
	for i := 0; i < n; i++ {
		syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	group.Done()
}

func rawSyscaller(group *sync.WaitGroup, n int) {
	for i := 0; i < n; i++ {
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	group.Done()
}

// collections: with GOGC off and no memory limit only runtime.GC collects. Mark termination may
// stop the world more than once, sweep termination does once.
func collections() []claim {
	const n = 13
	if debug.SetGCPercent(-1) != -1 {
		protocol.Fail(errGCOn)
	}
	gather(1, func(g *sync.WaitGroup) { go collector(g, n) })
	const why = "runtime.GC runs one whole cycle, and nothing else starts one"
	return append(lives("main.collector", 1),
		expect("collections", nil, "range", []string{"GC concurrent mark phase"}, n, why),
		expect("sweep terminations", nil, "range",
			[]string{"stop-the-world (GC sweep termination)"}, n, why))
}

func collector(group *sync.WaitGroup, n int) {
	for i := 0; i < n; i++ {
		runtime.GC()
	}
	group.Done()
}
