package compare

// This file tests a whole comparison on a trace of the runtime's.

import (
	"slices"
	"testing"

	"gotrace-bpf/selftests/reference/internal/testtrace"
	"gotrace-bpf/selftests/reference/internal/tracefile"
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
