// Truth checks a trace by what the known-truth target says it did: every count must be exact.
//
//	truth TRACE EXPECTED.json
//
// EXPECTED.json is the object of the target's done line (a leading "done " is skipped). One line
// a claim; exit 1 if any does not hold.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"gotrace-bpf/selftests/reference/internal/tracefile"
	"gotrace-bpf/selftests/reference/internal/truth"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: truth TRACE EXPECTED.json")
		os.Exit(2)
	}
	ok, err := check(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

func check(file, expectedFile string) (bool, error) {
	text, err := os.ReadFile(expectedFile)
	if err != nil {
		return false, err
	}
	var expected truth.Expected
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("done ")), &expected); err != nil {
		return false, fmt.Errorf("%s: %w", expectedFile, err)
	}
	if len(expected.Expect) == 0 {
		return false, fmt.Errorf("%s claims nothing", expectedFile)
	}
	t, err := tracefile.Load(file, tracefile.NewTables())
	if err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	ok := true
	for i := range expected.Expect {
		c := &expected.Expect[i]
		n, known := truth.Count(t, c)
		switch {
		case !known:
			fmt.Printf("not ok %s: unknown event %q\n", c.Name, c.Event)
		case n != c.Count:
			fmt.Printf("not ok %s: %d in the trace, %d expected (%s)\n", c.Name, n, c.Count, c.Why)
		default:
			fmt.Printf("ok %s: %d\n", c.Name, n)
			continue
		}
		ok = false
	}
	return ok, nil
}
