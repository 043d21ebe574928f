package waits

import (
	"maps"
	"math"
	"sort"
)

// Spans returns the figures of many times of one goroutine, as far as they are times: those of Figures
// without run queues and migrations. It looks only at the pieces of each time.
type Spans struct {
	g      *Goroutine
	pieces []piece
}

// Spans prepares a goroutine; nil: it is not in the events, or its ID was used twice.
func (m *Model) Spans(id int64) *Spans {
	g := m.Goroutines[id]
	if g == nil || g.Reused {
		return nil
	}
	pieces, _ := m.pieces(g, math.MinInt64, math.MaxInt64)
	return &Spans{g: g, pieces: pieces}
}

// Add adds the figures of [from, to) to f. False: the state of a thread is unknown in that time.
func (s *Spans) Add(f Figures, from, to int64) bool {
	known, covered := true, int64(0)
	i := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].to > from })
	for ; i < len(s.pieces) && s.pieces[i].from < to; i++ {
		p := &s.pieces[i]
		a, b := max(p.from, from), min(p.to, to)
		ns := max(0, b-a)
		covered += ns
		known = known && (p.run == nil || !p.run.Guess && p.run.Is != "gone")
		f[p.part+"_ns"] += ns
		f["total_ns"] += ns
		if p.held != "" {
			f["cpu_held_by."+p.held] += ns
		}
		if p.part == "go_blocked" || p.reason != "" {
			f["by_reason."+p.part+"."+p.reason] += ns
		}
		if p.part != "oncpu" {
			continue
		}
		if p.inCall {
			f["of_which.syscall_oncpu_ns"] += ns
		}
		for _, span := range s.g.Assists {
			f["of_which.gc_assist_ns"] += max(0, min(span.To, b)-max(span.From, a))
		}
	}
	maps.DeleteFunc(f, func(_ string, ns int64) bool { return ns == 0 })
	return known && covered == to-from
}
