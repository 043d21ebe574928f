package waits

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Interval ends at End and lasted for Length, which is -1 if its begin is unknown.
type Interval struct {
	End, Length int64
	// Early: it began before the first item of its thread. Its begin may be in the table of threads
	// with which the trace starts, which the lines lack.
	Early bool
	// G: whose it is, or None.
	G int64
}

// Of returns those of a goroutine.
func Of(all []Interval, g int64) (some []Interval) {
	for _, i := range all {
		if i.G == g {
			some = append(some, i)
		}
	}
	return some
}

// MostFrequent returns the goroutine with the most intervals; None: they are of no goroutine.
func MostFrequent(all []Interval) int64 {
	count, most := map[int64]int{}, int64(None)
	for _, i := range all {
		count[i.G]++
	}
	delete(count, None)
	for g, n := range count {
		if most == None || n > count[most] || n == count[most] && g < most {
			most = g
		}
	}
	return most
}

// Histogram is the output of `gotrace histogram --json`.
type Histogram struct {
	Of                                         string
	Count, Sum, Min, Max, P50, P99, NotCounted int64
	Buckets                                    [][3]int64 // from, below, count
}

// ParseHistogram reads it.
func ParseHistogram(text []byte) (*Histogram, error) {
	var out struct {
		Of         string
		Count      int64
		NotCounted int64 `json:"not_counted"`
		Sum        int64 `json:"sum_ns"`
		Min        int64 `json:"min_ns"`
		P50        int64 `json:"p50_ns"`
		P99        int64 `json:"p99_ns"`
		Max        int64 `json:"max_ns"`
		Buckets    []struct {
			From  int64 `json:"from_ns"`
			Below int64 `json:"below_ns"`
			Count int64
		}
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	h := &Histogram{Of: out.Of, Count: out.Count, Sum: out.Sum, Min: out.Min, Max: out.Max, P50: out.P50, P99: out.P99,
		NotCounted: out.NotCounted}
	for _, b := range out.Buckets {
		h.Buckets = append(h.Buckets, [3]int64{b.From, b.Below, b.Count})
	}
	return h, nil
}

// Kinds lists the values of --of to compare: all kinds, and the most frequent name of each kind that
// has names.
func Kinds(lines []*Line) []string {
	kinds := []string{"sched", "runqueue", "syscall", "gc", "stw", "block", "block:no such reason"}
	names := map[string]map[string]int{"syscall": {}, "stw": {}, "block": {}}
	for _, l := range lines {
		switch {
		case l.Event == "sys_exit":
			names["syscall"][l.Syscall]++
		case l.Kind == "RangeBegin" && stopReason(l) != "":
			names["stw"][stopReason(l)]++
		case l.To == "Waiting" && l.From == "Running" && l.Reason != "":
			names["block"][l.Reason]++
		}
	}
	for _, kind := range []string{"syscall", "stw", "block"} {
		most := ""
		for name, n := range names[kind] {
			if most == "" || n > names[kind][most] || n == names[kind][most] && name < most {
				most = name
			}
		}
		if most != "" {
			kinds = append(kinds, kind+":"+most)
		}
	}
	return kinds
}

func stopReason(l *Line) string {
	if rest, ok := strings.CutPrefix(l.Name, "stop-the-world ("); ok {
		return strings.TrimSuffix(rest, ")")
	}
	return ""
}

// Intervals finds all of a kind, in no particular order.
func Intervals(lines []*Line, m *Model, of string) []Interval {
	kind, name, _ := strings.Cut(of, ":")
	switch kind {
	case "sched":
		return ofState(lines, "Runnable", "")
	case "block":
		return ofState(lines, "Waiting", name)
	case "runqueue":
		return m.queueWaits()
	case "syscall":
		calls := slices.ContainsFunc(lines, func(l *Line) bool { return l.Event == "sys_enter" || l.Event == "sys_exit" })
		if calls || name != "" {
			return systemCalls(lines, name)
		}
		return ofState(lines, "Syscall", "")
	case "gc":
		return ranges(lines, func(l *Line) bool { return l.Name == "GC concurrent mark phase" })
	}
	return ranges(lines, func(l *Line) bool { r := stopReason(l); return r != "" && (name == "" || r == name) })
}

func ofState(lines []*Line, state, reason string) (all []Interval) {
	type since struct {
		at    int64
		known bool
	}
	in := map[int64]since{}
	for _, l := range lines {
		if l.Kind != "StateTransition" || l.Goroutine == nil || l.From == l.To {
			continue
		}
		if s, ok := in[*l.Goroutine]; ok && l.From == state {
			i := Interval{End: l.Time, Length: -1, G: *l.Goroutine}
			if s.known {
				i.Length = l.Time - s.at
			}
			all = append(all, i)
		}
		delete(in, *l.Goroutine)
		if l.To == state && (reason == "" || l.Reason == reason) {
			in[*l.Goroutine] = since{l.Time, l.From != "Undetermined"}
		}
	}
	return all
}

// queueWaits finds the times that threads waited for a CPU, except those whose on_cpu the kernel has
// not reported: when they ended is unknown.
func (m *Model) queueWaits() (all []Interval) {
	for _, t := range m.Threads {
		for i := 1; i < len(t.Runs); i++ {
			r, next := t.Runs[i-1], t.Runs[i]
			switch {
			case r.Is != "runnable" || !next.Got:
			case r.Guess:
				all = append(all, Interval{next.At, -1, true, None})
			default:
				all = append(all, Interval{next.At, next.At - r.At, false, None})
			}
		}
	}
	return all
}

func systemCalls(lines []*Line, name string) (all []Interval) {
	entered, seen := map[int64]*Line{}, map[int64]bool{}
	for _, l := range lines {
		if l.M == nil {
			continue
		}
		switch l.Event {
		case "sys_enter":
			entered[*l.M], seen[*l.M] = l, true
		case "created", "ended": // a new thread begins with the end of the call that created it
			delete(entered, *l.M)
			seen[*l.M] = true
		case "sys_exit":
			i := Interval{l.Time, -1, !seen[*l.M], id(l.G)}
			if e := entered[*l.M]; e != nil && e.Syscall == l.Syscall {
				i.Length = l.Time - e.Time
			}
			if name == "" || l.Syscall == name {
				all = append(all, i)
			}
			delete(entered, *l.M)
			seen[*l.M] = true
		}
	}
	return all
}

// ranges finds the ranges, of which at most one is open at a time.
func ranges(lines []*Line, wanted func(l *Line) bool) (all []Interval) {
	var begin *Line
	for _, l := range lines {
		if !wanted(l) {
			continue
		}
		switch l.Kind {
		case "RangeBegin":
			begin = l
		case "RangeEnd":
			i := Interval{End: l.Time, Length: -1, G: None}
			if begin != nil {
				i.Length = l.Time - begin.Time
			}
			all, begin = append(all, i), nil
		}
	}
	return all
}

// Early is how many of the intervals may be counted or not.
func Early(all []Interval) (n int) {
	for _, i := range all {
		if i.Early {
			n++
		}
	}
	return n
}

// Compare lists the figures that differ from those of the intervals that end in [from, to). Some of
// the early ones may have been counted: then the others are a part of the result.
func (h *Histogram) Compare(all []Interval, from, to int64) (lines []string) {
	var lengths []int64
	unknown, early, sum := int64(0), int64(0), int64(0)
	for _, i := range all {
		switch {
		case i.End < from || i.End >= to:
		case i.Early:
			early++
		case i.Length < 0:
			unknown++
		default:
			lengths = append(lengths, i.Length)
			sum += i.Length
		}
	}
	slices.Sort(lengths)
	differs := func(what string, got, want, tolerance int64) {
		if got < want-tolerance || got > want+tolerance {
			lines = append(lines, fmt.Sprintf("%s: %d instead of %d", what, got, want))
		}
	}
	n := len(lengths)
	counted := min(max(0, h.Count-int64(n)), early)
	differs("count", h.Count, int64(n)+counted, 0)
	if h.Of == "runqueue" { // of the early ones it is not known that they are waits
		differs("not_counted", h.NotCounted, unknown, 0)
	} else {
		differs("not_counted", h.NotCounted, unknown+early-counted, 0)
	}
	if counted > 0 { // their lengths are not known, but are between the extremes
		more := h.Sum - sum
		differs("sum", more, min(max(more, counted*h.Min), counted*h.Max), 0)
	}
	if n > 0 && counted > 0 {
		differs("min", h.Min, min(h.Min, lengths[0]), 0)
		differs("max", h.Max, max(h.Max, lengths[n-1]), 0)
	}
	if counted == 0 {
		differs("sum", h.Sum, sum, 0)
	}
	if n > 0 && counted == 0 {
		differs("min", h.Min, lengths[0], 0)
		differs("max", h.Max, lengths[n-1], 0)
		for _, s := range []struct {
			name  string
			share float64
			got   int64
		}{{"p50", 0.5, h.P50}, {"p99", 0.99, h.P99}} {
			want := lengths[int(math.Ceil(s.share*float64(n)))-1]
			differs(s.name, s.got, want, int64(float64(want)*0.032)+1)
		}
	}
	return append(lines, h.compareBuckets(lengths, counted)...)
}

// The buckets are contiguous, [0, 1) or from a power of two to the next, and none is missing. They
// have some more, of unknown lengths.
func (h *Histogram) compareBuckets(lengths []int64, more int64) (lines []string) {
	for i, b := range h.Buckets {
		if i > 0 && b[0] != h.Buckets[i-1][1] || b[1] != max(1, 2*b[0]) {
			lines = append(lines, fmt.Sprintf("a bucket from %d to %d", b[0], b[1]))
		}
		n, _ := slices.BinarySearchFunc(lengths, b[0], cmp.Compare[int64])
		end, _ := slices.BinarySearchFunc(lengths, b[1], cmp.Compare[int64])
		if b[2] < int64(end-n) || b[2] > int64(end-n)+more {
			lines = append(lines, fmt.Sprintf("bucket from %d: %d instead of %d", b[0], b[2], end-n))
		}
	}
	total := int64(0)
	for _, b := range h.Buckets {
		total += b[2]
	}
	if want := int64(len(lengths)) + more; total != want {
		lines = append(lines, fmt.Sprintf("%d in all buckets instead of %d", total, want))
	}
	return lines
}
