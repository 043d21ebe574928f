// Mirrored compares the regions that gotrace-bpf made of a program's calls with those of the program's own
// trace, for the target mirrored:
//
//	mirrored [-grows NAME] OWN OURS DONE.json
//
// OWN is the trace of package runtime/trace, OURS that of gotrace-bpf, where the regions of functions have
// the prefix "main."; DONE.json is the target's done line. On each goroutine both have the same regions
// in the same order and nesting, and as many as the program counted. Prints the differences, and by how much
// times of begins and ends differ, without the ends of functions that are left by a panic or Goexit. Begins
// of the function NAME are listed apart: its stack grows between both, in the program's annotation. Exit status
// 1 if there are differences.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/trace"

	"gotrace-bpf/selftests/reference/internal/command"
)

const prefix = "main."

// call is a region; parent is the index of the one around it on its goroutine, or -1.
type call struct {
	name       string
	parent     int
	begin, end int64 // end: of the goroutine or the trace, if the region has none
	ended      bool
}

type calls map[trace.GoID][]call

// waits are the times when a goroutine began to wait.
type waits map[trace.GoID][]int64

// load returns the regions that wanted names; wanted returns "" for others.
func load(file string, wanted func(string) string) (calls, waits, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	ret, waiting, open := calls{}, waits{}, map[trace.GoID][]int{}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return ret, waiting, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		g, now := ev.Goroutine(), int64(ev.Time())
		switch ev.Kind() {
		case trace.EventRegionBegin:
			name := wanted(ev.Region().Type)
			if name == "" {
				continue
			}
			parent := -1
			if n := len(open[g]); n > 0 {
				parent = open[g][n-1]
			}
			open[g] = append(open[g], len(ret[g]))
			ret[g] = append(ret[g], call{name: name, parent: parent, begin: now})
		case trace.EventRegionEnd:
			name := wanted(ev.Region().Type)
			if name == "" {
				continue
			}
			n := len(open[g])
			if n == 0 || ret[g][open[g][n-1]].name != name {
				return nil, nil, fmt.Errorf("%s: goroutine %d: %s ends, but is not the innermost", file, g, name)
			}
			c := &ret[g][open[g][n-1]]
			c.end, c.ended = now, true
			open[g] = open[g][:n-1]
		case trace.EventStateTransition:
			s := ev.StateTransition()
			if s.Resource.Kind != trace.ResourceGoroutine {
				continue
			}
			g := s.Resource.Goroutine()
			switch _, to := s.Goroutine(); to {
			case trace.GoWaiting:
				waiting[g] = append(waiting[g], now)
			case trace.GoNotExist:
				for _, i := range open[g] {
					ret[g][i].end = now
				}
				delete(open, g)
			}
		}
	}
}

type done struct {
	Calls   map[string]int `json:"calls"`
	Unwound []string       `json:"unwound"`
}

func readDone(file string) (ret done, err error) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &ret)
	}
	if err == nil && len(ret.Calls) == 0 {
		err = fmt.Errorf("%s: no calls", file)
	}
	return ret, err
}

// comparison collects differences, and those of times in ns: ours minus own.
type comparison struct {
	wrong               []string
	begins, ends, later []int64
	growing             []int64 // begins of the function `grows`
	grows               string
	unwound             map[string]bool
	waiting             waits // in the own trace
}

func (c *comparison) differ(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// count compares the number of calls with the program's.
func (c *comparison) count(whose string, all calls, want map[string]int) {
	have := map[string]int{}
	for _, list := range all {
		for i := range list {
			have[list[i].name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			c.differ("%s: %d calls of %s, %d expected", whose, have[name], name, want[name])
		}
	}
}

func (c *comparison) goroutine(g trace.GoID, own, ours []call) {
	if len(own) != len(ours) {
		c.differ("goroutine %d has %d regions, in its own trace %d", g, len(ours), len(own))
		return
	}
	for i := range own {
		a, b := &own[i], &ours[i]
		if a.name != b.name || a.parent != b.parent {
			c.differ("goroutine %d: region %d is %s within %d, in its own trace %s within %d", g, i,
				b.name, b.parent, a.name, a.parent)
			return
		}
		if a.name == c.grows {
			c.growing = append(c.growing, b.begin-a.begin)
		} else {
			c.begins = append(c.begins, b.begin-a.begin)
		}
		if c.unwound[a.name] {
			c.later = append(c.later, b.end-a.end)
			c.unwindsAtOnce(g, i, a, b)
			continue
		}
		if !a.ended || !b.ended {
			c.differ("goroutine %d: region %d, %s, has no end", g, i, a.name)
			continue
		}
		c.ends = append(c.ends, b.end-a.end)
	}
}

// unwindsAtOnce: the goroutine does not wait between the end of an unwound call and the end in our trace.
func (c *comparison) unwindsAtOnce(g trace.GoID, i int, own, ours *call) {
	for _, t := range c.waiting[g] {
		if t > own.end && t < ours.end {
			c.differ("goroutine %d: region %d, %s, which was unwound, ends after a wait", g, i, own.name)
			return
		}
	}
}

func report(what string, times []int64) {
	abs := func(n int64) int64 { return max(n, -n) }
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	median := times[len(times)/2]
	slices.SortFunc(times, func(a, b int64) int { return int(abs(a) - abs(b)) })
	at := func(percent int) int64 { return abs(times[(len(times)-1)*percent/100]) }
	fmt.Printf("%s: %d, median %d ns; by at most: p50 %d ns, p90 %d ns, p99 %d ns, max %d ns\n", what,
		len(times), median, at(50), at(90), at(99), at(100))
}

func compare(ownFile, oursFile, doneFile, grows string) (bool, error) {
	want := command.Must(readDone(doneFile))
	own, waiting, err := load(ownFile, func(name string) string { return name })
	if err != nil {
		return false, err
	}
	ours, _, err := load(oursFile, func(name string) string {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			return ""
		}
		return rest
	})
	if err != nil {
		return false, err
	}
	c := &comparison{waiting: waiting, grows: grows, unwound: map[string]bool{}}
	for _, name := range want.Unwound {
		c.unwound[name] = true
	}
	c.count("own trace", own, want.Calls)
	c.count("our trace", ours, want.Calls)
	for _, g := range slices.Sorted(maps.Keys(own)) {
		c.goroutine(g, own[g], ours[g])
	}
	for _, g := range slices.Sorted(maps.Keys(ours)) {
		if own[g] == nil {
			c.differ("goroutine %d has regions, but none in its own trace", g)
		}
	}
	fmt.Printf("%d regions on %d goroutines, %d differences\n", len(c.begins)+len(c.growing), len(own), len(c.wrong))
	report("begins, ours minus own", c.begins)
	report("begins of "+grows+", ours minus own", c.growing)
	report("ends, ours minus own", c.ends)
	report("ends of unwound frames, ours minus own", c.later)
	for i, line := range c.wrong {
		if i < 20 {
			fmt.Println(line)
		}
	}
	return len(c.wrong) == 0, nil
}

func main() {
	grows := flag.String("grows", "", "the `function` in whose annotation the stack grows")
	flag.Parse()
	command.Usage(flag.NArg() == 3, "mirrored [-grows NAME] OWN OURS DONE.json")
	command.End(compare(flag.Arg(0), flag.Arg(1), flag.Arg(2), *grows))
}
