// Hazards does, between "start" and "done", something that may go wrong while inline probes are put
// into a program, are in it, or are taken out again: see selftests/check/inline-hazards.sh.
//
//	hazards [-duration D] dispatch | asleep | fork | filter | leftover | exec | idle
//
// It speaks the handshake of package protocol, and works a little all the time: main.worker. The done
// line has the exact number of workers as claims.
package main

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	batch = 20 // workers that run at a time
	pause = 5 * time.Millisecond
)

var hazards = map[string]func(time.Duration) int{
	"dispatch": dispatch,
	"asleep":   dispatchAsleep,
	"fork":     forkAndWork,
	"filter":   filterAndWork,
	"leftover": work,
	"idle":     work,
}

func main() {
	duration := flag.Duration("duration", time.Second, "time between start and done")
	flag.Parse()
	name := flag.Arg(0)
	if name == "exec" {
		execute(*duration) // prints "ready" only once
		return
	}
	hazard := hazards[name]
	if hazard == nil {
		flag.Usage()
		os.Exit(2)
	}
	if name == "leftover" {
		plantLeftover()
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1) // a forked child has only one thread
	protocol.Ready()
	workers := hazard(*duration)
	protocol.Done(map[string]any{"go": runtime.Version(), "child": child, "expect": claims(workers)})
	reap()
}

func claims(workers int) []protocol.Claim {
	names := []string{"main.worker"}
	return []protocol.Claim{
		{Name: "created workers", Functions: names, Event: "create", Count: workers,
			Why: "one go statement each"},
		{Name: "ended workers", Functions: names, Event: "destroy", Count: workers,
			Why: "each returns"},
		{Name: "yields of workers", Functions: names, Event: "stop",
			Reasons: []string{"runtime.Gosched"}, Count: workers, Why: "one each"},
	}
}

func worker(group *sync.WaitGroup) {
	runtime.Gosched()
	group.Done()
}

// work returns the number of workers that ran.
func work(duration time.Duration) (workers int) {
	return workWith(duration, time.Sleep)
}

func workWith(duration time.Duration, sleep func(time.Duration)) (workers int) {
	for begin := time.Now(); time.Since(begin) < duration; sleep(pause) {
		runBatch()
		workers += batch
	}
	return workers
}

func runBatch() {
	var group sync.WaitGroup
	for i := 0; i < batch; i++ {
		group.Add(1)
		go worker(&group)
	}
	group.Wait()
}
