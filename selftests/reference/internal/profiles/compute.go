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
	Labels    bool  // goroutine and start function, as labelsOf prints them
	SampleNS  int64 // kind cpu: what a sample counts for
	WithStack bool  // skip transitions without a stack, as go tool trace of Go 1.22 to 1.25 does
}

const mostFrames = 128 // of a stack, with the one that kind wall has in front of it

type interval struct {
	stack      string // of the event that begins it
	own        string // the last one of the goroutine itself, unless it runs
	begin, end int64
	state      trace.GoState
	reason     string
	creator    *goroutine // of a task or range
	worker     string     // the kind of mark worker
}

type goroutine struct {
	id        uint64
	name      string
	own       string
	firstRun  int64 // -1: never
	intervals []interval
	open      *interval
	regions   []interval // open ones, the innermost is the last
}

// reading has all intervals of all goroutines; which of them count is decided afterwards.
type reading struct {
	request    Request
	goroutines map[trace.GoID]*goroutine
	all        []*goroutine
	tasks      map[trace.TaskID]*interval
	start      int64
	last       int64
	sync       int64 // when the generation began
	started    bool
	ranges     map[string]*interval // of the GC that are open, by name and scope
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
	all := reading{request: request, goroutines: map[trace.GoID]*goroutine{}, tasks: map[trace.TaskID]*interval{}, ranges: map[string]*interval{}}
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
	switch ev.Kind() {
	case trace.EventSync:
		r.sync = r.last
	case trace.EventStateTransition:
		r.transition(ev)
	case trace.EventStackSample:
		r.sample(ev)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		r.region(ev)
	case trace.EventTaskBegin, trace.EventTaskEnd:
		r.task(ev)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r.gc(ev)
	case trace.EventLabel:
		r.worker(ev)
	}
}

// region and task add an interval in no state, with the name in front of the stack, when one ends.
func (r *reading) region(ev *trace.Event) {
	g := r.goroutines[ev.Goroutine()]
	if g == nil || r.request.Kind != "region" {
		return
	}
	if ev.Kind() == trace.EventRegionBegin {
		g.regions = append(g.regions, begun("region", ev.Region().Type, ev))
	} else if n := len(g.regions); n > 0 {
		r.ended(g, &g.regions[n-1], ev)
		g.regions = g.regions[:n-1]
	}
}

func (r *reading) task(ev *trace.Event) {
	if r.request.Kind != "task" {
		return
	}
	id := ev.Task().ID
	if ev.Kind() == trace.EventTaskBegin {
		i := begun("task", ev.Task().Type, ev)
		i.creator = r.goroutines[ev.Goroutine()]
		r.tasks[id] = &i
	} else if i := r.tasks[id]; i != nil {
		r.ended(i.creator, i, ev)
		delete(r.tasks, id)
	}
}

// gc adds ranges of the GC as intervals in no state.
func (r *reading) gc(ev *trace.Event) {
	rng := ev.Range()
	name, is := map[string]string{"GC mark assist": "mark assist", "GC incremental sweep": "sweep"}[rng.Name]
	if reason, stw := strings.CutPrefix(rng.Name, "stop-the-world ("); stw {
		name, is = "stop-the-world: "+strings.TrimSuffix(reason, ")"), true
	}
	if r.request.Kind != "gc" || !is {
		return
	}
	key := rng.Name + rng.Scope.String()
	switch open := r.ranges[key]; {
	case ev.Kind() == trace.EventRangeEnd && open != nil:
		delete(r.ranges, key)
		r.ended(open.creator, open, ev)
	case ev.Kind() == trace.EventRangeEnd || open != nil:
	default:
		i := &interval{stack: "0x0 [" + name + "] :0\n", begin: r.last}
		g := ev.Goroutine()
		if rng.Scope.Kind == trace.ResourceGoroutine {
			g = rng.Scope.Goroutine()
		}
		if ev.Kind() == trace.EventRangeBegin {
			i.stack += textOf(ev.Stack())
		} else {
			i.begin = r.sync
			if rng.Scope.Kind != trace.ResourceGoroutine {
				g = trace.NoGoroutine
			}
		}
		i.creator = r.goroutines[g]
		r.ranges[key] = i
	}
}

// worker marks the time in which a goroutine runs as that of a mark worker.
func (r *reading) worker(ev *trace.Event) {
	l := ev.Label()
	if r.request.Kind != "gc" || l.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	g := r.goroutines[l.Resource.Goroutine()]
	if g == nil || g.open == nil || g.open.state != trace.GoRunning {
		return
	}
	if g.open.worker != "" {
		g.open.end = r.last
		g.intervals = append(g.intervals, *g.open)
		g.open.begin = r.last
	}
	g.open.worker = l.Label
}

func begun(what, name string, ev *trace.Event) interval {
	head := fmt.Sprintf("[%s: %s]", what, name)
	if name == "" {
		head = "[" + what + "]"
	}
	return interval{stack: fmt.Sprintf("0x0 %s :0\n", head) + textOf(ev.Stack()), begin: int64(ev.Time())}
}

func (r *reading) ended(g *goroutine, i *interval, ev *trace.Event) {
	i.end = int64(ev.Time())
	if g == nil || r.goroutines[trace.GoID(g.id)] != g {
		g = &goroutine{}
		r.all = append(r.all, g)
	}
	g.intervals = append(g.intervals, *i)
}

// sample adds a CPU sample as an interval in no state, which is 1 ns long.
func (r *reading) sample(ev *trace.Event) {
	g := r.goroutines[ev.Goroutine()]
	if g == nil {
		g = &goroutine{id: uint64(ev.Goroutine())}
		if ev.Goroutine() == trace.NoGoroutine {
			g.id = 0
		}
		r.all = append(r.all, g)
	}
	now := int64(ev.Time())
	g.intervals = append(g.intervals, interval{stack: textOf(ev.Stack()), begin: now, end: now + 1})
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
	g.ran(to, now)
	if r.request.WithStack && ev.Stack() == trace.NoStack {
		return
	}
	if r.request.WithStack && g.open != nil && g.open.state == to {
		if counts, _ := r.isOfKind(g.open); counts {
			return
		}
	}
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
	if to == trace.GoNotExist {
		for n := len(g.regions); n > 0; n-- { // they end with it
			r.ended(g, &g.regions[n-1], ev)
		}
		delete(r.goroutines, id)
		return
	}
	if to == trace.GoRunning {
		g.own = ""
	} else if own := textOf(st.Stack); own != "" {
		g.own = own
	}
	g.open = &interval{stack: textOf(ev.Stack()), own: g.own, begin: now, state: to, reason: st.Reason}
	if from == trace.GoUndetermined && r.request.Kind == "wall" {
		g.open.begin = r.sync
	}
}

// ran notes when a goroutine runs for the first time.
func (g *goroutine) ran(to trace.GoState, now int64) {
	if to == trace.GoRunning && g.firstRun < 0 {
		g.firstRun = now
	}
}

// texts has the text of each stack seen: a trace has few, each in thousands of events.
var texts = map[trace.Stack]string{}

func textOf(stack trace.Stack) string {
	text, found := texts[stack]
	if !found {
		text = textOfNew(stack)
		texts[stack] = text
	}
	return text
}

func textOfNew(stack trace.Stack) string {
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

// nameOf is the frame that kind wall has in front of a stack.
func (i *interval) nameOf() string {
	switch {
	case i.state == trace.GoRunnable:
		return "[runnable]"
	case i.state == trace.GoRunning:
		return "[running]"
	case i.state == trace.GoSyscall:
		return "[system call]"
	case i.reason == "":
		return "[waiting]"
	}
	return "[waiting: " + i.reason + "]"
}

// add adds an interval of a goroutine to the stacks, as far as it counts.
func (r *reading) add(stacks Stacks, g *goroutine, i *interval) error {
	from, to := r.start+r.request.From, r.start+r.request.To
	if r.request.To == 0 {
		to = math.MaxInt64
	}
	begin, end := max(i.begin, from), min(i.end, to)
	switch r.request.Kind {
	case "cpu":
		if i.state == trace.GoUndetermined && begin < end {
			stacks.Add(i.stack+r.labels(g), Values{1, r.request.SampleNS})
		}
		return nil
	case "gc":
		stack := i.stack
		if i.worker != "" {
			stack = fmt.Sprintf("0x0 [mark worker: %s] :0\n", i.worker)
		} else if i.state != trace.GoUndetermined {
			return nil
		}
		frames := strings.SplitAfter(stack, "\n")
		if len(frames) == 2 && g.name != "" {
			stack += fmt.Sprintf("0x0 %s :0\n", g.name)
		}
		if begin < end {
			stacks.Add(strings.Join(frames[:min(len(frames), mostFrames)], "")+stack[len(strings.Join(frames, "")):]+r.labels(g), Values{1, end - begin})
		}
		return nil
	case "region", "task":
		if i.state == trace.GoUndetermined && begin < end {
			stacks.Add(i.stack+r.labels(g), Values{1, end - begin})
		}
		return nil
	case "wall":
		if i.state != trace.GoUndetermined && begin < end {
			stack := fmt.Sprintf("0x0 %s :0\n", i.nameOf())
			if frames := strings.SplitAfter(i.own, "\n"); len(frames) > 1 {
				stack += strings.Join(frames[:min(len(frames), mostFrames-1)], "")
			} else if g.name != "" {
				stack += fmt.Sprintf("0x0 %s :0\n", g.name)
			}
			stacks.Add(stack+r.labels(g), Values{1, end - begin})
		}
		return nil
	}
	wanted, err := r.isOfKind(i)
	if ns := end - max(begin, g.firstRun); wanted && ns > 0 {
		stacks.Add(i.stack+r.labels(g), Values{1, ns})
	}
	return err
}

func (r *reading) stacks() (Stacks, error) {
	stacks := Stacks{}
	for _, i := range r.ranges {
		i.end = r.last
		g := i.creator
		if g == nil {
			g = &goroutine{}
			r.all = append(r.all, g)
		}
		g.intervals = append(g.intervals, *i)
	}
	for _, g := range r.all {
		if g.open != nil && (r.request.Kind == "wall" || r.request.Kind == "gc") {
			g.open.end = r.last
			g.intervals = append(g.intervals, *g.open)
		}
		for _, i := range g.intervals {
			if !r.selects(g) {
				continue
			}
			if err := r.add(stacks, g, &i); err != nil {
				return nil, err
			}
		}
	}
	return stacks, nil
}

func (r *reading) labels(g *goroutine) string {
	if !r.request.Labels {
		return ""
	}
	if g.id == 0 {
		return ""
	}
	if g.name == "" {
		return fmt.Sprintf("goroutine[%d]", g.id)
	}
	return fmt.Sprintf("goroutine[%d] start_function[%s]", g.id, g.name)
}
