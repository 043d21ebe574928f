package main

// This file counts events by kind, transition and reason for -counts.

import (
	"fmt"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

type counts struct {
	Kinds       map[string]int `json:"kinds"`
	Goroutines  map[string]int `json:"goroutine_transitions"`
	Procs       map[string]int `json:"proc_transitions"`
	Ranges      map[string]int `json:"ranges"`
	Metrics     map[string]int `json:"metrics"`
	Labels      map[string]int `json:"labels"`
	WithStack   int            `json:"events_with_stack"`
	Experiments map[string]int `json:"experimental,omitempty"`
}

func newCounts() counts {
	return counts{
		Kinds: map[string]int{}, Goroutines: map[string]int{}, Procs: map[string]int{},
		Ranges: map[string]int{}, Metrics: map[string]int{}, Labels: map[string]int{},
		Experiments: map[string]int{},
	}
}

func (c *counts) add(ev *trace.Event) {
	c.Kinds[ev.Kind().String()]++
	if ev.Stack() != trace.NoStack {
		c.WithStack++
	}
	switch ev.Kind() {
	case trace.EventStateTransition:
		c.transition(ev)
	case trace.EventRangeBegin:
		c.Ranges[ev.Range().Name+": begin"]++
	case trace.EventRangeEnd:
		c.Ranges[ev.Range().Name+": end"]++
	case trace.EventRangeActive:
		c.Ranges[ev.Range().Name+": active"]++
	case trace.EventMetric:
		c.Metrics[ev.Metric().Name]++
	case trace.EventLabel:
		c.Labels[ev.Label().Label]++
	case trace.EventExperimental:
		c.Experiments[ev.Experimental().Name]++
	}
}

func (c *counts) transition(ev *trace.Event) {
	st := ev.StateTransition()
	switch st.Resource.Kind {
	case trace.ResourceGoroutine:
		from, to := st.Goroutine()
		key := tracefile.StateName(from) + "->" + tracefile.StateName(to)
		if st.Reason != "" {
			key += " (" + st.Reason + ")"
		}
		c.Goroutines[key]++
	case trace.ResourceProc:
		from, to := st.Proc()
		c.Procs[fmt.Sprintf("%s->%s", from, to)]++
	}
}
