// Package canonical formats the events of Go's reader as the text that `gotrace events --canonical`
// must print as well, byte for byte. selftests/reference/CANONICAL.md describes it.
package canonical

import (
	"fmt"
	"strconv"

	"golang.org/x/exp/trace"
)

// Append writes the line of one event. It panics where the reader does, on undefined values.
func Append(out []byte, ev *trace.Event) []byte {
	p := printer{out}
	p.number(int64(ev.Time()))
	p.text("\t" + ev.Kind().String() + "\t")
	p.number(int64(ev.Thread()))
	p.text("\t")
	p.number(int64(ev.Proc()))
	p.text("\t")
	p.number(int64(ev.Goroutine()))
	p.text("\t")
	p.details(ev)
	p.text("\t")
	p.stack(ev.Stack())
	p.text("\n")
	return p.out
}

type printer struct{ out []byte }

func (p *printer) text(s string)     { p.out = append(p.out, s...) }
func (p *printer) number(v int64)    { p.out = strconv.AppendInt(p.out, v, 10) }
func (p *printer) quoted(s string)   { p.out = strconv.AppendQuoteToASCII(p.out, s) }
func (p *printer) unsigned(v uint64) { p.out = strconv.AppendUint(p.out, v, 10) }

func (p *printer) details(ev *trace.Event) {
	switch ev.Kind() {
	case trace.EventSync:
		p.sync(ev.Sync())
	case trace.EventMetric:
		m := ev.Metric()
		p.text("name=")
		p.quoted(m.Name)
		p.text(" value=")
		p.unsigned(m.Value.Uint64())
	case trace.EventLabel:
		l := ev.Label()
		p.text("label=")
		p.quoted(l.Label)
		p.text(" resource=")
		p.resource(l.Resource)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		p.rangeOf(ev)
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := ev.Task()
		p.text("id=")
		p.unsigned(uint64(t.ID))
		p.text(" parent=")
		p.unsigned(uint64(t.Parent))
		p.text(" type=")
		p.quoted(t.Type)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		r := ev.Region()
		p.text("task=")
		p.unsigned(uint64(r.Task))
		p.text(" type=")
		p.quoted(r.Type)
	case trace.EventLog:
		l := ev.Log()
		p.text("task=")
		p.unsigned(uint64(l.Task))
		p.text(" category=")
		p.quoted(l.Category)
		p.text(" message=")
		p.quoted(l.Message)
	case trace.EventStateTransition:
		p.transition(ev)
	case trace.EventExperimental:
		p.experimental(ev.Experimental())
	}
}

func (p *printer) sync(s trace.Sync) {
	p.text("n=")
	p.number(int64(s.N))
	if c := s.ClockSnapshot; c != nil {
		p.out = fmt.Appendf(p.out, " trace=%d mono=%d wall=%d.%09d",
			c.Trace, c.Mono, c.Wall.Unix(), c.Wall.Nanosecond())
	}
}

func (p *printer) rangeOf(ev *trace.Event) {
	r := ev.Range()
	p.text("name=")
	p.quoted(r.Name)
	p.text(" scope=")
	p.resource(r.Scope)
	if ev.Kind() == trace.EventRangeEnd {
		for _, a := range ev.RangeAttributes() {
			p.text(" " + a.Name + "=")
			p.unsigned(a.Value.Uint64())
		}
	}
}

func (p *printer) resource(r trace.ResourceID) {
	if r.Kind == trace.ResourceNone {
		p.text("Global")
		return
	}
	p.text(r.String())
}

func (p *printer) transition(ev *trace.Event) {
	s := ev.StateTransition()
	if s.Resource.Kind == trace.ResourceGoroutine {
		from, to := s.Goroutine()
		p.text("goroutine=")
		p.number(int64(s.Resource.Goroutine()))
		p.text(" " + from.String() + "->" + to.String())
	} else {
		from, to := s.Proc()
		p.text("proc=")
		p.number(int64(s.Resource.Proc()))
		p.text(" " + from.String() + "->" + to.String())
	}
	p.text(" reason=")
	p.quoted(s.Reason)
	if s.Stack != ev.Stack() {
		p.transitionStack(s.Stack, ev.Stack())
	}
}

// transitionStack prints a stack unless its text equals the event's own.
func (p *printer) transitionStack(own, event trace.Stack) {
	var a, b printer
	a.stack(own)
	b.stack(event)
	if string(a.out) != string(b.out) {
		p.text(" transition_stack=[" + string(a.out) + "]")
	}
}

func (p *printer) experimental(e trace.ExperimentalEvent) {
	p.text("name=")
	p.quoted(e.Name)
	p.text(" experiment=")
	p.quoted(e.Experiment)
	for i, arg := range e.Args {
		p.text(" " + arg + "=")
		if v := e.ArgValue(i); v.Kind() == trace.ValueString {
			p.quoted(v.String())
		} else {
			p.unsigned(v.Uint64())
		}
	}
}

func (p *printer) stack(s trace.Stack) {
	first := true
	for f := range s.Frames() {
		if !first {
			p.text(";")
		}
		first = false
		p.quoted(f.Func)
		p.text("@")
		p.quoted(f.File)
		p.text(":")
		p.unsigned(f.Line)
		p.text("#")
		p.out = strconv.AppendUint(p.out, f.PC, 16)
	}
	if first {
		p.text("-")
	}
}
