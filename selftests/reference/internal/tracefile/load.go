package tracefile

// This file loads a whole trace into memory as state transitions with interned strings and stacks:
// about 64 bytes per transition, so that five seconds of a busy program fit easily.

import (
	"fmt"

	"golang.org/x/exp/trace"
)

// Transition is one state change of a goroutine.
type Transition struct {
	Time   int64 // ns, the trace's own clock (CLOCK_MONOTONIC in Go traces on linux)
	G      int64
	P, M   int64 // where the event happened; -1 for none
	By     int64 // the goroutine that ran there before the event; -1 for none
	Reason int32 // string id; 0 where the kind of transition has none
	Stack  int32 // of the goroutine itself or, for create and unblock, of the one that caused it
	Start  int32 // creation and statuses only: the start or current stack of G
	From   trace.GoState
	To     trace.GoState
}

// Status reports whether t only announces the state of a goroutine (at the start of the trace or of
// a generation), without a change.
func (t *Transition) Status() bool { return t.From == trace.GoUndetermined || t.From == t.To }

// ByOther reports whether t was caused by another goroutine (or none), so that its P, M and stack
// are not those of the goroutine that changes.
func (t *Transition) ByOther() bool {
	return t.From == trace.GoNotExist || t.From == trace.GoWaiting && t.To == trace.GoRunnable
}

// Kind names the transition without its goroutine, as "running->waiting (chan send)".
func (t *Transition) Kind(tab *Tables) string {
	s := fmt.Sprintf("%s->%s", StateName(t.From), StateName(t.To))
	if t.Reason != 0 {
		s += " (" + tab.String(t.Reason) + ")"
	}
	return s
}

// StateName is the lower-case name of a goroutine state.
func StateName(s trace.GoState) string {
	switch s {
	case trace.GoUndetermined:
		return "undetermined"
	case trace.GoNotExist:
		return "notexist"
	case trace.GoRunnable:
		return "runnable"
	case trace.GoRunning:
		return "running"
	case trace.GoWaiting:
		return "waiting"
	case trace.GoSyscall:
		return "syscall"
	}
	return fmt.Sprintf("state%d", s)
}

// ProcTransition is one state change of a P.
type ProcTransition struct {
	Time     int64
	P, M     int64
	From, To trace.ProcState
}

// Range is the begin or end of a named range (GC, STW, mark assist, sweep) or a label.
type Range struct {
	Time  int64
	G     int64 // that runs there
	Name  string
	Bytes [2]uint64 // of the end of a sweep: swept and reclaimed
	End   bool
}

// Metric is one metric sample.
type Metric struct {
	Time  int64
	Name  string
	Value uint64
}

// Annotation is a user annotation by package runtime/trace.
type Annotation struct {
	Time         int64
	G            int64
	Kind         trace.EventKind
	Task, Parent uint64
	Name         int32 // string id: a task's type, a region's, a log's category
	Message      int32 // string id, of a log
	Stack        int32
}

// Sample is a CPU sample.
type Sample struct {
	Time    int64
	G, P, M int64 // -1 for none
	Stack   int32
}

// Trace is a whole loaded trace.
type Trace struct {
	Tables      *Tables
	Start, End  int64 // times of the first and last events other than Syncs
	Events      int
	Generations int
	Transitions []Transition
	Procs       []ProcTransition
	Ranges      []Range
	Metrics     []Metric
	Annotations []Annotation
	Samples     []Sample
	StartFunc   map[int64]string // the function a goroutine was started with, "" unknown
}

// Load reads a trace to its end.
func Load(path string, tab *Tables) (*Trace, error) {
	t := &Trace{Tables: tab, StartFunc: map[int64]string{}, Start: -1}
	l := loader{Trace: t, cache: map[trace.Stack]int32{}}
	n, err := WalkFile(path, l.event)
	t.Events = n
	// The reader delivers a Sync before each generation and one at the end.
	t.Generations = max(l.syncs-1, 0)
	return t, err
}

type loader struct {
	*Trace
	cache map[trace.Stack]int32
	syncs int
}

// stack interns a stack, remembering the reader's handle of it. Handles live for a generation.
func (l *loader) stack(s trace.Stack) int32 {
	if s == trace.NoStack {
		return 0
	}
	id, ok := l.cache[s]
	if !ok {
		id = l.Tables.StackID(s)
		l.cache[s] = id
	}
	return id
}

func (l *loader) event(_ int, ev *trace.Event) error {
	now := int64(ev.Time())
	if ev.Kind() == trace.EventSync {
		l.syncs++
		clear(l.cache)
		return nil
	}
	if l.Trace.Start < 0 {
		l.Trace.Start = now
	}
	l.Trace.End = now
	switch ev.Kind() {
	case trace.EventStateTransition:
		l.transition(now, ev)
	case trace.EventRangeBegin, trace.EventRangeEnd:
		end := ev.Kind() == trace.EventRangeEnd
		r := Range{Time: now, G: int64(ev.Goroutine()), Name: ev.Range().Name, End: end}
		if end {
			for i, a := range ev.RangeAttributes() {
				if i < len(r.Bytes) {
					r.Bytes[i] = a.Value.Uint64()
				}
			}
		}
		l.Ranges = append(l.Ranges, r)
	case trace.EventLabel:
		l.Ranges = append(l.Ranges, Range{
			Time: now, G: int64(ev.Goroutine()), Name: "label " + ev.Label().Label,
		})
	case trace.EventMetric:
		m := ev.Metric()
		l.Metrics = append(l.Metrics, Metric{now, m.Name, m.Value.Uint64()})
	case trace.EventStackSample:
		l.Samples = append(l.Samples, Sample{
			now, int64(ev.Goroutine()), int64(ev.Proc()), int64(ev.Thread()), l.stack(ev.Stack()),
		})
	default:
		l.annotation(now, ev)
	}
	return nil
}

func (l *loader) annotation(now int64, ev *trace.Event) {
	a := Annotation{Time: now, G: int64(ev.Goroutine()), Kind: ev.Kind()}
	switch ev.Kind() {
	case trace.EventTaskBegin, trace.EventTaskEnd:
		task := ev.Task()
		a.Task, a.Parent, a.Name = uint64(task.ID), uint64(task.Parent), l.Tables.ID(task.Type)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		region := ev.Region()
		a.Task, a.Name = uint64(region.Task), l.Tables.ID(region.Type)
	case trace.EventLog:
		log := ev.Log()
		a.Task, a.Name, a.Message = uint64(log.Task), l.Tables.ID(log.Category), l.Tables.ID(log.Message)
	default:
		return
	}
	a.Stack = l.stack(ev.Stack())
	l.Annotations = append(l.Annotations, a)
}

func (l *loader) transition(now int64, ev *trace.Event) {
	st := ev.StateTransition()
	switch st.Resource.Kind {
	case trace.ResourceProc:
		from, to := st.Proc()
		l.Procs = append(l.Procs, ProcTransition{
			Time: now, P: int64(st.Resource.Proc()), M: int64(ev.Thread()), From: from, To: to,
		})
	case trace.ResourceGoroutine:
		from, to := st.Goroutine()
		t := Transition{
			Time: now, G: int64(st.Resource.Goroutine()), From: from, To: to,
			P: int64(ev.Proc()), M: int64(ev.Thread()), By: int64(ev.Goroutine()),
			Reason: l.Tables.ID(st.Reason), Stack: l.stack(ev.Stack()),
		}
		if from == trace.GoNotExist || t.Status() {
			t.Start = l.stack(st.Stack)
			l.nameGoroutine(&t)
		} else if !t.ByOther() && l.StartFunc[t.G] == "" {
			l.nameByRoot(t.G, t.Stack)
		}
		l.Transitions = append(l.Transitions, t)
	}
}

// nameGoroutine attributes a goroutine to its start function: what it was created with or, when
// it existed before the trace, the root of the first stack seen of it, as go tool trace does.
func (l *loader) nameGoroutine(t *Transition) {
	if t.From == trace.GoNotExist {
		l.StartFunc[t.G] = "" // ids are not reused by the runtime, but a file may do so
	}
	if l.StartFunc[t.G] == "" {
		l.nameByRoot(t.G, t.Start)
	}
}

func (l *loader) nameByRoot(g int64, stack int32) {
	if root, ok := l.Tables.Root(stack); ok {
		l.StartFunc[g] = root.Func
	}
}
