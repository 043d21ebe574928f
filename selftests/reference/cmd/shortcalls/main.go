// Shortcalls checks a trace without short system calls: it must be the complete trace of the same
// input, minus these calls.
//
//	shortcalls -min DURATION ALL SHORT KERNEL_ALL KERNEL_SHORT STAT
//
// ALL and SHORT are traces that `gotrace-bpf replay` made of one raw file, SHORT with
// --min-duration; KERNEL_ALL and KERNEL_SHORT are the output of `gotrace events --kernel --json` for
// them, STAT that of `gotrace stat --json SHORT`. The events are those of golang.org/x/exp/trace.
//
// A goroutine's call is left out if its begin and its end are less than DURATION apart, in one
// generation, with no other event of the thread and no transition of its P between them. The kernel
// events of a call are left out if they are less than DURATION apart; if a generation began or something
// happened to the goroutine's call meanwhile they may be in SHORT. All other events must be
// the same in each thread, with the same stacks, and the sums in STAT those of what was left out. Times
// may differ by a few ns: the reader of golang.org/x/exp/trace increases those that are equal, and which
// are equal depends on the other events. Prints the numbers; findings go to standard output, exit status
// 1 if there are any.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"gotrace-bpf/selftests/reference/internal/canonical"
	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/kernel"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// sum is what was left out, as in the statistics.
type sum struct {
	Min      int64 `json:"min_ns"`
	Calls    int   `json:"calls"`
	CallsNS  int64 `json:"calls_ns"`
	Kernel   int   `json:"kernel"`
	KernelNS int64 `json:"kernel_ns"`
}

const apart = 100 // ns, of times that are the same but for the reader's changes

// event is a line of canonical text without its time.
type event struct {
	time  int64
	text  string
	short bool // the begin or end of a call that was left out
	near  bool // its duration is so close to the minimum that it may have been left out or not
}

// call is one that a thread's goroutine has begun, and during which nothing has happened so far.
type call struct {
	at   int // its begin among the events of the thread
	time int64
	proc trace.ProcID
}

// moment is when something happened during a call of a thread; thread -1: a generation began.
type moment struct {
	time   int64
	thread int
}

// events are those of a trace without statuses, by thread.
type events struct {
	min    int64
	n      int
	thread map[trace.ThreadID][]event
	sum    sum
	open   map[trace.ThreadID]call
	shown  []moment
}

func main() {
	min := flag.Duration("min", 0, "calls below `DURATION` are left out")
	flag.Parse()
	command.Usage(flag.NArg() == 5 && *min > 0, "shortcalls -min DURATION ALL SHORT KERNEL_ALL KERNEL_SHORT STAT")
	wrong, err := check(*min, flag.Args())
	kernel.Report("shortcalls", wrong, err)
}

func check(min time.Duration, path []string) (wrong []string, err error) {
	all, err := load(path[0], min)
	if err != nil {
		return nil, err
	}
	short, err := load(path[1], min)
	if err != nil {
		return nil, err
	}
	kernelAll, err := kernel.LoadItems(path[2])
	if err != nil {
		return nil, err
	}
	kernelShort, err := kernel.LoadItems(path[3])
	if err != nil {
		return nil, err
	}
	stated, err := loadSum(path[4])
	if err != nil {
		return nil, err
	}
	wrong = all.compare(short)
	of := all.sum
	wrong = append(wrong, all.kernel(kernelAll, kernelShort, &of)...)
	of.Min = int64(min)
	fmt.Printf("of %d events %d short calls, %v; of %d kernel events %d short calls, %v\n",
		all.n, of.Calls, time.Duration(of.CallsNS), len(kernelAll), of.Kernel, time.Duration(of.KernelNS))
	slack := int64(of.Calls) * 2 // of each time that the reader may have changed
	if difference := stated.CallsNS - of.CallsNS; difference > -slack && difference < slack {
		of.CallsNS = stated.CallsNS
	}
	if stated != of {
		wrong = append(wrong, fmt.Sprintf("the trace states %+v, left out are %+v", stated, of))
	}
	return wrong, nil
}

func loadSum(path string) (sum, error) {
	var stat struct {
		Private struct {
			Short sum `json:"short_calls"`
		}
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &stat)
	}
	return stat.Private.Short, err
}

func load(path string, min time.Duration) (*events, error) {
	e := &events{min: int64(min), thread: map[trace.ThreadID][]event{}, open: map[trace.ThreadID]call{}}
	_, err := tracefile.WalkFile(path, func(_ int, ev *trace.Event) error {
		e.event(ev)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e.shown = e.shown[:len(e.shown)-1] // that of the end
	return e, nil
}

// show notes that something happened during the thread's call, which therefore remains.
func (e *events) show(at trace.Time, thread trace.ThreadID) {
	if _, ok := e.open[thread]; ok {
		delete(e.open, thread)
		e.shown = append(e.shown, moment{int64(at), int(thread)})
	}
}

// event adds the line of an event. A generation repeats the statuses only of what has events in it.
func (e *events) event(ev *trace.Event) {
	switch ev.Kind() {
	case trace.EventSync:
		e.shown = append(e.shown, moment{int64(ev.Time()), -1})
		clear(e.open)
	case trace.EventStackSample: // does not show what the thread does
	case trace.EventStateTransition:
		if e.transition(ev, ev.StateTransition()) {
			return
		}
	default:
		e.show(ev.Time(), ev.Thread())
	}
	_, text, _ := strings.Cut(string(canonical.Append(nil, ev)), "\t")
	e.thread[ev.Thread()] = append(e.thread[ev.Thread()], event{time: int64(ev.Time()), text: text})
	e.n++
}

// transition handles one of a goroutine or a P; true: it is a status.
func (e *events) transition(ev *trace.Event, st trace.StateTransition) bool {
	if st.Resource.Kind == trace.ResourceProc {
		from, to := st.Proc()
		for thread, c := range e.open {
			if c.proc == st.Resource.Proc() {
				e.show(ev.Time(), thread)
			}
		}
		if from != trace.ProcUndetermined && from != to {
			e.show(ev.Time(), ev.Thread())
		}
		return from == trace.ProcUndetermined || from == to
	}
	from, to := st.Goroutine()
	if from == trace.GoUndetermined || from == to {
		return true
	}
	c, ok := e.open[ev.Thread()]
	if ok && from == trace.GoSyscall && to == trace.GoRunning {
		e.end(ev, c)
		return false
	}
	e.show(ev.Time(), ev.Thread())
	if from == trace.GoRunning && to == trace.GoSyscall {
		e.open[ev.Thread()] = call{len(e.thread[ev.Thread()]), int64(ev.Time()), ev.Proc()}
	}
	return false
}

// end marks the begin of a call that ends here without anything in between; its end comes next.
func (e *events) end(ev *trace.Event, c call) {
	ns := int64(ev.Time()) - c.time
	begin := &e.thread[ev.Thread()][c.at]
	begin.near = ns > e.min-apart && ns < e.min+apart
	begin.short = ns < e.min && !begin.near
	if begin.short {
		e.sum.Calls++
		e.sum.CallsNS += ns
	}
	delete(e.open, ev.Thread())
}

// same reports whether the events are the same.
func (a event) same(b event) bool {
	return a.text == b.text && a.time-b.time <= apart && b.time-a.time <= apart
}

// compare compares with the events of the trace without short calls.
func (e *events) compare(other *events) (wrong []string) {
	for thread, all := range e.thread {
		have := other.thread[thread]
		for i := 0; i < len(all) && len(wrong) < 20; i++ {
			same := len(have) > 0 && all[i].same(have[0])
			switch {
			case all[i].short || all[i].near && !same:
				if all[i].near {
					e.sum.Calls++
					e.sum.CallsNS += all[i+1].time - all[i].time
				}
				i++
			case same:
				have = have[1:]
			default:
				wrong = append(wrong, fmt.Sprintf("missing at %d: %s", all[i].time, all[i].text))
			}
		}
		for _, event := range have[:min(len(have), 20)] {
			wrong = append(wrong, fmt.Sprintf("not expected at %d: %s", event.time, event.text))
		}
		delete(other.thread, thread)
	}
	for thread := range other.thread {
		wrong = append(wrong, fmt.Sprintf("events of thread %d, which the complete trace lacks", thread))
	}
	return wrong
}

// happened reports whether something happened to the thread's call from one time to another, or a
// generation began.
func (e *events) happened(from, to int64, thread int) bool {
	first := sort.Search(len(e.shown), func(i int) bool { return e.shown[i].time >= from-apart })
	for _, m := range e.shown[first:] {
		if m.time > to+apart {
			break
		}
		if m.thread == thread || m.thread == -1 {
			return true
		}
	}
	return false
}

// kernel compares the kernel events, and adds what was left out.
func (e *events) kernel(all, short []kernel.Item, of *sum) (wrong []string) {
	have := map[string]int{}
	for _, item := range short {
		have[text(item)]++
	}
	begin := map[int]int{} // by thread: index + 1 of the begin of its call
	absent := map[int]bool{}
	for i, item := range all {
		switch item.Event {
		case "sys_enter":
			begin[item.M] = i + 1
		case "sys_exit":
			from := begin[item.M] - 1
			delete(begin, item.M)
			if from < 0 || all[from].Number != item.Number || item.Time-all[from].Time >= e.min {
				continue
			}
			if e.happened(all[from].Time, item.Time, item.M) && have[text(item)] > 0 {
				continue
			}
			absent[from], absent[i] = true, true
			of.Kernel++
			of.KernelNS += item.Time - all[from].Time
		}
	}
	for i, item := range all {
		if !absent[i] {
			have[text(item)]--
		}
	}
	for _, line := range slices.Sorted(maps.Keys(have)) {
		for n := have[line]; n < 0; n++ {
			wrong = append(wrong, "missing: "+line)
		}
		for n := have[line]; n > 0; n-- {
			wrong = append(wrong, "not expected: "+line)
		}
	}
	return wrong
}

// text is an item without its goroutine, which at an equal time depends on the other events.
func text(item kernel.Item) string {
	item.G = nil
	line, _ := json.Marshal(item)
	return string(line)
}
