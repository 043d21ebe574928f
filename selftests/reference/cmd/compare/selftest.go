package main

// This file tests the comparison itself: a trace must be identical to an unchanged copy, and a copy
// with a single fault must be reported with that fault.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gotrace-bpf/selftests/reference/internal/compare"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// fault damages one copy of a trace. at is the index of the affected transition.
type fault struct {
	name   string
	find   func(t *tracefile.Transition) bool
	seed   func(ours *tracefile.Trace, at int)
	expect string // the beginning of a failure that must be reported
}

func own(t *tracefile.Transition) bool {
	return !t.Status() && !t.ByOther() && t.From == trace.GoRunning && t.Stack != 0
}

func faults() []fault {
	const ms = int64(time.Millisecond)
	edit := func(fn func(t *tracefile.Transition, tab *tracefile.Tables)) func(*tracefile.Trace, int) {
		return func(ours *tracefile.Trace, at int) { fn(&ours.Transitions[at], ours.Tables) }
	}
	starts := func(t *tracefile.Transition) bool {
		return t.From == trace.GoRunnable && t.To == trace.GoRunning
	}
	noStack := func(t *tracefile.Transition) bool {
		return t.From == trace.GoRunning && t.To == trace.GoNotExist && t.Stack == 0
	}
	unblocks := func(t *tracefile.Transition) bool { return t.ByOther() && t.Stack != 0 }
	// The stack of a park may be lost without a fault: see compare.ClassElsewhere.
	noPark := func(t *tracefile.Transition) bool { return own(t) && t.To != trace.GoWaiting }
	type tr = tracefile.Transition
	type tabs = tracefile.Tables
	return []fault{
		{"a transition dropped", own, func(ours *tracefile.Trace, at int) {
			ours.Transitions = slices.Delete(ours.Transitions, at, at+1)
		}, "goroutines:"},
		{"a transition doubled", own, func(ours *tracefile.Trace, at int) {
			ours.Transitions = slices.Insert(ours.Transitions, at, ours.Transitions[at])
		}, "goroutines:"},
		{"a reason changed", own, edit(func(t *tr, tab *tabs) { t.Reason = tab.ID("wrong") }), "goroutines:"},
		{"a state changed", own, edit(func(t *tr, _ *tabs) { t.To = trace.GoSyscall + t.To%2 }), "goroutines:"},
		{"two transitions swapped", own, swapNext, "goroutines:"},
		{"a waker changed", unblocks, edit(func(t *tr, _ *tabs) { t.By++ }), "wakers:"},
		{"a P transition lost", own, procFault(func(list []tracefile.ProcTransition, i int) []tracefile.ProcTransition {
			return slices.Delete(list, i, i+1)
		}), "P transitions:"},
		{"a P transition invented", own, procFault(func(list []tracefile.ProcTransition, i int) []tracefile.ProcTransition {
			return slices.Insert(list, i, list[i])
		}), "P transitions extra:"},
		{"a P swapped", starts, edit(func(t *tr, _ *tabs) { t.P ^= 1 }), "P:"},
		{"an M changed", starts, edit(func(t *tr, _ *tabs) { t.M++ }), "M:"},
		{"a goroutine removed", own, func(ours *tracefile.Trace, at int) {
			g := ours.Transitions[at].G
			ours.Transitions = slices.DeleteFunc(ours.Transitions, func(t tr) bool { return t.G == g })
		}, "goroutines: 1 missing"},
		{"a goroutine invented", own, edit(func(t *tr, _ *tabs) { t.G = 1 << 30 }), "goroutines: 1 extra"},
		{"a goroutine renamed", created, func(ours *tracefile.Trace, at int) {
			ours.StartFunc[ours.Transitions[at].G] = "main.wrong"
		}, "start functions:"},
		{"a transition 1 ms late", own, edit(func(t *tr, _ *tabs) { t.Time += ms }), "times: 1 outliers"},
		{"all 1 ms late", own, func(ours *tracefile.Trace, _ int) {
			for i := range ours.Transitions {
				ours.Transitions[i].Time += ms
			}
		}, "times: p99"},
		{"all 20 us early", own, func(ours *tracefile.Trace, _ int) {
			for i := range ours.Transitions {
				ours.Transitions[i].Time -= ms / 50
			}
		}, "times: p99"},
		{"a top frame changed", own, edit(relabel), "top frames:"},
		{"an unblocker's frame changed", unblocks, edit(relabel), "top frames:"},
		{"a caller's frame changed", own, edit(func(t *tr, tab *tabs) { t.Stack = tab.Cut(t.Stack) }), "whole stacks:"},
		{"a stack lost", noPark, edit(func(t *tr, _ *tabs) { t.Stack = 0 }), "top frames:"},
		{"a stack invented", noStack, edit(func(t *tr, tab *tabs) {
			t.Stack = tab.Relabel(0, "main.wrong")
		}), "top frames:"},
		{"a GC lost", own, loseRange("GC concurrent mark phase"), "GC concurrent mark phase:"},
		{"a STW lost", own, loseRange("stop-the-world (GC mark termination)"), "stop-the-world"},
		{"an annotation lost", own, annotation(func(list []tracefile.Annotation, i int) []tracefile.Annotation {
			return slices.Delete(list, i, i+1)
		}), "annotations:"},
		{"an annotation doubled", own, annotation(func(list []tracefile.Annotation, i int) []tracefile.Annotation {
			return slices.Insert(list, i, list[i])
		}), "annotations: 1 extra"},
		{"a text changed", own, annotation(func(list []tracefile.Annotation, i int) []tracefile.Annotation {
			list[i].Kind, list[i].Message = trace.EventLog, list[i].Message+1
			return list
		}), "annotations:"},
		{"an assist lost", own, loseRange("GC mark assist"), "GC mark assist:"},
		{"an assist moved by a second", own, func(ours *tracefile.Trace, at int) {
			if i := rangeAfter(ours, at, "GC mark assist", false); i >= 0 {
				ours.Ranges[i].Time -= 1000 * ms
			}
		}, "GC mark assist:"},
		{"an assist's end lost", own, loseEnd("GC mark assist"), "GC mark assist, ends:"},
		{"a sweep lost", own, loseRange("GC incremental sweep"), "GC incremental sweep:"},
		{"a sweep's bytes changed", own, func(ours *tracefile.Trace, at int) {
			if i := rangeAfter(ours, at, "GC incremental sweep", true); i >= 0 {
				ours.Ranges[i].Bytes[1]++
			}
		}, "GC incremental sweep, ends: only"},
		{"a mark worker's label lost", own, loseRange("label GC (fractional)"), "label GC (fractional):"},
		{"a heap size lost", own, metric(heapSize, func(ours *tracefile.Trace, i int) {
			ours.Metrics = slices.Delete(ours.Metrics, i, i+1)
		}), "heap sizes:"},
		{"a heap size changed", own, metric(heapSize, func(ours *tracefile.Trace, i int) {
			ours.Metrics[i].Value++
		}), "heap sizes: only"},
		{"a heap goal lost", own, metric(heapGoal, func(ours *tracefile.Trace, i int) {
			ours.Metrics = slices.Delete(ours.Metrics, i, i+1)
		}), "heap goals:"},
		{"a heap goal changed", own, metric(heapGoal, func(ours *tracefile.Trace, i int) {
			ours.Metrics[i].Value++
		}), "heap goals: only"},
		{"a GOMAXPROCS changed", own, metric(procs, func(ours *tracefile.Trace, i int) {
			ours.Metrics[i].Value += 7
		}), "GOMAXPROCS changes:"},
		{"a coroutine's creation lost", func(t *tr) bool {
			return t.From == trace.GoNotExist && t.To == trace.GoWaiting
		}, func(ours *tracefile.Trace, at int) {
			ours.Transitions = slices.Delete(ours.Transitions, at, at+1)
		}, "coroutines created:"},
		{"a coroutine's switch lost", func(t *tr) bool {
			return t.From == trace.GoRunning && t.To == trace.GoWaiting && t.Reason == 0
		}, func(ours *tracefile.Trace, at int) {
			ours.Transitions = slices.Delete(ours.Transitions, at, at+1)
		}, "coroutine switches:"},
	}
}

func created(t *tracefile.Transition) bool { return t.From == trace.GoNotExist }

func relabel(t *tracefile.Transition, tab *tracefile.Tables) {
	t.Stack = tab.Relabel(t.Stack, "main.wrong")
}

// swapNext exchanges a transition and the next one of the same goroutine, times left in place. The
// status with which a generation begins is none.
func swapNext(ours *tracefile.Trace, at int) {
	a := &ours.Transitions[at]
	for i := at + 1; i < len(ours.Transitions); i++ {
		if b := &ours.Transitions[i]; b.G == a.G && !b.Status() {
			*a, *b = *b, *a
			a.Time, b.Time = b.Time, a.Time
			return
		}
	}
}

const (
	heapSize = "/memory/classes/heap/objects:bytes"
	heapGoal = "/gc/heap/goal:bytes"
	procs    = "/sched/gomaxprocs:threads"
)

// rangeAfter finds a range's begin or end in the middle of the trace; -1: there is none.
func rangeAfter(ours *tracefile.Trace, at int, name string, end bool) int {
	middle := ours.Transitions[at].Time
	return slices.IndexFunc(ours.Ranges, func(r tracefile.Range) bool {
		return r.End == end && r.Name == name && r.Time > middle
	})
}

// loseRange removes the begin of a range, or a label.
func loseRange(name string) func(*tracefile.Trace, int) { return lose(name, false) }

func loseEnd(name string) func(*tracefile.Trace, int) { return lose(name, true) }

func lose(name string, end bool) func(*tracefile.Trace, int) {
	return func(ours *tracefile.Trace, at int) {
		if i := rangeAfter(ours, at, name, end); i >= 0 {
			ours.Ranges = slices.Delete(ours.Ranges, i, i+1)
		}
	}
}

// procFault changes a real transition of a P in the middle of the trace.
func procFault(
	edit func([]tracefile.ProcTransition, int) []tracefile.ProcTransition,
) func(*tracefile.Trace, int) {
	return func(ours *tracefile.Trace, at int) {
		middle := ours.Transitions[at].Time
		i := slices.IndexFunc(ours.Procs, func(p tracefile.ProcTransition) bool {
			return p.Time > middle && p.From != p.To && p.From != trace.ProcUndetermined
		})
		if i >= 0 {
			ours.Procs = edit(ours.Procs, i)
		}
	}
}

// metric applies a fault to a sample from the middle of the trace.
func metric(name string, seed func(*tracefile.Trace, int)) func(*tracefile.Trace, int) {
	return func(ours *tracefile.Trace, at int) {
		middle := ours.Transitions[at].Time
		i := slices.IndexFunc(ours.Metrics, func(m tracefile.Metric) bool {
			return m.Name == name && m.Time > middle
		})
		if i >= 0 {
			seed(ours, i)
		}
	}
}

// annotation changes one of the annotations in the middle of the trace.
func annotation(
	edit func([]tracefile.Annotation, int) []tracefile.Annotation,
) func(*tracefile.Trace, int) {
	return func(ours *tracefile.Trace, _ int) {
		list := slices.Clone(ours.Annotations)
		ours.Annotations = edit(list, len(list)/2)
	}
}

// selftest prints a line for each fault and reports whether all were found.
func selftest(truth *tracefile.Trace, opt compare.Options) bool {
	// No tolerance, so that a single fault is detected.
	perfect := compare.Thresholds{
		MinGoroutines: 2, MinTransitions: 2, Identical: 100, P: 100, M: 100,
		Frames: 100, Stacks: 100, Waker: 100, Procs: 100,
		NoOutliers: true, NoMissing: true,
	}
	failures := func(ours *tracefile.Trace) []string {
		return compare.Compare(truth, ours, opt).Failures(&perfect)
	}
	ok := true
	line := func(good bool, name string, found []string) {
		word := "ok    "
		if !good {
			word, ok = "NOT OK", false
		}
		fmt.Printf("%s %-30s %s\n", word, name, strings.Join(found, "; "))
	}
	none := failures(truth)
	line(len(none) == 0, "nothing changed", none)
	for _, f := range faults() {
		// Begin in the middle: nothing is compared at the edges of the window.
		at := len(truth.Transitions) / 2
		for at < len(truth.Transitions) && !f.find(&truth.Transitions[at]) {
			at++
		}
		if at == len(truth.Transitions) {
			line(false, f.name, []string{"no transition to seed it in"})
			continue
		}
		ours := clone(truth)
		f.seed(ours, at)
		found := failures(ours)
		good := slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, f.expect) })
		line(good, f.name, found)
	}
	return ok
}

// clone copies what faults change; the tables only ever grow and stay shared.
func clone(t *tracefile.Trace) *tracefile.Trace {
	c := *t
	c.Transitions = slices.Clone(t.Transitions)
	c.Procs = slices.Clone(t.Procs)
	c.Ranges = slices.Clone(t.Ranges)
	c.Metrics = slices.Clone(t.Metrics)
	c.StartFunc = make(map[int64]string, len(t.StartFunc))
	for g, name := range t.StartFunc {
		c.StartFunc[g] = name
	}
	return &c
}
