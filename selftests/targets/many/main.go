// Many is a load of many goroutines and threads: by default 10,000 goroutines and 50 OS threads
// that together cause about 200,000 scheduler events per second.
//
//	many [-duration D] [-goroutines N] [-threads N] [-rate EVENTS] [-trace FILE]
//
// It speaks the handshake of package protocol. One cycle of a goroutine is a sleep and a yield,
// five events: block, unblock, start, stop, start. Half of the threads belong to goroutines
// locked to them that do such cycles too, the other half sit in a blocking read. The done line
// has the exact number of cycles.
package main

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	eventsPerCycle = 5
	// Switching to a locked goroutine costs a thread switch, so those cycle at a fixed low rate.
	lockedPeriod = 20 * time.Millisecond
)

var stopped atomic.Bool

type result struct {
	Goroutines   int     `json:"goroutines"`
	Threads      int     `json:"threads"`
	Cycles       int64   `json:"cycles"`
	LockedCycles int64   `json:"locked_cycles"`
	Events       int64   `json:"events"` // of those cycles; other events come on top
	Seconds      float64 `json:"seconds"`
	PerSecond    float64 `json:"events_per_second"`
	CPUNS        int64   `json:"cpu_ns"`

	Expect []protocol.Claim `json:"expect"`
}

func main() {
	duration := flag.Duration("duration", time.Second, "how long to work; 0: until the line \"stop\"")
	goroutines := flag.Int("goroutines", 10_000, "goroutines that sleep and yield")
	threads := flag.Int("threads", 50, "OS threads held")
	rate := flag.Int("rate", 200_000, "scheduler events per second to aim at")
	file := flag.String("trace", "", "have the runtime trace it, into `FILE`")
	flag.Parse()

	var fds [2]int
	protocol.Check(syscall.Pipe(fds[:]))
	for i := 0; i < *threads/2; i++ {
		go blockedReader(fds[0])
	}
	var group sync.WaitGroup
	var cycles, lockedCycles atomic.Int64
	begin := make(chan time.Time)
	period := time.Duration(eventsPerCycle*float64(*goroutines)/float64(*rate)*1e9) * time.Nanosecond
	end := func(t time.Time) time.Time { return t.Add(*duration) }
	if *duration == 0 {
		end = func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }
	}
	worker := func(i int) {
		defer group.Done()
		t := <-begin
		// Spread over the period, to avoid simultaneous wake-ups.
		first := t.Add(period * time.Duration(i) / time.Duration(*goroutines))
		cycles.Add(cycler(first, end(t), period))
	}
	locked := func() {
		defer group.Done()
		runtime.LockOSThread()
		t := <-begin
		lockedCycles.Add(cycler(t, end(t), lockedPeriod))
	}
	nLocked := (*threads + 1) / 2
	group.Add(*goroutines + nLocked)
	for i := 0; i < *goroutines; i++ {
		go runWorker(worker, i)
	}
	for i := 0; i < nLocked; i++ {
		go runLocked(locked)
	}

	protocol.Ready()
	stop := protocol.Trace(*file)
	t, cpu := time.Now(), protocol.CPU()
	for i := 0; i < *goroutines+nLocked; i++ {
		begin <- t
	}
	if *duration == 0 {
		protocol.Stop()
		stopped.Store(true)
	}
	group.Wait()
	seconds := time.Since(t).Seconds()
	stop()
	r := result{
		Goroutines: *goroutines, Threads: *threads, Cycles: cycles.Load(),
		LockedCycles: lockedCycles.Load(), Seconds: seconds, CPUNS: protocol.CPU() - cpu,
	}
	r.Events = eventsPerCycle * (r.Cycles + r.LockedCycles)
	r.PerSecond = float64(r.Events) / seconds
	r.Expect = append(claims("main.runWorker", r.Cycles), claims("main.runLocked", r.LockedCycles)...)
	protocol.Done(r)
}

// claims: a cycle is exactly one sleep and one yield, whatever the scheduler does.
func claims(function string, cycles int64) []protocol.Claim {
	one, n := []string{function}, int(cycles)
	const why = "one a cycle"
	return []protocol.Claim{
		{Name: "sleeps", Functions: one, Event: "block", Reasons: []string{"sleep"}, Count: n, Why: why},
		{Name: "wakes", Functions: one, Event: "unblock", Reasons: []string{"sleep"}, Count: n, Why: why},
		{Name: "yields", Functions: one, Event: "stop", Reasons: []string{"runtime.Gosched"}, Count: n, Why: why},
	}
}

// runWorker and runLocked give the two kinds of goroutines different names in a trace.
func runWorker(work func(int), i int) { work(i) }
func runLocked(work func())           { work() }

// cycler sleeps until each multiple of the period after first, then yields, and counts the cycles.
func cycler(first, end time.Time, period time.Duration) (n int64) {
	for next := first; next.Before(end) && !stopped.Load(); next = next.Add(period) {
		wait := time.Until(next)
		if wait <= 0 {
			wait = 1 // otherwise there would be no sleep when late
		}
		time.Sleep(wait)
		runtime.Gosched()
		n++
	}
	return n
}

// blockedReader holds a thread in a read that never returns.
func blockedReader(fd int) {
	var buf [1]byte
	syscall.Read(fd, buf[:])
}
