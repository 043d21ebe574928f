// Samples summarizes the CPU samples of a trace as JSON: their number, by running function, by each
// function on the stack, and by goroutine (its start function) and its running function.
//
//	samples TRACE
//
// Exit status 1 when the trace cannot be read, or a sample lies outside of it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

type summary struct {
	Samples   int            `json:"samples"`
	NoStack   int            `json:"no_stack"`
	NoP       int            `json:"no_p"`
	Threads   int            `json:"threads"`
	Leaf      map[string]int `json:"leaf"`
	Root      map[string]int `json:"root"`
	Any       map[string]int `json:"any"`
	Goroutine map[string]int `json:"goroutine"`
	Of        map[string]int `json:"of"` // "GOROUTINE FUNCTION"
}

func main() {
	command.Usage(len(os.Args) == 2, "samples TRACE")
	t := command.Must(tracefile.Load(os.Args[1], tracefile.NewTables()))
	out := command.Must(json.MarshalIndent(summarise(t), "", "  "))
	fmt.Println(string(out))
}

func summarise(t *tracefile.Trace) *summary {
	s := &summary{
		Leaf: map[string]int{}, Root: map[string]int{}, Any: map[string]int{},
		Goroutine: map[string]int{}, Of: map[string]int{},
	}
	threads := map[int64]bool{}
	for i := range t.Samples {
		sample := &t.Samples[i]
		s.Samples++
		threads[sample.M] = true
		if sample.P < 0 {
			s.NoP++
		}
		name := "none"
		if sample.G >= 0 {
			name = t.StartFunc[sample.G]
		}
		s.Goroutine[name]++
		frames := t.Tables.Frames(sample.Stack)
		if len(frames) == 0 {
			s.NoStack++
			continue
		}
		s.Leaf[frames[0].Func]++
		s.Of[name+" "+frames[0].Func]++
		s.Root[frames[len(frames)-1].Func]++
		seen := map[string]bool{}
		for _, f := range frames {
			if !seen[f.Func] {
				s.Any[f.Func]++
			}
			seen[f.Func] = true
		}
	}
	s.Threads = len(threads)
	return s
}
