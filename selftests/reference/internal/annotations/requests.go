package annotations

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/waits"
)

// RequestRow is one name in the output of `gotrace requests`.
type RequestRow struct {
	Row
	Errors  int            `json:"errors"`
	Time    map[string]any `json:"time"`
	Slowest struct {
		Count   int            `json:"count"`
		AtLeast int64          `json:"at_least_ns"`
		Time    map[string]any `json:"time"`
	} `json:"slowest"`
}

// WithoutAssists leaves out mark assists: a trace that was made up may report late that one went on.
var WithoutAssists bool

// Figures are times by name: "oncpu_ns", "by_reason.go_blocked.sleep", ...
type Figures map[string]int64

func flatten(f Figures, name string, value any) {
	switch v := value.(type) {
	case float64: // below 2^53
		f[name] += int64(v)
	case map[string]any:
		for key, member := range v {
			flatten(f, strings.TrimPrefix(name+"."+key, "."), member)
		}
	case []any:
		for _, one := range v {
			reason := one.(map[string]any)
			if strings.HasPrefix(name, "by_place.") {
				flatten(f, name+"."+placeIn(reason), reason["ns"])
			} else {
				flatten(f, name+"."+reason["name"].(string), reason["ns"])
			}
		}
	}
}

// placeIn is a place with its reason.
func placeIn(m map[string]any) string {
	function, ok := m["function"].(string)
	if !ok {
		return "beyond the limit"
	}
	reason, _ := m["reason"].(string)
	return reason + " at " + placeName(function, m["file"].(string), uint64(m["line"].(float64)))
}

// spent returns where the time of the tasks went, by the states of the goroutines alone: a running
// one is on a CPU, one in a system call blocked.
func (t *Trace) spent(tasks []*Task) Figures {
	f := Figures{}
	for _, task := range tasks {
		for _, w := range task.Work {
			states := t.States[w.G]
			for i, s := range states {
				from, to := max(s.At, w.From), w.To
				if i+1 < len(states) {
					to = min(to, states[i+1].At)
				}
				if from < to {
					t.add(f, w.G, s, from, to)
				}
			}
		}
	}
	return f
}

func (t *Trace) add(f Figures, g int64, s State, from, to int64) {
	ns := to - from
	switch s.Is {
	case "Running":
		f["oncpu_ns"] += ns
		f["unknown_ns"] += ns
		for _, a := range t.Assists[g] {
			ns := max(0, min(a.To, to)-max(a.From, from))
			f["of_which.gc_assist_ns"] += ns
			f["by_place.gc_assist. at "+a.Place] += ns
		}
	case "Syscall":
		f["syscall_blocked_ns"] += ns
		f["unknown_ns"] += ns
		f["by_reason.syscall_blocked.not recorded"] += ns
		f["by_place.syscall_blocked.not recorded at "+s.Place] += ns
	case "Runnable":
		f["go_runnable_ns"] += ns
	case "Waiting":
		f["go_blocked_ns"] += ns
		f["by_reason.go_blocked."+s.Reason] += ns
		f["by_place.go_blocked."+s.Reason+" at "+s.Place] += ns
	default:
		return
	}
	f["total_ns"] += ns
}

// placeSums: the places of a reason add up to it. Which part of a system call is of which place is compared
// only if the trace has no kernel events.
func placeSums(of string, f Figures) []string {
	places, reasons := Figures{}, Figures{}
	for name, ns := range f {
		if of, ok := strings.CutPrefix(name, "by_place."); ok {
			i := strings.LastIndex(of, " at ")
			if i < 0 { // beyond the limit
				return nil
			}
			places[of[:i]] += ns
		} else if of, ok := strings.CutPrefix(name, "by_reason."); ok && (strings.HasPrefix(of, "go_") || strings.HasPrefix(of, "syscall_")) {
			reasons[of] += ns
		} else if name == "of_which.gc_assist_ns" {
			reasons["gc_assist."] += ns
		}
	}
	if WithoutAssists {
		delete(places, "gc_assist.")
		delete(reasons, "gc_assist.")
	}
	return differences(of+", sums of places", places, reasons)
}

// threads are the states of threads, by goroutine.
type threads struct {
	m     *waits.Model
	spans map[int64]*waits.Spans
}

// measured is the same by the states of the threads, as far as all of them are known.
func (t *threads) measured(tasks []*Task) (Figures, bool) {
	f, all := waits.Figures{}, true
	for _, task := range tasks {
		for _, w := range task.Work {
			spans, ok := t.spans[w.G]
			if !ok {
				spans = t.m.Spans(w.G)
				t.spans[w.G] = spans
			}
			all = spans != nil && spans.Add(f, w.From, w.To) && all
		}
	}
	return Figures(f), all
}

// inGo leaves what does not depend on the threads.
func inGo(f Figures) Figures {
	out := Figures{}
	for name, ns := range f {
		switch {
		case strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "by_reason.go_blocked.") ||
			strings.HasPrefix(name, "by_place.go_blocked.") || name == "total_ns":
			out[name] += ns
		case strings.HasSuffix(name, "_ns") && !strings.Contains(name, ".") && name != "unknown_ns":
			out["of threads"] += ns
		}
	}
	return out
}

func differences(of string, theirs, ours Figures) (lines []string) {
	names := maps.Clone(theirs)
	maps.Copy(names, ours)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if theirs[name] != ours[name] && !(WithoutAssists && strings.Contains(name, "gc_assist")) {
			lines = append(lines, fmt.Sprintf("%s: %s is %d, by the events %d", of, name, theirs[name], ours[name]))
		}
	}
	return lines
}

// Compared counts what CompareRequests compared.
type Compared struct {
	Requests, Figures, Measured, Unknown int
}

func (t *Trace) compareTime(of string, time map[string]any, tasks []*Task, th *threads, c *Compared) []string {
	theirs := Figures{}
	flatten(theirs, "", time)
	ours := t.spent(tasks)
	c.Figures += len(ours)
	sums := placeSums(of, theirs)
	if th.m == nil {
		return append(sums, differences(of, theirs, ours)...)
	}
	lines := append(sums, differences(of, inGo(theirs), inGo(ours))...)
	ours, known := th.measured(tasks)
	if !known {
		c.Unknown++
		return lines
	}
	c.Measured += len(ours)
	delete(theirs, "unknown_ns")
	maps.DeleteFunc(theirs, func(name string, ns int64) bool { return strings.HasPrefix(name, "by_place.") })
	return append(lines, differences(of+", measured", theirs, ours)...)
}

// classBegin is the shortest length in the class of a length: 16 classes to a power of two.
func classBegin(ns int64) int64 {
	if ns < 32 {
		return ns
	}
	width := int64(1) << (bits.Len64(uint64(ns)) - 5)
	return ns / width * width
}

// slowest returns the slowest 1 %, and those in the same class as the shortest of them.
func slowest(tasks []*Task) []*Task {
	if len(tasks) == 0 {
		return nil
	}
	length := func(t *Task) int64 { return t.End - t.Begin }
	slices.SortFunc(tasks, func(a, b *Task) int { return int(length(b) - length(a)) })
	least := classBegin(length(tasks[int(math.Ceil(0.01*float64(len(tasks))))-1]))
	n := 0
	for n < len(tasks) && length(tasks[n]) >= least {
		n++
	}
	return tasks[:n]
}

// CompareRequests compares the rows of `gotrace requests` with the tasks that end in [from, end). The
// durations are compared by CompareDurations. m: of the threads; nil: the trace has no kernel events.
func (t *Trace) CompareRequests(rows []RequestRow, m *waits.Model, from, end int64) (lines []string, c Compared) {
	th := &threads{m, map[int64]*waits.Spans{}}
	ended := map[string][]*Task{}
	for _, task := range t.Tasks {
		if task.Ended && task.End >= from && task.End < end {
			ended[task.Name] = append(ended[task.Name], task)
		}
	}
	for _, row := range rows {
		tasks, failed := ended[row.Name], 0
		for _, task := range tasks {
			if task.Failed {
				failed++
			}
		}
		if failed != row.Errors {
			lines = append(lines, fmt.Sprintf("%q: %d errors, by the events %d", row.Name, row.Errors, failed))
		}
		c.Requests += len(tasks)
		lines = append(lines, t.compareTime(fmt.Sprintf("%q", row.Name), row.Time, tasks, th, &c)...)
		slow := slowest(tasks)
		if len(slow) != row.Slowest.Count || len(slow) > 0 && slow[len(slow)-1].End-slow[len(slow)-1].Begin != row.Slowest.AtLeast {
			lines = append(lines, fmt.Sprintf("%q: the slowest are %d of %d ns, by the events %d", row.Name, row.Slowest.Count,
				row.Slowest.AtLeast, len(slow)))
			continue
		}
		lines = append(lines, t.compareTime(fmt.Sprintf("%q, slowest", row.Name), row.Slowest.Time, slow, th, &c)...)
	}
	return lines, c
}

// SingleRow is a request of `gotrace requests --worst`.
type SingleRow struct {
	ID        uint64         `json:"id"`
	Name      string         `json:"name"`
	Begin     int64          `json:"begin"`
	End       int64          `json:"end"`
	Duration  int64          `json:"duration_ns"`
	CreatedBy uint64         `json:"created_by"`
	EndedBy   uint64         `json:"ended_by"`
	Error     bool           `json:"error"`
	Time      map[string]any `json:"time"`
	Paths     []Path         `json:"paths"`
}

// Path is the output of `gotrace path`.
type Path map[string]any

// CompareWorst compares the n longest requests that end in [from, end). Of equally long ones any may come
// first.
func (t *Trace) CompareWorst(rows []SingleRow, m *waits.Model, n int, from, end int64) (lines []string) {
	th := &threads{m, map[int64]*waits.Spans{}}
	var ended []*Task
	type key struct {
		id  uint64
		end int64
	}
	byID := map[key]*Task{}
	for _, task := range t.Tasks {
		if task.Ended && task.End >= from && task.End < end {
			ended = append(ended, task)
			byID[key{task.ID, task.End}] = task
		}
	}
	slices.SortFunc(ended, func(a, b *Task) int { return int(b.End - b.Begin - a.End + a.Begin) })
	if len(rows) != min(n, len(ended)) {
		return []string{fmt.Sprintf("%d requests are the worst of %d", len(rows), len(ended))}
	}
	for i, row := range rows {
		task, of := byID[key{row.ID, row.End}], fmt.Sprintf("request %d", row.ID)
		if task == nil || row.Duration != ended[i].End-ended[i].Begin {
			lines = append(lines, fmt.Sprintf("%s is not the worst but %d", of, i))
			continue
		}
		want := SingleRow{row.ID, task.Name, task.Begin, task.End, task.End - task.Begin, uint64(task.G), uint64(task.EndG), task.Failed, nil, nil}
		got := row
		got.Time, got.Paths = nil, nil
		if !reflect.DeepEqual(got, want) {
			lines = append(lines, fmt.Sprintf("%s is %v, by the events %v", of, got, want))
		}
		lines = append(lines, t.compareTime(of, row.Time, []*Task{task}, th, &Compared{})...)
		lines = append(lines, comparePath(of, &row)...)
	}
	return lines
}

// comparePath: the segments of the path, if there is one, follow each other from the begin of the request to its end.
func comparePath(of string, row *SingleRow) []string {
	if len(row.Paths) == 0 {
		return nil
	}
	at := row.Begin
	for _, s := range row.Paths[0]["segments"].([]any) {
		segment := s.(map[string]any)
		if int64(segment["from_ns"].(float64)) != at {
			return []string{fmt.Sprintf("%s: the path has a gap at %d", of, at)}
		}
		at = int64(segment["to_ns"].(float64))
	}
	if at != row.End {
		return []string{fmt.Sprintf("%s: the path ends at %d", of, at)}
	}
	return nil
}
