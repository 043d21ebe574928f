package main

// This file checks which goroutines belong to tasks of calls, for traces recorded with --inherit.

import (
	"fmt"
	"strings"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

const ownTasks trace.TaskID = 1 << 48 // ids of the program's own tasks are not greater

// goroutine is what the trace has said about one.
type goroutine struct {
	open     []trace.Region
	inherits trace.TaskID // in which it was created; 0: none
	ran      bool
	joins    bool // its next event must be the begin of its region
	member   bool // that region is open, and the outermost one
}

type membership struct {
	starts  map[int64]string
	g       map[trace.GoID]*goroutine
	open    map[trace.TaskID]bool
	members map[string]int // goroutines that had a region, by start function
	late    int            // goroutines that did not run before their task ended
	wrong   []string
}

func (m *membership) differ(ev *trace.Event, format string, args ...any) {
	m.wrong = append(m.wrong, fmt.Sprintf("at %d: ", int64(ev.Time()))+fmt.Sprintf(format, args...))
}

func (m *membership) of(id trace.GoID) *goroutine {
	if m.g[id] == nil {
		m.g[id] = &goroutine{}
	}
	return m.g[id]
}

// ofRuntime reports whether the runtime creates goroutines with this start function for itself, on the
// goroutine that happens to run.
func ofRuntime(start string) bool {
	return strings.HasPrefix(start, "runtime.") && start != "runtime.corostart" && start != "runtime.handleAsyncEvent"
}

// task returns the innermost task of a call for which a goroutine works, if it is open.
func (m *membership) task(g *goroutine) trace.TaskID {
	for i := len(g.open) - 1; i >= 0; i-- {
		if id := g.open[i].Task; id > ownTasks {
			if m.open[id] {
				return id
			}
			return 0
		}
	}
	return 0
}

func (m *membership) event(_ int, ev *trace.Event) error {
	id := ev.Goroutine()
	if ev.Kind() != trace.EventStateTransition && id != trace.NoGoroutine && m.of(id).joins {
		m.joined(ev, id)
	}
	switch ev.Kind() {
	case trace.EventTaskBegin:
		m.open[ev.Task().ID] = true
	case trace.EventTaskEnd:
		delete(m.open, ev.Task().ID)
	case trace.EventRegionBegin:
		m.of(id).open = append(m.of(id).open, ev.Region())
	case trace.EventRegionEnd:
		g := m.of(id)
		if n := len(g.open); n > 0 {
			g.open = g.open[:n-1]
			g.member = g.member && n > 1
		}
	case trace.EventStateTransition:
		s := ev.StateTransition()
		if s.Resource.Kind == trace.ResourceGoroutine {
			m.transition(ev, s)
		}
	}
	return nil
}

// joined checks the first event of a goroutine that runs for the first time in its task.
func (m *membership) joined(ev *trace.Event, id trace.GoID) {
	g := m.of(id)
	g.joins = false
	if ev.Kind() != trace.EventRegionBegin || ev.Region().Task != g.inherits ||
		ev.Region().Type != m.starts[int64(id)] {
		m.differ(ev, "goroutine %d runs, but does not begin its region in task %d", id, g.inherits)
		return
	}
	g.member = true
	m.members[ev.Region().Type]++
}

func (m *membership) transition(ev *trace.Event, s trace.StateTransition) {
	id := s.Resource.Goroutine()
	from, to := s.Goroutine()
	g := m.of(id)
	if g.joins {
		m.differ(ev, "goroutine %d stops without its region in task %d", id, g.inherits)
	}
	g.joins = false
	switch {
	case from == trace.GoNotExist:
		if creator := ev.Goroutine(); creator != trace.NoGoroutine && !ofRuntime(m.starts[int64(id)]) {
			g.inherits = m.task(m.of(creator))
		}
	case to == trace.GoNotExist && g.member:
		m.differ(ev, "goroutine %d ends in its region of task %d", id, g.inherits)
	case from == trace.GoRunning && to != from && g.member && len(g.open) == 1 && !m.open[g.inherits]:
		m.differ(ev, "goroutine %d stops in its region of task %d, which has ended", id, g.inherits)
	case to == trace.GoRunning && !g.ran:
		g.ran = true
		g.joins = g.inherits != 0 && m.open[g.inherits]
		if g.inherits != 0 && !g.joins {
			m.late++
		}
	}
	if to == trace.GoNotExist {
		delete(m.g, id)
	}
}

// checkMembers prints how many goroutines of each start function belonged to a task.
func checkMembers(file string) (bool, error) {
	t, err := tracefile.Load(file, tracefile.NewTables())
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	m := &membership{
		starts: t.StartFunc, g: map[trace.GoID]*goroutine{}, open: map[trace.TaskID]bool{},
		members: map[string]int{},
	}
	if _, err := tracefile.WalkFile(file, m.event); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	printFirst(m.wrong)
	fmt.Printf("members %v, late %d, %d differences\n", m.members, m.late, len(m.wrong))
	return len(m.wrong) == 0 && len(m.members) > 0, nil
}
