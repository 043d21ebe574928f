package compare

// This file names the known differences, each with the rule that recognises it; FIDELITY.md in
// selftests/reference has their causes. What no rule recognises is unexplained.

import (
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

const (
	// ClassLate is a goroutine whose sequence is the same, but some transition's times are
	// further apart than the alignment takes for the same, or its last one was not written before
	// the tracer's end: its thread lost the CPU between our probe and the runtime's stamp.
	ClassLate = "late stamp"
	// ClassUntold is a goroutine of Go 1.21 whose last system call before the tracer's end lost
	// its P: the runtime tells of its end when the goroutine runs again.
	ClassUntold = "untold end of a system call"
	// ClassOwnFrames is a stack in which the runtime's trace shows its tracer's own frames: a
	// wake-up that a goroutine makes on its own stack. Ours has none there.
	ClassOwnFrames = "tracer's own frames"
	// ClassLost is the stack of a goroutine suspended for the collector, up to Go 1.25: the
	// runtime has let go of the goroutine when its tracer asks for the stack, and gets none.
	ClassLost = "stack lost at a suspension"
	// ClassCut is a stack of which both traces have the innermost frames, as many as fit.
	ClassCut = "cut stack"
	// ClassSkipped is the stack of a goroutine preempted where its function has no frame of its own,
	// up to Go 1.20: frame pointers, which ours follows, lead past the function's caller.
	ClassSkipped = "caller without a frame pointer"
	// ClassStale is a stack with runtime.gcAssistAlloc, up to Go 1.20: the collector moved the stack
	// while that function waited, and left its frame pointer as it was.
	ClassStale = "stale frame pointer"
	// Unexplained is every other difference.
	Unexplained = "unexplained"
)

// cutDepth is how many frames at least a stack has that was cut: 128 less what a tracer skips.
const cutDepth = 110

// lastWithTables is the last format of a release that does not follow frame pointers itself: 1.20
// writes that of 1.19.
const lastWithTables = 20

// lastThatLoses is the last release of ClassLost.
const lastThatLoses = 25

// odd is the transitions of one goroutine that have no counterpart, in order.
type odd struct{ missing, extra []*tracefile.Transition }

func (d *odd) any() bool { return len(d.missing)+len(d.extra) > 0 }

// class is that of a goroutine with differences; ours is all its transitions in our trace.
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

// lastInside is the last transition that is judged.
func (c *comparer) lastInside(list []*tracefile.Transition) (last *tracefile.Transition) {
	for _, t := range list {
		if c.inside(t.Time) {
			last = t
		}
	}
	return last
}

// endsBefore reports whether the transition's thread is in the runtime's trace only before it.
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

// alike reports whether two transitions are the same but for their times.
func alike(t, o *tracefile.Transition) bool {
	return key(t) == key(o) && t.P == o.P && t.M == o.M && t.By == o.By
}

// anyLate: those after a late one may have lost their counterparts with it.
func anyLate(d *odd) bool {
	for i, t := range d.missing {
		if abs(t.Time-d.extra[i].Time) > maxApart {
			return true
		}
	}
	return false
}

// stackClass is that of a transition whose two stacks differ, "" for none.
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
	if c.Minor <= lastWithTables {
		return frameClass(tab.Frames(t), tab.Frames(o))
	}
	return ""
}

// frameClass is that of two stacks of a release whose tracer knows each function's frame size, and
// needs no frame pointers.
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
