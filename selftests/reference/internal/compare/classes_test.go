package compare

// This file tests that each rule recognizes its known difference and nothing else.

import (
	"testing"

	"gotrace-bpf/selftests/reference/internal/testtrace"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

func TestClassOfGoroutine(t *testing.T) {
	type tr = tracefile.Transition
	block := tr{Time: 1e9, P: 1, M: 7, By: 3, From: trace.GoRunning, To: trace.GoWaiting}
	later, otherP, otherReason := block, block, block
	later.Time += 2 * maxApart
	otherP.Time, otherP.P = later.Time, 2
	otherReason.Time, otherReason.Reason = later.Time, 5
	exit := tr{Time: 2e9, P: -1, M: 7, From: trace.GoSyscall, To: trace.GoRunnable}
	last := block
	last.Time = 2e9
	unseen := last
	unseen.M = 8
	after := tr{Time: 3e9, From: trace.GoRunnable, To: trace.GoRunning}
	type list = []*tr
	for _, test := range []struct {
		name                 string
		v1                   bool
		missing, extra, ours list
		want                 string
	}{
		{"late", false, list{&block}, list{&later}, nil, ClassLate},
		{"another P", false, list{&block}, list{&otherP}, nil, Unexplained},
		{"another reason", false, list{&block}, list{&otherReason}, nil, Unexplained},
		{"one more", false, list{&block}, list{&later, &later}, nil, Unexplained},
		{"not so late", false, list{&block}, list{&block}, nil, Unexplained},
		{"tracer ended first", false, nil, list{&unseen}, list{&block, &unseen}, ClassLate},
		{"thread seen later", false, nil, list{&last}, list{&block, &last}, Unexplained},
		{"not the last", false, nil, list{&unseen}, list{&unseen, &after}, Unexplained},
		{"untold", true, nil, list{&exit}, list{&block, &exit}, ClassUntold},
		{"untold of v2", false, nil, list{&exit}, list{&block, &exit}, Unexplained},
		{"it ran on", true, nil, list{&exit}, list{&block, &exit, &after}, Unexplained},
	} {
		c := comparer{
			Options: Options{V1: test.v1}, lo: 0, hi: 4e9,
			truth: &tracefile.Trace{Transitions: []tr{{
				Time: 25e8, M: 7, From: trace.GoRunnable, To: trace.GoRunning,
			}}},
		}
		if got := c.class(&odd{test.missing, test.extra}, test.ours); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestClassOfStack(t *testing.T) {
	tr, err := tracefile.Load(testtrace.Record(t), tracefile.NewTables())
	if err != nil {
		t.Fatal(err)
	}
	var some tracefile.Transition
	for _, x := range tr.Transitions {
		if x.Stack != 0 && x.To == trace.GoWaiting {
			some = x
		}
	}
	c := comparer{truth: tr, ours: tr}
	lost, own := some, some
	lost.Stack, lost.Reason = 0, tr.Tables.ID("preempted")
	own.Stack = tr.Tables.Relabel(some.Stack, "runtime.traceLocker.stack")
	wrong := some
	wrong.Stack = tr.Tables.Relabel(some.Stack, "main.wrong")
	none := some
	none.Stack = 0
	for _, test := range []struct {
		name        string
		minor       int
		truth, ours tracefile.Transition
		want        string
	}{
		{"lost", 22, lost, some, ClassLost},
		{"lost, last release", 25, lost, some, ClassLost},
		{"lost by 1.26", 26, lost, some, ""},
		{"lost by 1.21", 21, lost, some, ""},
		{"lost by both", 25, lost, none, ""},
		{"not suspended", 25, none, some, ""},
		{"own", 26, own, none, ClassOwnFrames},
		{"own, and ours has one", 26, own, some, ""},
		{"wrong", 25, wrong, some, ""},
		{"ours has none", 25, some, none, ""},
	} {
		c.Minor = test.minor
		if got := c.stackClass(&test.truth, &test.ours); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestRanElsewhere: a park without a stack counts only if the goroutine next runs on another thread.
func TestRanElsewhere(t *testing.T) {
	park := tracefile.Transition{Time: 5, G: 1, M: 7, From: trace.GoRunning, To: trace.GoWaiting}
	run := tracefile.Transition{Time: 9, G: 1, M: 8, From: trace.GoRunnable, To: trace.GoRunning}
	for _, test := range []struct {
		m     int64
		stack int32
		want  bool
	}{{8, 0, true}, {7, 0, false}, {8, 3, false}} {
		park.Stack, run.M = test.stack, test.m
		c := comparer{ours: &tracefile.Trace{Transitions: []tracefile.Transition{park, run}}}
		if got := c.ranElsewhere(&park); got != test.want {
			t.Errorf("M %d, stack %d: %v", test.m, test.stack, got)
		}
	}
}

// TestFrameClass: the frames that frame pointers skip up to Go 1.20, and other differences.
func TestFrameClass(t *testing.T) {
	stack := func(names ...string) (out []tracefile.Frame) {
		for _, name := range names {
			out = append(out, tracefile.Frame{Func: name, Line: 1})
		}
		return out
	}
	const preempt, assist = "runtime.asyncPreempt", "runtime.gcAssistAlloc"
	for _, test := range []struct {
		name        string
		truth, ours []tracefile.Frame
		want        string
	}{
		{"caller left out", stack(preempt, "a", "b", "c"), stack(preempt, "a", "c"), ClassSkipped},
		{"with what was inlined there", stack(preempt, "a", "b", "b2", "c"), stack(preempt, "a", "c"), ClassSkipped},
		{"the last one", stack(preempt, "a", "b"), stack(preempt, "a"), ClassSkipped},
		{"preempted in a wrapper", stack(preempt, "b", "c"), stack(preempt, "c"), ClassSkipped},
		{"two that are apart", stack(preempt, "a", "b", "c", "d", "e"), stack(preempt, "a", "c", "e"), ""},
		{"another caller", stack(preempt, "a", "b", "c"), stack(preempt, "a", "x", "c"), ""},
		{"not preempted", stack("runtime.gopark", "a", "b", "c"), stack("runtime.gopark", "a", "c"), ""},
		{"one too many", stack(preempt, "a", "c"), stack(preempt, "a", "b", "c"), ""},
		{"ends after an assist", stack("p", assist, "b", "c"), stack("p", assist), ClassStale},
		{"goes wrong after an assist", stack("p", assist, "b", "c"), stack("p", assist, "x"), ClassStale},
		{"wrong before it", stack("p", "q", assist, "b"), stack("p", "x", assist, "b"), ""},
	} {
		if got := frameClass(test.truth, test.ours); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
