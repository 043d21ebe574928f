// Cycles traces itself while it collects garbage with a heap that takes milliseconds to mark, and
// while it changes GOMAXPROCS.
//
//	cycles [-n N] -trace FILE
//
// The done line has the number of GC cycles within the trace, by runtime.MemStats, and the values
// of GOMAXPROCS.
package main

import (
	"flag"
	"runtime"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type result struct {
	Cycles uint32 `json:"cycles"`
	Procs  []int  `json:"gomaxprocs"`
}

type node struct {
	next *node
	_    [6]uint64
}

func cycles() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumGC
}

func main() {
	n := flag.Int("n", 5, "GC cycles")
	file := flag.String("trace", "", "have the runtime trace it, into `FILE`")
	flag.Parse()

	runtime.GOMAXPROCS(2)
	var list *node
	for i := 0; i < 500000; i++ {
		list = &node{next: list}
	}
	runtime.GC()
	protocol.Ready()
	stop := protocol.Trace(*file)
	before, done := cycles(), result{Procs: []int{2}}
	for i := 0; i < *n; i++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	for _, procs := range []int{1, 3, 3, 2} {
		runtime.GOMAXPROCS(procs)
		if procs != done.Procs[len(done.Procs)-1] {
			done.Procs = append(done.Procs, procs)
		}
		time.Sleep(time.Millisecond)
	}
	done.Cycles = cycles() - before
	stop()
	runtime.KeepAlive(list)
	protocol.Done(done)
}
