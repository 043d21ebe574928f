package main

// This file prints a report as text.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gotrace-bpf/selftests/reference/internal/compare"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func printReport(r *compare.Report, truth *tracefile.Trace) {
	fmt.Printf("window            %s\n", time.Duration(r.Window[1]-r.Window[0]))
	fmt.Printf("goroutines        %d compared, %d identical (%.3f %%), %d missing, %d extra\n",
		r.Goroutines.Total, r.Goroutines.Equal, r.Goroutines.Percent(), r.Missing, r.Extra)
	fmt.Printf("transitions       %d compared, %d found (%.4f %%), %d extra\n",
		r.Transitions.Total, r.Transitions.Equal, r.Transitions.Percent(), r.ExtraTrans)
	for _, line := range []struct {
		name string
		a    compare.Agreement
	}{
		{"P", r.P}, {"M", r.M}, {"waker", r.Waker}, {"start function", r.StartFunc},
		{"top function", r.TopFunc}, {"top line", r.TopLine}, {"whole stack", r.Stack},
		{"P transitions", r.ProcSeq}, {"annotations", r.Annotations}, {"their stacks", r.AnnotationStacks},
	} {
		fmt.Printf("%-17s %d of %d (%.4f %%)\n", line.name, line.a.Equal, line.a.Total, line.a.Percent())
	}
	printClasses("class of goroutine", r.Classes)
	printClasses("class of stack", r.StackClasses)
	fmt.Printf("%-17s p50 %+d ns, p99 of size %d ns, max %d ns, %d outliers\n\n",
		"time", r.Time.P50, r.Time.P99Abs, r.Time.MaxAbs, r.Outliers)
	printKinds(r)
	printCounts(r)
	printDiffs(r, truth)
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func printClasses(what string, classes map[string]int) {
	for _, class := range keys(classes) {
		fmt.Printf("%-17s %s: %d\n", what, class, classes[class])
	}
}

func printKinds(r *compare.Report) {
	fmt.Printf("%-46s %8s %8s %9s %9s %9s\n", "transition", "go", "found", "p50 ns", "p99 ns", "max ns")
	for _, kind := range keys(r.Kinds) {
		a, t := r.Kinds[kind], r.TimeByKind[kind]
		fmt.Printf("%-46s %8d %8d %+9d %9d %9d\n", kind, a.Total, a.Equal, t.P50, t.P99Abs, t.MaxAbs)
	}
	fmt.Println()
}

func printCounts(r *compare.Report) {
	fmt.Printf("%-46s %8s %8s\n", "begun or happened", "go", "ours")
	for _, name := range keys(r.Counts) {
		c := r.Counts[name]
		note := ""
		if !c.Equal {
			note = " differs"
		}
		if v := c.Values; v.Equal < v.Total {
			note += fmt.Sprintf(" %d of %d values differ", v.Total-v.Equal, v.Total)
		}
		fmt.Printf("%-46s %8d %8d%s\n", name, c.Go, c.Ours, note)
	}
	fmt.Println()
}

func printDiffs(r *compare.Report, truth *tracefile.Trace) {
	for _, what := range keys(r.DiffCount) {
		fmt.Printf("differences: %s: %d\n", what, r.DiffCount[what])
		for i := range r.Diffs {
			if d := &r.Diffs[i]; d.What == what {
				fmt.Printf("  goroutine %d %s, its transition %d\n", d.G, d.Func, d.N)
				fmt.Printf("    go   %s\n", describe(d.T, truth, d.What))
				fmt.Printf("    ours %s\n", describe(d.O, truth, d.What))
			}
		}
	}
}

// describe shows a transition: time from the start of the runtime's trace, kind, where, stack.
func describe(t *tracefile.Transition, truth *tracefile.Trace, what string) string {
	if t == nil {
		return "-"
	}
	tab := truth.Tables
	s := fmt.Sprintf("%+.6fs %s P=%d M=%d by %d", float64(t.Time-truth.Start)/1e9,
		t.Kind(tab), t.P, t.M, t.By)
	frames := tab.Frames(t.Stack)
	depth := 1
	if strings.HasPrefix(what, "stack") {
		depth = 12
	}
	for i := 0; i < min(depth, len(frames)); i++ {
		s += fmt.Sprintf(" %s:%d", frames[i].Func, frames[i].Line)
	}
	return s
}
