// Statetimes compares how long goroutines were in each state in two traces of the same seconds, of
// which the first is the program's own.
//
//	statetimes [-max PERCENT] [-edge DURATION] [-kernel EVENTS] OWN OURS
//
// EVENTS is the output of `gotrace events --kernel --json OURS`: then each of our times counts less the
// time for which its thread was off the CPU since the program took its own, or until it did. A busy machine
// otherwise shows how often a thread was preempted between the two.
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
	"slices"
	"sort"
	"time"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/kernel"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// change is one of a goroutine's state.
type change struct {
	from, to trace.GoState
	at       trace.Time
	thread   trace.ThreadID
}

type history struct {
	from, to   trace.Time
	goroutines map[trace.GoID][]change
}

var states = []trace.GoState{trace.GoRunning, trace.GoSyscall, trace.GoRunnable, trace.GoWaiting}

func load(path string) (h history, err error) {
	h.goroutines = map[trace.GoID][]change{}
	_, err = tracefile.WalkFile(path, func(_ int, ev *trace.Event) error {
		if h.from == 0 {
			h.from = ev.Time()
		}
		h.to = max(h.to, ev.Time())
		if ev.Kind() != trace.EventStateTransition || ev.StateTransition().Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		id := ev.StateTransition().Resource.Goroutine()
		c := change{at: ev.Time(), thread: ev.Thread()}
		c.from, c.to = ev.StateTransition().Goroutine()
		if c.from == trace.GoUndetermined { // its first status: its state since the trace began
			c.at = h.from
		}
		h.goroutines[id] = append(h.goroutines[id], c)
		return nil
	})
	return h, err
}

// within sums the time by state in a window.
func (h history) within(from, to trace.Time) map[trace.GoState]time.Duration {
	sums := map[trace.GoState]time.Duration{}
	for _, changes := range h.goroutines {
		for i, c := range changes {
			end := h.to
			if i+1 < len(changes) {
				end = changes[i+1].at
			}
			if begin, end := max(c.at, from), min(end, to); begin < end {
				sums[c.to] += time.Duration(end - begin)
			}
		}
	}
	return sums
}

// offs has the times for which each thread was off the CPU.
type offs map[trace.ThreadID][][2]trace.Time

func loadOffs(path string) (offs, error) {
	items, err := kernel.LoadItems(path)
	all, since := offs{}, map[int]int64{}
	for _, item := range items {
		switch left, off := since[item.M]; {
		case item.Event == "off_cpu" && !off:
			since[item.M] = item.Time
		case item.Event == "on_cpu" && off:
			thread := trace.ThreadID(item.M)
			all[thread] = append(all[thread], [2]trace.Time{trace.Time(left), trace.Time(item.Time)})
			delete(since, item.M)
		}
	}
	return all, err
}

// between is for how long the thread was off the CPU between two times.
func (o offs) between(thread trace.ThreadID, from, to trace.Time) (sum trace.Time) {
	list := o[thread]
	for i := sort.Search(len(list), func(i int) bool { return list[i][1] > from }); i < len(list) && list[i][0] < to; i++ {
		sum += min(list[i][1], to) - max(list[i][0], from)
	}
	return sum
}

const (
	farMost  = trace.Time(time.Second / 4) // between both times of a change
	compared = 1000                        // changes, to find the same one
)

func same(a, b change) bool { return a.from == b.from && a.to == b.to }

// match returns where own's first change of a state that both have is in ours: those that follow are the same, and nearest
// in time, as a single late one says little.
func match(own, ours []change) (first, at int, ok bool) {
	for first < len(own) && own[first].from == trace.GoUndetermined {
		first++
	}
	best := math.Inf(1)
	for i := range ours {
		n := min(len(own)-first, len(ours)-i)
		if 2*n < len(own)-first || n == 0 || max(ours[i].at-own[first].at, own[first].at-ours[i].at) > farMost {
			continue
		}
		if n = min(n, compared); !slices.EqualFunc(own[first:first+n], ours[i:i+n], same) {
			continue
		}
		if apart := apart(own[first:], ours[i:]); apart < best {
			best, at, ok = apart, i, true
		}
	}
	return first, at, ok
}

// apart is the mean distance of the first few of both.
func apart(a, b []change) (sum float64) {
	n := min(len(a), len(b), 50)
	for i := range n {
		sum += math.Abs(float64(a[i].at - b[i].at))
	}
	return sum / float64(n)
}

// discount moves our times nearer to the program's own by the time for which the thread was off the CPU between them.
func (h history) discount(own history, off offs) (changes int, sum time.Duration) {
	for id, ours := range h.goroutines {
		first, at, ok := match(own.goroutines[id], ours)
		for i := 0; ok && first+i < len(own.goroutines[id]) && at+i < len(ours); i++ {
			theirs, c := own.goroutines[id][first+i].at, &ours[at+i]
			if !same(own.goroutines[id][first+i], *c) {
				break
			}
			d := off.between(c.thread, min(theirs, c.at), max(theirs, c.at))
			if d == 0 {
				continue
			}
			changes++
			sum += time.Duration(d)
			if c.at > theirs {
				d = -d
			}
			c.at += d
		}
	}
	return changes, sum
}

func main() {
	limit := flag.Float64("max", math.Inf(1), "percent by which runnable or system calls may differ")
	items := flag.String("kernel", "", "the kernel events of OURS")
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
	if *items != "" {
		off, err := loadOffs(*items)
		command.Check(err)
		changes, sum := ours.discount(own, off)
		fmt.Printf("off the CPU between both times: %d changes, %v\n", changes, sum)
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
