package waits

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Cause is a part of the time of a wait, as in `gotrace waits --json`.
type Cause struct {
	Ns    int64
	Kind  string
	Cause string
	G     *int64 `json:"goroutine"`
	ByG   *int64 `json:"by_goroutine"`

	HeldCPU  bool `json:"held_cpu"`
	GotFirst bool `json:"got_cpu_first"`
}

// Wait is a wait of `gotrace waits --json`.
type Wait struct {
	Goroutine int64
	Function  string
	Kind      string
	Reason    string
	From      int64 `json:"from_ns"`
	To        int64 `json:"to_ns"`
	Before    bool  `json:"began_before"`
	GoesOn    bool  `json:"goes_on"`
	Lost      bool  `json:"events_lost"`
	Stack     []string
	Top       string `json:"-"` // the innermost function of the stack, if it is known
	EndedBy   string `json:"ended_by"`
	By        *int64 `json:"by_goroutine"`
	ByTid     *int64 `json:"by_tid"`
	ByProc    *int64 `json:"by_proc"`
	Causes    []Cause
	Others    int64 `json:"other_causes_ns"`
	Holders   []int64
	More      bool `json:"more_holders"`
}

// ParseWaits reads the output of `gotrace waits --json`.
func ParseWaits(text []byte) ([]Wait, error) {
	var out struct{ Waits []Wait }
	err := json.Unmarshal(text, &out)
	return out.Waits, err
}

var waitKinds = map[string]string{"Waiting": "block", "Runnable": "sched", "Syscall": "syscall"}

// queueWaits finds the waits of threads that run a goroutine, or are in a system call for one, until
// `to`; early: those whose begin is not known, by goroutine and end.
func (m *Model) goroutineQueueWaits(to int64) (all []Wait, early map[[2]int64]bool) {
	early = map[[2]int64]bool{}
	for tid, t := range m.Threads {
		for i, r := range t.Runs {
			if r.Is != "runnable" || r.At >= to {
				continue
			}
			w := Wait{Kind: "runqueue", From: r.At, To: min(to, m.End), GoesOn: true, ByTid: &tid}
			if i+1 < len(t.Runs) && t.Runs[i+1].At < to {
				if w.To, w.GoesOn = t.Runs[i+1].At, false; !t.Runs[i+1].Got {
					continue
				}
			}
			if w.Goroutine = owner(t.On, w.To); w.Goroutine == None || w.To == w.From {
				continue
			}
			if r.Guess {
				early[[2]int64{w.Goroutine, w.To}] = true
				continue
			}
			all = append(all, w)
		}
	}
	return all, early
}

// Longest finds the waits of one kind in [from, to), all goroutines included, the longest first; and
// those of which it is not known when they began, by goroutine and end.
func (m *Model) Longest(lines []*Line, kind string, from, to int64) (all []Wait, early map[[2]int64]bool) {
	if kind == "runqueue" {
		all, early = m.goroutineQueueWaits(to)
		all = slices.DeleteFunc(all, func(w Wait) bool { return w.To <= from })
		for i := range all {
			all[i].Before, all[i].From = all[i].From < from, max(all[i].From, from)
		}
	} else {
		all = m.stateWaits(lines, kind, from, to)
	}
	slices.SortFunc(all, func(a, b Wait) int {
		switch x, y := a.To-a.From, b.To-b.From; {
		case x != y:
			return sign(y - x)
		case a.From != b.From:
			return sign(a.From - b.From)
		}
		return sign(a.Goroutine - b.Goroutine)
	})
	return all, early
}

func (m *Model) stateWaits(lines []*Line, kind string, from, to int64) (all []Wait) {
	in, sync := map[int64]*Wait{}, lines[0].Time
	add := func(w *Wait, end *Line) {
		w.To, w.GoesOn = min(to, m.End), end == nil
		if end != nil {
			w.To = end.Time
			w.ByTid, w.ByProc = end.M, end.P
			if end.G != nil && *end.G != w.Goroutine && meant(w.Reason, end) {
				w.By = end.G
			}
		}
		w.Before = w.Before || w.From < from
		w.From = max(w.From, from)
		if w.From < w.To {
			all = append(all, *w)
		}
	}
	for _, l := range lines {
		switch {
		case l.Kind == "Kernel":
		case l.Time >= to:
		case l.Kind == "Sync":
			sync = l.Time
		case l.Kind == "StateTransition" && l.Goroutine != nil && l.From != l.To:
			w := in[*l.Goroutine]
			if w != nil && l.From != "Undetermined" && l.From != "NotExist" {
				add(w, l)
			}
			delete(in, *l.Goroutine)
			if waitKinds[l.To] != kind {
				continue
			}
			w = &Wait{Goroutine: *l.Goroutine, Kind: kind, From: l.Time}
			if l.From == "Undetermined" {
				w.From, w.Before = sync, true
			}
			if kind == "block" {
				w.Reason = l.Reason
			}
			if kind != "sched" && l.From != "NotExist" { // the frame of a creation is its creator's
				w.Top = l.Frame.Func
			}
			in[*l.Goroutine] = w
		}
	}
	for _, w := range in {
		add(w, nil)
	}
	return all
}

func sign(x int64) int { return int(max(-1, min(1, x))) }

// endedBy is what ended the wait.
func endedBy(w *Wait) string {
	switch {
	case w.GoesOn || w.Kind != "block":
		return ""
	case w.By != nil:
		return "goroutine"
	}
	return without(w.Reason)
}

// CompareWaits lists what differs from the longest `n` waits of all, and returns how many causes were
// compared. whole: they are those of the whole trace.
func (m *Model) CompareWaits(theirs, all []Wait, early map[[2]int64]bool, n int, whole bool) (lines []string, causes int) {
	theirs = slices.DeleteFunc(theirs, func(w Wait) bool {
		is := early[[2]int64{w.Goroutine, w.To}]
		if is {
			n--
		}
		return is
	})
	if want := min(n, len(all)); len(theirs) != want {
		return []string{fmt.Sprintf("%d waits instead of %d", len(theirs), want)}, 0
	}
	for i := range theirs {
		a, b := &theirs[i], &all[i]
		is := fmt.Sprint(a.Goroutine, a.Kind, a.Reason, a.From, a.To, a.Before, a.GoesOn, a.Lost, a.EndedBy, number(a.By),
			number(a.ByTid), number(a.ByProc))
		want := fmt.Sprint(b.Goroutine, b.Kind, b.Reason, b.From, b.To, b.Before, b.GoesOn, false, endedBy(b), number(b.By),
			number(b.ByTid), number(b.ByProc))
		if is != want {
			lines = append(lines, fmt.Sprintf("wait %d: %s instead of %s", i, is, want))
			continue
		}
		if b.Top != "" && (len(a.Stack) == 0 || a.Stack[0] != b.Top) {
			lines = append(lines, fmt.Sprintf("wait %d, %s: the stack is %v, not of %s", i, is, a.Stack, b.Top))
		}
		if a.GoesOn && !whole { // it is over in the model
			continue
		}
		line, compared := m.compareCauses(a)
		causes += compared
		if line != "" {
			lines = append(lines, fmt.Sprintf("wait %d, %s: %s", i, is, line))
		}
	}
	return lines, causes
}

// compareCauses compares the time by kind and goroutine, and that of each cause, with the path of the
// goroutine in that time. Not where the thread's state before its first item is a guess.
func (m *Model) compareCauses(w *Wait) (line string, compared int) {
	type key struct {
		kind, g, cause, by string
		heldCPU, gotFirst  bool
	}
	got, want, sum := map[key]int64{}, map[key]int64{}, w.Others
	for _, c := range w.Causes {
		got[key{c.Kind, number(c.G), c.Cause, number(c.ByG), c.HeldCPU, c.GotFirst}] += c.Ns
		sum += c.Ns
	}
	if sum != w.To-w.From {
		return fmt.Sprintf("the causes add up to %d ns", sum), 0
	}
	var holders []int64
	var more bool
	var longest, ns int64
	var last string // the segment before, if it touches this one; together they are one for gotrace
	for _, s := range m.Path(w.Goroutine, w.From, w.To) {
		if s.guess {
			return "", 0
		}
		if s.Cause == "pending" {
			s.Cause = ""
		}
		want[key{s.Kind, number(s.Goroutine), s.Cause, number(s.ByG), s.HeldCPU, s.GotFirst}] += s.To - s.From
		if like := fmt.Sprint(s.members(&s)); like != last {
			last, ns = like, 0
		}
		if ns += s.To - s.From; s.Kind == "Go-runnable" && *s.Goroutine == w.Goroutine && ns > longest {
			holders, more, longest = s.Holders, s.More, ns
		}
	}
	for k, ns := range got {
		if ns > want[k] || ns != want[k] && w.Others == 0 {
			return fmt.Sprintf("%v: %d ns instead of %d", k, ns, want[k]), 0
		}
	}
	if fmt.Sprint(holders, more) != fmt.Sprint(w.Holders, w.More) && w.Kind == "sched" {
		return fmt.Sprintf("the holders are %v instead of %v, more %v instead of %v", w.Holders, holders, w.More, more), 0
	}
	return "", len(got)
}
