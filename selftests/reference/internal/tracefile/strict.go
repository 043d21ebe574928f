package tracefile

// This file has checks beyond the reader's own: errors that a trace accepted by Go's reader may
// still contain.

import (
	"errors"
	"fmt"

	"golang.org/x/exp/trace"
)

// Bounds of plausible ids. A goid counts up from 1, a P is below GOMAXPROCS and an M is a TID
// (pid_max is at most 2^22).
const (
	maxGoID = 1 << 40
	maxProc = 1 << 12
	maxTID  = 1 << 22
)

// Strict checks the events of one trace, one call of Event for each in order.
type Strict struct {
	last    trace.Time
	running map[trace.ProcID]trace.GoID
	where   map[trace.GoID]trace.ProcID
}

// NewStrict returns a checker for one trace.
func NewStrict() *Strict {
	return &Strict{
		running: map[trace.ProcID]trace.GoID{}, where: map[trace.GoID]trace.ProcID{},
	}
}

// Event checks one event.
func (s *Strict) Event(ev *trace.Event) error {
	if ev.Time() < s.last {
		return fmt.Errorf("time %d after %d", ev.Time(), s.last)
	}
	s.last = ev.Time()
	_ = ev.String() // resolves every string and stack, panics where one is undefined
	if err := checkContext(ev); err != nil {
		return err
	}
	for f := range ev.Stack().Frames() {
		if f.Func == "" && f.PC != 0 { // the runtime itself writes frames at PC 0
			return fmt.Errorf("a frame without a function at %#x", f.PC)
		}
	}
	if ev.Kind() != trace.EventStateTransition {
		return nil
	}
	if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
		return s.goroutine(ev, &st)
	}
	return nil
}

func checkContext(ev *trace.Event) error {
	if g := ev.Goroutine(); g != trace.NoGoroutine && (g < 1 || g > maxGoID) {
		return fmt.Errorf("goroutine id %d", g)
	}
	if p := ev.Proc(); p != trace.NoProc && (p < 0 || p > maxProc) {
		return fmt.Errorf("proc id %d", p)
	}
	if m := ev.Thread(); m != trace.NoThread && (m < 1 || m > maxTID) {
		return fmt.Errorf("thread id %d", m)
	}
	return nil
}

// goroutine checks that a goroutine that starts has a thread and a P of its own.
func (s *Strict) goroutine(ev *trace.Event, st *trace.StateTransition) error {
	g := st.Resource.Goroutine()
	if g < 1 || g > maxGoID {
		return fmt.Errorf("goroutine id %d", g)
	}
	from, to := st.Goroutine()
	if from == trace.GoRunning && to != trace.GoRunning {
		if p, ok := s.where[g]; ok {
			delete(s.running, p)
			delete(s.where, g)
		}
	}
	if to != trace.GoRunning || from == trace.GoRunning {
		return nil
	}
	p := ev.Proc()
	if from == trace.GoUndetermined && p == trace.NoProc {
		return nil // the status of a goroutine may come before its P's
	}
	if p == trace.NoProc || ev.Thread() == trace.NoThread {
		return errors.New("a goroutine starts without a proc or thread")
	}
	if other, ok := s.running[p]; ok && other != g {
		return fmt.Errorf("goroutine %d starts on proc %d, where %d runs", g, p, other)
	}
	s.running[p], s.where[g] = g, p
	return nil
}
