package compare

// This file tests which thread ids of a trace of the old format are excluded.

import (
	"testing"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

func TestForgetThreads(t *testing.T) {
	type tr = tracefile.Transition
	run := func(time, g int64) tr {
		return tr{Time: time, G: g, By: -1, P: 1, M: 7, From: trace.GoRunnable, To: trace.GoRunning}
	}
	call := func(time, g int64) tr {
		return tr{Time: time, G: g, By: g, P: 1, M: 7, From: trace.GoRunning, To: trace.GoSyscall}
	}
	back := func(time, g int64) tr {
		return tr{Time: time, G: g, By: g, P: 1, M: 7, From: trace.GoSyscall, To: trace.GoRunning}
	}
	truth := &tracefile.Trace{
		Transitions: []tr{
			run(1, 5), call(2, 5), back(3, 5), call(4, 5), // all on one thread
			run(5, 6), call(6, 6), // by a thread that took the P
			run(8, 5), call(9, 5), // the P started again at 7
			run(11, 6), // and at 10
		},
		Procs: []tracefile.ProcTransition{
			{Time: 7, P: 1, From: trace.ProcIdle, To: trace.ProcRunning},
			{Time: 10, P: 1, From: trace.ProcIdle, To: trace.ProcRunning},
		},
	}
	forgetThreads(truth)
	for i, m := range []int64{7, 7, 7, 7, -1, -1, 7, 7, 7} {
		if got := truth.Transitions[i].M; got != m {
			t.Errorf("transition %d: thread %d, want %d", i, got, m)
		}
	}
}
