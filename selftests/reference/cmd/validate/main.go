// Validate reads Go execution traces to their end with Go's own strict reader and reports, one line
// per file, their contents, or the reason and the event of the error.
//
//	validate [-strict] [-counts] FILE...
//
// Exit status 0 if every file is valid, 1 if one is not, 2 on a usage error.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

func main() {
	strict := flag.Bool("strict", false, "check more than the reader does (ids, P and M of running goroutines)")
	counts := flag.Bool("counts", false, "print the number of events by kind as JSON after each line")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: validate [-strict] [-counts] FILE...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := false
	for _, path := range flag.Args() {
		r, err := validate(path, *strict)
		if err != nil {
			fmt.Printf("%s: REFUSED after %d events: %v\n", path, r.events, err)
			failed = true
		} else {
			fmt.Printf("%s: ok, %d events, %d goroutines, %d generations, deepest stack %d\n",
				path, r.events, len(r.goroutines), r.generations(), r.frames)
		}
		if *counts {
			out, _ := json.MarshalIndent(&r.counts, "", "  ")
			fmt.Println(string(out))
		}
	}
	if failed {
		os.Exit(1)
	}
}

// result is the summary of one file.
type result struct {
	events     int
	syncs      int
	frames     int // of the deepest stack
	goroutines map[trace.GoID]bool
	counts     counts
}

// generations: the reader returns a Sync before each generation and one at the end.
func (r *result) generations() int { return max(r.syncs-1, 0) }

func validate(path string, strict bool) (*result, error) {
	r := &result{goroutines: map[trace.GoID]bool{}, counts: newCounts()}
	check := tracefile.NewStrict()
	var err error
	r.events, err = tracefile.WalkFile(path, func(_ int, ev *trace.Event) error {
		if ev.Kind() == trace.EventSync {
			r.syncs++
		}
		if ev.Kind() == trace.EventStateTransition {
			if id := ev.StateTransition().Resource; id.Kind == trace.ResourceGoroutine {
				r.goroutines[id.Goroutine()] = true
			}
		}
		r.counts.add(ev)
		r.frames = max(r.frames, depth(ev.Stack()))
		if strict {
			return check.Event(ev)
		}
		return nil
	})
	return r, err
}

func depth(stack trace.Stack) int {
	n := 0
	for range stack.Frames() {
		n++
	}
	return n
}
