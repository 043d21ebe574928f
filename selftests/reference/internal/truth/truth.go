// Package truth counts in a trace the operations of the known-count target.
package truth

import (
	"slices"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// Claim is one count; selftests/targets/internal/protocol/claim.go documents the events.
type Claim struct {
	Name      string   `json:"name"`
	Functions []string `json:"functions"`
	Event     string   `json:"event"`
	Reasons   []string `json:"reasons"`
	Count     int      `json:"count"`
	Why       string   `json:"why"`
}

// Expected is the target's output.
type Expected struct {
	Go     string  `json:"go"`
	Expect []Claim `json:"expect"`
}

// Count returns how many events of the trace match a claim, and false for an unknown event.
func Count(t *tracefile.Trace, c *Claim) (int, bool) {
	if c.Event == "range" {
		return countRanges(t, c), true
	}
	if kind, ok := annotations[c.Event]; ok {
		return countAnnotations(t, c, kind), true
	}
	match, ok := events[c.Event]
	if !ok {
		return 0, false
	}
	n := 0
	// The last reason for which a goroutine blocked.
	blocked := map[int64]string{}
	for i := range t.Transitions {
		tr := &t.Transitions[i]
		if tr.Status() || !slices.Contains(c.Functions, t.StartFunc[tr.G]) {
			continue
		}
		reason := t.Tables.String(tr.Reason)
		if tr.From == trace.GoWaiting {
			reason = blocked[tr.G] // an unblock has no reason of its own
		} else if tr.To == trace.GoWaiting {
			blocked[tr.G] = reason
		}
		if match(tr) && (len(c.Reasons) == 0 || slices.Contains(c.Reasons, reason)) && !byAssist(t, tr) {
			n++
		}
	}
	return n, true
}

// byAssist reports whether a yield was not requested by the program: a goroutine to be preempted
// during a mark assist yields by the same function as the program does.
func byAssist(t *tracefile.Trace, tr *tracefile.Transition) bool {
	assists := func(f tracefile.Frame) bool { return f.Func == "runtime.gcAssistAlloc" }
	return tr.From == trace.GoRunning && tr.To == trace.GoRunnable &&
		slices.ContainsFunc(t.Tables.Frames(tr.Stack), assists)
}

func countRanges(t *tracefile.Trace, c *Claim) (n int) {
	for _, r := range t.Ranges {
		if !r.End && slices.Contains(c.Reasons, r.Name) {
			n++
		}
	}
	return n
}

var annotations = map[string]trace.EventKind{
	"task": trace.EventTaskBegin, "task-end": trace.EventTaskEnd, "log": trace.EventLog,
	"region": trace.EventRegionBegin, "region-end": trace.EventRegionEnd,
}

func countAnnotations(t *tracefile.Trace, c *Claim, kind trace.EventKind) (n int) {
	for i := range t.Annotations {
		a := &t.Annotations[i]
		if a.Kind == kind && slices.Contains(c.Functions, t.StartFunc[a.G]) &&
			(len(c.Reasons) == 0 || slices.Contains(c.Reasons, t.Tables.String(a.Name))) {
			n++
		}
	}
	return n
}

type matcher func(tr *tracefile.Transition) bool

var events = map[string]matcher{
	"create":  func(tr *tracefile.Transition) bool { return tr.From == trace.GoNotExist },
	"destroy": func(tr *tracefile.Transition) bool { return tr.To == trace.GoNotExist },
	"block": func(tr *tracefile.Transition) bool {
		return tr.From == trace.GoRunning && tr.To == trace.GoWaiting
	},
	"stop": func(tr *tracefile.Transition) bool {
		return tr.From == trace.GoRunning && tr.To == trace.GoRunnable
	},
	"unblock": func(tr *tracefile.Transition) bool {
		return tr.From == trace.GoWaiting && tr.To == trace.GoRunnable
	},
	"syscall":     func(tr *tracefile.Transition) bool { return tr.To == trace.GoSyscall },
	"syscall-end": func(tr *tracefile.Transition) bool { return tr.From == trace.GoSyscall },
	"syscall-blocked": func(tr *tracefile.Transition) bool {
		return tr.From == trace.GoSyscall && tr.To == trace.GoRunnable
	},
}
