// Package waits is a second implementation of `gotrace path`, `gotrace latency`, `gotrace waits` and
// `gotrace histogram`, which reads the lines of `gotrace events --kernel --json`: the state of each
// goroutine, the kernel state of its thread, and the cause of the end of its waits. It shares no code with them, and is kept simple:
// it holds the whole trace in memory.
//
// What the lines lack is inferred: for the time of a thread before its first item, only what that
// item implies. Traces modified by gotrace align are not supported.
package waits

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sort"
	"strings"
)

// None is an id that no goroutine has.
const None = -1

// Peer is another thread in an item.
type Peer struct {
	M    int64  `json:"m"`
	Pid  int64  `json:"pid"`
	Name string `json:"name"`
}

// Line is an event or an item, with the members of all kinds.
type Line struct {
	Time      int64  `json:"time"`
	M         *int64 `json:"m"`
	P         *int64 `json:"p"`
	G         *int64 `json:"g"`
	Event     string `json:"event"`
	Kind      string `json:"kind"`
	Goroutine *int64 `json:"goroutine"`
	Proc      *int64 `json:"proc"`
	From      string `json:"from"`
	To        string `json:"to"`
	Reason    string `json:"reason"`
	Name      string `json:"name"`
	Label     string `json:"label"`
	CPU       int    `json:"cpu"`
	Why       string `json:"why"`
	Sleep     string `json:"sleep"`
	Then      Peer   `json:"then"`
	By        Peer   `json:"by"`
	Interrupt bool   `json:"interrupt"`
	Already   bool   `json:"already"`
	FromCPU   int    `json:"from_cpu"`
	Pid       int64  `json:"pid"`
	Syscall   string `json:"syscall"`
	Result    int64  `json:"result"`
	Frame     struct{ Func string }

	counts int64 // an item: its time for latency, not after the event that follows it
	late   bool  // that is not its own time
}

func id(p *int64) int64 {
	if p == nil {
		return None
	}
	return *p
}

// State is the state of a goroutine from At on.
type State struct {
	At      int64
	Is      string
	M, P    int64 // Running, Syscall
	Reason  string
	Over    bool
	By, ByM int64 // Waiting, once it is over
	Got     int64 // Runnable, once it is over: the P
	Assist  bool
}

// Run is the kernel state of a thread from At on.
type Run struct {
	At, Counts int64
	Is         string // running, runnable, throttled, sleeping, disk, stopped, gone
	CPU        int
	Call       string // the system call in which this begins
	Sleep      string // why it sleeps or is stopped beyond that
	Fault      bool
	Woken      bool // runnable: from sleep
	Then       Peer // the thread that got the CPU
	Ours       bool // Then is a thread of the program
	Yielded    bool
	Waker      Peer
	Interrupt  bool
	Over       bool // a sleep that was ended
	Done       bool // a sleep: the system call has ended, not for a signal
	Guess      bool // from before the thread's first item
	Vague      bool // a guess that only goes by a later time
	Got        bool // running: with an on_cpu, not confirmed by a later item
	Late       bool // after the last event, with whose time it counts for latency
}

func (r *Run) asleep() bool { return r.Is == "sleeping" || r.Is == "disk" || r.Is == "stopped" }

// Call is a system call that a thread is in.
type Call struct {
	At, To             int64
	CountsAt, CountsTo int64
	Name               string
}

// Own is the owner of a thread or a P from At on.
type Own struct{ At, G int64 }

// Core is the thread on a CPU from At on; Before: it has been there for longer, since an unknown time.
type Core struct {
	At, Counts int64
	Who        Peer
	Before     bool
}

// Move is a change of the CPU that a thread waits for.
type Move struct {
	At, Counts int64
	From, To   int
}

// Named is the name that a thread has in an item.
type Named struct {
	At   int64
	Name string
}

// Span is a time, with its name.
type Span struct {
	From, To int64
	Name     string
}

// Goroutine is the state of one goroutine over time.
type Goroutine struct {
	States        []State
	Creator       int64
	Born          bool
	byTimer       bool // created by a timer, as time.AfterFunc does
	Created       int64
	Ended         bool
	Reused        bool // the trace has two goroutines with that id
	Assists, Work []Span
	inAssist      bool
}

// Thread is the state of one thread over time.
type Thread struct {
	Runs  []Run
	Steps []Run // those that take time: the others are no part of a path
	Calls []Call
	On    []Own
	Moves []Move
	woken *Line // a wake-up that came while it ran
	known bool  // the system call is known
	fault bool
}

// Model is a whole trace.
type Model struct {
	Start, End int64
	Goroutines map[int64]*Goroutine
	Threads    map[int64]*Thread
	Procs      map[int64][]Own
	Cores      map[int][]Core
	Waits      bool              // the trace has what had the CPUs that threads waited for
	Names      map[int64][]Named // of threads, by time
	woke       map[int64]*Line   // the first item in which a thread wakes another one
	Stops      []Span
	Enters     map[int64][]Span // sys_enter by goroutine: From is the time
	sync       int64
}

// ReadLines reads the output of `gotrace events --kernel --json`.
func ReadLines(r io.Reader) ([]*Line, error) {
	var lines []*Line
	for d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20)); ; {
		l := new(Line)
		if err := d.Decode(l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("no lines")
	}
	return lines, nil
}

// Read runs gotrace for the events of a trace, and makes a model of them.
func Read(gotrace, file string) ([]*Line, *Model, error) {
	var stat struct{ Kernel struct{ Waits bool } }
	cmd := exec.Command(gotrace, "stat", "--json", file)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &stat)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("stat: %w", err)
	}
	cmd = exec.Command(gotrace, "events", "--kernel", "--json", file)
	cmd.Stderr = os.Stderr
	if text, err = cmd.Output(); err != nil {
		return nil, nil, fmt.Errorf("events: %w", err)
	}
	lines, err := ReadLines(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	m := Load(lines)
	m.Waits = stat.Kernel.Waits
	return lines, m, nil
}

// Load makes a model of the lines.
func Load(lines []*Line) *Model {
	until, now := int64(math.MaxInt64), int64(math.MinInt64)
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].Kind != "Kernel" {
			until = lines[i].Time
		}
		lines[i].counts, lines[i].late = min(lines[i].Time, until), lines[i].Time > until
	}
	for _, l := range lines {
		now = max(now, l.counts)
		l.counts = now
	}
	m := &Model{
		Goroutines: map[int64]*Goroutine{}, Threads: map[int64]*Thread{}, Procs: map[int64][]Own{},
		Cores: map[int][]Core{}, Names: map[int64][]Named{}, Enters: map[int64][]Span{}, woke: map[int64]*Line{},
	}
	// The set of the program's threads applies to the whole trace.
	for _, l := range lines {
		if l.M != nil && l.Event != "cpu" && l.Event != "occupant" {
			m.thread(*l.M)
		}
	}
	m.Start, m.sync = lines[0].Time, lines[0].Time
	for _, l := range lines {
		if l.Kind == "Kernel" {
			m.item(l)
		} else {
			m.event(l)
			m.End = l.Time
		}
	}
	for _, t := range m.Threads {
		for i, r := range t.Runs {
			if i+1 == len(t.Runs) || r.At < t.Runs[i+1].At {
				t.Steps = append(t.Steps, r)
			}
		}
	}
	return m
}

func (m *Model) thread(id int64) *Thread {
	if m.Threads[id] == nil {
		m.Threads[id] = &Thread{}
	}
	return m.Threads[id]
}

func (m *Model) goroutine(id int64) *Goroutine {
	if m.Goroutines[id] == nil {
		m.Goroutines[id] = &Goroutine{Creator: None}
	}
	return m.Goroutines[id]
}

// before is the index of the last of n things that begins before a time, or -1.
func before(n int, at func(i int) int64, time int64) int {
	return sort.Search(n, func(i int) bool { return at(i) >= time }) - 1
}

func (g *Goroutine) before(time int64) int {
	return before(len(g.States), func(i int) int64 { return g.States[i].At }, time)
}

func (t *Thread) before(time int64) int {
	return before(len(t.Steps), func(i int) int64 { return t.Steps[i].At }, time)
}

func ownBefore(list []Own, time int64) int {
	return before(len(list), func(i int) int64 { return list[i].At }, time)
}

func owner(list []Own, time int64) int64 {
	if i := ownBefore(list, time); i >= 0 {
		return list[i].G
	}
	return None
}

func (m *Model) event(l *Line) {
	switch {
	case l.Kind == "Sync":
		m.sync = l.Time
	case l.Kind == "StateTransition" && l.Goroutine != nil:
		m.transition(l)
	case l.Kind == "StateTransition" && l.Proc != nil:
		if l.From != l.To && l.To == "Idle" {
			m.Procs[*l.Proc] = append(m.Procs[*l.Proc], Own{l.Time, None})
		}
	case l.Kind == "Label" && len(l.Label) > 4 && l.Label[:4] == "GC (" && l.Goroutine != nil:
		g := m.goroutine(*l.Goroutine)
		g.Work = append(g.Work, Span{l.Time, math.MaxInt64, l.Label})
	case l.Kind == "RangeBegin" || l.Kind == "RangeActive" || l.Kind == "RangeEnd":
		m.span(l)
	}
	m.place(l)
}

// place infers the thread of a goroutine that existed before the trace from its later lines.
func (m *Model) place(l *Line) {
	if l.M == nil || l.G == nil || m.Goroutines[*l.G] == nil {
		return
	}
	g := m.Goroutines[*l.G]
	if len(g.States) == 0 {
		return
	}
	s := &g.States[len(g.States)-1]
	if (s.Is == "Running" || s.Is == "Syscall") && s.M == None {
		s.M = *l.M
		t := m.thread(*l.M)
		t.On = append([]Own{{s.At, *l.G}}, t.On...)
	}
}

func (m *Model) span(l *Line) {
	const stop = "stop-the-world ("
	begins := l.Kind != "RangeEnd"
	at := l.Time
	if l.Kind == "RangeActive" {
		at = m.sync
	}
	switch {
	case l.Goroutine == nil:
	case len(l.Name) >= len(stop) && l.Name[:len(stop)] == stop:
		if n := len(m.Stops); begins {
			m.Stops = append(m.Stops, Span{From: at, To: math.MaxInt64})
		} else if n > 0 {
			m.Stops[n-1].To = at
		}
	case l.Name == "GC mark assist":
		g := m.goroutine(*l.Goroutine)
		if begins && !g.inAssist {
			g.Assists = append(g.Assists, Span{From: at, To: math.MaxInt64})
		} else if n := len(g.Assists); !begins && n > 0 {
			g.Assists[n-1].To = at
		}
		g.inAssist = begins
		if n := len(g.States); n > 0 && g.States[n-1].Is == "Running" && g.States[n-1].Assist != begins {
			s := g.States[n-1]
			s.At, s.Assist = max(at, s.At), begins
			g.States = append(g.States, s)
		}
	}
}

func (m *Model) transition(l *Line) {
	if l.From == l.To {
		return
	}
	g := m.goroutine(*l.Goroutine)
	at := l.Time
	switch l.From {
	case "Undetermined":
		at = m.sync
	case "NotExist":
		g.Reused = len(g.States) > 0
		g.Born, g.Ended, g.Created, g.Creator, g.inAssist = true, false, at, id(l.G), false
		g.byTimer = l.G == nil && l.To == "Runnable"
	default:
		m.leave(*l.Goroutine, g, l)
	}
	if n := len(g.Work); n > 0 && g.Work[n-1].To == math.MaxInt64 {
		g.Work[n-1].To = at
	}
	s := State{At: at, Is: l.To, M: None, P: None, By: None, ByM: None, Got: None, Reason: l.Reason}
	if n := len(g.States); n > 0 {
		s.At = max(s.At, g.States[n-1].At)
	}
	if l.To == "NotExist" {
		g.Ended = true
		if n := len(g.Assists); n > 0 && g.Assists[n-1].To == math.MaxInt64 {
			g.Assists[n-1].To = at
		}
	}
	if (l.To == "Running" || l.To == "Syscall") && l.From != "Undetermined" {
		s.M, s.Assist = id(l.M), g.inAssist && l.To == "Running"
		if s.M != None {
			t := m.thread(s.M)
			t.On = append(t.On, Own{s.At, *l.Goroutine})
		}
	}
	if s.Is == "Running" || s.Is == "Syscall" {
		if s.P = id(l.P); s.P != None {
			m.Procs[s.P] = append(m.Procs[s.P], Own{s.At, *l.Goroutine})
		}
	}
	g.States = append(g.States, s)
}

// meant is false for a goroutine that only polled the network, or ran timers, when it ended another one's wait: package
// internal/poll ends waits for the network on purpose.
func meant(reason string, l *Line) bool {
	switch strings.TrimSuffix(reason, " (inferred)") {
	case "network":
		return strings.HasPrefix(l.Frame.Func, "internal/poll.")
	case "sleep":
		return false
	}
	return true
}

// without is what ends a wait that no goroutine ends. Of channels, those of timers have none.
func without(reason string) string {
	switch strings.TrimSuffix(reason, " (inferred)") {
	case "network":
		return "netpoll"
	case "sleep", "chan receive", "select":
		return "timer"
	}
	return "scheduler"
}

func (m *Model) leave(id_ int64, g *Goroutine, l *Line) {
	if len(g.States) == 0 {
		return
	}
	m.place(l)
	s := &g.States[len(g.States)-1]
	switch s.Is {
	case "Running", "Syscall":
		if l.To == "Syscall" {
			return
		}
		if t := m.Threads[s.M]; t != nil && owner(t.On, math.MaxInt64) == id_ {
			t.On = append(t.On, Own{l.Time, None})
		}
		if owner(m.Procs[s.P], math.MaxInt64) == id_ {
			m.Procs[s.P] = append(m.Procs[s.P], Own{l.Time, None})
		}
	case "Waiting":
		s.Over, s.ByM = true, id(l.M)
		if meant(s.Reason, l) {
			s.By = id(l.G)
		}
	case "Runnable":
		s.Over, s.Got = true, id(l.P)
	}
}

// item applies an item to its thread, by the rules of gotrace-private(5).
func (m *Model) item(l *Line) {
	if l.Event == "cpu" {
		return
	}
	if l.Event == "occupant" {
		m.has(l.CPU, Core{l.Time, l.counts, Peer{id(l.M), l.Pid, l.Name}, l.Already})
		if l.Name != "" {
			m.Names[*l.M] = append(m.Names[*l.M], Named{l.Time, l.Name})
		}
		return
	}
	t := m.thread(*l.M)
	if l.Event == "moved" {
		t.Moves = append(t.Moves, Move{l.Time, l.counts, l.FromCPU, l.CPU})
		return
	}
	m.place(l)
	if by := m.Threads[l.By.M]; l.Event == "waking" && !l.Interrupt && by != t {
		if _, known := m.woke[l.By.M]; !known {
			m.woke[l.By.M] = l
		}
		if by != nil {
			by.runs(l)
		}
	}
	if len(t.Runs) == 0 {
		t.guess(l, m.woke[*l.M])
		if t.Runs[0].Is == "running" && !t.Runs[0].Vague && len(m.Cores[l.CPU]) == 0 {
			m.has(l.CPU, Core{math.MinInt64, math.MinInt64, Peer{M: *l.M}, false})
		}
	}
	last := t.Runs[len(t.Runs)-1]
	next := Run{At: max(l.Time, last.At), Counts: l.counts, Late: l.late, CPU: l.CPU, Call: t.call(), Fault: t.fault, Is: "running"}
	switch l.Event {
	case "on_cpu":
		t.woken, next.Got = nil, true
		m.has(l.CPU, Core{l.Time, l.counts, Peer{M: *l.M}, false})
	case "off_cpu":
		m.has(l.CPU, Core{l.Time, l.counts, l.Then, false})
		if l.Then.Name != "" {
			m.Names[l.Then.M] = append(m.Names[l.Then.M], Named{l.Time, l.Then.Name})
		}
		t.off(m, l, &next)
	case "waking":
		switch {
		case last.asleep():
			r := &t.Runs[len(t.Runs)-1]
			r.Over, r.Waker, r.Interrupt = true, l.By, l.Interrupt
			next.Is, next.Woken, next.CPU = "runnable", true, last.CPU
		case last.Is == "running" && l.By.M != *l.M:
			t.woken = l
			return
		default:
			return
		}
	case "created":
		next.Is, next.Woken = "runnable", true
		t.Calls, t.known, t.fault, t.woken = nil, true, false, nil
		next.Call, next.Fault = "", false
	case "ended":
		next.Is = "gone"
		t.exit(l)
		t.fault = false
	case "named":
		return
	default:
		t.woken = nil
		switch l.Event {
		case "sys_enter":
			t.exit(l)
			t.known = true
			t.Calls = append(t.Calls, Call{l.Time, math.MaxInt64, l.counts, math.MaxInt64, l.Syscall})
			if l.G != nil {
				m.Enters[*l.G] = append(m.Enters[*l.G], Span{From: l.Time, Name: l.Syscall})
			}
		case "sys_exit":
			t.ends(l)
			if !t.known {
				t.Calls = []Call{{math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64, l.Syscall}}
				for i := range t.Runs {
					t.Runs[i].Call = l.Syscall
				}
			}
			t.exit(l)
			t.known = true
		case "fault_begin":
			t.fault = true
		case "fault_end":
			t.fault = false
		}
	}
	// Two off_cpu in a row: the kernel has not reported the on_cpu between them.
	if next.Is == last.Is && next.CPU == last.CPU && l.Event != "off_cpu" {
		return
	}
	t.Runs = append(t.Runs, next)
}

// runs: the thread wakes another one, so it has a CPU, even if no item has shown that it got one. It does
// not leave it to sleep just then.
func (t *Thread) runs(l *Line) {
	if len(t.Runs) == 0 {
		return
	}
	t.woken = nil
	last := t.Runs[len(t.Runs)-1]
	if last.Is != "running" || last.CPU != l.CPU || last.Vague {
		t.Runs = append(t.Runs, Run{At: max(l.Time, last.At), Counts: l.counts, Late: l.late, CPU: l.CPU, Call: t.call(), Fault: t.fault, Is: "running"})
	}
}

func (t *Thread) off(m *Model, l *Line, next *Run) {
	next.Then = l.Then
	next.Ours = m.Threads[l.Then.M] != nil && l.Then.M != 0
	next.Is, next.Sleep = l.Why, l.Sleep
	switch l.Why {
	case "preempted", "yielded":
		next.Is, next.Yielded = "runnable", l.Why == "yielded"
	case "dead":
		next.Is = "gone"
	case "sleeping", "disk":
		if t.woken != nil { // before it left its CPU: it does not sleep
			next.Is, next.Woken = "runnable", true
		}
	}
	t.woken = nil
}

// guess infers the state of a thread before its first item. If it has woken another one before, by the
// item woke, it has had a CPU since then, and what it did before that is unknown.
func (t *Thread) guess(l, woke *Line) {
	r := Run{At: math.MinInt64, Counts: math.MinInt64, CPU: l.CPU, Guess: true, Is: "running"}
	if woke != nil {
		r.Vague = true
		t.Runs = append(t.Runs, r)
		t.runs(woke)
		return
	}
	switch l.Event {
	case "on_cpu":
		r.Is = "runnable"
	case "waking":
		r.Is = "sleeping"
	case "created":
		r.Is = "gone"
	}
	t.Runs = append(t.Runs, r)
}

func (t *Thread) call() string {
	if n := len(t.Calls); n > 0 && t.Calls[n-1].To == math.MaxInt64 {
		return t.Calls[n-1].Name
	}
	return ""
}

// ends notes that the call in which the thread slept last has ended, unless EINTR or one of
// the kernel's ERESTART errors says that a signal has interrupted it.
func (t *Thread) ends(l *Line) {
	switch l.Result {
	case -4, -512, -513, -514, -516:
		return
	}
	for i := len(t.Runs) - 1; i >= 0 && t.Runs[i].Call == l.Syscall; i-- {
		if t.Runs[i].asleep() {
			t.Runs[i].Done = true
			return
		}
	}
}

func (t *Thread) exit(l *Line) {
	if n := len(t.Calls); n > 0 && t.Calls[n-1].To == math.MaxInt64 {
		t.Calls[n-1].To, t.Calls[n-1].CountsTo = l.Time, l.counts
	}
}

func (m *Model) has(cpu int, c Core) { m.Cores[cpu] = append(m.Cores[cpu], c) }
