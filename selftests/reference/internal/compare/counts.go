package compare

// This file compares events that do not belong to a goroutine: the Ps' transitions; STW pauses,
// garbage collections, GOMAXPROCS changes, mark assists and sweeps; and the heap sizes.

import (
	"fmt"
	"strings"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// procs aligns each P's transitions like those of goroutines. The thief records a steal in both
// tracers, but the two may order a race between a steal and the return from a syscall differently:
// that is reported, but not a failure.
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

const (
	sweep     = "GC incremental sweep"
	resized   = "/sched/gomaxprocs:threads"
	switched  = "coroutine switches"
	coroutine = "coroutines created"
)

// metrics are the names of the samples that must be equal.
var metrics = map[string]string{
	"/memory/classes/heap/objects:bytes": "heap sizes",
	"/gc/heap/goal:bytes":                "heap goals",
	resized:                              "GOMAXPROCS changes",
}

// counts compares the starts and ends of ranges and the samples one by one (match.go), those with a
// value only with others of the same value. Sweeping is recorded only on request; Go 1.19 has no
// probe site for the heap's size; up to 1.21 the runtime does not record the end of an assist that
// began before its trace.
func (c *comparer) counts() {
	truth, ours := c.samples(c.truth), c.samples(c.ours)
	names := map[string]bool{}
	for _, side := range []map[string][]sample{truth, ours} {
		for name, list := range side {
			for _, s := range list {
				names[name] = names[name] || c.inside(s.time)
			}
		}
	}
	for name, used := range names {
		if used {
			optional := name == sweep || name == sweep+", ends" || c.V1 && name == "heap sizes"
			must := !optional || len(ours[name]) > 0
			must = must && !(c.V1 && name == "GC mark assist, ends")
			c.countSamples(name, must, truth[name], ours[name])
		}
	}
}

// countSamples matches all samples of one name. They are equal if no sample inside the window is
// unmatched; unmatched ones within Blur of its ends are permitted, with a value only in ours.
func (c *comparer) countSamples(name string, must bool, truth, ours []sample) {
	looked := within(ours, c.from, c.to)
	count := Count{
		Go: len(within(truth, c.lo, c.hi)), Ours: len(within(ours, c.lo, c.hi)), Equal: true, Must: must,
	}
	leftT, leftO := c.match(truth, looked)
	judge := func(list []sample, left []bool, blur int64) {
		for i, s := range list {
			edge := blur
			if s.value == "" {
				edge = int64(c.Blur)
			}
			if s.time < c.lo+edge || s.time > c.hi-edge {
				continue
			}
			count.Equal = count.Equal && !left[i]
			if s.value != "" {
				count.Values.add(!left[i])
			}
		}
	}
	judge(truth, leftT, 0)
	judge(looked, leftO, int64(c.Blur))
	c.report.Counts[name] = count
}

func within(list []sample, lo, hi int64) (out []sample) {
	for _, s := range list {
		if s.time >= lo && s.time <= hi {
			out = append(out, s)
		}
	}
	return out
}

// mislabelled: in 1.26 a P may have a worker assigned before which another goroutine starts, for
// example the scavenger, and the runtime then labels that one.
func (c *comparer) mislabelled(t *tracefile.Trace, g int64) bool {
	name := t.StartFunc[g]
	return name != "" && name != "runtime.gcBgMarkWorker"
}

// samples returns all counted events, by name.
func (c *comparer) samples(t *tracefile.Trace) map[string][]sample {
	out := map[string][]sample{}
	add := func(name string, time int64, value string) {
		out[name] = append(out[name], sample{time, value})
	}
	for _, r := range t.Ranges {
		if strings.HasPrefix(r.Name, "label ") && c.mislabelled(t, r.G) {
			continue
		}
		if !r.End {
			add(r.Name, r.Time, "")
		} else if r.Name == sweep {
			add(sweep+", ends", r.Time, fmt.Sprint(r.Bytes))
		} else {
			add(r.Name+", ends", r.Time, "")
		}
	}
	for _, m := range t.Metrics {
		if name := metrics[m.Name]; name != "" && m.Name != resized {
			add(name, m.Time, fmt.Sprint(m.Value))
		}
	}
	resizes(t, add)
	for i := range t.Transitions {
		tr := &t.Transitions[i]
		switch {
		case tr.From == trace.GoNotExist && tr.To == trace.GoWaiting:
			add(coroutine, tr.Time, "")
		case !c.V1 && tr.From == trace.GoRunning && tr.To == trace.GoWaiting && tr.Reason == 0:
			add(switched, tr.Time, "")
		}
	}
	return out
}

// resizes lists the real changes of GOMAXPROCS: the runtime repeats the value after every STW.
func resizes(t *tracefile.Trace, add func(name string, time int64, value string)) {
	last := uint64(0)
	for _, m := range t.Metrics {
		if m.Name != resized {
			continue
		}
		if last != 0 && m.Value != last {
			add(metrics[resized], m.Time, fmt.Sprint(m.Value))
		}
		last = m.Value
	}
}
