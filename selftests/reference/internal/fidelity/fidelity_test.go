package fidelity

// This file tests the sums over reports, and that each limit is one.

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const report = `{"goroutines": {"equal": 99, "total": 100}, "transitions": {"equal": 1000, "total": 1000},
	"p": {"equal": 9, "total": 10}, "classes": {"unexplained": 1},
	"waker": {"equal": 999, "total": 1000}, "m": {"equal": 96, "total": 100},
	"proc_transitions": {"equal": 95, "total": 100}, "proc_transitions_extra": 20,
	"whole_stack": {"equal": 200, "total": 200}, "stack_classes": {"truncated stack": 2},
	"time": {"n": 500, "p50_ns": -200, "p99_abs_ns": 6000, "max_abs_ns": 900000}, "time_outliers": 1,
	"counts": {"sweep": {"go": 3, "ours": 0, "equal": false},
		"GC": {"go": 7, "ours": 7, "equal": true, "must": true}}}`

func TestSums(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []string{"1.26.11.selftrace.1", "1.26.11.nats-server.1", "1.21.13.selftrace.1"} {
		write(run+".json", report)
		write(run+".use", "50\n")
	}
	write("1.26.11.nats-server.1.use", "90\n")
	write("1.26.11.truth.1.txt", "ok a: 1\nok b: 2\nnot ok c: 3\n")
	all, err := Load(folder, 70)
	if err != nil || len(all) != 2 || all[0].Go != "1.21.13" || all[1].Go != "1.26.11" {
		t.Fatal(all, err)
	}
	r := all[1]
	if r.Goroutines.Total != 200 || r.Transitions.Equal != 2000 || r.Counts["GC"].Ours != 14 ||
		r.Quiet.Runs != 1 || r.Busy.Runs != 1 || r.MaxUse != 90 || r.Truth.Equal != 2 ||
		r.Classes["unexplained"] != 2 || len(r.Programs) != 2 {
		t.Errorf("%+v", r)
	}
	if r.Quiet.N != 500 || r.Quiet.Outliers != 1 || r.Busy.MaxAbs != 900000 || r.ProcExtra != 40 ||
		r.StackClasses["truncated stack"] != 4 {
		t.Errorf("%+v", r)
	}
	none := Limits{Unexplained: true, ClassStacks: 100, OutliersQuiet: 100, OutliersBusy: 100}
	if f := none.Failures(r); len(f) != 1 || !strings.HasSuffix(f[0], "not ok c: 3") {
		t.Error("no limits:", f)
	}
	all1 := Limits{
		Goroutines: 201, Transitions: 2001, Identical: 99.5, IdenticalV1: 98, P: 95, M: 100, Stacks: 100,
		TimeP99: 5 * time.Microsecond,
	}
	all1.Waker, all1.Procs, all1.ClassStacks, all1.QuietTimes = 99.99, 99.9, 0.5, 501
	all1.OutliersQuiet, all1.OutliersBusy = 0.1, 0.1
	has := func(f []string, what string) {
		t.Helper()
		if !slices.ContainsFunc(f, func(s string) bool { return strings.Contains(s, what) }) {
			t.Errorf("no failure %q: %s", what, strings.Join(f, "\n"))
		}
	}
	for _, what := range []string{
		"wakers: 1998 of 2000", "P transitions: 190 of 200", "P transitions extra: 40", "M: 192 of 200",
		"class truncated stack: 4", "times: only 500", "times: p99", "outliers on a quiet machine: 1",
		"outliers on a busy machine: 1",
	} {
		has(all1.Failures(r), what)
	}
	busy := *r
	busy.Quiet = Time{}
	has(all1.Failures(&busy), "times: not compared: no run below 70 %")
	if f := all1.Failures(r); len(f) != 15 {
		t.Error("every limit:", strings.Join(f, "\n"))
	}
	if f := all1.Failures(all[0]); len(f) != 9 { // of the old format
		t.Error("every limit, 1.21:", strings.Join(f, "\n"))
	}
	r.Counts["GC"] = all[0].Counts["sweep"]
	var b strings.Builder
	Markdown(&b, all)
	if got := InReadme("# x\n" + b.String() + "| 1.2 | other |\n"); !slices.Equal(got, []string{"1.21.13", "1.26.11"}) {
		t.Error(b.String(), got)
	}
}
