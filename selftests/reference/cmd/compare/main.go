// Compare compares a trace of gotrace-bpf with the runtime's own trace of the same run, goroutine
// by goroutine (see package internal/compare), and can test itself.
//
//	compare [-json] [thresholds] GOTRACE OURTRACE
//	compare -selftest [-edge D] [-blur D] GOTRACE
//
// Exit status 0 when all thresholds hold, 1 when not (each failure on a line of its own) or when a
// trace cannot be read, 2 on a usage error. -selftest compares GOTRACE with itself and with copies
// that have one fault each, every one of which must be detected.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gotrace-bpf/selftests/reference/internal/compare"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

// defaultReasons are the kinds of transition that must be frequent enough for a comparison.
const defaultReasons = "running->waiting (chan send),running->waiting (chan receive)," +
	"running->waiting (select),running->waiting (sync),running->waiting (sync.(*Cond).Wait)," +
	"running->waiting (sleep),running->waiting (network),running->waiting (preempted)," +
	"running->waiting (forever),running->runnable (preempted)," +
	"running->runnable (runtime.Gosched),running->syscall,syscall->runnable"

type settings struct {
	options  compare.Options
	limits   compare.Thresholds
	reasons  string
	json     bool
	selftest bool
	diffs    int
}

func parseFlags() *settings {
	s := &settings{options: compare.DefaultOptions()}
	th := &s.limits
	flag.IntVar(&th.MinGoroutines, "min-goroutines", 2000, "goroutines that must be compared")
	flag.IntVar(&th.MinTransitions, "min-transitions", 200_000, "transitions that must be compared")
	flag.IntVar(&th.MinReason, "min-reason", 50, "how often each of -reasons must occur")
	flag.StringVar(&s.reasons, "reasons", defaultReasons, "comma-separated kinds for -min-reason")
	flag.Float64Var(&th.Identical, "identical", 99, "percent of goroutines that must be identical")
	flag.Float64Var(&th.P, "p", 99.9, "percent of P and M ids that must agree")
	flag.Float64Var(&th.Frames, "frames", 99.9, "percent of top frames that must agree")
	flag.Float64Var(&th.Stacks, "stacks", 99.9, "percent of whole stacks that must agree")
	flag.Float64Var(&th.Waker, "waker", 99.9, "percent of wakers that must agree")
	flag.Float64Var(&th.Procs, "procs", 99.5, "percent of the Ps' transitions that must agree")
	flag.Float64Var(&th.ClassStacks, "class-stacks", 1, "percent of stacks that one known class may be")
	flag.DurationVar(&th.TimeP99, "time-p99", 10*time.Microsecond, "99th percentile of time differences")
	flag.DurationVar(&s.options.EdgeMax, "edge-max", 0, "both grow up to this, as far as times of the run differ")
	flag.DurationVar(&s.options.Edge, "edge", s.options.Edge, "at each end of the window: not compared")
	flag.DurationVar(&s.options.Blur, "blur", s.options.Blur, "at each end: may be counted or not")
	flag.DurationVar(&s.options.Outlier, "outlier", s.options.Outlier, "list time differences above this")
	flag.IntVar(&s.diffs, "diffs", 5, "how many differences of each sort to print")
	flag.BoolVar(&s.json, "json", false, "print the report as JSON")
	flag.BoolVar(&s.selftest, "selftest", false, "seed faults into GOTRACE and check that each is found")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: compare [flags] GOTRACE OURTRACE\n       compare -selftest GOTRACE")
		flag.PrintDefaults()
	}
	flag.Parse()
	th.NoMissing, th.M, th.ProcsExtra = true, th.P, 100-th.Procs
	if s.reasons != "" {
		th.Reasons = strings.Split(s.reasons, ",")
	}
	s.options.MaxDiffs = s.diffs
	return s
}

func main() {
	s := parseFlags()
	want := 2
	if s.selftest {
		want = 1
	}
	if flag.NArg() != want {
		flag.Usage()
		os.Exit(2)
	}
	ok, scarce := false, false
	if s.selftest {
		s.options.Minor = minorOf(flag.Arg(0))
		ok = selftest(load(flag.Arg(0), tracefile.NewTables()), s.options)
	} else {
		tables := tracefile.NewTables()
		truth, ours := load(flag.Arg(0), tables), load(flag.Arg(1), tables)
		s.options.Minor = minorOf(flag.Arg(0))
		if s.options.Minor < 22 {
			if !compare.ReconcileV1(truth, ours) {
				fmt.Fprintln(os.Stderr, "compare: the traces have too few goroutines in common")
				os.Exit(1)
			}
			s.options.V1 = true
			s.limits.M = min(s.limits.M, compare.V1MinM)
			s.limits.Procs = min(s.limits.Procs, compare.V1MinProcs)
			s.limits.ProcsExtra = compare.V1MostProcs
			s.limits.Reasons = slices.DeleteFunc(s.limits.Reasons, func(kind string) bool {
				return kind == "running->waiting (preempted)"
			})
		}
		ok, scarce = judge(s, truth, ours)
	}
	if scarce {
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

// minorOf is the N of a trace's "go 1.N trace", the release that its format came with.
func minorOf(path string) (minor int) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		_, err = fmt.Fscanf(f, "go 1.%d trace", &minor)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "compare: %s: %v\n", path, err)
		os.Exit(1)
	}
	return minor
}

func load(path string, tables *tracefile.Tables) *tracefile.Trace {
	t, err := tracefile.Load(path, tables)
	if err != nil {
		fmt.Fprintf(os.Stderr, "compare: %s: %v\n", path, err)
		os.Exit(1)
	}
	return t
}

// judge prints a report. scarce: no threshold but those for the number of events was missed.
func judge(s *settings, truth, ours *tracefile.Trace) (ok, scarce bool) {
	r := compare.Compare(truth, ours, s.options)
	failures := r.Failures(&s.limits)
	ok = len(failures) == 0
	scarce = !ok && len(failures) == len(r.Scarce(&s.limits))
	if s.json {
		out, err := json.MarshalIndent(struct {
			*compare.Report
			Failures []string `json:"failures"`
		}{r, failures}, "", "  ")
		if err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			return false, false
		}
		fmt.Println(string(out))
		return ok, scarce
	}
	printReport(r, truth)
	for _, f := range failures {
		fmt.Println("FAIL", f)
	}
	if ok {
		fmt.Println("OK all thresholds hold")
	}
	return ok, scarce
}
