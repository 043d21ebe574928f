package canonical

// This file tests the text of events with known lines, and the sorting of v1 traces.

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/exp/trace"
)

func textOf[T trace.EventDetails](t *testing.T, c trace.EventConfig[T]) string {
	t.Helper()
	ev, err := trace.MakeEvent(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(Append(nil, &ev))
}

func TestLines(t *testing.T) {
	stack := trace.MakeStack([]trace.StackFrame{
		{PC: 0x10, Func: "main.f", File: "/a b.go", Line: 3}, {PC: 0x20, Func: "é\xff", File: "", Line: 0},
	})
	const stackText = `"main.f"@"/a b.go":3#10;"\u00e9\xff"@"":0#20`
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	block := trace.MakeGoStateTransition(5, trace.GoRunning, trace.GoWaiting)
	block.Reason = "chan \"receive\""
	check(textOf(t, trace.EventConfig[trace.StateTransition]{
		Time: 9, Kind: trace.EventStateTransition,
		Thread: 1, Proc: 2, Goroutine: 5, Stack: stack, Details: block}),
		"9\tStateTransition\t1\t2\t5\tgoroutine=5 Running->Waiting reason=\"chan \\\"receive\\\"\"\t"+stackText+"\n")
	create := trace.MakeGoStateTransition(6, trace.GoNotExist, trace.GoRunnable)
	create.Stack = stack
	check(textOf(t, trace.EventConfig[trace.StateTransition]{
		Time: 9, Kind: trace.EventStateTransition,
		Thread: 1, Proc: 2, Goroutine: trace.NoGoroutine, Details: create}),
		"9\tStateTransition\t1\t2\t-1\tgoroutine=6 NotExist->Runnable reason=\"\" "+
			"transition_stack=["+stackText+"]\t-\n")
	check(textOf(t, trace.EventConfig[trace.Log]{
		Time: 1, Kind: trace.EventLog, Thread: 1, Proc: 2, Goroutine: 5,
		Details: trace.Log{Task: 3, Category: "c", Message: "m\n"}}),
		"1\tLog\t1\t2\t5\ttask=3 category=\"c\" message=\"m\\n\"\t-\n")
	check(textOf(t, trace.EventConfig[trace.Task]{
		Time: 1, Kind: trace.EventTaskBegin, Thread: 1, Proc: 2, Goroutine: 5,
		Details: trace.Task{ID: 3, Parent: trace.NoTask, Type: "t"}}),
		"1\tTaskBegin\t1\t2\t5\tid=3 parent=18446744073709551615 type=\"t\"\t-\n")
	check(textOf(t, trace.EventConfig[trace.Range]{
		Time: 1, Kind: trace.EventRangeBegin, Thread: 1, Proc: 2, Goroutine: 5,
		Details: trace.Range{Name: "GC concurrent mark phase"}}),
		"1\tRangeBegin\t1\t2\t5\tname=\"GC concurrent mark phase\" scope=Global\t-\n")
	check(textOf(t, trace.EventConfig[trace.Sync]{
		Time: 4, Kind: trace.EventSync, Thread: -1, Proc: -1, Goroutine: -1,
		Details: trace.Sync{N: 2}}),
		"4\tSync\t-1\t-1\t-1\tn=2\t-\n")
}

func TestSort(t *testing.T) {
	const status = "\tStateTransition\t-1\t-1\t-1\tgoroutine="
	const runnable = " Undetermined->Runnable reason=\"\"\t-\n"
	in := "5\tA\t1\t2\t-1\t\t-\n" + "6\tB\t1\t1\t-1\t\t-\n" + "7\tC\t1\t2\t-1\t\t-\n" +
		"20" + status + "11" + runnable + "21" + status + "9" + runnable + "23" + status + "1" + runnable
	want := "5\tB\t1\t1\t-1\t\t-\n" + "6\tA\t1\t2\t-1\t\t-\n" + "7\tC\t1\t2\t-1\t\t-\n" +
		"20" + status + "9" + runnable + "21" + status + "11" + runnable + "23" + status + "1" + runnable
	var out bytes.Buffer
	if err := Sort(&out, strings.NewReader(in)); err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
