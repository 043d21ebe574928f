package compare

// This file defines the known differences, each with a rule that recognizes it; FIDELITY.md in
// selftests/reference has their causes. A difference that no rule recognizes is unexplained.

import (
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

const (
	// ClassLate is a goroutine with the same sequence, but with some transition's times further
	// apart than the alignment permits, or with its last one not written before the tracer
	// ended: its thread was preempted between the probe and the runtime's timestamp.
	ClassLate = "late timestamp"
	// ClassUntold is a goroutine of Go 1.21 whose last system call before the tracer's end lost
	// its P: the runtime records its end only when the goroutine runs again.
	ClassUntold = "unreported end of a system call"
	// ClassOwnFrames is a stack in which the runtime's trace shows its tracer's own frames: a
	// wake-up by a goroutine on its own stack. Ours is empty there.
	ClassOwnFrames = "tracer's own frames"
	// ClassLost is the stack of a goroutine suspended for the GC, up to Go 1.25: the goroutine
	// is already detached from its M when the tracer reads the stack, so it is empty.
	ClassLost = "stack lost at a suspension"
	// ClassElsewhere is the stack of a park from Go 1.22 on, when the goroutine has run on another
	// thread before the one on which it parked reported it: its stack was another by then.
	ClassElsewhere = "ran elsewhere since"
	// ClassCut is a stack with the same innermost frames in both traces, up to the limit.
	ClassCut = "truncated stack"
	// ClassSkipped is the stack of a goroutine preempted in a function without a frame of its
	// own, up to Go 1.20: frame pointers, which ours follows, skip the function's caller.
	ClassSkipped = "caller without a frame pointer"
	// ClassStale is a stack with runtime.gcAssistAlloc, up to Go 1.20: the GC moved the stack
	// while that function waited, without adjusting its frame pointer.
	ClassStale = "stale frame pointer"
	// Unexplained is every other difference.
	Unexplained = "unexplained"
)

// cutDepth is the minimum depth of a truncated stack: 128 less the frames that a tracer skips.
const cutDepth = 110

// lastWithTables is the last format of a release whose tracer does not follow frame pointers: 1.20
// writes the format of 1.19.
const lastWithTables = 20

// lastThatLoses is the last release of ClassLost.
const lastThatLoses = 25

// odd has the transitions of one goroutine that have no counterpart, in order.
type odd struct{ missing, extra []*tracefile.Transition }

func (d *odd) any() bool { return len(d.missing)+len(d.extra) > 0 }

// class returns the class of a goroutine with differences; ours has all its transitions in our
// trace.
func (c *comparer) class(d *odd, ours []*tracefile.Transition) string {
	if c.V1 && len(d.missing) == 0 && len(d.extra) == 1 && d.extra[0].From == trace.GoSyscall &&
		d.extra[0].To == trace.GoRunnable && c.lastInside(ours) == d.extra[0] {
		return ClassUntold
	}
	if n := len(d.extra); len(d.missing) == 0 && n > 0 && n <= 2 && c.lastInside(ours) == d.extra[n-1] &&
		c.endsBefore(d.extra[0]) {
		return ClassLate
	}
	if slices.EqualFunc(d.missing, d.extra, alike) && anyLate(d) {
		return ClassLate
	}
	return Unexplained
}

// lastInside returns the last transition that is compared.
func (c *comparer) lastInside(list []*tracefile.Transition) (last *tracefile.Transition) {
	for _, t := range list {
		if c.inside(t.Time) {
			last = t
		}
	}
	return last
}

// endsBefore reports whether the transition's thread appears in the runtime's trace only before it.
func (c *comparer) endsBefore(o *tracefile.Transition) bool {
	if c.V1 || o.M < 0 {
		return false
	}
	for i := len(c.truth.Transitions) - 1; i >= 0; i-- {
		t := &c.truth.Transitions[i]
		if t.Time < o.Time-maxApart {
			break
		}
		if t.M == o.M && t.Time > o.Time && !t.Status() {
			return false
		}
	}
	return true
}

// alike reports whether two transitions are equal except for their times.
func alike(t, o *tracefile.Transition) bool {
	return key(t) == key(o) && t.P == o.P && t.M == o.M && t.By == o.By
}

// anyLate: transitions after a late one may lack their counterparts because of it.
func anyLate(d *odd) bool {
	for i, t := range d.missing {
		if abs(t.Time-d.extra[i].Time) > maxApart {
			return true
		}
	}
	return false
}

// stackClass returns the class of a transition whose two stacks differ, "" for none.
func (c *comparer) stackClass(tt, ot *tracefile.Transition) string {
	t, o, tab := tt.Stack, ot.Stack, c.truth.Tables
	suspended := tt.To == trace.GoWaiting && tab.String(tt.Reason) == "preempted"
	if t == 0 && o != 0 && suspended && c.Minor >= 22 && c.Minor <= lastThatLoses {
		return ClassLost
	}
	leaf, _ := tab.Leaf(t)
	if o == 0 && strings.HasPrefix(leaf.Func, "runtime.traceLocker.") {
		return ClassOwnFrames
	}
	n := min(tab.Depth(t), tab.Depth(o))
	if n >= cutDepth && slices.Equal(tab.Frames(t)[:n], tab.Frames(o)[:n]) {
		return ClassCut
	}
	if o == 0 && c.Minor >= 22 && c.ranElsewhere(ot) {
		return ClassElsewhere
	}
	if c.Minor <= lastWithTables {
		return frameClass(tab.Frames(t), tab.Frames(o))
	}
	return ""
}

// ranElsewhere reports whether a transition of ours is a park without a stack of a goroutine that next
// runs on another thread.
func (c *comparer) ranElsewhere(park *tracefile.Transition) bool {
	if c.elsewhere == nil {
		c.elsewhere = map[[2]int64]bool{}
		parked := map[int64]tracefile.Transition{}
		for _, t := range c.ours.Transitions {
			p, waits := parked[t.G]
			switch {
			case t.To == trace.GoWaiting && t.From == trace.GoRunning && t.Stack == 0:
				parked[t.G] = t
			case t.To == trace.GoRunning && waits:
				c.elsewhere[[2]int64{p.G, p.Time}] = p.M != t.M
				delete(parked, t.G)
			}
		}
	}
	return c.elsewhere[[2]int64{park.G, park.Time}]
}

// frameClass returns the class of two stacks of a release whose tracer uses each function's frame
// size instead of frame pointers.
func frameClass(t, o []tracefile.Frame) string {
	n := 0
	for n < len(t) && n < len(o) && t[n] == o[n] {
		n++
	}
	isAssist := func(f tracefile.Frame) bool { return f.Func == "runtime.gcAssistAlloc" }
	if slices.ContainsFunc(t[:n], isAssist) {
		return ClassStale
	}
	// The preempted function itself may be a wrapper, which neither trace shows.
	left := len(t) - len(o)
	if n >= 1 && left > 0 && t[0].Func == "runtime.asyncPreempt" && slices.Equal(t[n+left:], o[n:]) {
		return ClassSkipped
	}
	return ""
}
