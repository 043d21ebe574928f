package waits

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The goroutine 1 begins to run on thread 7, which has CPU 0, at 10.
const begin = `
{"time":0,"kind":"Sync"}
{"time":5,"kind":"Kernel","event":"on_cpu","m":7,"cpu":0}
{"time":9,"kind":"StateTransition","goroutine":1,"from":"NotExist","to":"Runnable"}
{"time":10,"m":7,"p":0,"kind":"StateTransition","goroutine":1,"from":"Runnable","to":"Running"}
`

func load(t *testing.T, lines string) *Model {
	t.Helper()
	all, err := ReadLines(strings.NewReader(begin + lines))
	if err != nil {
		t.Fatal(err)
	}
	return Load(all)
}

func expect(t *testing.T, lines string, want Figures) {
	t.Helper()
	m := load(t, lines)
	got, known := m.Figures(1, m.Start, m.End)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %d instead of %d", name, got[name], value)
		}
	}
	if !known {
		t.Errorf("unknown: %v", got)
	}
}

// The same in selftests/unit/analysis/test_latency_edges.c: a_waker_has_a_cpu().
func TestWakerHasCPU(t *testing.T) {
	lines := `
{"time":20,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"preempted","then":{"m":99}}
{"time":30,"kind":"Kernel","event":"waking","m":8,"cpu":1,"by":{"m":7}}
{"time":31,"kind":"Kernel","event":"waking","m":8,"cpu":2,"by":{"m":7},"interrupt":true}
{"time":40,"kind":"Sync"}
`
	expect(t, lines, Figures{
		"oncpu_ns": 20, "kernel_runnable_ns": 10, "migrations": 1, "run_queue_delays.count": 1, "run_queue_delays.max_ns": 10,
	})
	var kinds []string
	for _, s := range load(t, lines).Path(1, 10, 40) {
		kinds = append(kinds, s.Kind)
	}
	if got := strings.Join(kinds, " "); got != "on-CPU kernel-runnable on-CPU" {
		t.Errorf("path: %s", got)
	}
}

// The same in test_latency_edges.c: a_switch_not_reported().
func TestSwitchNotReported(t *testing.T) {
	for _, to := range []string{"Waiting", "NotExist"} {
		expect(t, `
{"time":20,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"preempted","then":{"m":99}}
{"time":30,"m":7,"g":1,"kind":"StateTransition","goroutine":1,"from":"Running","to":"`+to+`"}
{"time":40,"kind":"Sync"}
`, Figures{"oncpu_ns": 10, "kernel_runnable_ns": 10, "run_queue_delays.count": 0})
	}
}

// A thread that is woken while it runs, and wakes another one, sleeps if it then leaves its CPU to sleep.
func TestWakerSleeps(t *testing.T) {
	expect(t, `
{"time":20,"kind":"Kernel","event":"waking","m":7,"cpu":1,"by":{"m":9}}
{"time":21,"kind":"Kernel","event":"waking","m":8,"cpu":0,"by":{"m":7}}
{"time":22,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"sleeping","then":{"m":0}}
{"time":40,"kind":"Sync"}
`, Figures{"oncpu_ns": 12, "kernel_blocked_ns": 18, "kernel_runnable_ns": 0})
}

// The same in test_latency.c: after_the_last_event(). A wait that began before it counts, and so does a
// migration.
func TestAfterLastEvent(t *testing.T) {
	expect(t, `
{"time":20,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"sleeping","then":{"m":0}}
{"time":30,"kind":"Kernel","event":"waking","m":7,"cpu":0,"by":{"m":9}}
{"time":45,"kind":"Kernel","event":"on_cpu","m":7,"cpu":1}
{"time":50,"kind":"Kernel","event":"off_cpu","m":7,"cpu":1,"why":"sleeping","then":{"m":0}}
{"time":60,"kind":"Kernel","event":"waking","m":7,"cpu":1,"by":{"m":9}}
{"time":65,"kind":"Kernel","event":"on_cpu","m":7,"cpu":1}
{"time":40,"kind":"Sync"}
`, Figures{
		"oncpu_ns": 10, "kernel_blocked_ns": 10, "kernel_runnable_ns": 10, "migrations": 1,
		"run_queue_delays.count": 1, "run_queue_delays.max_ns": 10,
	})
}

// The same in test_latency.c: running(). Two events of one time: the wait for a CPU has no length, but is
// one, and a CPU that a thread has for no time separates two waits.
func TestNoLength(t *testing.T) {
	expect(t, `
{"time":20,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"sleeping","then":{"m":0}}
{"time":30,"kind":"Kernel","event":"waking","m":7,"cpu":0,"by":{"m":9}}
{"time":30,"kind":"Kernel","event":"on_cpu","m":7,"cpu":0}
{"time":50,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"preempted","then":{"m":9}}
{"time":55,"kind":"Kernel","event":"on_cpu","m":7,"cpu":0}
{"time":55,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"preempted","then":{"m":9}}
{"time":60,"kind":"Kernel","event":"on_cpu","m":7,"cpu":0}
{"time":70,"kind":"Sync"}
`, Figures{"run_queue_delays.count": 3, "run_queue_delays.max_ns": 5, "kernel_runnable_ns": 10})
}

// A coroutine waits from its creation on: the frame of that event is not its own.
func TestCreatedBlocked(t *testing.T) {
	lines, err := ReadLines(strings.NewReader(begin + `
{"time":20,"m":7,"g":1,"kind":"StateTransition","goroutine":2,"from":"NotExist","to":"Waiting","frame":{"func":"iter.Pull"}}
{"time":30,"m":7,"g":1,"kind":"StateTransition","goroutine":1,"from":"Running","to":"Waiting","frame":{"func":"main.f"}}
{"time":70,"kind":"Sync"}
`))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := Load(lines).Longest(lines, "block", 0, 71)
	if len(all) != 2 || all[0].Goroutine != 2 || all[0].Top != "" || all[1].Top != "main.f" {
		t.Errorf("waits: %+v", all)
	}
}

// A sleep that takes no time is no part of a path; a wait for a CPU of no length is none of `gotrace waits`.
func TestPathSteps(t *testing.T) {
	m := load(t, `
{"time":20,"kind":"Kernel","event":"off_cpu","m":7,"cpu":0,"why":"sleeping","then":{"m":0}}
{"time":20,"kind":"Kernel","event":"waking","m":7,"cpu":0,"by":{"m":9}}
{"time":20,"kind":"Kernel","event":"on_cpu","m":7,"cpu":0}
{"time":70,"kind":"Sync"}
`)
	for _, s := range m.Path(1, 10, 70) {
		if s.Kind != "on-CPU" {
			t.Errorf("path: %v", s)
		}
	}
	all, _ := m.Longest([]*Line{{}}, "runqueue", 0, 71)
	if len(all) != 0 {
		t.Errorf("waits: %v", all)
	}
}

// A thread that wakes another one has a CPU, even if its own first item comes later. Before that, the
// table of the generation knows more than the items.
func TestWakesBeforeItsFirstItem(t *testing.T) {
	m := load(t, `
{"time":12,"kind":"StateTransition","goroutine":2,"from":"Undetermined","to":"Running"}
{"time":20,"kind":"Kernel","event":"waking","m":7,"cpu":1,"by":{"m":8}}
{"time":30,"m":8,"g":2,"kind":"Label","goroutine":2,"label":"x"}
{"time":40,"kind":"Kernel","event":"waking","m":8,"cpu":1,"by":{"m":7}}
{"time":50,"kind":"Sync"}
`)
	var got []string
	for _, s := range m.Path(2, 15, 50) {
		got = append(got, fmt.Sprintln(s.From, s.Kind, s.guess, s.vague))
	}
	if want := "20 on-CPU false false\n15 on-CPU true true\n"; strings.Join(got, "") != want {
		t.Errorf("path: %q instead of %q", got, want)
	}
}

// Goroutine 4 waits for P 0 from 1000 on, which goroutine 1 has for 100 us and goroutine 2 for 50 us. A path that
// charges another part to a holder, or another holder, differs.
func TestHolders(t *testing.T) {
	m := load(t, `
{"time":1000,"m":7,"p":0,"g":1,"kind":"StateTransition","goroutine":4,"from":"NotExist","to":"Runnable"}
{"time":101000,"m":7,"p":0,"g":1,"kind":"StateTransition","goroutine":1,"from":"Running","to":"Waiting"}
{"time":101000,"m":7,"p":0,"kind":"StateTransition","goroutine":2,"from":"Runnable","to":"Running"}
{"time":151000,"m":7,"p":0,"g":2,"kind":"StateTransition","goroutine":2,"from":"Running","to":"Waiting"}
{"time":151000,"m":7,"p":0,"kind":"StateTransition","goroutine":4,"from":"Runnable","to":"Running"}
{"time":160000,"kind":"Sync"}
`)
	compare := func(change func([]Segment)) (float64, Holder, int) {
		var v Counts
		segments := m.Path(4, 1000, 151000)
		slices.Reverse(segments)
		change(segments)
		m.Compare(4, segments, false, &v)
		worst, of := v.WorstHolder()
		return worst, of, len(v.Holders)
	}
	if worst, _, n := compare(func([]Segment) {}); worst != 0 || n != 2 {
		t.Errorf("%d holders, %.1f %%", n, worst)
	}
	last := int64(2)
	for name, change := range map[string]func([]Segment){
		"the last holder has all": func(s []Segment) { s[0].ByG = &last },
		"2 % more":                func(s []Segment) { s[0].To, s[1].From = 103000, 103000 },
		"another cause":           func(s []Segment) { s[0].Cause, s[0].ByG = "idle", nil },
		"no wait for a P":         func(s []Segment) { s[1].Kind = "Go-blocked" },
	} {
		if worst, of, _ := compare(change); worst <= 1 || of.Waiter != 4 {
			t.Errorf("%s: %.1f %% of %+v", name, worst, of)
		}
	}
}
