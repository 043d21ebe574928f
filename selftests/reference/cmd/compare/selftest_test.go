package main

import (
	"testing"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// A generation may begin between the two, with a status of the goroutine and of another one.
func TestSwapNext(t *testing.T) {
	ours := &tracefile.Trace{Transitions: []tracefile.Transition{
		{Time: 1, G: 7, From: trace.GoRunning, To: trace.GoWaiting},
		{Time: 2, G: 8, From: trace.GoRunning, To: trace.GoWaiting},
		{Time: 3, G: 7, From: trace.GoWaiting, To: trace.GoWaiting},
		{Time: 4, G: 7, From: trace.GoWaiting, To: trace.GoRunnable},
	}}
	swapNext(ours, 0)
	first, last := ours.Transitions[0], ours.Transitions[3]
	if first.From != trace.GoWaiting || first.Time != 1 || last.From != trace.GoRunning || last.Time != 4 {
		t.Errorf("first %+v, last %+v", first, last)
	}
	if !ours.Transitions[2].Status() {
		t.Error("a status was exchanged")
	}
}
