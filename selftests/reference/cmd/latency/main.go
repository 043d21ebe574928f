// Latency judges `gotrace latency --json` of a target that has measured itself.
//
//	latency GOTRACE DONE TRACE
//
// GOTRACE is the program that is run for that, DONE the target's done line with its "parts", TRACE what was recorded.
// The parts of each function must add up and agree with what Go's own reader says of the trace as far as
// that goes, and each claim must hold: a time within 3 % of what the target measured, or half a per cent
// of the whole time where that is more. A claim on a window of time is compared with the output for that.
// It prints a table; exit 1 when anything is wrong.
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
	ok, err := judge(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func judge(gotrace, done, file string) (bool, error) {
	claims, err := latency.LoadParts(done)
	if err != nil {
		return false, err
	}
	t, err := tracefile.Load(file, tracefile.NewTables())
	if err != nil {
		return false, err
	}
	whole, err := run(gotrace, file)
	if err != nil {
		return false, err
	}
	wrong := append(whole.Sums(), whole.GoStates(t)...)
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
	ok := err == nil && wrong == nil
	for _, row := range rows {
		fmt.Println(row)
		ok = ok && row.OK
	}
	for _, line := range wrong {
		fmt.Println(line)
	}
	return ok, err
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
