// Package command contains what the programs in cmd have in common: how they end.
package command

import (
	"fmt"
	"os"
	"path/filepath"
)

// Usage ends the program with status 2 unless its arguments are valid.
func Usage(valid bool, text string) {
	if !valid {
		fmt.Fprintln(os.Stderr, "usage:", text)
		os.Exit(2)
	}
}

// Check ends the program with a message and status 1 if there is an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Must returns a value unless there is an error, which ends the program.
func Must[T any](value T, err error) T {
	Check(err)
	return value
}

// End ends the program with status 1 if there is an error or something is wrong.
func End(ok bool, err error) {
	Check(err)
	if !ok {
		os.Exit(1)
	}
}
