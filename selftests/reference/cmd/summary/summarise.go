package main

// This file adds up the time goroutines spent in each state.

import (
	"cmp"
	"slices"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

type summary struct {
	DurationNS  int64       `json:"duration_ns"`
	Events      int         `json:"events"`
	Goroutines  int         `json:"goroutines"`
	Generations int         `json:"generations"`
	Functions   []*function `json:"functions"`
}

type function struct {
	Name        string           `json:"name"`
	Goroutines  int              `json:"goroutines"`
	RunningNS   int64            `json:"running_ns"`
	RunnableNS  int64            `json:"runnable_ns"`
	BlockedNS   int64            `json:"blocked_ns"`
	SyscallNS   int64            `json:"syscall_ns"`
	BlockedOnNS map[string]int64 `json:"blocked_on_ns"`
}

// life is the state a goroutine is in while the trace is read.
type life struct {
	state  trace.GoState
	since  int64
	reason string
}

func summarise(t *tracefile.Trace) *summary {
	byName := map[string]*function{}
	lives := map[int64]*life{}
	for i := range t.Transitions {
		tr := &t.Transitions[i]
		f := functionOf(byName, t.StartFunc[tr.G])
		l := lives[tr.G]
		if l == nil {
			// In this state since the trace began, unless it is created here.
			l = &life{state: tr.From, since: t.Start, reason: "before the trace"}
			if tr.From == trace.GoUndetermined {
				l.state = tr.To
			}
			lives[tr.G] = l
			f.Goroutines++
		}
		if tr.Status() {
			continue
		}
		f.add(l, tr.Time)
		*l = life{tr.To, tr.Time, t.Tables.String(tr.Reason)}
	}
	for g, l := range lives {
		functionOf(byName, t.StartFunc[g]).add(l, t.End)
	}
	s := &summary{
		DurationNS: t.End - t.Start, Events: t.Events, Goroutines: len(lives),
		Generations: t.Generations,
	}
	for _, f := range byName {
		s.Functions = append(s.Functions, f)
	}
	slices.SortFunc(s.Functions, func(a, b *function) int {
		// Sorted by running time: sleeping goroutines are numerous and less interesting.
		return cmp.Or(cmp.Compare(b.RunningNS, a.RunningNS), cmp.Compare(b.BlockedNS, a.BlockedNS),
			cmp.Compare(a.Name, b.Name))
	})
	return s
}

func functionOf(byName map[string]*function, name string) *function {
	if name == "" {
		name = "(unknown)"
	}
	f := byName[name]
	if f == nil {
		f = &function{Name: name, BlockedOnNS: map[string]int64{}}
		byName[name] = f
	}
	return f
}

// add credits the time since the last change to the state that ends now.
func (f *function) add(l *life, now int64) {
	d := now - l.since
	switch l.state {
	case trace.GoRunning:
		f.RunningNS += d
	case trace.GoRunnable:
		f.RunnableNS += d
	case trace.GoSyscall:
		f.SyscallNS += d
	case trace.GoWaiting:
		f.BlockedNS += d
		reason := l.reason
		if reason == "" {
			reason = "coroutine" // a coroutine switch blocks without a reason
		}
		f.BlockedOnNS[reason] += d
	}
}
