package fidelity

// This file judges a release by what the project promises.

import (
	"fmt"
	"slices"
	"time"

	"gotrace-bpf/selftests/reference/internal/compare"
)

// Limits are what a release must reach; zero values ask nothing.
type Limits struct {
	Goroutines, Transitions int
	Identical, IdenticalV1  float64 // per cent of goroutines
	P, M, Stacks            float64 // per cent; M not of the old format
	TimeP99                 time.Duration
	Unexplained             bool // may there be differences of no class
}

// Failures lists what a release misses.
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
	identical := l.Identical
	if r.V1() {
		identical = l.IdenticalV1
	} else {
		percent("M", r.M, l.M)
		fail(l.TimeP99 > 0 && r.Quiet.P99Abs > l.TimeP99.Nanoseconds(), "times: p99 %s, want %s",
			time.Duration(r.Quiet.P99Abs), l.TimeP99)
	}
	percent("goroutines", r.Goroutines, identical)
	percent("P", r.P, l.P)
	percent("top frames", r.TopFunc, l.Stacks)
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

func (r *Release) names() []string {
	var names []string
	for name := range r.Counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
