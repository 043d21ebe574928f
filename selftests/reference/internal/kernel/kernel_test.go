package kernel

import (
	"slices"
	"strings"
	"testing"
)

const script = `  100/101   [001]     7.000001000:       sched:sched_switch: prev_comm=a b prev_pid=101 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
    0/0     [001]     7.000002000:       sched:sched_waking: comm=a b pid=101 prio=120 target_cpu=001
    0/0     [001]     7.000003000:       sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=101 next_prio=120
  100/101   [001]     7.000004000: sched:sched_stat_runtime: comm=a b pid=101 runtime=1000 [ns]
  100/101   [001]     7.000005000:       sched:sched_switch: prev_comm=a b prev_pid=101 prev_prio=120 prev_state=R+ ==> next_comm=x next_pid=9 next_prio=120
    9/9     [001]     7.000006000:       sched:sched_switch: prev_comm=x prev_pid=9 prev_prio=120 prev_state=D ==> next_comm=a b next_pid=101 next_prio=120
`

// The corresponding items of ours.
func same() []Item {
	at := func(ns int64, event string) Item { return Item{Time: 7e9 + ns, M: 101, CPU: 1, Event: event} }
	off, waking, on, lost, back := at(1200, "off_cpu"), at(2200, "waking"), at(3200, "on_cpu"), at(5200, "off_cpu"),
		at(6200, "on_cpu")
	off.Why, lost.Why, lost.Then, back.Before = "sleeping", "preempted", Thread{9, 9, "x"}, Thread{M: 9}
	return []Item{off, waking, on, lost, back}
}

func compare(t *testing.T, ours []Item) *Match {
	t.Helper()
	perf, err := ParsePerf(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	return Compare(ours, perf, 100, 7e9, 7e9+10_000)
}

func TestCompare(t *testing.T) {
	m := compare(t, same())
	if m.Wrong != nil || len(m.Switches) != 4 || len(m.Wakings) != 1 || m.Switches.Percentile(0.99) != 200 {
		t.Errorf("%+v", m)
	}
	for name, change := range map[string]func(items []Item) []Item{
		"missing":         func(items []Item) []Item { return slices.Delete(items, 1, 2) },
		"missing at all":  func(items []Item) []Item { return slices.Delete(items, 3, 4) },
		"too many":        func(items []Item) []Item { return append(items, items[0]) },
		"reason":          func(items []Item) []Item { items[0].Why = "disk"; return items },
		"cpu":             func(items []Item) []Item { items[2].CPU = 0; return items },
		"previous thread": func(items []Item) []Item { items[4].Before.M = 8; return items },
		"next thread":     func(items []Item) []Item { items[3].Then.M = 8; return items },
		"process":         func(items []Item) []Item { items[3].Then.Pid = 8; return items },
		"name":            func(items []Item) []Item { items[3].Then.Name = "y"; return items },
		"waker":           func(items []Item) []Item { items[1].By.M = 8; return items },
	} {
		if m := compare(t, change(same())); m.Wrong == nil {
			t.Errorf("%s is not found", name)
		}
	}
	deaf, err := ParsePerf(strings.NewReader(strings.Join(slices.Delete(strings.SplitAfter(script, "\n"), 1, 3), "")))
	if err != nil {
		t.Fatal(err)
	}
	if m := Compare(same(), deaf, 100, 7e9, 7e9+10_000); m.Wrong != nil || m.Missed != 2 || len(m.Switches) != 3 {
		t.Errorf("perf is deaf: %+v", m)
	}
	if _, err := ParsePerf(strings.NewReader("what?\n")); err == nil {
		t.Error("anything is read as perf's")
	}
}

// Perf has only the switches away from the thread, and read its clock so late at the second that the
// third is nearer.
func TestLateClock(t *testing.T) {
	perf := &Perf{Process: map[int]int{101: 100}, Gaps: []Gap{{1, 7e9, 7e9 + 50_000}}}
	var ours []Item
	for i, ns := range []int64{0, 20_000, 40_000} {
		off := Item{Time: 7e9 + ns, M: 101, CPU: 1, Event: "off_cpu", Why: "sleeping"}
		on := Item{Time: off.Time + 10_000, M: 101, CPU: 1, Event: "on_cpu"}
		ours = append(ours, off, on)
		off.Time, off.Why = off.Time+[]int64{300, 13_000, 300}[i], "S"
		perf.Items = append(perf.Items, off)
	}
	m := Compare(ours, perf, 100, 7e9, 7e9+60_000)
	if m.Wrong != nil || m.Missed != 3 || len(m.Switches) != 3 || m.Switches.Percentile(1) != 13_000 {
		t.Errorf("%+v", m)
	}
	if m := Compare(append(ours[:2:2], ours[3:]...), perf, 100, 7e9, 7e9+60_000); len(m.Wrong) != 1 {
		t.Errorf("missing is not found: %+v", m)
	}
}

func TestTruth(t *testing.T) {
	g := int64(5)
	items := []Item{
		{Time: 1, M: 1, Event: "created", Name: "a"},
		{Time: 2, M: 1, G: &g, Event: "sys_enter", Syscall: "close", Number: 3},
		{Time: 3, M: 1, Event: "sys_exit", Syscall: "close", Number: 3, Result: -9},
		{Time: 4, M: 2, Event: "created", Name: "a"},
		{Time: 5, M: 2, Event: "named", Name: "b"},
		{Time: 6, M: 2, Event: "ended"},
		{Time: 9, M: 3, Event: "created", Name: "while the threads were listed"},
	}
	done := &Done{To: 10, Listed: 8, Calls: []Call{{"main.f", "close", -9, 1}}, Before: []Named{{7, "z"}},
		Ended: []Named{{2, "b"}}, After: []Named{{1, "a"}, {7, "z"}}}
	of := map[int64]string{5: "main.f"}
	if wrong := append(Calls(items, done, of), Threads(items, done)...); wrong != nil {
		t.Error(wrong)
	}
	done.Calls[0].Count, done.Ended[0].Name, done.After, done.Listed = 2, "a", done.After[:1], 10
	if wrong := append(Calls(items, done, of), Threads(items, done)...); len(wrong) != 4 {
		t.Error(wrong)
	}
}
