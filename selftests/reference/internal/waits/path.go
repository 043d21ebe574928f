package waits

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Segment is a segment of a critical path, as in `gotrace path --json`.
type Segment struct {
	From      int64   `json:"from_ns"`
	To        int64   `json:"to_ns"`
	Kind      string  `json:"kind"`
	Goroutine *int64  `json:"goroutine"`
	Cause     string  `json:"cause"`
	ByG       *int64  `json:"by_goroutine"`
	Process   string  `json:"process"`
	ProcessID int64   `json:"process_id"`
	Reason    string  `json:"reason"`
	Syscall   string  `json:"-"`
	Interrupt string  `json:"interrupt"`
	Tid       int64   `json:"tid"`
	ByTid     int64   `json:"by_tid"`
	Depth     int     `json:"depth"`
	Holders   []int64 `json:"holders"`
	Assist    bool    `json:"gc_assist"`
	Stopped   bool    `json:"stop_the_world"`
	More      bool    `json:"more_holders"`
	HeldCPU   bool    `json:"held_cpu"`      // the cause had a CPU, not a P
	GotFirst  bool    `json:"got_cpu_first"` // a process that got the CPU; for how long it had it is unknown

	RawSyscall json.RawMessage `json:"syscall"`
	guess      bool
	vague      bool
	state      State // of its goroutine
}

// ParsePath reads the output of `gotrace path --json`.
func ParsePath(text []byte) ([]Segment, error) {
	var out struct{ Segments []Segment }
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	for i := range out.Segments {
		var name any
		if err := json.Unmarshal(out.Segments[i].RawSyscall, &name); err != nil {
			return nil, err
		}
		if name != nil {
			out.Segments[i].Syscall = fmt.Sprint(name)
		}
	}
	return out.Segments, nil
}

// Path is the critical path of a goroutine, newest first.
func (m *Model) Path(g, from, to int64) []Segment {
	w := &walk{Model: m, to: to}
	w.goroutine(g, from, to, 0)
	return w.segments
}

type walk struct {
	*Model
	to       int64
	segments []Segment
	chain    int // waits followed without an advance in time
}

func (w *walk) emit(s Segment, from, to int64) {
	if from >= to {
		return
	}
	w.chain = 0
	s.From, s.To = from, to
	for _, stop := range w.Stops {
		if stop.From < to && stop.To > from {
			s.Stopped = true
		}
	}
	w.segments = append(w.segments, s)
}

func segment(kind string, g int64, depth int) Segment {
	s := Segment{Kind: kind, Depth: depth}
	if g != None {
		s.Goroutine = &g
	}
	return s
}

// goroutine adds its segments from lo to hi, backward.
func (w *walk) goroutine(g, lo, hi int64, depth int) {
	of := w.Goroutines[g]
	for hi > lo {
		i := of.before(hi)
		if i < 0 {
			if of.Born && of.Creator != None {
				w.goroutine(of.Creator, lo, hi, depth+1)
				return
			}
			seg := segment("unknown", g, depth)
			if of.Born && of.byTimer {
				seg.Kind, seg.Reason, seg.Cause = "Go-blocked", "not created yet", "timer"
			}
			w.emit(seg, lo, hi)
			return
		}
		s := of.States[i]
		next := State{At: math.MaxInt64, M: None}
		if i+1 < len(of.States) {
			next = of.States[i+1]
		}
		begin := max(s.At, lo)
		switch s.Is {
		case "Running", "Syscall":
			w.thread(g, s, s.M, begin, hi, depth)
		case "Runnable":
			w.runnable(g, s, next, begin, hi, depth)
		case "Waiting":
			w.waiting(g, s, next.At, begin, hi, depth)
		default:
			w.emit(segment("unknown", g, depth), begin, hi)
		}
		hi = begin
	}
}

// bare adds the segments of a thread that may run no goroutine.
func (w *walk) bare(m, lo, hi int64, depth int) {
	t := w.Threads[m]
	for hi > lo {
		i, since := ownBefore(t.On, hi), lo
		if i >= 0 && t.On[i].G != None {
			w.goroutine(t.On[i].G, lo, hi, depth)
			return
		}
		if i >= 0 {
			since = max(lo, t.On[i].At)
		}
		w.thread(None, State{}, m, since, hi, depth)
		hi = since
	}
}

// callIn returns the last system call that the thread entered before hi, in that state, and its
// start. One that began before the state, and has not ended when that begins, belongs to the state.
func (t *Thread) callIn(s State, hi int64) (string, int64) {
	first := -1
	last := -1
	for i := sort.Search(len(t.Calls), func(i int) bool { return t.Calls[i].To > s.At }); i < len(t.Calls); i++ {
		if t.Calls[i].At >= hi {
			break
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	switch {
	case first < 0:
		return "", math.MinInt64
	case last == first:
		return t.Calls[first].Name, math.MinInt64
	}
	return t.Calls[last].Name, t.Calls[last].At
}

func (w *walk) thread(g int64, s State, m, lo, hi int64, depth int) {
	call := s.Is == "Syscall"
	t := w.Threads[m]
	for hi > lo {
		seg := segment("running", g, depth)
		seg.Assist, seg.state = s.Assist, s
		if call {
			seg.Kind = "syscall"
		}
		if t == nil {
			seg.guess = true
			w.emit(seg, lo, hi)
			return
		}
		seg.Tid = m
		since, i := lo, t.before(hi)
		if call {
			var at int64
			seg.Syscall, at = t.callIn(s, hi)
			since = max(since, at)
		}
		if i < 0 {
			seg.guess = true
			w.emit(seg, since, hi)
			hi = since
			continue
		}
		run := &t.Steps[i]
		seg.guess, seg.vague = run.Guess, run.Vague
		if run.asleep() {
			hi = w.asleep(t, i, m, seg, lo, hi)
			continue
		}
		since = max(since, run.At)
		switch run.Is {
		case "running":
			seg.Kind = "on-CPU"
		case "runnable":
			seg.Kind = "kernel-runnable"
			if !call {
				seg.Syscall = run.Call
			}
			since = max(since, w.core(t, i, g, &seg, since, hi))
		case "throttled":
			seg.Kind, seg.Cause = "throttled", "cgroup"
		}
		w.emit(seg, since, hi)
		hi = since
	}
}

// asleep adds the segments of the i-th run of a thread, a sleep, and returns where they begin.
func (w *walk) asleep(t *Thread, i int, m int64, seg Segment, lo, hi int64) int64 {
	run := &t.Steps[i]
	seg.Reason = cmp.Or(run.Sleep, run.Is)
	if run.Fault {
		seg.Reason = "page fault"
	}
	seg.Kind = "kernel-blocked"
	if seg.state.Is == "Syscall" {
		seg.Kind = "syscall-blocked"
	}
	if run.Call != "" {
		seg.Syscall = run.Call
	}
	if !run.Over {
		if i == len(t.Steps)-1 {
			seg.Cause = "pending"
		}
		lo = max(lo, run.At)
		w.emit(seg, lo, hi)
		return lo
	}
	first, last := w.retries(t, i, m)
	lo = max(lo, t.Steps[first].At)
	end := &t.Steps[last]
	waker := w.Threads[end.Waker.M]
	switch {
	case end.Interrupt:
		seg.Cause, seg.Interrupt = "interrupt", interrupt(seg)
	case waker == nil:
		w.process(&seg, end.Waker)
	case end.Waker.M != m:
		by := owner(waker.On, t.Steps[last+1].At)
		if w.chain < 100 && (by != None || seg.Kind == "syscall-blocked" || seg.Goroutine == nil) {
			w.chain++
			if by != None {
				w.goroutine(by, lo, hi, seg.Depth+1)
			} else {
				w.bare(end.Waker.M, lo, hi, seg.Depth+1)
			}
			return lo
		}
		seg.Cause, seg.ByTid = "thread", end.Waker.M
		if by != None {
			seg.Cause, seg.ByG = "goroutine", &by
		}
	}
	w.emit(seg, lo, hi)
	return lo
}

// retries returns the first and the last sleep of a single wait: signals of threads that run no
// goroutine interrupt it, and it continues within 50 us of running.
func (w *walk) retries(t *Thread, i int, m int64) (first, last int) {
	signal := func(i int) bool {
		r := &t.Steps[i]
		waker := w.Threads[r.Waker.M]
		return r.Over && !r.Interrupt && !r.Done && waker != nil && i+1 < len(t.Steps) && owner(waker.On, t.Steps[i+1].At) == None
	}
	next := func(i, step int) int { // the neighbour that continues the same call, or -1
		var ran int64
		for j := i + step; j >= 0 && j < len(t.Steps); j += step {
			switch r := &t.Steps[j]; {
			case r.Is == "running":
				if j+1 < len(t.Steps) {
					ran += t.Steps[j+1].At - r.At
				}
				if ran >= 50000 {
					return -1
				}
			case r.Is == "runnable":
			case r.Is == t.Steps[i].Is && r.Call == t.Steps[i].Call:
				return j
			default:
				return -1
			}
		}
		return -1
	}
	first, last = i, i
	if t.Steps[i].Call == "" {
		return
	}
	const most = 4096 // changes that a wait is followed through: see gotrace(1)
	for j := next(i, -1); j > i-most && j >= 0 && signal(j); j = next(j, -1) {
		first = j
	}
	for j := i; signal(j); {
		if j = next(j, 1); j < 0 || j >= i+most {
			break
		}
		if t.Steps[j].Over && !signal(j) {
			last = j
			break
		}
	}
	return
}

func interrupt(seg Segment) string {
	switch seg.Syscall {
	case "nanosleep", "clock_nanosleep", "futex":
		return "timer"
	case "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "accept", "accept4", "connect", "sendmmsg":
		return "network"
	}
	if seg.Reason == "disk" {
		return "disk"
	}
	return ""
}

func (w *walk) process(seg *Segment, who Peer) {
	seg.Cause, seg.ByTid, seg.ProcessID, seg.Process = "process", who.M, who.Pid, who.Name
	for _, n := range w.Names[who.M] {
		if who.Name == "" && n.At < w.to {
			seg.Process = n.Name
		}
	}
}

func (w *walk) blame(seg *Segment, g, hi int64, who Peer) {
	seg.ByTid, seg.HeldCPU = who.M, who.M != 0
	t := w.Threads[who.M]
	switch {
	case who.M == 0:
		seg.Cause = "idle"
	case t == nil:
		w.process(seg, who)
		seg.GotFirst = true
	default:
		seg.Cause = "thread"
		if by := owner(t.On, hi); by != None && by != g {
			seg.Cause, seg.ByG = "goroutine", &by
		}
	}
}

// occupant does so in a trace that has what had the CPUs that threads waited for.
func (w *walk) occupant(t *Thread, i int, g int64, seg *Segment, since, hi int64) int64 {
	run, cpu, end := &t.Steps[i], t.Steps[i].CPU, int64(math.MaxInt64)
	if run.Woken {
		cpu = -1
	}
	if i+1 < len(t.Steps) {
		if end = t.Steps[i+1].At; run.Woken && t.Steps[i+1].Is == "running" {
			cpu = t.Steps[i+1].CPU
		}
	}
	for _, move := range slices.Backward(t.Moves) {
		if move.At < run.At || move.At > end {
			continue
		}
		if move.At < hi {
			cpu, since = move.To, max(since, move.At)
			break
		}
		cpu = move.From
	}
	list := w.Cores[cpu]
	n := before(len(list), func(i int) int64 { return list[i].At }, hi)
	if n < 0 {
		return since
	}
	if list[n].Who.M != None {
		w.blame(seg, g, hi, list[n].Who)
		seg.GotFirst = false
	}
	if list[n].Before {
		n--
	}
	if n < 0 {
		return since
	}
	return max(since, list[n].At)
}

// core returns the thread on the CPU that a thread waited for in its i-th run, and since when. A
// preempted thread waits for the CPU that it had, a woken one for the CPU that it gets.
func (w *walk) core(t *Thread, i int, g int64, seg *Segment, since, hi int64) int64 {
	run := &t.Steps[i]
	cpu := run.CPU
	if w.Waits {
		return w.occupant(t, i, g, seg, since, hi)
	}
	if !run.Woken {
		w.blame(seg, g, hi, run.Then)
		return since
	}
	if i+1 < len(t.Steps) && t.Steps[i+1].Is == "running" {
		cpu = t.Steps[i+1].CPU
	}
	list := w.Cores[cpu]
	n := before(len(list), func(i int) int64 { return list[i].At }, hi)
	if n < 0 {
		return since
	}
	if c := list[n]; c.At >= run.At || w.Threads[c.Who.M] != nil && c.Who.M != 0 {
		w.blame(seg, g, hi, c.Who)
	}
	return max(since, list[n].At)
}

// runnable adds a segment for each time in which the P that the goroutine then got was idle, or had one
// goroutine, whose thread was in one state.
func (w *walk) runnable(g int64, s, next State, lo, hi int64, depth int) {
	holders, more := w.holders(g, lo, hi)
	for hi > lo {
		seg, since, m := segment("Go-runnable", g, depth), lo, int64(None)
		if s.Over && next.Is == "Running" {
			m = next.M
		}
		switch {
		case !s.Over:
			seg.Cause = "pending"
		case s.Got != None:
			seg.Cause = "idle"
			list := w.Procs[s.Got]
			i := ownBefore(list, hi)
			if i < 0 {
				break
			}
			since = max(since, list[i].At)
			if holder := list[i].G; holder != None {
				seg.Cause, seg.ByG, m = "goroutine", &holder, w.threadOf(holder, hi)
			}
		}
		if t := w.Threads[m]; t != nil {
			since = w.offCPU(t, g, &seg, since, hi)
		}
		seg.Holders, seg.More = holders, more
		w.emit(seg, since, hi)
		hi = since
	}
}

// threadOf returns the thread on which a goroutine was just before a time, or None.
func (w *walk) threadOf(g, hi int64) int64 {
	of := w.Goroutines[g]
	if i := of.before(hi); i >= 0 && (of.States[i].Is == "Running" || of.States[i].Is == "Syscall") {
		return of.States[i].M
	}
	return None
}

// offCPU replaces the cause by what kept the thread from a CPU, if anything but an idle one did, and
// returns since when the thread was in that state.
func (w *walk) offCPU(t *Thread, g int64, seg *Segment, since, hi int64) int64 {
	i := t.before(hi)
	if i < 0 {
		return since
	}
	run := &t.Steps[i]
	since = max(since, run.At)
	seg.guess = run.Guess
	switch run.Is {
	case "throttled":
		seg.Cause, seg.ByG = "cgroup", nil
	case "runnable":
		cpu := Segment{}
		since = max(since, w.core(t, i, g, &cpu, since, hi))
		if cpu.Cause != "" && cpu.Cause != "idle" {
			seg.Cause, seg.ByG, seg.ByTid, seg.ProcessID, seg.Process = cpu.Cause, cpu.ByG, cpu.ByTid, cpu.ProcessID, cpu.Process
			seg.HeldCPU, seg.GotFirst = cpu.HeldCPU, cpu.GotFirst
		}
	}
	return since
}

// WaitedForP returns for how long a goroutine was runnable, without the end of the trace.
func (m *Model) WaitedForP(g int64) (ns int64) {
	states := m.Goroutines[g].States
	for i := range states[:max(0, len(states)-1)] {
		if states[i].Is == "Runnable" {
			ns += states[i+1].At - states[i].At
		}
	}
	return ns
}

// holders returns the holders of Ps between the two times, of those the four that had them longest, and whether there
// were more.
func (w *walk) holders(g, lo, hi int64) ([]int64, bool) {
	held := map[int64]int64{}
	for _, list := range w.Procs {
		end := hi
		for i := ownBefore(list, hi); i >= 0 && end > lo; i-- {
			if ns := end - max(list[i].At, lo); list[i].G != None && list[i].G != g && ns > 0 {
				held[list[i].G] += ns
			}
			end = list[i].At
		}
	}
	var ids []int64
	for id := range held {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		if held[a] != held[b] {
			return int(max(-1, min(1, held[b]-held[a])))
		}
		return int(max(-1, min(1, a-b)))
	})
	return ids[:min(4, len(ids))], len(ids) > 4
}

func (w *walk) waiting(g int64, s State, end, lo, hi int64, depth int) {
	seg := segment("Go-blocked", g, depth)
	seg.Reason = s.Reason
	switch {
	case !s.Over:
		seg.Cause = "pending"
	case s.By != None && s.By != g && w.chain < 100:
		w.chain++
		w.goroutine(s.By, lo, hi, depth+1)
		return
	case s.By != None && s.By != g:
		seg.Cause, seg.ByG = "goroutine", &s.By
	default:
		w.byScheduler(seg, s, end, lo, hi)
		return
	}
	w.emit(seg, lo, hi)
}

// byScheduler: a thread without a goroutine ended the wait, which a process may have woken.
func (w *walk) byScheduler(seg Segment, s State, end, lo, hi int64) {
	seg.Cause = without(s.Reason)
	if t := w.Threads[s.ByM]; t != nil {
		seg.Tid = s.ByM
		sleep, woken := t.lastSleep(end)
		if sleep != nil && woken > s.At && !sleep.Interrupt && w.Threads[sleep.Waker.M] == nil {
			cause := seg.Cause
			w.process(&seg, sleep.Waker)
			seg.Cause = cause
		}
	}
	w.emit(seg, lo, hi)
}

// lastSleep returns the one that ended at most four changes before a time, with no goroutine on the
// thread since.
func (t *Thread) lastSleep(end int64) (*Run, int64) {
	n := t.before(end)
	o := ownBefore(t.On, end)
	for i := n - 1; i >= 0 && i >= n-4; i-- {
		if !t.Steps[i].Over {
			continue
		}
		woken := t.Steps[i+1].At
		if o >= 0 && (t.On[o].G != None || t.On[o].At > woken) {
			return nil, 0
		}
		return &t.Steps[i], woken
	}
	return nil, 0
}
