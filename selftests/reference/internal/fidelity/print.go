package fidelity

// This file prints releases as text, and as the rows of README.md's table.

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gotrace-bpf/selftests/reference/internal/compare"
)

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent never rounds up to 100.
func percent(a compare.Agreement) string {
	if a.Equal == a.Total {
		return "100 %"
	}
	return fmt.Sprintf("%.4f %%", min(a.Percent(), 99.9999))
}

// micro is a time with its sign, to a tenth of a microsecond.
func micro(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1000) }

func (r *Release) time() string {
	t, note := r.Quiet, ""
	if t.Runs == 0 {
		t, note = r.Busy, " (busy)"
	}
	return fmt.Sprintf("%s / %s, %s of %s%s", micro(t.P50), micro(t.P99Abs), thousands(t.Outliers),
		thousands(t.N), note)
}

// stacks formats the number of equal stacks, and of stacks of known classes.
func (r *Release) stacks() string {
	known := 0
	for _, n := range r.StackClasses {
		known += n
	}
	if known == 0 {
		return percent(r.Stack)
	}
	return fmt.Sprintf("%s of %s plus %s", percent(r.Stack), thousands(r.Stack.Total), thousands(known))
}

// counts formats the number of the runtime's own events, and whether both traces agree on them.
func (r *Release) counts() string {
	n, differ := 0, 0
	for _, c := range r.Counts {
		if c.Must {
			n += c.Go
			if !c.Equal {
				differ++
			}
		}
	}
	if differ > 0 {
		return fmt.Sprintf("%s, %d kinds differ", thousands(n), differ)
	}
	return thousands(n) + ", equal"
}

// Markdown writes the table of README.md.
func Markdown(w io.Writer, all []*Release) {
	fmt.Fprintln(w, "| Go | goroutines | identical | transitions | found | P IDs | stacks |"+
		" counts | time, us: p50 / p99, > 500 us | known counts |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range all {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d of %d |\n", r.Go,
			thousands(r.Goroutines.Total), percent(r.Goroutines), thousands(r.Transitions.Total),
			percent(r.Transitions), percent(r.P), r.stacks(), r.counts(), r.time(),
			r.Truth.Equal, r.Truth.Total)
	}
}

// Text writes all details, release by release.
func Text(w io.Writer, all []*Release) {
	for _, r := range all {
		fmt.Fprintf(w, "Go %s: %d runs of %s; the machine at most %d %% busy\n", r.Go, r.Runs,
			strings.Join(r.Programs, ", "), r.MaxUse)
		fmt.Fprintf(w, "  %-24s %d missing, %d extra; %d transitions and %d of Ps extra\n", "goroutines",
			r.Missing, r.Extra, r.ExtraTrans, r.ProcExtra)
		for _, line := range []struct {
			name string
			a    compare.Agreement
		}{
			{"identical", r.Goroutines}, {"start function", r.StartFunc},
			{"transitions", r.Transitions}, {"P", r.P}, {"M", r.M}, {"waker", r.Waker},
			{"top frame", r.TopFunc}, {"top line", r.TopLine}, {"whole stack", r.Stack}, {"P transitions", r.ProcSeq},
			{"known counts", r.Truth},
		} {
			fmt.Fprintf(w, "  %-24s %d of %d (%s)\n", line.name, line.a.Equal, line.a.Total,
				percent(line.a))
		}
		printTime(w, "time", r.Quiet)
		printTime(w, "time, busy machine", r.Busy)
		printClasses(w, "goroutine", r.Classes)
		printClasses(w, "stack", r.StackClasses)
		for _, name := range r.names() {
			c, note := r.Counts[name], ""
			if !c.Equal {
				note = " differs"
			}
			if c.Values.Total > 0 {
				note += fmt.Sprintf(", values equal: %d of %d", c.Values.Equal, c.Values.Total)
			}
			fmt.Fprintf(w, "  %-46s go %8d ours %8d%s\n", name, c.Go, c.Ours, note)
		}
		for _, kind := range r.kinds() {
			fmt.Fprintf(w, "  %-46s go %8d found %7d\n", kind, r.Kinds[kind].Total, r.Kinds[kind].Equal)
		}
		fmt.Fprintln(w)
	}
}

func (r *Release) kinds() (kinds []string) {
	for kind := range r.Kinds {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

func printTime(w io.Writer, what string, t Time) {
	if t.Runs > 0 {
		fmt.Fprintf(w, "  %-24s worst of %d runs: p50 %+d ns, p99 of size %s, max %s; %d of %d more than 500 us\n",
			what, t.Runs, t.P50, time.Duration(t.P99Abs), time.Duration(t.MaxAbs), t.Outliers, t.N)
	}
}

func printClasses(w io.Writer, of string, classes map[string]int) {
	for class, n := range classes {
		fmt.Fprintf(w, "  differs, class of %-6s %s: %d\n", of, class, n)
	}
}

// InReadme lists the releases with rows in the table of a text.
func InReadme(text string) (releases []string) {
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) == 12 && strings.HasPrefix(cells[1], " 1.") {
			releases = append(releases, strings.TrimSpace(cells[1]))
		}
	}
	return releases
}
