package waits

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// Figures are those of one goroutine, by name: "oncpu_ns", "by_reason.go_blocked.sleep",
// "run_queue_delays.count", …
type Figures map[string]int64

// Latency is the output of `gotrace latency --goroutines --json`.
type Latency struct {
	Goroutines map[int64]Figures
	Workers    map[string]Figures
	Start, End int64
}

// ParseLatency reads it.
func ParseLatency(text []byte) (*Latency, error) {
	var out struct {
		Goroutines []map[string]any
		Workers    []struct {
			Mode  string
			Wall  int64 `json:"wall_ns"`
			OnCPU int64 `json:"oncpu_ns"`
		} `json:"gc_workers"`
		Start, End int64
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	l := &Latency{map[int64]Figures{}, map[string]Figures{}, out.Start, out.End}
	for _, members := range out.Goroutines {
		f := Figures{}
		flatten(f, "", members)
		l.Goroutines[f["id"]] = f
		delete(f, "id")
	}
	for _, w := range out.Workers {
		l.Workers[w.Mode] = Figures{"wall_ns": w.Wall, "oncpu_ns": w.OnCPU}
	}
	return l, nil
}

func flatten(f Figures, name string, value any) {
	switch v := value.(type) {
	case float64: // below 2^53
		if v != 0 {
			f[name] = int64(v)
		}
	case map[string]any:
		for key, member := range v {
			if name != "" {
				key = name + "." + key
			}
			flatten(f, key, member)
		}
	case []any:
		for _, one := range v {
			reason := one.(map[string]any)
			flatten(f, name+"."+reason["name"].(string), reason["ns"])
		}
	}
}

// piece is a period in which neither a goroutine's state nor its thread's changes.
type piece struct {
	from, to     int64
	part, reason string
	inCall       bool
	arrives      bool // on a thread
	run          *Run
	held         string // the task that had the CPU: "(idle)", ...
}

// moved: the piece begins with an item that counts at another time than its own.
func (p *piece) moved(before piece) bool {
	return p.run != nil && p.run != before.run && p.run.Counts != p.run.At
}

// pieces returns those of a goroutine up to the trace's end; false: its thread was unknown in one
// of the window.
func (m *Model) pieces(g *Goroutine, from, to int64) ([]piece, bool) {
	var all []piece
	known := true
	on := int64(None)
	for i := range g.States {
		s, end := &g.States[i], m.End
		if i+1 < len(g.States) {
			end = g.States[i+1].At
		}
		switch s.Is {
		case "Waiting":
			all = append(all, piece{from: s.At, to: end, part: "go_blocked", reason: s.Reason})
		case "Runnable":
			all = append(all, piece{from: s.At, to: end, part: "go_runnable"})
		case "Running", "Syscall":
			t := m.Threads[s.M]
			for j := range threadRuns(t) {
				run, until := &t.Runs[j], end
				if j+1 < len(t.Runs) {
					until = min(until, t.Runs[j+1].Counts)
				}
				p := piece{from: max(s.At, run.Counts), to: until, run: run}
				// One of no length counts if the thread has changed within the state, or after the last event.
				late := run.Late && i+1 == len(g.States)
				if p.from > p.to || p.from == p.to && !late && (run.Late || run.Counts <= s.At) {
					continue
				}
				p.part, p.reason = m.part(t, s, run)
				p.arrives = on != s.M
				on = s.M
				if p.part == "kernel_runnable" && m.Waits {
					all = append(all, m.splitTasks(p, t, j)...)
				} else {
					all = append(all, splitCalls(p, t, s.Is == "Syscall")...)
				}
				if run.Guess || run.Is == "gone" {
					known = known && (p.to <= from || p.from >= to)
				}
			}
			if t == nil || len(t.Runs) == 0 {
				known = known && (end <= from || s.At >= to)
			}
			continue
		}
		on = None
	}
	return all, known
}

func threadRuns(t *Thread) []Run {
	if t == nil {
		return nil
	}
	return t.Runs
}

// splitCalls splits at the starts and ends of system calls.
func splitCalls(p piece, t *Thread, call bool) []piece {
	if call || p.part != "oncpu" {
		p.inCall = call
		return []piece{p}
	}
	var all []piece
	i := sort.Search(len(t.Calls), func(i int) bool { return t.Calls[i].CountsTo > p.from })
	for ; i < len(t.Calls) && t.Calls[i].CountsAt < p.to; i++ {
		c := &t.Calls[i]
		a, b := max(c.CountsAt, p.from), min(c.CountsTo, p.to)
		if a >= b {
			continue
		}
		outside, inside := p, p
		outside.to, inside.from, inside.to, inside.inCall = a, a, b, true
		all = append(all, outside, inside)
		p.from, p.arrives = b, false
	}
	return append(all, p)
}

// waited returns the CPU that a thread waits for in its i-th run, at a time, and until when at most; -1: unknown.
func (t *Thread) waited(i int, at, to int64) (cpu int, until int64) {
	run, next := &t.Runs[i], (*Run)(nil)
	if i+1 < len(t.Runs) {
		next = &t.Runs[i+1]
	}
	cpu, until = run.CPU, to
	if run.Woken {
		cpu = -1
		if next != nil && next.Is == "running" {
			cpu = next.CPU
		}
	}
	first := true
	for _, move := range t.Moves {
		if move.At < run.At || next != nil && move.At > next.At {
			continue
		}
		if move.Counts > at {
			if first && run.Woken {
				cpu = move.From
			}
			return cpu, min(until, move.Counts)
		}
		first, cpu = false, move.To
	}
	return cpu, until
}

// splitTasks splits a wait for a CPU by what had it.
func (m *Model) splitTasks(p piece, t *Thread, i int) (all []piece) {
	if p.from >= p.to {
		p.held = "(unknown)"
		return []piece{p}
	}
	for arrives := p.arrives; p.from < p.to; arrives = false {
		part := p
		cpu, until := t.waited(i, p.from, p.to)
		list, who := m.Cores[cpu], Peer{M: None}
		n := sort.Search(len(list), func(i int) bool { return list[i].Counts > p.from })
		if n > 0 {
			who = list[n-1].Who
		}
		if n < len(list) && list[n].Counts < until {
			until = list[n].Counts
			if list[n].Before {
				who = list[n].Who
			}
		}
		part.to, part.arrives, part.held = until, arrives, "(unknown)"
		switch {
		case who.M == 0:
			part.held = "(idle)"
		case who.M != None && m.Threads[who.M] != nil:
			part.held, part.reason = "(the program itself)", "CPU held by (the program itself)"
		case who.M != None && who.Name == "":
			part.held = fmt.Sprintf("process %d", who.Pid)
			part.reason = "CPU held by " + part.held
		case who.M != None:
			part.held, part.reason = who.Name, "CPU held by "+who.Name
		}
		all = append(all, part)
		p.from = until
	}
	return all
}

func (m *Model) part(t *Thread, s *State, run *Run) (part, reason string) {
	switch run.Is {
	case "running":
		return "oncpu", ""
	case "runnable":
		return "kernel_runnable", m.queued(run)
	case "throttled":
		return "throttled", ""
	}
	part = "kernel_blocked"
	if s.Is == "Syscall" {
		part = "syscall_blocked"
	}
	switch {
	case run.Is == "stopped":
		return part, cmp.Or(run.Sleep, "stopped")
	case run.Fault:
		return part, "page fault"
	case run.Call == "":
		return part, cmp.Or(run.Sleep, "not recorded")
	}
	return part, run.Call
}

func (m *Model) queued(run *Run) string {
	switch {
	case run.Woken:
		return "woken"
	case run.Yielded:
		return "yielded"
	case m.Waits:
		return "preempted"
	case run.Ours:
		return "preempted by the program itself"
	case run.Then.Name == "":
		return "preempted"
	}
	return "preempted by " + run.Then.Name
}

// Figures returns those of a goroutine in [from, to); false: not all are known.
func (m *Model) Figures(id, from, to int64) (Figures, bool) {
	g := m.Goroutines[id]
	pieces, known := m.pieces(g, from, to)
	f := Figures{}
	var delays []int64
	waited, waits, cpu := int64(0), false, -1
	for i, p := range pieces {
		a, b := max(p.from, from), min(p.to, to)
		ns := max(0, b-a)
		if p.arrives {
			cpu = -1
		}
		if p.run != nil {
			if cpu >= 0 && cpu != p.run.CPU && p.run.Is == "running" && p.from > from && p.from <= to {
				f["migrations"]++
			}
			if cpu < 0 || p.run.Is == "running" {
				cpu = p.run.CPU
			}
		} else {
			cpu = -1
		}
		f[p.part+"_ns"] += ns
		if p.held != "" {
			f["cpu_held_by."+p.held] += ns
		}
		f["total_ns"] += ns
		if (p.part == "go_blocked" || p.reason != "") && ns > 0 {
			f["by_reason."+p.part+"."+p.reason] += ns
		}
		if p.part == "oncpu" {
			if p.inCall {
				f["of_which.syscall_oncpu_ns"] += ns
			}
			for _, s := range g.Assists {
				f["of_which.gc_assist_ns"] += max(0, min(s.To, b)-max(s.From, a))
			}
		}
		if p.part == "kernel_runnable" {
			waited, waits = waited+ns, true
		}
		if waits && i+1 < len(pieces) && pieces[i+1].part != "kernel_runnable" {
			// Without a thread, the goroutine has run: the kernel did not report when the wait ended.
			ran := strings.HasPrefix(pieces[i+1].part, "go_")
			if p.to > from && p.to <= to && (waited > 0 || !pieces[i+1].moved(p)) && !ran {
				delays = append(delays, waited)
			}
			waited, waits = 0, false
		}
	}
	if n := len(delays); n > 0 {
		slices.Sort(delays)
		f["run_queue_delays.count"], f["run_queue_delays.max_ns"] = int64(n), delays[n-1]
		f["run_queue_delays.p50_ns"] = delays[int(math.Ceil(0.5*float64(n)))-1]
		f["run_queue_delays.p99_ns"] = delays[int(math.Ceil(0.99*float64(n)))-1]
	}
	maps.DeleteFunc(f, func(_ string, ns int64) bool { return ns == 0 })
	return f, known
}

// Workers returns the times of the GC mark workers, by their label; false: not all are known.
func (m *Model) Workers(from, to int64) (map[string]Figures, bool) {
	all, known := map[string]Figures{}, true
	for _, g := range m.Goroutines {
		if len(g.Work) == 0 {
			continue
		}
		pieces, ok := m.pieces(g, from, to)
		known = known && ok
		for _, work := range g.Work {
			for _, p := range pieces {
				ns := min(p.to, work.To, to) - max(p.from, work.From, from)
				if ns <= 0 {
					continue
				}
				if all[work.Name] == nil {
					all[work.Name] = Figures{}
				}
				all[work.Name]["wall_ns"] += ns
				if p.part == "oncpu" {
					all[work.Name]["oncpu_ns"] += ns
				}
			}
		}
	}
	return all, known
}

// CompareLatency returns the differences, the number of compared goroutines, and that of their
// figures.
func (m *Model) CompareLatency(l *Latency, from, to int64) (lines []string, compared, figures int) {
	for id, theirs := range l.Goroutines {
		g := m.Goroutines[id]
		if g == nil {
			lines = append(lines, fmt.Sprintf("goroutine %d is not in the events", id))
			continue
		}
		ours, known := m.Figures(id, from, to)
		if !known || g.Reused {
			continue
		}
		compared++
		figures += len(ours)
		lines = append(lines, differences(fmt.Sprintf("goroutine %d", id), theirs, ours)...)
	}
	if workers, known := m.Workers(from, to); known {
		for mode, theirs := range l.Workers {
			maps.DeleteFunc(theirs, func(_ string, ns int64) bool { return ns == 0 })
			figures += len(theirs)
			lines = append(lines, differences(mode, theirs, workers[mode])...)
		}
	}
	slices.Sort(lines)
	return lines, compared, figures
}

func differences(of string, theirs, ours Figures) (lines []string) {
	names := maps.Clone(theirs)
	maps.Copy(names, ours)
	for name := range names {
		a, b := theirs[name], ours[name]
		about := name == "run_queue_delays.p50_ns" || name == "run_queue_delays.p99_ns"
		if a != b && !(about && math.Abs(float64(a-b)) <= 0.033*float64(b)+1) {
			lines = append(lines, fmt.Sprintf("%s: %s is %d, by the events %d", of, name, a, b))
		}
	}
	return lines
}
