// Package latency compares the output of `gotrace latency --json` with the measurements and the
// known behaviour of the target.
package latency

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/exp/trace"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

// Exclusive are the components of a goroutine's time: they add up to it.
var Exclusive = []string{
	"oncpu_ns", "go_runnable_ns", "kernel_runnable_ns", "throttled_ns", "kernel_blocked_ns", "syscall_blocked_ns",
	"go_blocked_ns",
}

const (
	tolerance = 0.03 // of the target's measurement
	small     = 0.02 // of the function's time: smaller components need not be that exact
)

// Function is a function, or a goroutine, of the output: figures by name, including those of
// "of_which".
type Function struct {
	Name     string
	ID       int64
	NS       map[string]int64
	ByReason map[string]map[string]int64 // "kernel_blocked", "futex"
}

// Part is a claim of the target; targets/internal/protocol documents it.
type Part struct {
	Function string
	Windows  []Window
	Parts    []string
	Name     string
	NS       int64
	Least    bool
	Stolen   int64
	Share    [2]float64
	Of       []string
	From     string
}

// Window is a period of a goroutine.
type Window struct {
	G        int64
	From, To int64
}

// Row is the result for one claim.
type Row struct {
	Part
	Ours  int64
	Whole int64 // of the share, or the function's time
	OK    bool
}

// Output is the command's output; functions by name, goroutines by id.
type Output struct {
	Functions  map[string]*Function
	Goroutines map[int64]*Function
	Workers    *Function // GC mark workers, all modes
	Start, End int64
}

// Parse reads the output of `gotrace latency --json`, and of --goroutines.
func Parse(text []byte) (*Output, error) {
	var out struct {
		Functions  []map[string]json.RawMessage
		Goroutines []map[string]json.RawMessage
		Workers    []struct {
			Wall  int64 `json:"wall_ns"`
			OnCPU int64 `json:"oncpu_ns"`
		} `json:"gc_workers"`
		Start, End int64
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	workers := &Function{NS: map[string]int64{}}
	for _, w := range out.Workers {
		workers.NS["wall_ns"] += w.Wall
		workers.NS["oncpu_ns"] += w.OnCPU
		workers.NS["total_ns"] += w.Wall
	}
	o := &Output{map[string]*Function{}, map[int64]*Function{}, workers, out.Start, out.End}
	for _, members := range out.Functions {
		f, err := parse(members)
		if err != nil {
			return nil, err
		}
		o.Functions[f.Name] = f
	}
	for _, members := range out.Goroutines {
		f, err := parse(members)
		if err != nil {
			return nil, err
		}
		o.Goroutines[f.ID] = f
	}
	return o, nil
}

func parse(members map[string]json.RawMessage) (*Function, error) {
	f := &Function{NS: map[string]int64{}, ByReason: map[string]map[string]int64{}}
	for name, value := range members {
		if err := f.member(name, value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return f, nil
}

func (f *Function) member(name string, value json.RawMessage) error {
	switch {
	case name == "name":
		return json.Unmarshal(value, &f.Name)
	case name == "id":
		return json.Unmarshal(value, &f.ID)
	case name == "of_which":
		return json.Unmarshal(value, &f.NS)
	case name == "by_reason":
		var reasons map[string][]struct {
			Name string
			NS   int64
		}
		if err := json.Unmarshal(value, &reasons); err != nil {
			return err
		}
		for part, list := range reasons {
			f.ByReason[part] = map[string]int64{}
			for _, r := range list {
				f.ByReason[part][r.Name] += r.NS
			}
		}
	case strings.HasSuffix(name, "_ns"):
		var ns int64
		err := json.Unmarshal(value, &ns)
		f.NS[name] = ns
		return err
	}
	return nil
}

// LoadParts reads the claims of a done line.
func LoadParts(path string) ([]Part, error) {
	var done struct{ Parts []Part }
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &done)
	}
	if err == nil && len(done.Parts) == 0 {
		err = fmt.Errorf("%s: no latency parts", path)
	}
	return done.Parts, err
}

// Sums lists those whose components do not add up to their time, to the nanosecond, or exceed it.
func (o *Output) Sums() (wrong []string) {
	for name, f := range o.Functions {
		wrong = append(wrong, f.sums(name)...)
	}
	for id, g := range o.Goroutines {
		wrong = append(wrong, g.sums(fmt.Sprint("goroutine ", id))...)
	}
	return wrong
}

func (f *Function) sums(name string) (wrong []string) {
	var sum int64
	for _, part := range Exclusive {
		if f.NS[part] < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s is %d", name, part, f.NS[part]))
		}
		sum += f.NS[part]
	}
	if sum != f.NS["total_ns"] {
		wrong = append(wrong, fmt.Sprintf("%s: the parts are %d ns, not %d", name, sum, f.NS["total_ns"]))
	}
	for part, reasons := range f.ByReason {
		var named int64
		for _, ns := range reasons {
			named += ns
		}
		if named != f.NS[part+"_ns"] {
			wrong = append(wrong, fmt.Sprintf("%s: %s has %d ns, its reasons %d", name, part, f.NS[part+"_ns"], named))
		}
	}
	return wrong
}

// Judge returns a row for each claim; within returns the output for a window of time.
func (o *Output) Judge(claims []Part, within func(from, to int64) (*Output, error)) (rows []Row, err error) {
	for _, claim := range claims {
		row := Row{Part: claim}
		all, err := o.of(claim, within)
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			row.Ours += f.sum(claim.Parts, claim.Name)
			if claim.Of != nil {
				row.Whole += f.sum(claim.Of, "")
			} else {
				row.Whole += f.NS["total_ns"]
			}
		}
		row.OK = row.fits()
		rows = append(rows, row)
	}
	return rows, nil
}

func (o *Output) of(claim Part, within func(from, to int64) (*Output, error)) (all []*Function, err error) {
	for _, w := range claim.Windows {
		out, err := within(w.From, w.To)
		if err != nil {
			return nil, err
		}
		g := out.Goroutines[w.G]
		if g == nil || g.Name != claim.Function {
			return nil, fmt.Errorf("goroutine %d is not one of %s", w.G, claim.Function)
		}
		all = append(all, g)
	}
	switch f := o.Functions[claim.Function]; {
	case claim.Windows != nil:
		return all, nil
	case f != nil:
		return []*Function{f}, nil
	case claim.Function == "gc_workers":
		return []*Function{o.Workers}, nil
	case claim.Function == "*":
		for _, f := range o.Functions {
			all = append(all, f)
		}
	}
	return all, nil
}

func (f *Function) sum(parts []string, reason string) (sum int64) {
	for _, part := range parts {
		if reason != "" {
			sum += f.ByReason[strings.TrimSuffix(part, "_ns")][reason]
		} else {
			sum += f.NS[part]
		}
	}
	return sum
}

func (r *Row) fits() bool {
	if r.Whole == 0 {
		return false
	}
	if r.Share[1] > 0 {
		share := float64(r.Ours) / float64(r.Whole)
		return share >= r.Share[0] && share <= r.Share[1]
	}
	apart := max(r.Ours-r.NS-max(r.Stolen, 0), r.NS+min(r.Stolen, 0)-r.Ours)
	if r.Least {
		apart = r.NS - r.Ours
	}
	return float64(apart) <= max(tolerance*float64(r.NS), small*float64(r.Whole))
}

// String formats a row of the table.
func (r Row) String() string {
	what := strings.ReplaceAll(strings.Join(r.Parts, "+"), "_ns", "")
	if r.Name != "" {
		what += " (" + r.Name + ")"
	}
	result := "ok"
	if !r.OK {
		result = "WRONG"
	}
	truth := fmt.Sprintf("%10.3f ms %+7.2f %%", float64(r.NS)/1e6, 100*float64(r.Ours-r.NS)/float64(max(r.NS, 1)))
	if r.Stolen != 0 {
		truth += fmt.Sprintf(", stolen %+.0f ms", float64(r.Stolen)/1e6)
	}
	if r.Least {
		truth = fmt.Sprintf("%10.3f ms or more", float64(r.NS)/1e6)
	}
	if r.Share[1] > 0 {
		truth = fmt.Sprintf("%.3f of %.3f..%.3f", float64(r.Ours)/float64(max(r.Whole, 1)), r.Share[0], r.Share[1])
	}
	return fmt.Sprintf("%-5s %-22s %-42s %10.3f ms  %-24s  %s", result, r.Function, what, float64(r.Ours)/1e6, truth, r.From)
}

// goStates are the components that Go's trace alone determines.
var goStates = map[trace.GoState][]string{
	trace.GoRunnable: {"go_runnable_ns"},
	trace.GoWaiting:  {"go_blocked_ns"},
	trace.GoRunning:  {"oncpu_ns", "kernel_runnable_ns", "throttled_ns", "kernel_blocked_ns", "syscall_blocked_ns"},
}

// GoStates compares the components that need no kernel events with Go's own reader of the trace:
// the time that each function's goroutines were runnable, waiting, and neither (running or in a
// system call). Goroutines at the start or end of the trace count from our start, or until our end,
// which kernel items beyond the events may set.
func (o *Output) GoStates(t *tracefile.Trace) (wrong []string) {
	type state struct {
		is    trace.GoState
		since int64
	}
	now, sums := map[int64]state{}, map[string]map[trace.GoState]int64{}
	spend := func(g int64, until int64) {
		name := t.StartFunc[g]
		if sums[name] == nil {
			sums[name] = map[trace.GoState]int64{}
		}
		is := now[g].is
		if is == trace.GoSyscall {
			is = trace.GoRunning
		}
		sums[name][is] += until - now[g].since
	}
	for _, tr := range t.Transitions {
		since := tr.Time
		if _, ok := now[tr.G]; ok {
			spend(tr.G, tr.Time)
		} else if tr.Status() {
			since = o.Start
		}
		now[tr.G] = state{tr.To, since}
		if tr.To == trace.GoNotExist {
			delete(now, tr.G)
		}
	}
	for g := range now {
		spend(g, o.End)
	}
	for name, f := range o.Functions {
		for is, parts := range goStates {
			if ours := f.sum(parts, ""); ours != sums[name][is] {
				wrong = append(wrong, fmt.Sprintf("%s: %s is %d ns, by Go's reader %d", name, strings.Join(parts, "+"), ours, sums[name][is]))
			}
		}
	}
	return wrong
}
