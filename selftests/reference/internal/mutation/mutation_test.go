package mutation

// This file tests that mutants are reproducible, and that many of them pass the first checks of a
// reader.

import (
	"bytes"
	"os"
	"testing"

	"gotrace-bpf/selftests/reference/internal/expected"
	"gotrace-bpf/selftests/reference/internal/testtrace"
)

func TestMutants(t *testing.T) {
	data, err := os.ReadFile(testtrace.Record(t))
	if err != nil {
		t.Fatal(err)
	}
	bases := []Base{{"real", data}, {"none", []byte("no trace at all")}}
	original := bytes.Clone(data)
	a, b := New(7, bases, 3), New(7, bases, 3)
	const n = 100
	kinds := map[string]int{}
	reasons := map[string]bool{}
	for i := range uint64(n) {
		x, base, changes := a.Mutant(i)
		y, _, _ := b.Mutant(i)
		if !bytes.Equal(x, y) {
			t.Errorf("mutant %d differs from itself: %s", i, changes)
		}
		if changes == "" {
			t.Errorf("mutant %d of %s: nothing was done", i, base)
		}
		v := expected.Of(bytes.NewReader(x), nil)
		kinds[v.Kind]++
		if v.Kind == expected.Refused {
			reasons[v.Reason] = true
		}
	}
	if !bytes.Equal(data, original) {
		t.Error("the base was changed")
	}
	if kinds[expected.OK] < n/20 || kinds[expected.Refused] < n/3 || len(reasons) < n/10 {
		t.Errorf("results %v, %d reasons", kinds, len(reasons))
	}
	x, _, _ := a.Mutant(1)
	if y, _, _ := New(8, bases, 3).Mutant(1); bytes.Equal(x, y) {
		t.Error("another seed makes the same mutant")
	}
}
