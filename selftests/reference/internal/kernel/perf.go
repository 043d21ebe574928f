package kernel

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// Perf is perf's recording: its scheduler events as the corresponding items, for all threads.
type Perf struct {
	Items   []Item
	Process map[int]int // of a thread that ran
	Gaps    []Gap
	last    map[int]core
}

// Gap is a period that perf's record covers incompletely: the thread on a CPU at its end is not the
// one that was last switched to.
type Gap struct {
	CPU      int
	From, To int64
}

type core struct {
	thread int
	since  int64
}

// Missed reports whether perf's record proves that it missed something there: after a call from the
// kernel, perf may receive no events for a thread, such as a CPU's idle one.
func (p *Perf) Missed(cpu int, time int64) bool {
	for _, g := range p.Gaps {
		if g.CPU == cpu && time >= g.From-leeway && time <= g.To+leeway {
			return true
		}
	}
	return false
}

const leeway = 50_000 // ns: between the time in perf's record and ours

var (
	perfLine = regexp.MustCompile(`^\s*(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+sched:(\w+):\s*(.*)$`)
	perfWake = regexp.MustCompile(`^comm=.* pid=(\d+) prio=-?\d+ target_cpu=\d+`)
	perfSwap = regexp.MustCompile(`^prev_comm=.* prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> ` +
		`next_comm=(.*) next_pid=(\d+) next_prio=-?\d+`)
)

// ParsePerf reads what `perf script --ns -F pid,tid,cpu,time,event,trace` prints.
func ParsePerf(r io.Reader) (*Perf, error) {
	p := &Perf{Process: map[int]int{}, last: map[int]core{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := perfLine.FindStringSubmatch(lines.Text())
		if m == nil {
			return nil, fmt.Errorf("not a line of perf script: %q", lines.Text())
		}
		pid, tid := number(m[1]), number(m[2])
		at := Item{Time: int64(number(m[4]))*1e9 + int64(number(m[5])), CPU: number(m[3])}
		if tid > 0 {
			p.Process[tid] = pid
		}
		var ok bool
		switch m[6] {
		case "sched_switch":
			ok = p.switched(at, m[7])
		case "sched_waking":
			ok = p.woken(at, Thread{M: tid, Pid: pid}, m[7])
		default:
			ok = true
		}
		if !ok {
			return nil, fmt.Errorf("not a %s of perf: %q", m[6], m[7])
		}
	}
	return p, lines.Err()
}

func (p *Perf) switched(at Item, text string) bool {
	m := perfSwap.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	prev, next := number(m[1]), number(m[4])
	off, on := at, at
	off.Event, off.M, off.Why, off.Then = "off_cpu", prev, m[2], Thread{M: next, Name: m[3]}
	on.Event, on.M, on.Before = "on_cpu", next, Thread{M: prev}
	p.Items = append(p.Items, off, on)
	if before, ok := p.last[at.CPU]; ok && before.thread != prev {
		p.Gaps = append(p.Gaps, Gap{at.CPU, before.since, at.Time})
	}
	p.last[at.CPU] = core{next, at.Time}
	return true
}

func (p *Perf) woken(at Item, by Thread, text string) bool {
	m := perfWake.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	at.Event, at.M, at.By = "waking", number(m[1]), by
	p.Items = append(p.Items, at)
	return true
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
