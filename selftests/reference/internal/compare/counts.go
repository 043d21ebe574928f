package compare

// This file compares what belongs to no goroutine: the Ps' transitions, and how often the world
// was stopped, garbage collected, and resized.

import (
	"strings"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// procs aligns each P's transitions as the goroutines' are. A steal is stamped by the thief in
// both tracers, but the two may see a race between steal and return from a syscall differently:
// it is reported, not judged.
func (c *comparer) procs() {
	truth := procItems(c.truth.Procs, c.truth.Start, c.truth.End)
	ours := procItems(c.ours.Procs, c.from, c.to)
	for p, t := range truth {
		for _, pair := range align(t, ours[p]) {
			if pair.t >= 0 && c.inside(t[pair.t].time) {
				c.report.ProcSeq.add(pair.o >= 0)
			} else if pair.t < 0 && c.inside(ours[p][pair.o].time) {
				c.report.ProcExtra++
			}
		}
	}
}

func procItems(list []tracefile.ProcTransition, from, to int64) map[int64][]item {
	out := map[int64][]item{}
	for i := range list {
		t := &list[i]
		change := t.From != t.To && t.From != trace.ProcUndetermined
		if change && t.Time >= from && t.Time <= to {
			out[t.P] = append(out[t.P], item{uint64(t.From)<<8 | uint64(t.To), t.Time})
		}
	}
	return out
}

// edgeTolerance is how far apart both tracers may stamp the same event of the runtime.
const edgeTolerance = 200_000

// counts compares how often ranges began, and how GOMAXPROCS changed.
func (c *comparer) counts() {
	names := map[string]bool{}
	for _, r := range c.truth.Ranges {
		names[r.Name] = names[r.Name] || c.inside(r.Time)
	}
	for _, r := range c.ours.Ranges {
		names[r.Name] = names[r.Name] || c.inside(r.Time)
	}
	for name, used := range names {
		if !used {
			continue
		}
		// Sweeping and assists are of the wider set of events; the others must be there.
		must := strings.HasPrefix(name, "stop-the-world") || name == "GC concurrent mark phase"
		c.countTimes(name, must, begins(c.truth, name), begins(c.ours, name))
	}
	c.countTimes("GOMAXPROCS changes", true, resizes(c.truth), resizes(c.ours))
}

func (c *comparer) countTimes(name string, must bool, truth, ours []int64) {
	n := within(truth, c.lo, c.hi)
	most := within(ours, c.lo-edgeTolerance, c.hi+edgeTolerance)
	least := within(ours, c.lo+edgeTolerance, c.hi-edgeTolerance)
	c.report.Counts[name] = Count{
		Go: n, Ours: within(ours, c.lo, c.hi), Equal: least <= n && n <= most, Must: must,
	}
}

func within(times []int64, lo, hi int64) (n int) {
	for _, t := range times {
		if t >= lo && t <= hi {
			n++
		}
	}
	return n
}

func begins(t *tracefile.Trace, name string) (times []int64) {
	for _, r := range t.Ranges {
		if !r.End && r.Name == name {
			times = append(times, r.Time)
		}
	}
	return times
}

// resizes lists the real changes of GOMAXPROCS: the runtime repeats the value after every STW.
func resizes(t *tracefile.Trace) (times []int64) {
	last := uint64(0)
	for _, m := range t.Metrics {
		if m.Name != "/sched/gomaxprocs:threads" {
			continue
		}
		if last != 0 && m.Value != last {
			times = append(times, m.Time)
		}
		last = m.Value
	}
	return times
}
