package compare

// This file tests alignment on synthetic sequences; cmd/compare -selftest tests the whole
// comparison.

import "testing"

// periodic returns n items of the keys 0 1 2 0 1 2 ..., 1 us apart.
func periodic(n int) []item {
	out := make([]item, n)
	for i := range out {
		out[i] = item{uint64(i % 3), int64(1000 * i)}
	}
	return out
}

// unmatched counts the items of each side without a counterpart.
func unmatched(pairs []pair) (t, o int) {
	for _, p := range pairs {
		if p.o < 0 {
			t++
		}
		if p.t < 0 {
			o++
		}
	}
	return t, o
}

func TestAlign(t *testing.T) {
	without := func(list []item, from, to int) []item {
		return append(append([]item(nil), list[:from]...), list[to:]...)
	}
	whole := periodic(300)
	changed := periodic(300)
	changed[100].key = 9
	for _, c := range []struct {
		name         string
		t, o         []item
		onlyT, onlyO int
	}{
		{"equal", whole, whole, 0, 0},
		{"both empty", nil, nil, 0, 0},
		{"nothing found", whole, nil, 300, 0},
		{"one dropped", whole, without(whole, 100, 101), 1, 0},
		{"a period dropped", whole, without(whole, 99, 102), 3, 0},
		{"one too many", without(whole, 100, 101), whole, 0, 1},
		{"one changed", whole, changed, 1, 1},
		{"begins earlier, by periods", whole[30:], whole, 0, 30},
		{"ends later", whole[:200], whole, 0, 100},
	} {
		onlyT, onlyO := unmatched(align(c.t, c.o))
		if onlyT != c.onlyT || onlyO != c.onlyO {
			t.Errorf("%s: %d and %d without counterpart, want %d and %d",
				c.name, onlyT, onlyO, c.onlyT, c.onlyO)
		}
	}
}

// TestAlignUnsureClocks: with a period shorter than the clock uncertainty, the alignment does not
// start late.
func TestAlignUnsureClocks(t *testing.T) {
	for _, offset := range []int64{-7000, -4000, -1600, 1600, 4000, 7000} {
		whole, late := periodic(900), periodic(900)
		whole[600].key, late[600].key = 9, 9 // where a wrong start shows
		for i := range late {
			late[i].time += offset
		}
		if onlyT, onlyO := unmatched(align(whole[60:], late)); onlyT != 0 || onlyO != 60 {
			t.Errorf("%d ns apart: %d and %d without counterpart, want 0 and 60", offset, onlyT, onlyO)
		}
	}
}

// TestAlignLateFirst: a thread was preempted between the probe and the runtime's timestamp of the
// first transition, so that the next life of the goroutine is nearer to it.
func TestAlignLateFirst(t *testing.T) {
	whole, late := periodic(300), periodic(300)
	for i := range whole {
		whole[i].time *= 1000 // periods of 3 ms
		late[i].time *= 1000
	}
	late[0].time += 1800e3
	for n, c := range map[string]struct{ t, o []item }{
		"from the first life on": {late, whole},
		"ours begins earlier":    {late[:30], append([]item{{0, -3e6}, {1, -2e6}, {2, -1e6}}, whole...)},
	} {
		onlyT, onlyO := unmatched(align(c.t, c.o))
		if want := len(c.o) - len(c.t); onlyT != 0 || onlyO != want {
			t.Errorf("%s: %d and %d without counterpart, want 0 and %d", n, onlyT, onlyO, want)
		}
	}
}

// TestAlignOffset: an offset between the clocks must appear in the times, not as differences.
func TestAlignOffset(t *testing.T) {
	whole, late := periodic(300), periodic(300)
	for i := range late {
		late[i].time += 300
	}
	if a, b := unmatched(align(whole, late)); a+b != 0 {
		t.Errorf("%d and %d without counterpart", a, b)
	}
}

func TestSummarise(t *testing.T) {
	diffs := make([]int64, 0, 100)
	for i := int64(1); i <= 100; i++ {
		diffs = append(diffs, -i)
	}
	s := summarise(diffs)
	if s.N != 100 || s.P50 != -50 || s.P99Abs != 99 || s.MaxAbs != 100 {
		t.Errorf("%+v", s)
	}
}
