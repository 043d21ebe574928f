// Package annotations is a second implementation of `gotrace tasks`, `gotrace regions` and `gotrace
// requests`, on golang.org/x/exp/trace. It shares no code with them, and is kept simple: it holds all
// annotations of a trace in memory, and sorts where they count by class.
package annotations

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/exp/trace"
)

const never = -1 << 63

// NamesMax is how many names are distinguished; the rest is "other".
const NamesMax = 1000

// Span is a task or a region.
type Span struct {
	Name       string
	G          int64 // that created the task, or that was in the region
	Begin, End int64 // Begin: never if it is not in the trace
	Ended      bool  // else it was open at End
}

// Task is a task with what happened in it.
type Task struct {
	Span
	ID     uint64
	EndG   int64 // it ended on
	Failed bool
	Work   []Work

	parents []*Task // those that it counts for, the nearest first
}

// parentsMax is for how many of its nearest ancestors a task counts.
const parentsMax = 16

// Work is a time in which a goroutine worked for a task, or in which it had to assist at a place.
type Work struct {
	G        int64
	From, To int64
	Place    string
}

// Trace is what a trace has of annotations.
type Trace struct {
	Start, End int64
	Tasks      []*Task
	Regions    []Span
	Unbegun    []int64 // ends of tasks that began before the trace
	States     map[int64][]State
	Assists    map[int64][]Work
}

// Filter returns the trace with only those tasks and regions.
func (t *Trace) Filter(keep func(s *Span) bool) *Trace {
	some := *t
	some.Tasks, some.Regions, some.Unbegun = nil, nil, nil
	for _, task := range t.Tasks {
		if keep(&task.Span) {
			some.Tasks = append(some.Tasks, task)
		}
	}
	for _, region := range t.Regions {
		if keep(&region) {
			some.Regions = append(some.Regions, region)
		}
	}
	return &some
}

// State is what a goroutine did from At until its next state.
type State struct {
	At                int64
	Is, Reason, Place string
}

type loader struct {
	*Trace
	open    map[trace.TaskID]*Task
	ended   map[trace.TaskID]bool
	regions map[trace.GoID][]Span
	holds   []hold
	working map[key]int64 // since when
	tasks   names
	names   names // of regions
	sync    int64
	assist  map[int64]Work
}

type key struct {
	task trace.TaskID
	g    trace.GoID
}

// hold is why a goroutine works for a task, and for those of its ancestors that are open: it created the task,
// or it has this region open, counted from the outermost one.
type hold struct {
	task   *Task
	g      trace.GoID
	region int // 0: none
}

// names in the order in which they came.
type names map[string]bool

func (n names) of(name string) string {
	if n[name] {
		return name
	}
	if len(n) == NamesMax {
		return "other"
	}
	n[name] = true
	return name
}

// Load reads a trace up to the first event at `to` or later.
func Load(path string, to int64) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, err
	}
	l := &loader{
		Trace: &Trace{States: map[int64][]State{}, Assists: map[int64][]Work{}}, open: map[trace.TaskID]*Task{}, ended: map[trace.TaskID]bool{},
		regions: map[trace.GoID][]Span{}, working: map[key]int64{},
		tasks: names{}, names: names{}, assist: map[int64]Work{},
	}
	for first := true; ; first = false {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if first {
			l.Start, l.sync = int64(ev.Time()), int64(ev.Time())
		}
		l.End = int64(ev.Time())
		if l.End >= to {
			l.End = to
			break
		}
		l.event(&ev)
	}
	l.finish()
	return l.Trace, nil
}

func (l *loader) event(ev *trace.Event) {
	now, g := int64(ev.Time()), ev.Goroutine()
	switch ev.Kind() {
	case trace.EventSync:
		l.sync = now
	case trace.EventTaskBegin:
		t := ev.Task()
		l.open[t.ID] = &Task{Span: Span{Name: l.tasks.of(t.Type), G: int64(g), Begin: now}, ID: uint64(t.ID)}
		if parent := l.open[t.Parent]; parent != nil && t.Parent != t.ID {
			parents := append([]*Task{parent}, parent.parents...)
			l.open[t.ID].parents = parents[:min(len(parents), parentsMax)]
		}
		l.holds = append(l.holds, hold{l.open[t.ID], g, 0})
		l.work(now)
	case trace.EventTaskEnd:
		l.endTask(ev.Task().ID, now, g)
	case trace.EventRegionBegin:
		r := ev.Region()
		l.regions[g] = append(l.regions[g], Span{Name: l.names.of(r.Type), G: int64(g), Begin: now})
		if t := l.open[r.Task]; t != nil {
			l.holds = append(l.holds, hold{t, g, len(l.regions[g])})
			l.work(now)
		}
	case trace.EventRegionEnd:
		l.endRegion(ev.Region(), g, now)
	case trace.EventLog:
		log := ev.Log()
		if t := l.open[log.Task]; t != nil {
			status, err := strconv.ParseUint(log.Message, 10, 32)
			t.Failed = t.Failed || log.Category == "error" || log.Category == "status" && err == nil && status >= 500
		}
	case trace.EventStateTransition:
		if s := ev.StateTransition(); s.Resource.Kind == trace.ResourceGoroutine {
			l.transition(s, now)
		}
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		l.assists(ev, now)
	}
}

func (l *loader) endTask(id trace.TaskID, now int64, g trace.GoID) {
	t := l.open[id]
	again := l.ended[id]
	l.ended[id] = true
	if t == nil && again {
		return
	}
	if t == nil {
		l.Unbegun = append(l.Unbegun, now)
		return
	}
	l.release(func(h hold) bool { return h.task == t }, now)
	for k, since := range l.working {
		if k.task == id {
			l.leave(k, since, now)
		}
	}
	t.End, t.EndG, t.Ended = now, int64(g), true
	l.Tasks = append(l.Tasks, t)
	delete(l.open, id)
}

// work begins and ends what goroutines do, by all holds.
func (l *loader) work(now int64) {
	want := map[key]bool{}
	for _, h := range l.holds {
		want[key{trace.TaskID(h.task.ID), h.g}] = true
		for _, parent := range h.task.parents {
			if l.open[trace.TaskID(parent.ID)] == parent {
				want[key{trace.TaskID(parent.ID), h.g}] = true
			}
		}
	}
	for k, since := range l.working {
		if !want[k] {
			l.leave(k, since, now)
		}
	}
	for k := range want {
		if _, already := l.working[k]; !already {
			l.working[k] = now
		}
	}
}

func (l *loader) release(which func(h hold) bool, now int64) {
	n := len(l.holds)
	l.holds = slices.DeleteFunc(l.holds, which)
	if len(l.holds) < n {
		l.work(now)
	}
}

func (l *loader) leave(k key, since, now int64) {
	t := l.open[k.task]
	t.Work = append(t.Work, Work{G: int64(k.g), From: since, To: now})
	delete(l.working, k)
}

func (l *loader) endRegion(r trace.Region, g trace.GoID, now int64) {
	span := Span{Name: "", G: int64(g), Begin: never}
	if open := l.regions[g]; len(open) > 0 {
		last := open[len(open)-1]
		l.regions[g] = open[:len(open)-1]
		span = last
		l.release(func(h hold) bool { return h.g == g && h.region == len(open) }, now)
	} else {
		span.Name = l.names.of(r.Type)
	}
	span.End, span.Ended = now, true
	l.Regions = append(l.Regions, span)
}

func (l *loader) transition(s trace.StateTransition, now int64) {
	from, to := s.Goroutine()
	id := s.Resource.Goroutine()
	at := now
	if from == to {
		return
	}
	if from == trace.GoUndetermined {
		at = l.sync
	}
	l.States[int64(id)] = append(l.States[int64(id)], State{at, to.String(), s.Reason, place(s.Stack)})
	if to != trace.GoNotExist {
		return
	}
	l.release(func(h hold) bool { return h.g == id }, now)
	l.leaveOpen(id, now, true) // Go's internal/trace/summary.go ends them there, too
}

func (l *loader) leaveOpen(g trace.GoID, now int64, ended bool) {
	for _, r := range l.regions[g] {
		r.End, r.Ended = now, ended
		l.Regions = append(l.Regions, r)
	}
	delete(l.regions, g)
}

func (l *loader) assists(ev *trace.Event, now int64) {
	r := ev.Range()
	if r.Name != "GC mark assist" || r.Scope.Kind != trace.ResourceGoroutine {
		return
	}
	g := int64(r.Scope.Goroutine())
	assist, open := l.assist[g]
	switch {
	case ev.Kind() == trace.EventRangeEnd && open:
		assist.To = now
		l.Assists[g] = append(l.Assists[g], assist)
		delete(l.assist, g)
	case ev.Kind() == trace.EventRangeActive && !open:
		l.assist[g] = Work{G: g, From: l.sync}
	case ev.Kind() == trace.EventRangeBegin:
		l.assist[g] = Work{G: g, From: now, Place: place(ev.Stack())}
	}
}

func (l *loader) finish() {
	for g := range l.regions {
		l.leaveOpen(g, l.End, false)
	}
	for _, t := range l.open {
		t.End = l.End
		l.Tasks = append(l.Tasks, t)
	}
	for g, assist := range l.assist {
		assist.To = l.End
		l.Assists[g] = append(l.Assists[g], assist)
	}
}
