// Latency judges `gotrace latency --json` of a target that has measured itself.
//
//	latency GOTRACE DONE TRACE
//
// GOTRACE is the program that is run for that, DONE the target's done line with its "parts", TRACE what was recorded.
// The parts of each function must add up and agree with what Go's own reader says of the trace as far as
// that goes, and each claim must hold: a time within 3 % of what the target measured, or two per cent
// of the whole time where that is more. A claim on a window of time is compared with the output for that.
// It prints a table; exit 1 when anything is wrong, 3 when it is only claims that do not hold.
package main

import (
	"fmt"
	"os"
	"os/exec"

	"gotrace-bpf/selftests/reference/internal/latency"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: latency GOTRACE DONE TRACE")
		os.Exit(2)
	}
	os.Exit(judge(os.Args[1], os.Args[2], os.Args[3]))
}

func judge(gotrace, done, file string) (status int) {
	held, wrong, err := compare(gotrace, done, file)
	for _, line := range wrong {
		fmt.Println(line)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "latency:", err)
		return 1
	case wrong != nil:
		return 1
	case !held:
		return 3
	}
	return 0
}

func compare(gotrace, done, file string) (held bool, wrong []string, err error) {
	claims, err := latency.LoadParts(done)
	if err != nil {
		return false, nil, err
	}
	t, err := tracefile.Load(file, tracefile.NewTables())
	if err != nil {
		return false, nil, err
	}
	whole, err := run(gotrace, file)
	if err != nil {
		return false, nil, err
	}
	wrong = append(whole.Sums(), whole.GoStates(t)...)
	windows := map[[2]int64]*latency.Output{}
	rows, err := whole.Judge(claims, func(from, to int64) (*latency.Output, error) {
		window := [2]int64{from, to}
		if windows[window] == nil {
			out, err := run(gotrace, file, fmt.Sprint("--from=@", from), fmt.Sprint("--to=@", to))
			if err != nil {
				return nil, err
			}
			wrong = append(wrong, out.Sums()...)
			windows[window] = out
		}
		return windows[window], nil
	})
	held = true
	for _, row := range rows {
		fmt.Println(row)
		held = held && row.OK
	}
	return held, wrong, err
}

func run(gotrace, file string, options ...string) (*latency.Output, error) {
	cmd := exec.Command(gotrace, append([]string{"latency", "--json", "--goroutines", file}, options...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	return latency.Parse(text)
}
