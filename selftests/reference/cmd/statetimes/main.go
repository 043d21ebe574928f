// Statetimes compares how long goroutines were in each state in two traces of the same seconds, of
// which the first is the program's own.
//
//	statetimes [-max PERCENT] [-edge DURATION] OWN OURS
//
// Each state's time is summed over all goroutines within the common window, less -edge at both ends.
// Both traces have times of CLOCK_MONOTONIC (Go 1.22 and newer). Prints a line per state. Exit status
// 1 if the time runnable or in system calls differs by more than -max and is at least 5 % of the time
// apart from waiting. The time running includes that of our probes and of the program's own tracer.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// stay is one goroutine's time in a state.
type stay struct {
	state    trace.GoState
	from, to trace.Time
}

type history struct {
	from, to trace.Time
	stays    []stay
}

var states = []trace.GoState{trace.GoRunning, trace.GoSyscall, trace.GoRunnable, trace.GoWaiting}

func load(path string) (h history, err error) {
	current := map[trace.GoID]stay{}
	_, err = tracefile.WalkFile(path, func(_ int, ev *trace.Event) error {
		if h.from == 0 {
			h.from = ev.Time()
		}
		h.to = max(h.to, ev.Time())
		if ev.Kind() != trace.EventStateTransition {
			return nil
		}
		change := ev.StateTransition()
		if change.Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		from, to := change.Goroutine()
		id, since := change.Resource.Goroutine(), ev.Time()
		if from == trace.GoUndetermined { // its first status: its state since the trace began
			since = h.from
		}
		if before, known := current[id]; known {
			before.to = ev.Time()
			h.stays = append(h.stays, before)
		}
		current[id] = stay{state: to, from: since}
		return nil
	})
	for _, last := range current {
		last.to = h.to
		h.stays = append(h.stays, last)
	}
	return h, err
}

// within sums the time by state in a window.
func (h history) within(from, to trace.Time) map[trace.GoState]time.Duration {
	sums := map[trace.GoState]time.Duration{}
	for _, s := range h.stays {
		if begin, end := max(s.from, from), min(s.to, to); begin < end {
			sums[s.state] += time.Duration(end - begin)
		}
	}
	return sums
}

func main() {
	limit := flag.Float64("max", math.Inf(1), "percent by which runnable or system calls may differ")
	edge := flag.Duration("edge", 10*time.Millisecond, "time at both ends of the window that is left out")
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	own, err := load(flag.Arg(0))
	command.Check(err)
	ours, err := load(flag.Arg(1))
	command.Check(err)
	from, to := max(own.from, ours.from)+trace.Time(*edge), min(own.to, ours.to)-trace.Time(*edge)
	if from >= to {
		command.Check(fmt.Errorf("no common window: %d to %d", from, to))
	}
	want, have := own.within(from, to), ours.within(from, to)
	active := want[trace.GoRunning] + want[trace.GoSyscall] + want[trace.GoRunnable]
	failed := false
	for _, state := range states {
		off := 100 * (float64(have[state])/float64(want[state]) - 1)
		counts := (state == trace.GoRunnable || state == trace.GoSyscall) && want[state] >= active/20
		failed = failed || counts && math.Abs(off) > *limit
		fmt.Printf("%-10s own %12v ours %12v %+8.2f %%\n", state, want[state], have[state], off)
	}
	fmt.Printf("window %v\n", time.Duration(to-from))
	if failed {
		os.Exit(1)
	}
}
