// Package tracefile reads Go execution traces for the Go oracles. This file runs
// golang.org/x/exp/trace's strict reader on one file and returns all failures, including panics of
// the reader, as an error with the number of the event.
package tracefile

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"golang.org/x/exp/trace"
)

// Walk calls fn for each event of the trace in r, in the reader's order, numbering them from 1.
// It returns how many events were read. The reader panics on some malformed traces (for example
// on an undefined string of a range begun generations ago), hence the recover.
func Walk(r io.Reader, fn func(n int, ev *trace.Event) error) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("event %d: panic: %v", n+1, p)
		}
	}()
	reader, err := trace.NewReader(bufio.NewReaderSize(r, 1<<20))
	if err != nil {
		return 0, fmt.Errorf("header: %w", err)
	}
	for {
		ev, err := reader.ReadEvent()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("event %d: %w", n+1, err)
		}
		if err := fn(n+1, &ev); err != nil {
			return n, fmt.Errorf("event %d (%s at %d): %w", n+1, ev.Kind(), ev.Time(), err)
		}
		n++
	}
}

// WalkFile is Walk on a file.
func WalkFile(path string, fn func(n int, ev *trace.Event) error) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return Walk(f, fn)
}
