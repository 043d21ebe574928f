package waits

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Counts counts what was compared.
type Counts struct {
	Segments, Calls int            // segments; those of system calls
	Differ          map[string]int // segments by the members that differ
	CallsDiffer     int
	Last            int // system calls' segments that are not the last one that the goroutine had entered
	Unknown         int // segments before the first item of a thread, of which not all is compared
	Lines           []string
	Holders         map[Holder]*[2]int64 // nanoseconds in the paths, and by the events
}

// Holder is why a goroutine waited for a P: the one that held it, or what kept that one from a CPU.
type Holder struct {
	Waiter   int64
	Cause    string
	By       int64 // a goroutine, or None
	ByTid    int64 // of causes that are not goroutines
	InWindow bool  // the path is that of a part of the trace
}

// hold adds the common time of a segment and of the one by the events, if the goroutine waits for a P.
func (v *Counts) hold(side int, s *Segment, ns int64, window bool) {
	if s.Kind != "Go-runnable" || s.Goroutine == nil {
		return
	}
	h := Holder{Waiter: *s.Goroutine, Cause: s.Cause, By: None, InWindow: window}
	if s.ByG != nil {
		h.By = *s.ByG
	} else {
		h.ByTid = s.ByTid
	}
	if v.Holders[h] == nil {
		v.Holders[h] = new([2]int64)
	}
	v.Holders[h][side] += ns
}

// WorstHolder returns the difference in percent that is the largest, of those of more than 1 us.
func (v *Counts) WorstHolder() (worst float64, of Holder) {
	for h, ns := range v.Holders {
		if differ := max(ns[0]-ns[1], ns[1]-ns[0]); differ > 1000 {
			if percent := 100 * float64(differ) / float64(max(ns[1], 1)); percent > worst {
				worst, of = percent, h
			}
		}
	}
	return worst, of
}

func number(p *int64) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}

// members of a segment, by name; those that only the generation's table has are left out where like
// is a guess.
func (s *Segment) members(like *Segment) map[string]string {
	all := map[string]string{"goroutine": number(s.Goroutine), "depth": fmt.Sprint(s.Depth)}
	if !like.vague {
		all["kind"] = s.Kind
	}
	if like.guess {
		return all
	}
	maps.Copy(all, map[string]string{
		"syscall": s.Syscall, "tid": fmt.Sprint(s.Tid), "cause": s.Cause, "by_goroutine": number(s.ByG), "process": s.Process, "process_id": fmt.Sprint(s.ProcessID),
		"reason": s.Reason, "interrupt": s.Interrupt, "by_tid": fmt.Sprint(s.ByTid),
		"holders": fmt.Sprint(s.Holders), "more_holders": fmt.Sprint(s.More), "held_cpu": fmt.Sprint(s.HeldCPU),
		"got_cpu_first": fmt.Sprint(s.GotFirst), "gc_assist": fmt.Sprint(s.Assist), "stop_the_world": fmt.Sprint(s.Stopped),
	})
	return all
}

// Compare compares the segments of a goroutine's path, oldest first, with those that the lines give. window: they are
// those of a part of the trace.
func (m *Model) Compare(g int64, theirs []Segment, window bool, v *Counts) {
	ours := m.Path(g, theirs[0].From, theirs[len(theirs)-1].To)
	slices.Reverse(ours)
	if v.Differ == nil {
		v.Differ, v.Holders = map[string]int{}, map[Holder]*[2]int64{}
	}
	i := 0
	for k := range theirs {
		s := &theirs[k]
		for i < len(ours) && ours[i].To <= s.From {
			i++
		}
		differ, guess := map[string]bool{}, false
		want := ""
		for j := i; j < len(ours) && ours[j].From < s.To; j++ {
			guess = guess || ours[j].guess
			if !ours[j].guess {
				ns := min(s.To, ours[j].To) - max(s.From, ours[j].From)
				v.hold(0, s, ns, window)
				v.hold(1, &ours[j], ns, window)
			}
			a, b := s.members(&ours[j]), ours[j].members(&ours[j])
			for name := range a {
				if a[name] != b[name] {
					differ[name] = true
					want = fmt.Sprint(b)
				}
			}
		}
		v.Segments++
		if guess {
			v.Unknown++
		}
		if s.Syscall != "" || differ["syscall"] {
			v.Calls++
			if differ["syscall"] {
				v.CallsDiffer++
			}
			if s.Goroutine != nil && s.Syscall != "" && !m.last(s) {
				v.Last++
				if v.Last <= 5 {
					v.Lines = append(v.Lines, fmt.Sprintf("path of %d, @%d-%d, not the last entered: %v", g, s.From, s.To, s.members(s)))
				}
			}
		}
		if len(differ) == 0 {
			continue
		}
		names := strings.Join(slices.Sorted(maps.Keys(differ)), " ")
		v.Differ[names]++
		if v.Differ[names] <= 3 {
			v.Lines = append(v.Lines, fmt.Sprintf("path of %d, @%d-%d, %s: is %v, by the events %s", g, s.From, s.To, names, s.members(s), want))
		}
	}
}

// last: the segment's call is the last one that its goroutine had entered before the segment's end, or, if none.
func (m *Model) last(s *Segment) bool {
	enters := m.Enters[*s.Goroutine]
	i := sort.Search(len(enters), func(i int) bool { return enters[i].From >= s.To })
	return i == 0 || enters[i-1].Name == s.Syscall
}
