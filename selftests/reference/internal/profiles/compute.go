package profiles

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"

	"golang.org/x/exp/trace"
)

// Request selects a profile of a trace. Times are in nanoseconds since the first event.
type Request struct {
	Kind      string
	From, To  int64  // To is 0: to the end
	Goroutine uint64 // 0: all
	Function  *regexp.Regexp
	Labels    bool // goroutine and start function, as labelsOf prints them
}

type interval struct {
	stack      string
	begin, end int64
	state      trace.GoState
	reason     string
}

type goroutine struct {
	id        uint64
	name      string
	firstRun  int64 // -1: never
	intervals []interval
	open      *interval
}

// reading has all intervals of all goroutines; which of them count is decided afterwards.
type reading struct {
	request    Request
	goroutines map[trace.GoID]*goroutine
	all        []*goroutine
	start      int64
	last       int64
	started    bool
}

// Compute returns the stacks of a profile of a trace.
func Compute(file string, request Request) (Stacks, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	all := reading{request: request, goroutines: map[trace.GoID]*goroutine{}}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		all.event(&ev)
	}
	return all.stacks()
}

func (r *reading) event(ev *trace.Event) {
	if !r.started {
		r.start, r.started = int64(ev.Time()), true
	}
	r.last = int64(ev.Time())
	if ev.Kind() == trace.EventStateTransition {
		r.transition(ev)
	}
}

func (r *reading) transition(ev *trace.Event) {
	st := ev.StateTransition()
	if st.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	from, to := st.Goroutine()
	if from == to {
		return
	}
	id := st.Resource.Goroutine()
	g := r.goroutines[id]
	if g == nil {
		g = &goroutine{id: uint64(id), firstRun: -1}
		r.goroutines[id] = g
		r.all = append(r.all, g)
	}
	now := int64(ev.Time())
	if g.open != nil {
		g.open.end = now
		g.intervals = append(g.intervals, *g.open)
		g.open = nil
	}
	if g.name == "" {
		for frame := range st.Stack.Frames() {
			g.name = frame.Func
		}
	}
	if to == trace.GoRunning && g.firstRun < 0 {
		g.firstRun = now
	}
	if to == trace.GoNotExist {
		delete(r.goroutines, id)
		return
	}
	g.open = &interval{stack: textOf(ev.Stack()), begin: now, state: to, reason: st.Reason}
}

func textOf(stack trace.Stack) string {
	var b strings.Builder
	for f := range stack.Frames() {
		if f.PC == 0 && f.Func == "" {
			continue
		}
		writeFrame(&b, f.PC, f.Func, f.File, f.Line)
	}
	return b.String()
}

func (r *reading) isOfKind(i *interval) (bool, error) {
	switch r.request.Kind {
	case "net":
		return i.state == trace.GoWaiting && i.reason == "network", nil
	case "sync":
		return i.state == trace.GoWaiting && (strings.Contains(i.reason, "chan") ||
			strings.Contains(i.reason, "sync") || strings.Contains(i.reason, "select")), nil
	case "syscall":
		return i.state == trace.GoSyscall, nil
	case "sched":
		return i.state == trace.GoRunnable, nil
	}
	return false, fmt.Errorf("unknown kind %q", r.request.Kind)
}

func (r *reading) selects(g *goroutine) bool {
	q := &r.request
	return (q.Goroutine == 0 || q.Goroutine == g.id) && (q.Function == nil || q.Function.MatchString(g.name))
}

func (r *reading) stacks() (Stacks, error) {
	stacks := Stacks{}
	from, to := r.start+r.request.From, r.start+r.request.To
	if r.request.To == 0 {
		to = math.MaxInt64
	}
	for _, g := range r.all {
		if !r.selects(g) {
			continue
		}
		for _, i := range g.intervals {
			wanted, err := r.isOfKind(&i)
			if err != nil {
				return nil, err
			}
			ns := min(i.end, to) - max(i.begin, from, g.firstRun)
			if wanted && ns > 0 {
				stacks.Add(i.stack+r.labels(g), Values{1, ns})
			}
		}
	}
	return stacks, nil
}

func (r *reading) labels(g *goroutine) string {
	if !r.request.Labels {
		return ""
	}
	if g.name == "" {
		return fmt.Sprintf("goroutine[%d]", g.id)
	}
	return fmt.Sprintf("goroutine[%d] start_function[%s]", g.id, g.name)
}
