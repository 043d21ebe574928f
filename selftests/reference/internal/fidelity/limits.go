package fidelity

// This file checks a release against the project's limits.

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gotrace-bpf/selftests/reference/internal/compare"
)

// Limits are the minimum results of a release; where they are maxima, zero means none.
type Limits struct {
	Goroutines, Transitions int
	Identical, IdenticalV1  float64 // per cent of goroutines
	P, M, Waker, Stacks     float64 // per cent
	Procs                   float64 // per cent of the Ps' transitions; not of the old format
	ClassStacks             float64 // per cent of stacks that one known class may be
	TimeP99                 time.Duration
	QuietTimes              int     // how many times must have been compared on a quiet machine
	OutliersQuiet           float64 // per cent of times that may be far apart
	OutliersBusy            float64
	Unexplained             bool // may there be differences of no class
}

// Failures lists the limits that a release misses.
func (l *Limits) Failures(r *Release) []string {
	var out []string
	fail := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, r.Go+": "+fmt.Sprintf(format, args...))
		}
	}
	percent := func(what string, a compare.Agreement, want float64) {
		fail(a.Percent() < want, "%s: %d of %d equal (%.4f %%), want %g %%",
			what, a.Equal, a.Total, a.Percent(), want)
	}
	fail(r.Goroutines.Total < l.Goroutines, "only %d goroutines, want %d", r.Goroutines.Total, l.Goroutines)
	fail(r.Transitions.Total < l.Transitions, "only %d transitions, want %d",
		r.Transitions.Total, l.Transitions)
	most := func(what string, n, of int, limit float64) {
		fail(100*float64(n) > limit*float64(of), "%s: %d, in addition to %d", what, n, of)
	}
	identical, m, procs, procsExtra := l.Identical, l.M, l.Procs, 100-l.Procs
	if r.V1() {
		identical, m = l.IdenticalV1, min(l.M, compare.V1MinM)
		procs, procsExtra = min(l.Procs, compare.V1MinProcs), compare.V1MostProcs
	} else {
		l.times(r, fail)
	}
	most("times: outliers on a quiet machine", r.Quiet.Outliers, r.Quiet.N, l.OutliersQuiet)
	most("times: outliers on a busy machine", r.Busy.Outliers, r.Busy.N, l.OutliersBusy)
	percent("goroutines", r.Goroutines, identical)
	percent("start functions", r.StartFunc, identical)
	percent("transitions", r.Transitions, identical)
	most("transitions extra", r.ExtraTrans, r.Transitions.Total, 100-identical)
	percent("P", r.P, l.P)
	percent("M", r.M, m)
	percent("wakers", r.Waker, l.Waker)
	percent("P transitions", r.ProcSeq, procs)
	most("P transitions extra", r.ProcExtra, r.ProcSeq.Total, procsExtra)
	for _, class := range slices.Sorted(maps.Keys(r.StackClasses)) {
		most("stacks of the class "+class, r.StackClasses[class], r.Stack.Total, l.ClassStacks)
	}
	percent("top frames", r.TopFunc, l.Stacks)
	percent("top lines", r.TopLine, l.Stacks)
	percent("whole stacks", r.Stack, l.Stacks)
	fail(r.Missing+r.Extra > 0, "%d goroutines missing, %d extra", r.Missing, r.Extra)
	fail(!l.Unexplained && r.Classes[compare.Unexplained] > 0, "%d goroutines differ unexplained",
		r.Classes[compare.Unexplained])
	for _, name := range r.names() {
		c := r.Counts[name]
		fail(c.Must && !c.Equal, "%s: %d in the runtime's trace, %d in ours", name, c.Go, c.Ours)
	}
	fail(r.Truth.Total == 0, "no known counts")
	for _, line := range r.Wrong {
		fail(true, "%s", line)
	}
	return out
}

// times checks those of runs on a quiet machine, of which there must be some.
func (l *Limits) times(r *Release, fail func(bad bool, format string, args ...any)) {
	if l.TimeP99 <= 0 {
		return
	}
	if r.Quiet.Runs == 0 {
		fail(true, "times: not compared: no run below %d %%", r.Quieter)
		return
	}
	fail(r.Quiet.N < l.QuietTimes, "times: only %d on a quiet machine, want %d", r.Quiet.N, l.QuietTimes)
	fail(r.Quiet.P99Abs > l.TimeP99.Nanoseconds(), "times: p99 %s, want %s",
		time.Duration(r.Quiet.P99Abs), l.TimeP99)
}

func (r *Release) names() []string {
	var names []string
	for name := range r.Counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
