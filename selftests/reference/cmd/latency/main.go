// Latency judges the output of `gotrace latency --json TRACE` of a target that has measured itself.
//
//	latency LATENCY DONE TRACE
//
// LATENCY is that output, DONE the target's done line with its "parts". The parts of each function must add up,
// agree with what Go's own reader says of the trace as far as that goes, and each claim must hold: a time
// within 3 % of what the target measured, or half a per cent of the function's whole time where that is
// more. It prints a table; exit 1 when anything is wrong.
package main

import (
	"fmt"
	"os"

	"gotrace-bpf/selftests/reference/internal/latency"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: latency LATENCY DONE TRACE")
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

func judge(output, done, file string) (bool, error) {
	out, err := latency.Load(output)
	if err != nil {
		return false, err
	}
	claims, err := latency.LoadParts(done)
	if err != nil {
		return false, err
	}
	t, err := tracefile.Load(file, tracefile.NewTables())
	if err != nil {
		return false, err
	}
	ok := true
	for _, row := range out.Judge(claims) {
		fmt.Println(row)
		ok = ok && row.OK
	}
	wrong := append(out.Sums(), out.GoStates(t)...)
	for _, line := range wrong {
		fmt.Println(line)
	}
	return ok && wrong == nil, nil
}
