package kernel

import (
	"fmt"
	"os"
)

// Report prints the first findings of a command to standard output, and its error to standard error. It exits
// with status 1 if there is any of them.
func Report(command string, wrong []string, err error) {
	for i, line := range wrong {
		if i == 20 {
			fmt.Printf("and %d more\n", len(wrong)-i)
			break
		}
		fmt.Println(line)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", command, err)
	}
	if err != nil || wrong != nil {
		os.Exit(1)
	}
}
