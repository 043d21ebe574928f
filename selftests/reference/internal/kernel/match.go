package kernel

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Match is the result of a comparison with perf.
type Match struct {
	Switches, Wakings Apart    // of the matched ones
	Missed            int      // by perf, as its own record proves
	Wrong             []string // one line each: missing, additional, or with other contents
}

// Apart is how far our times are from perf's, sorted; ns.
type Apart []int64

const (
	around  = 1_000_000  // ns: an event this close to the window's edge may be outside of it for one of the two
	farAway = 10_000_000 // ns: two records further apart are of different moments
)

// Compare matches the items of a process's threads between two times with perf's. They match if
// they are of the same thread and kind, in the same order.
func Compare(ours []Item, perf *Perf, pid int, from, to int64) *Match {
	m := &Match{}
	of := map[string][2][]Item{}
	for side, items := range [][]Item{ours, perf.Items} {
		for _, item := range items {
			class := class(item.Event)
			if class == "" || item.Time < from-around || item.Time > to+around ||
				side == 1 && perf.Process[item.M] != pid {
				continue
			}
			key := fmt.Sprint(item.M, " ", class)
			pair := of[key]
			pair[side] = append(pair[side], item)
			of[key] = pair
		}
	}
	for _, key := range sortedKeys(of) {
		for i := range of[key] {
			sort.SliceStable(of[key][i], func(a, b int) bool { return of[key][i][a].Time < of[key][i][b].Time })
		}
		m.sequence(of[key][0], of[key][1], perf, from, to)
	}
	slices.Sort(m.Switches)
	slices.Sort(m.Wakings)
	return m
}

func class(event string) string {
	switch event {
	case "on_cpu", "off_cpu":
		return "switch"
	case "waking":
		return event
	}
	return ""
}

func sortedKeys(of map[string][2][]Item) (keys []string) {
	for key := range of {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func (m *Match) sequence(ours, theirs []Item, perf *Perf, from, to int64) {
	inside := func(item Item) bool { return item.Time >= from && item.Time <= to }
	wrong := func(a Item) bool { return inside(a) && !perf.Missed(a.CPU, a.Time) }
	next := 0
	less := func(end int) {
		for ; next < end; next++ {
			if inside(theirs[next]) {
				m.Wrong = append(m.Wrong, fmt.Sprintf("missing: %s", theirs[next]))
			}
		}
	}
	for i, j := range align(ours, theirs, wrong, inside) {
		switch a := ours[i]; {
		case j >= 0:
			less(j)
			m.pair(a, theirs[j], perf)
			next = j + 1
		case wrong(a):
			m.Wrong = append(m.Wrong, fmt.Sprintf("too many: %s", a))
		case perf.Missed(a.CPU, a.Time):
			m.Missed++
		}
	}
	less(len(theirs))
}

func (m *Match) pair(a, b Item, perf *Perf) {
	if a.Event == "waking" {
		m.Wakings = append(m.Wakings, abs(a.Time-b.Time))
	} else {
		m.Switches = append(m.Switches, abs(a.Time-b.Time))
	}
	var differ []string
	unless := func(same bool, what string) {
		if !same {
			differ = append(differ, what)
		}
	}
	unless(a.CPU == b.CPU, "cpu")
	unless(a.Before.M == b.Before.M, "previous thread")
	unless(a.Then.M == b.Then.M, "next thread")
	// perf has the number -1 for a thread that has almost exited.
	unless(a.By.M == b.By.M && a.By.Pid == b.By.Pid || b.By.M < 0, "waker")
	if a.Event == "off_cpu" {
		unless(sameReason(a.Why, b.Why), "reason")
		unless(a.Then.M == 0 || a.Then.Name == b.Then.Name, "name")
		pid, known := perf.Process[b.Then.M]
		unless(a.Then.M == 0 || !known || a.Then.Pid == pid, "process")
	}
	if differ != nil {
		m.Wrong = append(m.Wrong, fmt.Sprintf("other %s: %s, perf: %s", strings.Join(differ, ", "), a, b))
	}
}

// sameReason compares a reason with perf's letter for a task's state. On kernels that are not
// preemptible, threads that lose their CPU on the way to user space have no "+".
func sameReason(why, state string) bool {
	switch strings.TrimSuffix(state, "+") {
	case "R":
		return why == "preempted" || why == "throttled" || why == "yielded" && state == "R"
	case "S":
		return why == "sleeping"
	case "D", "I":
		return why == "disk"
	case "T", "t", "P":
		return why == "stopped"
	case "X", "Z":
		return why == "dead"
	}
	return false
}

// Percentile is the maximum distance for a share of the times; 0 if there are none.
func (a Apart) Percentile(p float64) int64 {
	if len(a) == 0 {
		return 0
	}
	return a[min(int(p*float64(len(a))), len(a)-1)]
}

func (a Apart) String() string {
	return fmt.Sprintf("%d, %d ns apart (p50), %d (p99), %d (most)", len(a), a.Percentile(0.5), a.Percentile(0.99),
		a.Percentile(1))
}

func (i Item) String() string {
	text := fmt.Sprintf("%d %s of %d on cpu %d", i.Time, i.Event, i.M, i.CPU)
	switch i.Event {
	case "on_cpu":
		text += fmt.Sprintf(", before %d", i.Before.M)
	case "off_cpu":
		text += fmt.Sprintf(", %s, then %d of %d (%s)", i.Why, i.Then.M, i.Then.Pid, i.Then.Name)
	case "waking":
		text += fmt.Sprintf(", by %d of %d", i.By.M, i.By.Pid)
	}
	return text
}

func abs(n int64) int64 { return max(n, -n) }
