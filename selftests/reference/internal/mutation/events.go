package mutation

// This file changes events in place, in a thread's batches.

import (
	"fmt"
	"slices"

	"gotrace-bpf/selftests/reference/internal/wire"
)

var ofEvents = []mutation{
	{40, changeArgument}, {12, dropEvent}, {8, doubleEvent}, {10, swapWithNext},
	{8, moveEvent}, {16, insertEvent},
	{8, changeType}, {3, dropRun}, {3, doubleRun}, {3, padEvent}, {4, insertChain}, {6, rename},
	{30, appendEvent},
}

// place is an event of a batch.
type place struct {
	b *wire.Batch
	i int
}

func (p place) event() *wire.Event { return p.b.Events[p.i] }

func (p place) name() string { return wire.SpecOf(p.event().Type).Name }

// anywhere selects an event of a thread, with equal probability; false if there is none.
func (c *change) anywhere() (place, bool) {
	total := 0
	for _, b := range c.f.Batches {
		if b.Timed() {
			total += len(b.Events)
		}
	}
	if total == 0 {
		return place{}, false
	}
	at := c.IntN(total)
	for _, b := range c.f.Batches {
		if !b.Timed() {
			continue
		}
		if at < len(b.Events) {
			return place{b, at}, true
		}
		at -= len(b.Events)
	}
	panic("unreachable")
}

func changeArgument(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	e, s := p.event(), wire.SpecOf(p.event().Type)
	if len(e.Args) == 0 { // of a table, inserted here by another change
		return ""
	}
	i := c.IntN(len(e.Args))
	if i == 0 && c.IntN(2) == 0 { // all events have times, which matter little
		i = c.IntN(len(e.Args))
	}
	old := e.Args[i]
	e.Args[i] = c.value(s.Kinds[i], old)
	return fmt.Sprintf("%s %s %d to %d", s.Name, s.Args[i], old, e.Args[i])
}

func dropEvent(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	name := p.name()
	p.b.Events = slices.Delete(p.b.Events, p.i, p.i+1)
	return "drop " + name
}

func doubleEvent(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	p.b.Events = slices.Insert(p.b.Events, p.i, p.event().Clone())
	return "double " + p.name()
}

func swapWithNext(c *change) string {
	p, ok := c.anywhere()
	if !ok || p.i+1 >= len(p.b.Events) {
		return ""
	}
	events := p.b.Events
	events[p.i], events[p.i+1] = events[p.i+1], events[p.i]
	return "swap with next " + p.name()
}

func moveEvent(c *change) string {
	from, ok := c.anywhere()
	if !ok {
		return ""
	}
	e, name := from.event(), from.name()
	from.b.Events = slices.Delete(from.b.Events, from.i, from.i+1)
	to, ok := c.anywhere()
	if !ok {
		return "drop " + name
	}
	to.b.Events = slices.Insert(to.b.Events, to.i, e)
	return "move " + name
}

func insertEvent(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	p.b.Events = slices.Insert(p.b.Events, p.i, c.event())
	return "insert " + p.name()
}

func changeType(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	old, e, name := p.event(), c.event(), p.name()
	copy(e.Args, old.Args)
	p.b.Events[p.i] = e
	return name + " to " + p.name()
}

func dropRun(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	end := min(p.i+1+c.IntN(20), len(p.b.Events))
	p.b.Events = slices.Delete(p.b.Events, p.i, end)
	return fmt.Sprintf("drop %d events", end-p.i)
}

func doubleRun(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	var run []*wire.Event
	for _, e := range p.b.Events[p.i:min(p.i+1+c.IntN(20), len(p.b.Events))] {
		run = append(run, e.Clone())
	}
	p.b.Events = slices.Insert(p.b.Events, p.i, run...)
	return fmt.Sprintf("double %d events", len(run))
}

func padEvent(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	p.event().Pad = 1 + c.IntN(10)
	return "pad " + p.name()
}

// appendEvent adds one at the end of a batch, where no later event of that thread depends on it.
func appendEvent(c *change) string {
	b, _, ok := c.batch()
	if !ok || !b.Timed() {
		return ""
	}
	e := c.likely(b.Gen)
	b.Events = append(b.Events, e)
	return fmt.Sprint("append ", wire.SpecOf(e.Type).Name, " ", e.Args)
}

// Short sequences of events that are subject to many rules, for a goroutine, a P and a thread of
// the trace; at the end of a batch or in the middle of one.
var chains = [][]string{
	{"GoCreateSyscall", "GoDestroySyscall"},
	{"GoCreateSyscall", "ProcStart", "GoSyscallEndBlocked", "GoStart", "GoSyscallBegin", "GoDestroySyscall"},
	{"GoSyscallBegin", "ProcSteal", "GoSyscallEndBlocked"},
	{"GoSyscallBegin", "ProcStop", "GoSyscallEndBlocked", "ProcStart", "GoStart"},
	{"GoSyscallBegin", "ProcStatus", "GoSyscallEnd"},
	{"GoStatus", "GoSwitch"}, {"GoCreateBlocked", "GoSwitch"}, {"GoCreateBlocked", "GoSwitchDestroy"},
	{"STWBegin", "STWBegin", "STWEnd", "STWEnd"}, {"GCBegin", "GCActive", "GCEnd"},
	{"GCSweepActive", "GCSweepEnd"}, {"GCSweepBegin", "GCSweepEnd"},
	{"GCMarkAssistActive", "GCMarkAssistEnd"}, {"UserTaskBegin", "UserTaskBegin", "UserTaskEnd"},
	{"UserRegionBegin", "UserRegionBegin", "UserRegionEnd"},
	{"ProcStatus", "ProcStart", "ProcStop"}, {"GoStatus", "GoUnblock", "GoStart"},
}

func insertChain(c *change) string {
	p, ok := c.anywhere()
	if !ok {
		return ""
	}
	chain := chains[c.IntN(len(chains))]
	same := map[string]uint64{"g": c.like("g"), "p": c.like("p"), "m": p.b.M, "seq": uint64(c.IntN(4))}
	if c.IntN(2) == 0 {
		same["g"] = 1 << 40 // one that does not exist yet
	}
	var run []*wire.Event
	for _, name := range chain {
		e := c.eventOf(wire.SpecNamed(name))
		for i, kind := range wire.SpecOf(e.Type).Kinds {
			if v, ok := same[kind]; ok && c.IntN(8) > 0 {
				e.Args[i] = v
			}
			if kind == "seq" {
				same["seq"]++
			}
		}
		run = append(run, e)
	}
	at := p.i
	if c.IntN(2) == 0 {
		at = len(p.b.Events)
	}
	p.b.Events = slices.Insert(p.b.Events, at, run...)
	return fmt.Sprint("insert ", chain)
}

// rename gives a goroutine, P, thread, task, string or stack another id everywhere, at the limit of
// its range, so that a trace stays valid, or two of them become one.
func rename(c *change) string {
	kind := []string{"g", "g", "p", "p", "m", "task", "string", "stack"}[c.IntN(8)]
	from, to := c.like(kind), hostile[len(hostile)-1-c.IntN(8)]
	switch c.IntN(4) {
	case 0:
		to = c.like(kind)
	case 1:
		to = c.value(kind, from)
	}
	for _, b := range c.f.Batches {
		if kind == "m" && b.M == from && b.Type != wire.EndOfGeneration {
			b.M = to
		}
		for _, e := range b.Events {
			renameIn(e, kind, from, to)
		}
	}
	return fmt.Sprintf("%s %d becomes %d", kind, from, to)
}

func renameIn(e *wire.Event, kind string, from, to uint64) {
	for i, k := range wire.SpecOf(e.Type).Kinds {
		own := e.Type == wire.String && kind == "string" || e.Type == wire.Stack && kind == "stack"
		if (k == kind || own && k == "id") && e.Args[i] == from {
			e.Args[i] = to
		}
	}
	for i := range e.Frames {
		if kind == "string" && (i%4 == 1 || i%4 == 2) && e.Frames[i] == from {
			e.Frames[i] = to
		}
	}
}
