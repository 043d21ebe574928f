package annotations

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Row is one name in the output of the commands. Times are nil if nothing has ended.
type Row struct {
	Name    string   `json:"name"`
	Count   int      `json:"count"`
	Rate    float64  `json:"rate"`
	P50     *int64   `json:"p50_ns"`
	P90     *int64   `json:"p90_ns"`
	P99     *int64   `json:"p99_ns"`
	Min     *int64   `json:"min_ns"`
	Max     *int64   `json:"max_ns"`
	Total   int64    `json:"total_ns"`
	Buckets []Bucket `json:"buckets"`

	Unfinished int `json:"unfinished"`
	Unbegun    int `json:"unbegun"`
}

// Bucket is one of a histogram.
type Bucket struct {
	From  int64 `json:"from_ns"`
	Below int64 `json:"below_ns"`
	Count int   `json:"count"`
}

type group struct {
	unfinished, unbegun int
	lengths             []int64
}

// groups returns what belongs to [from, to), by name.
func groups(spans []Span, from, to int64) map[string]*group {
	all := map[string]*group{}
	for _, s := range spans {
		if s.End < from || s.Ended && s.End >= to {
			continue
		}
		g := all[s.Name]
		if g == nil {
			g = &group{}
			all[s.Name] = g
		}
		switch {
		case !s.Ended:
			g.unfinished++
		case s.Begin == never:
			g.unbegun++
		default:
			g.lengths = append(g.lengths, s.End-s.Begin)
		}
	}
	for _, g := range all {
		slices.Sort(g.lengths)
	}
	return all
}

// share is the smallest length that as many are not longer than.
func share(sorted []int64, s float64) int64 {
	return sorted[max(int(math.Ceil(s*float64(len(sorted)))), 1)-1]
}

func near(a, b int64) bool { return math.Abs(float64(a-b)) <= 0.033*float64(b)+1 }

// compare returns how a row differs from the lengths.
func (g *group) compare(row *Row, seconds float64) (lines []string) {
	differ := func(name string, theirs, ours any) {
		lines = append(lines, fmt.Sprintf("%q: %s is %v, by the events %v", row.Name, name, theirs, ours))
	}
	equal := func(name string, theirs, ours int64) {
		if theirs != ours {
			differ(name, theirs, ours)
		}
	}
	n := len(g.lengths)
	equal("count", int64(row.Count), int64(n))
	equal("unfinished", int64(row.Unfinished), int64(g.unfinished))
	equal("unbegun", int64(row.Unbegun), int64(g.unbegun))
	if rate := float64(n) / seconds; math.Abs(row.Rate-rate) > 1e-6*rate {
		differ("rate", row.Rate, rate)
	}
	if n == 0 || len(lines) > 0 || row.Min == nil || row.Max == nil || row.P50 == nil || row.P90 == nil || row.P99 == nil {
		if n > 0 || row.Min != nil || row.Max != nil || row.P50 != nil || row.P90 != nil || row.P99 != nil || len(row.Buckets) > 0 {
			differ("row", row, g)
		}
		return lines
	}
	total := int64(0)
	for _, ns := range g.lengths {
		total += ns
	}
	equal("total", row.Total, total)
	equal("min", *row.Min, g.lengths[0])
	equal("max", *row.Max, g.lengths[n-1])
	for _, p := range []struct {
		share float64
		ns    int64
	}{{0.5, *row.P50}, {0.9, *row.P90}, {0.99, *row.P99}} {
		if ns := share(g.lengths, p.share); !near(p.ns, ns) {
			differ(fmt.Sprint("share ", p.share), p.ns, ns)
		}
	}
	return append(lines, g.compareBuckets(row)...)
}

func (g *group) compareBuckets(row *Row) (lines []string) {
	var want []Bucket
	for k := bits.Len64(uint64(g.lengths[0])); k <= bits.Len64(uint64(g.lengths[len(g.lengths)-1])); k++ {
		b := Bucket{From: int64(1) << k >> 1, Below: int64(1) << k}
		for _, ns := range g.lengths {
			if ns >= b.From && ns < b.Below {
				b.Count++
			}
		}
		want = append(want, b)
	}
	if !slices.Equal(want, row.Buckets) {
		lines = append(lines, fmt.Sprintf("%q: buckets are %v, by the events %v", row.Name, row.Buckets, want))
	}
	return lines
}

// CompareDurations compares the rows of `gotrace tasks` or `gotrace regions` with the spans that end in
// [from, end); the rates are those of [from, to). It
// returns the differences, and the number of what was counted.
func CompareDurations(rows []Row, spans []Span, from, end, to int64) (lines []string, n int) {
	all := groups(spans, from, end)
	last := int64(math.MaxInt64)
	for i := range rows {
		g := all[rows[i].Name]
		if g == nil {
			lines = append(lines, fmt.Sprintf("%q is not in the events", rows[i].Name))
			continue
		}
		delete(all, rows[i].Name)
		lines = append(lines, g.compare(&rows[i], float64(to-from)/1e9)...)
		n += len(g.lengths)
		if rows[i].Total > last {
			lines = append(lines, fmt.Sprintf("%q: the rows are not sorted", rows[i].Name))
		}
		last = rows[i].Total
	}
	for name := range all {
		lines = append(lines, fmt.Sprintf("%q is missing", name))
	}
	return lines, n
}
