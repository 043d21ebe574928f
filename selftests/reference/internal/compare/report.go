package compare

// This file has the result of a comparison: figures, the first differences, and the check against
// thresholds.

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gotrace-bpf/selftests/reference/internal/tracefile"
)

// Agreement counts how many of the things that should be equal are.
type Agreement struct {
	Equal int `json:"equal"`
	Total int `json:"total"`
}

func (a *Agreement) add(equal bool) {
	a.Total++
	if equal {
		a.Equal++
	}
}

// Percent is 100 when there was nothing to compare.
func (a Agreement) Percent() float64 {
	if a.Total == 0 {
		return 100
	}
	return 100 * float64(a.Equal) / float64(a.Total)
}

// Times summarizes our time minus the runtime's, in nanoseconds.
type Times struct {
	N      int   `json:"n"`
	P50    int64 `json:"p50_ns"`     // signed
	P99Abs int64 `json:"p99_abs_ns"` // of the absolute differences
	MaxAbs int64 `json:"max_abs_ns"`
}

func summarise(diffs []int64) Times {
	if len(diffs) == 0 {
		return Times{}
	}
	slices.Sort(diffs)
	t := Times{N: len(diffs), P50: diffs[len(diffs)/2]}
	size := make([]int64, len(diffs))
	for i, d := range diffs {
		size[i] = abs(d)
	}
	slices.Sort(size)
	t.P99Abs = size[int(math.Ceil(0.99*float64(len(size))))-1]
	t.MaxAbs = size[len(size)-1]
	return t
}

// Count is the number of events of a kind in both traces' windows.
type Count struct {
	Go    int  `json:"go"`
	Ours  int  `json:"ours"`
	Equal bool `json:"equal"` // up to those within the tolerance at the edges
	Must  bool `json:"must"`  // a difference fails the comparison

	Values Agreement `json:"values"` // of both sides' values, those that the other has
}

// Diff is one difference. T or O is nil where that side has no counterpart.
type Diff struct {
	What string // "missing", "extra", "P", "M", "top frame", ...
	G    int64
	Func string
	N    int // index of the transition within the goroutine's, in the runtime's trace
	T, O *tracefile.Transition
}

// Report is what a comparison found.
type Report struct {
	Window [2]int64      `json:"window_ns"` // the part of the runtime's trace that counts
	latest time.Duration // the largest time difference of a transition that both have

	Goroutines Agreement `json:"goroutines"` // whole sequence of (from, to, reason) equal
	// What the others are, by the classes of classes.go.
	Classes      map[string]int `json:"classes"`
	StackClasses map[string]int `json:"stack_classes"`
	Missing      int            `json:"goroutines_missing"`
	Extra        int            `json:"goroutines_extra"`
	StartFunc    Agreement      `json:"start_function"`

	Transitions Agreement `json:"transitions"` // runtime's transitions with a counterpart
	ExtraTrans  int       `json:"transitions_extra"`
	P           Agreement `json:"p"`
	M           Agreement `json:"m"`
	Waker       Agreement `json:"waker"` // the goroutine that did an unblock or create
	TopFunc     Agreement `json:"top_function"`
	TopLine     Agreement `json:"top_line"`
	Stack       Agreement `json:"whole_stack"`
	ProcSeq     Agreement `json:"proc_transitions"`
	ProcExtra   int       `json:"proc_transitions_extra"`

	Annotations      Agreement `json:"annotations"` // tasks, regions, logs, with their texts
	AnnotationsExtra int       `json:"annotations_extra"`
	AnnotationStacks Agreement `json:"annotation_stacks"`

	Time       Times                `json:"time"`
	TimeByKind map[string]Times     `json:"time_by_kind"`
	Outliers   int                  `json:"time_outliers"`
	Kinds      map[string]Agreement `json:"kinds"`
	Counts     map[string]Count     `json:"counts"`

	Diffs     []Diff         `json:"-"`
	DiffCount map[string]int `json:"differences"`
}

// Thresholds are the minimum results.
type Thresholds struct {
	MinGoroutines, MinTransitions, MinReason int
	Reasons                                  []string // kinds as Transition.Kind names them
	Identical, P, M, Frames                  float64  // per cent
	Waker, Procs, Stacks                     float64  // per cent; whole stacks
	ProcsExtra                               float64  // per cent that we may have in addition
	ClassStacks                              float64  // per cent of stacks that a class may be
	TimeP99                                  time.Duration
	NoOutliers, NoMissing                    bool
}

// Scarce lists the kinds of transition of which the program's own trace has too few for a comparison.
func (r *Report) Scarce(th *Thresholds) (out []string) {
	for _, kind := range th.Reasons {
		if n := r.Kinds[kind].Total; n < th.MinReason {
			out = append(out, fmt.Sprintf("only %d of %q, want %d", n, kind, th.MinReason))
		}
	}
	return out
}

// Failures lists the results below the thresholds; an empty list is a pass.
func (r *Report) Failures(th *Thresholds) []string {
	var out []string
	fail := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	fail(r.Goroutines.Total < th.MinGoroutines, "only %d goroutines, want %d",
		r.Goroutines.Total, th.MinGoroutines)
	fail(r.Transitions.Total < th.MinTransitions, "only %d transitions, want %d",
		r.Transitions.Total, th.MinTransitions)
	out = append(out, r.Scarce(th)...)
	percent := func(what string, a Agreement, want float64) {
		fail(a.Percent() < want, "%s: %d of %d equal (%.4f %%), want %g %%",
			what, a.Equal, a.Total, a.Percent(), want)
	}
	percent("goroutines", r.Goroutines, th.Identical)
	percent("start functions", r.StartFunc, th.Identical)
	percent("P", r.P, th.P)
	percent("M", r.M, th.M)
	percent("wakers", r.Waker, th.Waker)
	percent("P transitions", r.ProcSeq, th.Procs)
	most := func(what string, n, of int, limit float64) {
		fail(100*float64(n) > limit*float64(of), "%s: %d, in addition to %d", what, n, of)
	}
	most("P transitions extra", r.ProcExtra, r.ProcSeq.Total, th.ProcsExtra)
	most("transitions missing", r.Transitions.Total-r.Transitions.Equal, r.Transitions.Total, 100-th.Identical)
	most("transitions extra", r.ExtraTrans, r.Transitions.Total, 100-th.Identical)
	for _, class := range sortedKeys(r.StackClasses) {
		most("stacks of the class "+class, r.StackClasses[class], r.Stack.Total, th.ClassStacks)
	}
	percent("top frames", r.TopFunc, th.Frames)
	percent("top lines", r.TopLine, th.Frames)
	percent("whole stacks", r.Stack, th.Stacks)
	percent("annotations", r.Annotations, 100)
	percent("stacks of annotations", r.AnnotationStacks, th.Frames)
	fail(r.AnnotationsExtra > 0, "annotations: %d extra", r.AnnotationsExtra)
	fail(r.Extra > 0 && 100*float64(r.Extra) > (100-th.Identical)*float64(r.Goroutines.Total),
		"goroutines: %d extra", r.Extra)
	fail(th.NoMissing && r.Missing > 0, "goroutines: %d missing", r.Missing)
	fail(r.Time.P99Abs > th.TimeP99.Nanoseconds(), "times: p99 %s, want %s",
		time.Duration(r.Time.P99Abs), th.TimeP99)
	fail(th.NoOutliers && r.Outliers > 0, "times: %d outliers", r.Outliers)
	for _, name := range sortedKeys(r.Counts) {
		c := r.Counts[name]
		fail(c.Must && !c.Equal, "%s: %d in the runtime's trace, %d in ours", name, c.Go, c.Ours)
		fail(c.Must && c.Values.Equal < c.Values.Total, "%s: only %d of %d values equal", name,
			c.Values.Equal, c.Values.Total)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
