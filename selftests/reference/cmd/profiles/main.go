// Profiles compares a profile of `gotrace profile` with that of another program, or with a second
// computation from the events of the trace.
//
//	profiles [-within NS] OURS.pb.gz THEIRS.pb.gz
//	profiles -kind KIND [-from NS] [-to NS] [-goroutine ID] [-function REGEX] [-labels] [-with-stack] OURS.pb.gz TRACE
//	profiles -folded|-table OURS.pb.gz...
//
// The last form prints what `gotrace profile --folded` and `--text` are compared with.
//
// Types, units, counts, values and complete stacks must be equal; the order of samples does not
// count, and samples that differ only in their labels are one. Findings go to standard output; exit
// status 1 if there is one.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/profiles"
)

const shown = 5 // differences

func main() {
	var request profiles.Request
	function := flag.String("function", "", "only goroutines whose start function matches this `regexp`")
	flag.StringVar(&request.Kind, "kind", "", "compute the profile of this `kind` from a trace")
	flag.Int64Var(&request.From, "from", 0, "only what lies after this time, in `ns` since the start")
	flag.Int64Var(&request.To, "to", 0, "only what lies before this time, in `ns` since the start")
	flag.Uint64Var(&request.Goroutine, "goroutine", 0, "only this goroutine `id`")
	flag.Int64Var(&request.SampleNS, "sample", 10_000_000, "with -kind cpu: the `ns` that a sample counts for")
	flag.BoolVar(&request.Labels, "labels", false, "with -kind: compare the labels, too")
	flag.BoolVar(&request.WithStack, "with-stack", false, "with -kind: skip transitions without a stack, as older tools of Go do")
	within := flag.Int64("within", 0, "times of a stack may differ by so many `ns`")
	folded := flag.Bool("folded", false, "print folded stacks")
	table := flag.Bool("table", false, "print the shares of functions")
	flag.Parse()
	if *folded || *table {
		for _, file := range flag.Args() {
			show(file, *table)
		}
		return
	}
	command.Usage(flag.NArg() == 2, "profiles [-kind KIND [OPTION...]] OURS.pb.gz THEIRS.pb.gz|TRACE")
	if *function != "" {
		request.Function = regexp.MustCompile(*function)
	}
	found := command.Must(compare(flag.Arg(0), flag.Arg(1), request, *within))
	for _, difference := range found[:min(shown, len(found))] {
		fmt.Println(difference)
	}
	if len(found) > 0 {
		fmt.Printf("%d differences\n", len(found))
		os.Exit(1)
	}
}

func show(file string, table bool) {
	p, _, err := profiles.Read(file, false)
	command.Check(err)
	lines := profiles.Folded(p)
	if table {
		lines = profiles.Table(p)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}

func compare(ours, theirs string, request profiles.Request, within int64) ([]string, error) {
	a, ourStacks, err := profiles.Read(ours, request.Labels)
	if err != nil {
		return nil, err
	}
	total := ourStacks.Total()
	fmt.Printf("%d stacks, %d intervals, %d ns\n", len(ourStacks), total[0], total[1])
	if request.Kind != "" {
		theirStacks, err := profiles.Compute(theirs, request)
		return profiles.Compare(ourStacks, theirStacks, within), err
	}
	b, theirStacks, err := profiles.Read(theirs, false)
	if err != nil {
		return nil, err
	}
	return append(profiles.CompareTypes(a, b), profiles.Compare(ourStacks, theirStacks, within)...), nil
}
