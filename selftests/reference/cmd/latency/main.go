// Latency checks `gotrace latency --json` against the measurements of the target itself.
//
//	latency GOTRACE DONE TRACE
//
// GOTRACE is the program to run, DONE the target's done line with its "parts", TRACE the recording.
// The components of each function must add up and agree with Go's own reader as far as that has
// them, and each claim must hold: a time within 3 % of the target's measurement, or within 2 % of
// the whole time where that is more; clocks of CPU time leave out what the hypervisor has stolen.
// A claim on a window of time is compared with the output for that window. Prints a table; exit
// status 1 on an error, 3 when only claims do not hold.
package main

import (
	"fmt"
	"os"
	"os/exec"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/latency"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func main() {
	command.Usage(len(os.Args) == 4, "latency GOTRACE DONE TRACE")
	os.Exit(report(os.Args[1], os.Args[2], os.Args[3]))
}

func report(gotrace, done, file string) (status int) {
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
