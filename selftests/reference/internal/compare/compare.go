// Package compare compares two traces of the same run: the runtime's own, taken as correct, and
// ours, recorded from outside over a wider window. For each goroutine it compares the transitions,
// and their place, time and stack.
//
// Rules, for differences between the two tracers where neither is wrong:
//
//   - Statuses (undetermined -> X, X -> X) are announcements, not transitions: dropped.
//   - The window begins where the STW pause that starts the runtime's trace ends, and ends with the
//     runtime's last transitions, excluding a few: its tracer stops without an STW pause. All threads
//     stop at once except those that are writing an event: one that is preempted there writes it
//     tens of milliseconds later.
//   - Transitions within Edge of either end are aligned, but a missing counterpart there is no
//     difference, and nothing else of them is compared.
//   - Ours is cut to that window plus Slack, to give transitions at the edges their counterparts.
//   - Only goroutines with a transition well inside the window are compared.
//   - The P and M of a transition are compared where the goroutine itself is on them; for creation
//     and unblocking they, and the stack, are the other goroutine's, which is compared as waker.
//     At the end of a syscall that blocked, the P is lost, and the thread's P is not compared.
//   - A stack of a known class of differences (classes.go) is counted as that, not as a difference;
//     each class has a limit.
//   - Both clocks are CLOCK_MONOTONIC, so times are compared absolutely. The runtime's tick is
//     64 ns, and the reader moves an event that would be earlier than the one before it to 1 ns
//     after that one: negligible for limits in microseconds.
package compare

import (
	"slices"
	"time"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// Options of a comparison.
type Options struct {
	Edge     time.Duration // at each end of the window: aligned, not compared; see EdgeMax
	Slack    time.Duration // how much wider than the window ours is read
	Blur     time.Duration // maximum distance between both tracers' times of counted events; see EdgeMax
	EdgeMax  time.Duration // Edge and Blur grow up to this, depending on the run's own times
	Outlier  time.Duration // a time difference above this is listed
	MaxDiffs int           // how many differences of each kind to keep
	Minor    int           // the release of the truth's format: N of "go 1.N trace"
	V1       bool          // Go 1.21 or older; see ReconcileV1
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Edge: time.Millisecond, Slack: 10 * time.Millisecond,
		Blur:    200 * time.Microsecond,
		Outlier: 500 * time.Microsecond, MaxDiffs: 20,
	}
}

type comparer struct {
	Options
	truth, ours *tracefile.Trace
	report      *Report
	lo, hi      int64 // the compared window
	from, to    int64 // the range read in ours
	times       []int64
	kindTimes   map[string][]int64
	elsewhere   map[[2]int64]bool // parks without a stack, by goroutine and time: see ranElsewhere
}

// Compare compares ours with the truth. Both must have been loaded with the same tables.
//
// On a busy machine a thread may lose its CPU between the probe and the runtime's timestamp. The
// transitions in both traces show how long that took in this run: an event as near to an end of the
// window may lie outside of it for one of the two. So Edge and Blur grow to the largest of these
// differences.
func Compare(truth, ours *tracefile.Trace, opt Options) *Report {
	report := compareWithin(truth, ours, opt)
	late := min(report.latest, opt.EdgeMax)
	if late <= opt.Edge && late <= opt.Blur {
		return report
	}
	opt.Edge, opt.Blur = max(opt.Edge, late), max(opt.Blur, late)
	return compareWithin(truth, ours, opt)
}

func compareWithin(truth, ours *tracefile.Trace, opt Options) *Report {
	start, end := window(truth)
	c := &comparer{
		Options: opt, truth: truth, ours: ours,
		lo: start + int64(opt.Edge), hi: end - int64(opt.Edge),
		from: start - int64(opt.Slack), to: end + int64(opt.Slack),
		kindTimes: map[string][]int64{},
		report: &Report{
			TimeByKind: map[string]Times{}, Kinds: map[string]Agreement{},
			Counts: map[string]Count{}, DiffCount: map[string]int{},
			Classes: map[string]int{}, StackClasses: map[string]int{},
		},
	}
	c.report.Window = [2]int64{c.lo, c.hi}
	c.goroutines()
	c.procs()
	c.counts()
	c.annotations()
	for _, diff := range c.times {
		c.report.latest = max(c.report.latest, time.Duration(abs(diff)))
	}
	c.report.Time = summarise(c.times)
	for kind, diffs := range c.kindTimes {
		c.report.TimeByKind[kind] = summarise(diffs)
	}
	return c.report
}

// stragglers is the number of transitions that threads may write after the tracer has stopped for
// the others.
const stragglers = 16

// window returns the part of the runtime's trace that has all of its events.
func window(t *tracefile.Trace) (start, end int64) {
	start, end = t.Start, t.End
	for i, n := len(t.Transitions)-1, 0; i >= 0 && n < stragglers; i-- {
		if !t.Transitions[i].Status() { // written for all goroutines at the end
			end = t.Transitions[i].Time
			n++
		}
	}
	for _, r := range t.Ranges {
		if r.End && r.Name == "stop-the-world (start trace)" {
			start = r.Time
			break
		}
	}
	return start, end
}

func (c *comparer) inside(t int64) bool { return t >= c.lo && t <= c.hi }

// byGoroutine groups the real transitions of a trace within a time range.
func byGoroutine(t *tracefile.Trace, from, to int64) map[int64][]*tracefile.Transition {
	out := map[int64][]*tracefile.Transition{}
	for i := range t.Transitions {
		tr := &t.Transitions[i]
		if !tr.Status() && tr.Time >= from && tr.Time <= to {
			out[tr.G] = append(out[tr.G], tr)
		}
	}
	return out
}

func (c *comparer) anyInside(list []*tracefile.Transition) bool {
	return slices.ContainsFunc(list, func(t *tracefile.Transition) bool { return c.inside(t.Time) })
}

func (c *comparer) goroutines() {
	truth := byGoroutine(c.truth, c.truth.Start, c.truth.End)
	ours := byGoroutine(c.ours, c.from, c.to)
	ids := make([]int64, 0, len(truth))
	for g := range truth {
		ids = append(ids, g)
	}
	slices.Sort(ids) // for a stable order of the differences
	for _, g := range ids {
		if !c.anyInside(truth[g]) {
			continue
		}
		if len(ours[g]) == 0 {
			c.report.Missing++
			c.diff("goroutine missing", g, 0, truth[g][0], nil)
		}
		c.report.Goroutines.add(c.goroutine(g, truth[g], ours[g]))
	}
	extras := []int64{}
	for g, list := range ours {
		if truth[g] == nil && c.anyInside(list) {
			extras = append(extras, g)
		}
	}
	slices.Sort(extras)
	for _, g := range extras {
		c.report.Extra++
		c.diff("goroutine extra", g, 0, nil, ours[g][0])
	}
}

func key(t *tracefile.Transition) uint64 {
	return uint64(t.From)<<40 | uint64(t.To)<<32 | uint64(uint32(t.Reason))
}

func items(list []*tracefile.Transition) []item {
	out := make([]item, len(list))
	for i, t := range list {
		out[i] = item{key(t), t.Time}
	}
	return out
}

// goroutine compares one goroutine and reports whether its sequence is identical.
func (c *comparer) goroutine(g int64, truth, ours []*tracefile.Transition) bool {
	var d odd
	for _, p := range align(items(truth), items(ours)) {
		switch {
		case p.t < 0:
			if c.inside(ours[p.o].Time) {
				d.extra = append(d.extra, ours[p.o])
				c.report.ExtraTrans++
				c.diff("transition extra", g, p.o, nil, ours[p.o])
			}
		case c.inside(truth[p.t].Time):
			t := truth[p.t]
			c.count(t, p.o >= 0)
			if p.o < 0 {
				d.missing = append(d.missing, t)
				c.diff("transition missing", g, p.t, t, nil)
			} else {
				c.matched(g, p.t, t, ours[p.o])
			}
		}
	}
	if d.any() {
		c.report.Classes[c.class(&d, ours)]++
	}
	return !d.any()
}

func (c *comparer) count(t *tracefile.Transition, found bool) {
	c.report.Transitions.add(found)
	kind := t.Kind(c.truth.Tables)
	a := c.report.Kinds[kind]
	a.add(found)
	c.report.Kinds[kind] = a
}

// matched compares the details of one transition found in both traces.
func (c *comparer) matched(g int64, n int, t, o *tracefile.Transition) {
	judge := func(what string, a *Agreement, equal bool) {
		a.add(equal)
		if !equal {
			c.diff(what, g, n, t, o)
		}
	}
	r := c.report
	if t.ByOther() {
		judge("waker", &r.Waker, t.By == o.By)
	} else {
		if t.M >= 0 || !c.V1 {
			judge("M", &r.M, t.M == o.M)
		}
		if t.To == trace.GoRunning || t.From == trace.GoRunning {
			judge("P", &r.P, t.P == o.P)
		}
	}
	if t.From == trace.GoNotExist {
		judge("start function", &r.StartFunc, c.truth.StartFunc[g] == c.ours.StartFunc[g])
	}
	c.stacks(judge, t, o)
	diff := o.Time - t.Time
	c.times = append(c.times, diff)
	kind := t.Kind(c.truth.Tables)
	c.kindTimes[kind] = append(c.kindTimes[kind], diff)
	if abs(diff) > int64(c.Outlier) {
		r.Outliers++
		c.diff("time", g, n, t, o)
	}
}

// stacks compares a transition's stacks where at least one side has one.
func (c *comparer) stacks(judge func(string, *Agreement, bool), t, o *tracefile.Transition) {
	if t.Stack == 0 && (o.Stack == 0 || c.V1) {
		return
	}
	r, tab := c.report, c.truth.Tables
	if class := c.stackClass(t, o); t.Stack != o.Stack && class != "" {
		r.StackClasses[class]++
		return
	}
	tl, _ := tab.Leaf(t.Stack)
	ol, _ := tab.Leaf(o.Stack)
	judge("top function", &r.TopFunc, tl.Func == ol.Func)
	if tl.Func == ol.Func {
		judge("top line", &r.TopLine, tl.Line == ol.Line)
		if tl.Line == ol.Line {
			judge("stack below the top", &r.Stack, t.Stack == o.Stack)
			return
		}
	} else {
		r.TopLine.add(false)
	}
	r.Stack.add(false)
}

func (c *comparer) diff(what string, g int64, n int, t, o *tracefile.Transition) {
	c.report.DiffCount[what]++
	if c.report.DiffCount[what] <= c.MaxDiffs {
		name := c.truth.StartFunc[g]
		if name == "" {
			name = c.ours.StartFunc[g]
		}
		c.report.Diffs = append(c.report.Diffs, Diff{what, g, name, n, t, o})
	}
}
