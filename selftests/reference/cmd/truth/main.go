// Truth compares a trace with the counts of the known-count target: every count must be exact.
//
//	truth TRACE EXPECTED.json
//
// EXPECTED.json is the object of the target's done line (a leading "done " is skipped). Prints one
// line per claim, those that do not hold last: of a long output, a test shows the end. Exit status 1
// if there are any.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"
	"gotrace-bpf/selftests/reference/internal/truth"
)

func main() {
	command.Usage(len(os.Args) == 3, "truth TRACE EXPECTED.json")
	command.End(check(os.Args[1], os.Args[2]))
}

func check(file, expectedFile string) (bool, error) {
	text := command.Must(os.ReadFile(expectedFile))
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
	var wrong []string
	for i := range expected.Expect {
		c := &expected.Expect[i]
		n, known := truth.Count(t, c)
		switch {
		case !known:
			wrong = append(wrong, fmt.Sprintf("%s: unknown event %q", c.Name, c.Event))
		case n != c.Count:
			wrong = append(wrong, fmt.Sprintf("%s: %d in the trace, %d expected (%s)",
				c.Name, n, c.Count, c.Why))
		default:
			fmt.Printf("ok %s: %d\n", c.Name, n)
		}
	}
	for _, line := range wrong {
		fmt.Println("not ok", line)
	}
	return len(wrong) == 0, nil
}
