// Package labels computes a second time what `gotrace goroutines --by label:KEY` and
// `gotrace events --label KEY=VALUE` print, with Go's own reader and without code of gotrace.
package labels

import (
	"strconv"
	"strings"

	"golang.org/x/exp/trace"
)

// None is the value of goroutines without the label.
const None = "\x00none"

// Group is what goroutines did while they had one value of the label. Times in ns.
type Group struct {
	Count, Exec, SchedWait, Total int64
	Events                        int // on a goroutine that has it before or after, or that concern one
}

type goroutine struct {
	value string
	state trace.GoState
	since int64 // it entered its state, or got the value
	begin int64 // of its time with this value
}

// Model follows a trace; its zero value lacks the key.
type Model struct {
	Key    string
	Groups map[string]*Group
	gs     map[trace.GoID]*goroutine
	sync   int64
	now    int64
	first  bool
}

// New returns a model for the values of one key.
func New(key string) *Model {
	return &Model{Key: key, Groups: map[string]*Group{}, gs: map[trace.GoID]*goroutine{}, first: true}
}

func (m *Model) group(value string) *Group {
	if m.Groups[value] == nil {
		m.Groups[value] = &Group{}
	}
	return m.Groups[value]
}

// Parse returns the labels of a message, and false if it is none.
func Parse(message string) (map[string]string, bool) {
	set := map[string]string{}
	for message != "" && message != "..." {
		var key string
		if quoted, err := strconv.QuotedPrefix(message); err == nil {
			key, _ = strconv.Unquote(quoted)
			message = message[len(quoted):]
		} else {
			i := strings.IndexByte(message, '=')
			if i <= 0 {
				return nil, false
			}
			key, message = message[:i], message[i:]
		}
		if !strings.HasPrefix(message, "=\"") {
			return nil, false
		}
		quoted, err := strconv.QuotedPrefix(message[1:])
		if err != nil {
			return nil, false
		}
		set[key], _ = strconv.Unquote(quoted)
		message = message[1+len(quoted):]
		if message != "" && !strings.HasPrefix(message, ", ") {
			return nil, false
		}
		message = strings.TrimPrefix(message, ", ")
	}
	return set, true
}

func (m *Model) value(set map[string]string) string {
	if value, ok := set[m.Key]; ok {
		return value
	}
	return None
}

// spend adds the time in the current state.
func (m *Model) spend(g *goroutine) {
	switch g.state {
	case trace.GoRunning:
		m.group(g.value).Exec += m.now - g.since
	case trace.GoRunnable:
		m.group(g.value).SchedWait += m.now - g.since
	}
	g.since = m.now
}

func (m *Model) leave(g *goroutine) {
	m.spend(g)
	m.group(g.value).Count++
	m.group(g.value).Total += m.now - g.begin
}

// concerned is the goroutine that an event is about, or none.
func concerned(ev *trace.Event) trace.GoID {
	var r trace.ResourceID
	switch ev.Kind() {
	case trace.EventStateTransition:
		r = ev.StateTransition().Resource
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r = ev.Range().Scope
	case trace.EventLabel:
		r = ev.Label().Resource
	}
	if r.Kind == trace.ResourceGoroutine {
		return r.Goroutine()
	}
	return trace.NoGoroutine
}

// Event applies the next event.
func (m *Model) Event(ev *trace.Event) {
	m.now = int64(ev.Time())
	if ev.Kind() == trace.EventSync || m.first {
		m.sync = m.now
		m.first = false
	}
	touched := map[string]bool{}
	touch := func() {
		for _, id := range []trace.GoID{ev.Goroutine(), concerned(ev)} {
			if g := m.gs[id]; g != nil && id != trace.NoGoroutine {
				touched[g.value] = true
			}
		}
	}
	touch()
	switch {
	case ev.Kind() == trace.EventStateTransition && concerned(ev) != trace.NoGoroutine:
		m.transition(ev)
	case ev.Kind() == trace.EventLabel: // that of a GC worker is no set
		set, ok := Parse(ev.Label().Label)
		g := m.gs[ev.Goroutine()]
		if value := m.value(set); ok && g != nil && value != g.value {
			m.leave(g)
			g.value, g.begin = value, m.now
		}
	}
	touch()
	for value := range touched {
		m.group(value).Events++
	}
}

func (m *Model) transition(ev *trace.Event) {
	st := ev.StateTransition()
	from, to := st.Goroutine()
	id := st.Resource.Goroutine()
	g := m.gs[id]
	switch {
	case from == to:
		return
	case from == trace.GoUndetermined:
		g = &goroutine{value: None, state: to, since: m.sync, begin: m.sync}
		m.gs[id] = g
	case from == trace.GoNotExist:
		g = &goroutine{value: None, begin: m.now}
		if creator := m.gs[ev.Goroutine()]; creator != nil && inherits(st.Stack) {
			g.value = creator.value
		}
		m.gs[id] = g
	case g == nil:
		return
	}
	m.spend(g)
	g.state = to
	if to == trace.GoNotExist {
		m.leave(g)
		delete(m.gs, id)
	}
}

// inherits reports whether a goroutine with this start stack is not one of the runtime's own.
func inherits(stack trace.Stack) bool {
	function := ""
	for f := range stack.Frames() {
		function = f.Func
	}
	switch function {
	case "runtime.main", "runtime.corostart", "runtime.handleAsyncEvent":
		return true
	}
	return !strings.HasPrefix(function, "runtime.")
}

// Finish ends the periods that go on at the end of the trace.
func (m *Model) Finish() {
	for _, g := range m.gs {
		m.leave(g)
	}
}
