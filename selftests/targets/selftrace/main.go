// Selftrace is the target of the same-run comparison: it traces itself with runtime/trace while
// gotrace-bpf records it from outside, and performs every kind of goroutine transition often enough
// for a comparison, on a machine that is not saturated.
//
//	selftrace -trace FILE [-duration D] [-warm] [-procs N] [-resizes N] [-churn N]
//	          [-heap MIB] [-slower N] [-between N] [-least N] [-flight AGE]
//
// It speaks the handshake of package protocol; runtime/trace runs only between "start" and "done",
// so its window lies inside the outer recorder's. The done line counts, by kind, the operations
// begun meanwhile. Tracing stops while the work continues, so that the comparison's treatment of
// the window's edges is tested too.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	file := flag.String("trace", "", "write the runtime's own trace to `FILE`")
	duration := flag.Duration("duration", 5*time.Second, "how long to work")
	warm := flag.Bool("warm", false, "start the work before saying ready")
	procs := flag.Int("procs", 2, "GOMAXPROCS, 0 leaves it")
	resizes := flag.Int("resizes", 2, "how many times to shrink and restore GOMAXPROCS meanwhile")
	churn := flag.Int("churn", 1, "how many times 800 goroutines per second come and go")
	heap := flag.Int("heap", 0, "keep so many `MIB` alive, and allocate without pause in addition")
	slower := flag.Int("slower", 1, "make all pauses so many times as long, for a machine with time to spare")
	between := flag.Int("between", 500, "how much to compute between two system calls of a burst: with 500 they are most of all events")
	least := flag.Int64("least", 1, "after the duration, wait until each kind of work was done `N` times")
	flight := flag.Duration("flight", 0, "with -trace: write what the runtime's flight recorder has, of at least this `AGE`")
	flag.Parse()
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}

	w := newWorkload(*churn)
	w.heap, w.slower, w.between = *heap, *slower, *between
	if *warm {
		w.start()
		time.Sleep(300 * time.Millisecond)
	}
	protocol.Ready()

	before := w.counts.snapshot()
	stopTrace := startTrace(*file, *flight)
	if !*warm {
		w.start()
	}
	resizeProcs(*resizes, *duration)
	w.counts.await(*least, before)
	stopTrace()
	after := w.counts.snapshot()
	w.stop()

	result := map[string]int64{}
	for name, n := range after {
		result[name] = n - before[name]
	}
	protocol.Done(result)
}

func startTrace(file string, flight time.Duration) (stop func()) {
	if flight > 0 {
		return startFlight(file, flight)
	}
	return protocol.Trace(file)
}

// resizeProcs sleeps for d, interrupted by n pairs of GOMAXPROCS changes at equal intervals.
func resizeProcs(n int, d time.Duration) {
	pause := d / time.Duration(n+1)
	for i := 0; i < n; i++ {
		time.Sleep(pause)
		old := runtime.GOMAXPROCS(0)
		if old > 1 {
			runtime.GOMAXPROCS(old - 1)
		}
		time.Sleep(5 * time.Millisecond)
		runtime.GOMAXPROCS(old)
	}
	time.Sleep(pause)
}

// counts are the operations begun, by kind. They are not compared with the trace, and only describe
// the load.
type counts struct {
	goroutines, roundTrips, sends, selects, locks, waitGroups, conds, sleeps atomic.Int64
	requests, spins, yields, collections, coroutines, pipeReads, syscalls    atomic.Int64
	lockedThreads, timers, goexits, annotations                              atomic.Int64
}

func (c *counts) snapshot() map[string]int64 {
	return map[string]int64{
		"goroutines": c.goroutines.Load(), "chan_round_trips": c.roundTrips.Load(),
		"chan_sends": c.sends.Load(), "selects": c.selects.Load(), "locks": c.locks.Load(),
		"waitgroup_rounds": c.waitGroups.Load(), "cond_waits": c.conds.Load(),
		"sleeps": c.sleeps.Load(), "network_requests": c.requests.Load(),
		"spins": c.spins.Load(), "yields": c.yields.Load(), "gcs": c.collections.Load(),
		"coroutines": c.coroutines.Load(), "pipe_reads": c.pipeReads.Load(),
		"syscalls": c.syscalls.Load(), "locked_threads": c.lockedThreads.Load(),
		"timers": c.timers.Load(), "goexits": c.goexits.Load(),
		"annotations": c.annotations.Load(),
	}
}

// await waits until each of these kinds of work was done n times since before: on a busy machine a
// short duration can pass before any worker runs, and the trace would be empty.
func (c *counts) await(n int64, before map[string]int64) {
	deadline := time.Now().Add(time.Minute)
	for _, name := range []string{"annotations", "chan_round_trips", "chan_sends", "locks", "sleeps", "syscalls"} {
		for c.snapshot()[name]-before[name] < n {
			if time.Now().After(deadline) {
				protocol.Fail(fmt.Errorf("selftrace: not %d %s within a minute", n, name))
			}
			time.Sleep(time.Millisecond)
		}
	}
}
