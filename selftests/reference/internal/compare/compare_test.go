package compare

// This file tests a whole comparison on a synthetic trace.

import (
	"slices"
	"testing"
	"time"

	"gotrace-bpf/selftests/reference/internal/testtrace"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

func TestCompareWithItself(t *testing.T) {
	tr, err := tracefile.Load(testtrace.Record(t), tracefile.NewTables())
	if err != nil {
		t.Fatal(err)
	}
	perfect := &Thresholds{
		MinGoroutines: 10, MinTransitions: 6 * testtrace.RoundTrips, MinReason: 20,
		Reasons: []string{"running->waiting (sleep)"}, Identical: 100, P: 100, M: 100, Frames: 100,
		NoOutliers: true, NoMissing: true,
	}
	if failures := Compare(tr, tr, DefaultOptions()).Failures(perfect); len(failures) > 0 {
		t.Error(failures)
	}
	worse := *tr
	worse.Transitions = slices.Clone(tr.Transitions)
	for i := range worse.Transitions {
		worse.Transitions[i].P ^= 1
	}
	r := Compare(tr, &worse, DefaultOptions())
	if r.P.Equal != 0 || r.Goroutines.Equal != r.Goroutines.Total || r.DiffCount["P"] != r.P.Total {
		t.Errorf("swapped Ps: %+v, goroutines %+v", r.P, r.Goroutines)
	}
}

// made returns a trace of three goroutines in turn, with a transition every millisecond for a
// second.
func made() *tracefile.Trace {
	states := []trace.GoState{trace.GoRunning, trace.GoWaiting, trace.GoRunnable}
	tr := &tracefile.Trace{Tables: tracefile.NewTables(), End: 1000e6}
	for i := range 1000 {
		n := i / 3
		tr.Transitions = append(tr.Transitions, tracefile.Transition{
			G: int64(1 + i%3), Time: int64(i) * 1e6, From: states[n%3], To: states[(n+1)%3],
		})
	}
	return tr
}

// A transition 24 ms from the window's end that is missing in ours is a difference, unless the
// times of another one are at least as far apart.
func TestEdgeGrows(t *testing.T) {
	ours := made()
	ours.Transitions = slices.Delete(ours.Transitions, 960, 961)
	opt := DefaultOptions()
	opt.EdgeMax = 60 * time.Millisecond
	differs := func() bool {
		r := Compare(made(), ours, opt)
		return r.Goroutines.Equal != r.Goroutines.Total
	}
	if !differs() {
		t.Error("all times are equal, but the missing transition was let through")
	}
	ours.Transitions[500].Time += 20e6
	if !differs() {
		t.Error("20 ms late, but a transition 24 ms from the end was let through")
	}
	ours.Transitions[500].Time += 10e6
	if differs() {
		t.Error("30 ms late, but a transition 24 ms from the end is a difference")
	}
	opt.EdgeMax = 0
	if !differs() {
		t.Error("the edge grew although it may not")
	}
}

// An annotation of ours that is the goroutine's last one before the truth's end may not have been written
// there yet; any other one is extra.
func TestPendingAnnotation(t *testing.T) {
	note := func(ms, task int64) tracefile.Annotation {
		return tracefile.Annotation{Time: ms * 1e6, G: 1, Kind: trace.EventTaskBegin, Task: uint64(task)}
	}
	for _, test := range []struct {
		after []int64 // ms of the annotations after the first, in ours only
		extra int
	}{{[]int64{900}, 0}, {[]int64{900, 1002}, 0}, {[]int64{900, 950}, 1}, {nil, 0}} {
		truth, ours := made(), made()
		truth.Annotations = []tracefile.Annotation{note(500, 1)}
		ours.Annotations = []tracefile.Annotation{note(500, 1)}
		for i, ms := range test.after {
			ours.Annotations = append(ours.Annotations, note(ms, int64(i)+2))
		}
		if r := Compare(truth, ours, DefaultOptions()); r.AnnotationsExtra != test.extra {
			t.Errorf("%v: %d extra instead of %d", test.after, r.AnnotationsExtra, test.extra)
		}
	}
}
