package compare

// This file tests that counted events are matched at their times.

import (
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	const us = int64(time.Microsecond)
	every := func(n int, apart, from int64, value string) (out []sample) {
		for i := 0; i < n; i++ {
			out = append(out, sample{from + int64(i)*apart, value})
		}
		return out
	}
	without := func(list []sample, i int) []sample {
		return append(append([]sample(nil), list[:i]...), list[i+1:]...)
	}
	many := every(1000, 1000*us, 0, "") // a second
	c := comparer{
		Options: Options{Blur: 5 * time.Millisecond}, lo: 10_000 * us, hi: 990_000 * us, to: 1_000_000 * us,
	}
	late := every(1000, 1000*us, 7*us, "")
	late[500].time += 30_000 * us // its thread was preempted
	for _, test := range []struct {
		name        string
		truth, ours []sample
		equal       bool
		values      Agreement
	}{
		{"equal", many, many, true, Agreement{}},
		{"a bit later", many, every(1000, 1000*us, 300*us, ""), true, Agreement{}},
		{"one much later", many, late, true, Agreement{}},
		{"one lost", many, without(many, 500), false, Agreement{}},
		{"one lost, near the end", many, without(many, 980), false, Agreement{}},
		{"one lost at the end", many, without(many, 988), true, Agreement{}},
		{"one invented", without(many, 500), many, false, Agreement{}},
		{"one moved", many, append([]sample{{100, ""}}, without(many, 700)...), false, Agreement{}},
		{"values equal", every(3, us, 500_000*us, "7"), every(3, us, 500_000*us, "7"), true, Agreement{6, 6}},
		{"another value", every(1, us, 500_000*us, "7"), every(1, us, 500_000*us, "8"), false, Agreement{0, 2}},
		{"a value much later", every(1, us, 100_000*us, "7"), every(1, us, 500_000*us, "7"), false, Agreement{0, 2}},
		{"a value lost at the end", every(1, us, 989_000*us, "7"), nil, false, Agreement{0, 1}},
	} {
		c.report = &Report{Counts: map[string]Count{}}
		c.countSamples("x", true, test.truth, test.ours)
		if got := c.report.Counts["x"]; got.Equal != test.equal || got.Values != test.values {
			t.Errorf("%s: %+v, want %v %+v", test.name, got, test.equal, test.values)
		}
	}
}
