// Tasked compares the tasks that gotrace-bpf made of a program's calls with those of the program's own
// trace, for the target tasked:
//
//	tasked [-unwound NAME,...] OWN OURS
//	tasked -members OURS
//
// OWN is the trace of package runtime/trace, OURS that of gotrace-bpf. Tasks whose names begin with "main."
// are compared: on each goroutine both traces have the same ones in the same order, with the same parents,
// and with an end. In OURS a region of the same name begins and ends with each of them. Prints the
// differences, and by how much times of begins and ends differ, without the ends of the functions -unwound,
// which a panic or Goexit leaves. Begins are listed by function: in some the stack grows between both, in the
// program's annotation. With -members it checks instead that the goroutines that are created in
// a task of a call, and no others, have a region in it for as long as both exist, in any trace recorded
// with --inherit. Exit status 1 if there are differences.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

const prefix = "main."

// task is one of a goroutine; its parent is named by its place, because ids differ.
type task struct {
	name       string
	parent     string
	begin, end int64
	ended      bool
	regions    [2]int // of the task and its name: how many begin, and end
}

type tasks struct {
	of    map[int64][]*task
	byID  map[uint64]*task
	place map[uint64]string
}

func load(file string) (*tasks, error) {
	t, err := tracefile.Load(file, tracefile.NewTables())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	ret := &tasks{of: map[int64][]*task{}, byID: map[uint64]*task{}, place: map[uint64]string{}}
	for i := range t.Annotations {
		a := &t.Annotations[i]
		ret.add(a, t.Tables.String(a.Name))
	}
	return ret, nil
}

func (ts *tasks) add(a *tracefile.Annotation, name string) {
	known := ts.byID[a.Task]
	switch {
	case a.Kind == trace.EventTaskBegin && strings.HasPrefix(name, prefix):
		ts.place[a.Task] = fmt.Sprintf("%d of goroutine %d", len(ts.of[a.G]), a.G)
		ts.byID[a.Task] = &task{name: name, parent: ts.place[a.Parent], begin: a.Time}
		ts.of[a.G] = append(ts.of[a.G], ts.byID[a.Task])
	case known == nil:
	case a.Kind == trace.EventTaskEnd:
		known.end, known.ended = a.Time, true
	case a.Kind == trace.EventRegionBegin && name == known.name:
		known.regions[0]++
	case a.Kind == trace.EventRegionEnd && name == known.name && !known.ended:
		known.regions[1]++
	}
}

// comparison collects differences, and those of times in ns: ours minus own.
type comparison struct {
	wrong       []string
	begins      map[string][]int64 // by function
	ends, later []int64
	unwound     []string
}

func (c *comparison) differ(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *comparison) goroutine(g int64, own, ours []*task) {
	if len(own) != len(ours) {
		c.differ("goroutine %d has %d tasks, in its own trace %d", g, len(ours), len(own))
		return
	}
	for i, a := range own {
		b := ours[i]
		if a.name != b.name || a.parent != b.parent {
			c.differ("goroutine %d: task %d is %s, its parent %q; in its own trace %s and %q", g, i,
				b.name, b.parent, a.name, a.parent)
			return
		}
		if !a.ended || !b.ended {
			c.differ("goroutine %d: task %d, %s, has no end", g, i, a.name)
			return
		}
		if b.regions != [2]int{1, 1} {
			c.differ("goroutine %d: task %d, %s, has %v regions", g, i, a.name, b.regions)
		}
		c.begins[a.name] = append(c.begins[a.name], b.begin-a.begin)
		if slices.Contains(c.unwound, a.name) {
			c.later = append(c.later, b.end-a.end)
		} else {
			c.ends = append(c.ends, b.end-a.end)
		}
	}
}

func report(what string, times []int64) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	median := times[len(times)/2]
	for i, n := range times {
		times[i] = max(n, -n)
	}
	slices.Sort(times)
	at := func(percent int) int64 { return times[(len(times)-1)*percent/100] }
	fmt.Printf("%s: %d, median %d ns; by at most: p50 %d ns, p90 %d ns, p99 %d ns, max %d ns\n", what,
		len(times), median, at(50), at(90), at(99), at(100))
}

func (c *comparison) compare(ownFile, oursFile string) (bool, error) {
	own, err := load(ownFile)
	if err != nil {
		return false, err
	}
	ours, err := load(oursFile)
	if err != nil {
		return false, err
	}
	if len(own.byID) == 0 {
		return false, fmt.Errorf("%s: no tasks", ownFile)
	}
	for _, g := range slices.Sorted(maps.Keys(own.of)) {
		c.goroutine(g, own.of[g], ours.of[g])
	}
	for _, g := range slices.Sorted(maps.Keys(ours.of)) {
		if own.of[g] == nil {
			c.differ("goroutine %d has tasks, but none in its own trace", g)
		}
	}
	fmt.Printf("%d tasks on %d goroutines, %d differences\n", len(own.byID), len(own.of), len(c.wrong))
	for _, name := range slices.Sorted(maps.Keys(c.begins)) {
		report("begins of "+name+", ours minus own", c.begins[name])
	}
	report("ends, ours minus own", c.ends)
	report("ends of unwound frames, ours minus own", c.later)
	printFirst(c.wrong)
	return len(c.wrong) == 0, nil
}

func printFirst(lines []string) {
	for _, line := range lines[:min(len(lines), 20)] {
		fmt.Println(line)
	}
}

func main() {
	unwound := flag.String("unwound", "", "the `functions` that a panic or Goexit leaves")
	members := flag.Bool("members", false, "check which goroutines belong to tasks")
	flag.Parse()
	var ok bool
	var err error
	switch {
	case *members && flag.NArg() == 1:
		ok, err = checkMembers(flag.Arg(0))
	case !*members && flag.NArg() == 2:
		c := &comparison{begins: map[string][]int64{}, unwound: strings.Split(*unwound, ",")}
		ok, err = c.compare(flag.Arg(0), flag.Arg(1))
	default:
		fmt.Fprintln(os.Stderr, "usage: tasked [-unwound NAME,...] OWN OURS | tasked -members OURS")
		os.Exit(2)
	}
	command.End(ok, err)
}
