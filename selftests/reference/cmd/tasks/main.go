// Tasks compares `gotrace tasks`, `gotrace regions` and `gotrace requests` with a second computation on
// golang.org/x/exp/trace, for the whole trace and for its middle third, without a filter and with one of each
// kind. The paths of single requests are compared with `gotrace path`.
//
//	tasks [-made-up] GOTRACE TRACE
//
// GOTRACE is the program to run; -made-up is for traces that no program wrote. Differences go to standard output; exit status 1 if there are any.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gotrace-bpf/selftests/reference/internal/annotations"
	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/waits"
)

func main() {
	flag.BoolVar(&annotations.WithoutAssists, "made-up", false, "the trace was made up: leave mark assists out")
	flag.Parse()
	command.Usage(flag.NArg() == 2, "tasks [-made-up] GOTRACE TRACE")
	command.End(compare(flag.Arg(0), flag.Arg(1)))
}

func compare(gotrace, file string) (bool, error) {
	whole := command.Must(annotations.Load(file, math.MaxInt64))
	third := (whole.End - whole.Start) / 3
	ok := true
	for _, window := range [][2]int64{{whole.Start, whole.End}, {whole.Start + third, whole.Start + 2*third}} {
		t, options := whole, []string(nil)
		if window[1] != whole.End {
			options = []string{fmt.Sprintf("--from=@%d", window[0]), fmt.Sprintf("--to=@%d", window[1])}
			t = command.Must(annotations.Load(file, window[1]))
		}
		some := command.Must(filters(gotrace, file, t))
		for _, f := range some {
			lines := compareWindow(gotrace, file, f.of(t), window[0], window[1], slices.Concat(options, f.options))
			for i, line := range lines {
				if i < 10 {
					fmt.Println(line, f.options)
				}
			}
			ok = ok && len(lines) == 0
		}
	}
	return ok, nil
}

// filter is options that leave tasks and regions out, and what they keep. nil: all.
type filter struct {
	options []string
	keep    func(s *annotations.Span) bool
}

func (f *filter) of(t *annotations.Trace) *annotations.Trace {
	if f.keep == nil {
		return t
	}
	return t.Filter(f.keep)
}

// filters returns no filter, and one of each kind that some task of the trace matches.
func filters(gotrace, file string, t *annotations.Trace) ([]filter, error) {
	all := []filter{{}}
	if annotations.WithoutAssists || len(t.Tasks) == 0 {
		return all, nil
	}
	g, name := t.Tasks[len(t.Tasks)/2].G, t.Tasks[len(t.Tasks)/2].Name
	all = append(all, filter{[]string{fmt.Sprintf("--goroutine=%d", g)}, func(s *annotations.Span) bool { return s.G == g }})
	if pattern, ok := exactly(name); ok {
		all = append(all, filter{[]string{"--name=" + pattern}, func(s *annotations.Span) bool { return s.Name == name }})
	}
	functions := startFunctions(gotrace, file)
	function, known := functions[g]
	if pattern, ok := exactly(function); known && ok {
		all = append(all, filter{[]string{"--function=" + pattern}, func(s *annotations.Span) bool {
			name, known := functions[s.G]
			return known && name == function
		}})
	}
	return all, nil
}

// exactly returns a regular expression that matches only this text; false: it cannot be an argument.
func exactly(text string) (string, bool) {
	pattern := "^" + regexp.QuoteMeta(text) + "$"
	return pattern, len(pattern) < 256 && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// startFunctions returns those of all goroutines, according to `gotrace goroutines`, which has a comparison
// of its own.
func startFunctions(gotrace, file string) map[int64]string {
	var all struct {
		Goroutines []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"goroutines"`
	}
	command.Check(run(&all, gotrace, "goroutines", file, []string{"--all"}))
	functions := map[int64]string{}
	for _, g := range all.Goroutines {
		functions[g.ID] = g.Name
	}
	return functions
}

// output is that of tasks or regions.
type output struct {
	Tasks   []annotations.Row `json:"tasks"`
	Regions []annotations.Row `json:"regions"`
	Unbegun int               `json:"unbegun"`
	Start   int64             `json:"start"`
	End     int64             `json:"end"`
}

// requests is the output of requests.
type requests struct {
	Requests []annotations.RequestRow `json:"requests"`
	Unbegun  int                      `json:"unbegun"`
	Start    int64                    `json:"start"`
	End      int64                    `json:"end"`
	Kernel   bool                     `json:"kernel"`
	Worst    []annotations.SingleRow  `json:"worst"`
}

const worst = 7

func run(ret any, gotrace, verb, file string, options []string) error {
	cmd := exec.Command(gotrace, append([]string{verb, "--json", file}, options...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, ret)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

func compareWindow(gotrace, file string, t *annotations.Trace, from, to int64, options []string) []string {
	var tasks, regions output
	command.Check(run(&tasks, gotrace, "tasks", file, options))
	command.Check(run(&regions, gotrace, "regions", file, options))
	var spans []annotations.Span
	for _, task := range t.Tasks {
		spans = append(spans, task.Span)
	}
	end := to
	if to == t.End && !slices.Contains(options, fmt.Sprintf("--to=@%d", to)) {
		end = math.MaxInt64 // what ends with the last event counts
	}
	lines, n := annotations.CompareDurations(tasks.Tasks, spans, from, end, to)
	more, m := annotations.CompareDurations(regions.Regions, t.Regions, from, end, to)
	lines = append(lines, more...)
	unbegun := 0
	for _, time := range t.Unbegun {
		if time >= from && time < end {
			unbegun++
		}
	}
	if tasks.Unbegun != unbegun {
		lines = append(lines, fmt.Sprintf("%d tasks are unbegun, by the events %d", tasks.Unbegun, unbegun))
	}
	both := compareRequests(gotrace, file, t, &tasks, from, end, options)
	lines = append(lines, both...)
	for _, o := range []output{tasks, regions} {
		if o.Start != from || o.End != to {
			lines = append(lines, fmt.Sprintf("analysed time is %d to %d instead of %d to %d", o.Start, o.End, from, to))
		}
	}
	fmt.Printf("%d ms: %d tasks, %d unbegun, %d regions, %d differences\n", (to-from)/1e6, n, unbegun, m, len(lines))
	return lines
}

// compareRequests: the durations must be those of `gotrace tasks`.
func compareRequests(gotrace, file string, t *annotations.Trace, tasks *output, from, end int64, options []string) []string {
	var all requests
	command.Check(run(&all, gotrace, "requests", file, append([]string{"--worst", fmt.Sprint(worst)}, options...)))
	var m *waits.Model
	if all.Kernel {
		_, read, err := waits.Read(gotrace, file)
		command.Check(err)
		m = read
	}
	lines, c := t.CompareRequests(all.Requests, m, from, end)
	lines = append(lines, t.CompareWorst(all.Worst, m, worst, from, end)...)
	for _, row := range all.Worst {
		paths := []annotations.Path{{}}
		if run(&paths[0], gotrace, "path", file, []string{"--goroutine", fmt.Sprint(row.EndedBy), fmt.Sprintf("--from=@%d", row.Begin),
			fmt.Sprintf("--to=@%d", row.End)}) != nil {
			paths = paths[:0] // the trace contradicts itself
		}
		if !reflect.DeepEqual(paths, row.Paths) {
			lines = append(lines, fmt.Sprintf("the path of request %d is not that of gotrace path", row.ID))
		}
	}
	rows := []annotations.Row{}
	for _, row := range all.Requests {
		rows = append(rows, row.Row)
	}
	if !reflect.DeepEqual(rows, tasks.Tasks) || all.Unbegun != tasks.Unbegun || all.Start != tasks.Start || all.End != tasks.End {
		lines = append(lines, "the durations differ from those of gotrace tasks")
	}
	fmt.Printf("requests: %d, %d figures, %d by threads, %d names not compared by threads\n", c.Requests, c.Figures,
		c.Measured, c.Unknown)
	return lines
}
