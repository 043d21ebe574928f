// Fidelity summarizes the reports of `make fidelity` in a folder as one table, and checks the
// limits.
//
//	fidelity [-json] [-markdown FILE] [-readme FILE] [limits] FOLDER
//
// FOLDER holds VERSION.PROGRAM.RUN.json (compare -json) with a .use file (the machine's use, per
// cent) and VERSION.truth.RUN.txt (cmd/truth). Exit status 0 when all limits hold, 1 when not, 2 on
// a usage error.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/fidelity"
)

func main() {
	var l fidelity.Limits
	asJSON := flag.Bool("json", false, "print JSON")
	markdown := flag.String("markdown", "", "write the table's rows to `FILE`")
	readme := flag.String("readme", "", "report the releases that the table in `FILE` lacks")
	maxUse := flag.Int("max-use", 70, "percent of the machine; timestamps of busier runs are not compared")
	flag.IntVar(&l.Goroutines, "goroutines", 50_000, "goroutines compared, a release")
	flag.IntVar(&l.Transitions, "transitions", 2_000_000, "transitions compared, a release")
	flag.Float64Var(&l.Identical, "identical", 99.95, "percent of goroutines")
	flag.Float64Var(&l.IdenticalV1, "identical-v1", 99.5, "percent of goroutines, up to Go 1.21")
	flag.Float64Var(&l.P, "p", 99.99, "percent of P ids")
	flag.Float64Var(&l.M, "m", 99.99, "percent of thread ids")
	flag.Float64Var(&l.Waker, "waker", 99.99, "percent of wakers")
	flag.Float64Var(&l.Procs, "procs", 99.9, "percent of the Ps' transitions, from Go 1.22")
	flag.Float64Var(&l.ClassStacks, "class-stacks", 0.5, "percent of stacks that one known class may be")
	flag.IntVar(&l.QuietTimes, "quiet-times", 100_000, "times compared on a quiet machine, from Go 1.22")
	flag.Float64Var(&l.OutliersQuiet, "outliers-quiet", 0.1, "percent of times more than 500 us apart")
	flag.Float64Var(&l.OutliersBusy, "outliers-busy", 0.3, "the same of runs on a busy machine")
	flag.Float64Var(&l.Stacks, "stacks", 99.9, "percent of stacks")
	flag.DurationVar(&l.TimeP99, "time-p99", 5*time.Microsecond, "time differences, from Go 1.22")
	flag.BoolVar(&l.Unexplained, "unexplained", false, "let there be differences of no class")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	all, err := fidelity.Load(flag.Arg(0), *maxUse)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no reports in %s", flag.Arg(0))
	}
	command.Check(err)
	failures := []string{}
	for _, r := range all {
		failures = append(failures, l.Failures(r)...)
	}
	if *asJSON {
		out := command.Must(json.MarshalIndent(map[string]any{"releases": all, "failures": failures}, "", "  "))
		fmt.Println(string(out))
	} else {
		fidelity.Text(os.Stdout, all)
		fidelity.Markdown(os.Stdout, all)
		for _, f := range failures {
			fmt.Println("FAIL", f)
		}
	}
	files(all, *markdown, *readme)
	if len(failures) > 0 {
		os.Exit(1)
	}
}

func files(all []*fidelity.Release, markdown, readme string) {
	if markdown != "" {
		var b strings.Builder
		fidelity.Markdown(&b, all)
		command.Check(os.WriteFile(markdown, []byte(b.String()), 0o644))
	}
	if readme == "" {
		return
	}
	text := command.Must(os.ReadFile(readme))
	shown := fidelity.InReadme(string(text))
	for _, r := range all {
		if !slices.Contains(shown, r.Go) {
			fmt.Fprintf(os.Stderr, "fidelity: the table in %s has no row of Go %s\n", readme, r.Go)
		}
	}
}
