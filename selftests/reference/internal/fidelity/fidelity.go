// Package fidelity summarizes the reports of many comparisons (package compare), by Go release.
package fidelity

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gotrace-bpf/selftests/reference/internal/compare"
)

// Time is the worst of the summaries of several runs.
type Time struct {
	Runs     int   `json:"runs"`
	N        int   `json:"n"`      // number of compared times, over all runs
	P50      int64 `json:"p50_ns"` // the one with the largest absolute value
	P99Abs   int64 `json:"p99_abs_ns"`
	MaxAbs   int64 `json:"max_abs_ns"`
	Outliers int   `json:"outliers"` // more than compare's -outlier apart, over all runs
}

func (t *Time) add(o compare.Times, outliers int) {
	t.Runs++
	t.N += o.N
	t.Outliers += outliers
	t.MaxAbs = max(t.MaxAbs, o.MaxAbs)
	if abs(o.P50) > abs(t.P50) {
		t.P50 = o.P50
	}
	t.P99Abs = max(t.P99Abs, o.P99Abs)
}

// Release is the summary for one release of Go.
type Release struct {
	Go       string   `json:"go"`
	Programs []string `json:"programs"`
	Runs     int      `json:"runs"`
	MaxUse   int      `json:"max_use_percent"` // of the machine, in the busiest run
	Quieter  int      `json:"quieter_than"`    // per cent: a quiet run is

	Goroutines  compare.Agreement `json:"goroutines"`
	Missing     int               `json:"goroutines_missing"`
	Extra       int               `json:"goroutines_extra"`
	StartFunc   compare.Agreement `json:"start_function"`
	Transitions compare.Agreement `json:"transitions"`
	ExtraTrans  int               `json:"transitions_extra"`
	P           compare.Agreement `json:"p"`
	M           compare.Agreement `json:"m"`
	Waker       compare.Agreement `json:"waker"`
	TopFunc     compare.Agreement `json:"top_function"`
	Stack       compare.Agreement `json:"whole_stack"`
	TopLine     compare.Agreement `json:"top_line"`
	ProcSeq     compare.Agreement `json:"proc_transitions"`
	ProcExtra   int               `json:"proc_transitions_extra"`

	Kinds        map[string]compare.Agreement `json:"kinds"`
	Counts       map[string]compare.Count     `json:"counts"`
	Classes      map[string]int               `json:"classes"`
	StackClasses map[string]int               `json:"stack_classes"`

	Quiet Time              `json:"time_quiet"` // of runs on a machine less busy than the limit
	Busy  Time              `json:"time_busy"`
	Truth compare.Agreement `json:"known_counts"`
	Wrong []string          `json:"known_counts_wrong"`
}

// V1 reports whether the release's own traces are of the old format.
func (r *Release) V1() bool { return minor(r.Go) < 22 }

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

func minor(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(parts[1])
	return n
}

func plus(a *compare.Agreement, b compare.Agreement) {
	a.Equal += b.Equal
	a.Total += b.Total
}

func (r *Release) add(o *compare.Report) {
	plus(&r.Goroutines, o.Goroutines)
	plus(&r.StartFunc, o.StartFunc)
	plus(&r.Transitions, o.Transitions)
	plus(&r.P, o.P)
	plus(&r.M, o.M)
	plus(&r.Waker, o.Waker)
	plus(&r.TopFunc, o.TopFunc)
	plus(&r.Stack, o.Stack)
	plus(&r.TopLine, o.TopLine)
	plus(&r.ProcSeq, o.ProcSeq)
	r.Runs++
	r.Missing += o.Missing
	r.Extra += o.Extra
	r.ExtraTrans += o.ExtraTrans
	r.ProcExtra += o.ProcExtra
	for kind, a := range o.Kinds {
		sum := r.Kinds[kind]
		plus(&sum, a)
		r.Kinds[kind] = sum
	}
	for name, c := range o.Counts {
		sum, seen := r.Counts[name]
		values := sum.Values
		plus(&values, c.Values)
		r.Counts[name] = compare.Count{
			Go: sum.Go + c.Go, Ours: sum.Ours + c.Ours, Values: values,
			Equal: c.Equal && (sum.Equal || !seen), Must: c.Must || sum.Must,
		}
	}
	for class, n := range o.Classes {
		r.Classes[class] += n
	}
	for class, n := range o.StackClasses {
		r.StackClasses[class] += n
	}
}

// A file's name is VERSION.PROGRAM.RUN.SUFFIX; the version is 1.N.PATCH.
func parts(path string) (version, program string, ok bool) {
	f := strings.Split(filepath.Base(path), ".")
	if len(f) != 6 {
		return "", "", false
	}
	return strings.Join(f[:3], "."), f[3], true
}

// Load reads the reports in a folder. From runs during which the machine was busier than maxUse per
// cent, everything except the times is used.
func Load(folder string, maxUse int) ([]*Release, error) {
	byVersion := map[string]*Release{}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		version, program, ok := parts(path)
		if !ok {
			continue
		}
		r := byVersion[version]
		if r == nil {
			r = &Release{
				Go: version, Quieter: maxUse, Kinds: map[string]compare.Agreement{}, Counts: map[string]compare.Count{},
				Classes: map[string]int{}, StackClasses: map[string]int{},
			}
			byVersion[version] = r
		}
		switch {
		case program == "truth" && strings.HasSuffix(path, ".txt"):
			err = r.truth(path)
		case strings.HasSuffix(path, ".json"):
			err = r.report(path, program, maxUse)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var all []*Release
	for _, r := range byVersion {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Release) int { return minor(a.Go) - minor(b.Go) })
	return all, nil
}

func (r *Release) report(path, program string, maxUse int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var report compare.Report
	if err := json.Unmarshal(text, &report); err != nil {
		return err
	}
	text, err = os.ReadFile(strings.TrimSuffix(path, ".json") + ".use")
	if err != nil {
		return err
	}
	use, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	r.add(&report)
	r.MaxUse = max(r.MaxUse, use)
	if use < maxUse {
		r.Quiet.add(report.Time, report.Outliers)
	} else {
		r.Busy.add(report.Time, report.Outliers)
	}
	if !slices.Contains(r.Programs, program) {
		r.Programs = append(r.Programs, program)
	}
	return nil
}

// truth reads the output of cmd/truth.
func (r *Release) truth(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "ok "):
			plus(&r.Truth, compare.Agreement{Equal: 1, Total: 1})
		case strings.HasPrefix(line, "not ok "):
			plus(&r.Truth, compare.Agreement{Total: 1})
			r.Wrong = append(r.Wrong, line)
		}
	}
	return nil
}
