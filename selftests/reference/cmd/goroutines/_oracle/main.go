// The Summarizer of Go's internal/trace, asked for all that it knows of a trace, in the canonical
// text that `gotrace goroutines --canonical` must print alike (see CANONICAL.md). Only Go's own
// tree may import that package: ../main.go has this file compiled as if it stood there.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"internal/trace"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: goroutines FILE")
		os.Exit(2)
	}
	s, err := summarize(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "goroutines: %v\n", err)
		os.Exit(1)
	}
	w := bufio.NewWriter(os.Stdout)
	for _, id := range slices.Sorted(maps.Keys(s.Goroutines)) {
		printGoroutine(w, s.Goroutines[id])
	}
	for _, id := range slices.Sorted(maps.Keys(s.Tasks)) {
		printTask(w, s.Tasks[id])
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintf(os.Stderr, "goroutines: %v\n", err)
		os.Exit(1)
	}
}

func summarize(path string) (_ *trace.Summary, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r, err := trace.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, err
	}
	s := trace.NewSummarizer()
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return s.Finalize(), nil
		}
		if err != nil {
			return nil, err
		}
		s.Event(&ev)
	}
}

func printGoroutine(w io.Writer, g *trace.GoroutineSummary) {
	fmt.Fprintf(w, "goroutine\t%d\t%s\tpc=%x\tcreated=%d\tstarted=%d\tended=%d\t%s\n",
		g.ID, quoted(g.Name), g.PC, g.CreationTime, g.StartTime, g.EndTime, stats(&g.GoroutineExecStats))
	slices.SortFunc(g.Regions, func(a, b *trace.UserRegionSummary) int {
		return cmp.Or(cmp.Compare(when(a.Start), when(b.Start)), cmp.Compare(when(a.End), when(b.End)))
	})
	for _, r := range g.Regions {
		fmt.Fprintf(w, "region\t%d\ttask=%d\t%s\tstart=%d\tend=%d\t%s\n",
			g.ID, r.TaskID, quoted(r.Name), when(r.Start), when(r.End), stats(&r.GoroutineExecStats))
	}
}

func printTask(w io.Writer, t *trace.UserTaskSummary) {
	parent := trace.NoTask
	if t.Parent != nil {
		parent = t.Parent.ID
	}
	fmt.Fprintf(w, "task\t%d\t%s\tparent=%d\tstart=%d\tend=%d\t"+
		"children=%s\tgoroutines=%s\tregions=%s\tlogs=%s\n", t.ID, quoted(t.Name), parent, when(t.Start), when(t.End),
		list(t.Children, func(c *trace.UserTaskSummary) string { return fmt.Sprint(c.ID) }),
		list(slices.Sorted(maps.Keys(t.Goroutines)), func(id trace.GoID) string { return fmt.Sprint(id) }),
		list(t.Regions, func(r *trace.UserRegionSummary) string { return fmt.Sprint(when(r.Start)) }),
		list(t.Logs, func(l *trace.Event) string { return fmt.Sprint(when(l)) }))
}

func stats(s *trace.GoroutineExecStats) string {
	return fmt.Sprintf("exec=%d\tsched_wait=%d\tsyscall=%d\tsyscall_block=%d\ttotal=%d\t"+
		"block=%s\tranges=%s", s.ExecTime, s.SchedWaitTime, s.SyscallTime, s.SyscallBlockTime, s.TotalTime,
		durations(s.BlockTimeByReason), durations(s.RangeTime))
}

// durations leaves out what is zero: whether the Summarizer made an entry for it says nothing.
func durations(m map[string]time.Duration) string {
	var names []string
	for name, d := range m {
		if d != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return list(names, func(name string) string { return fmt.Sprintf("%s=%d", quoted(name), m[name]) })
}

func list[T any](items []T, text func(T) string) string {
	var out []string
	for _, item := range items {
		out = append(out, text(item))
	}
	return "[" + strings.Join(out, ";") + "]"
}

func when(ev *trace.Event) trace.Time {
	if ev == nil {
		return -1
	}
	return ev.Time()
}

func quoted(s string) string { return strconv.QuoteToASCII(s) }
