// Package expected provides the expected result for a trace, that of golang.org/x/exp/trace: it
// accepts the trace, rejects it, or panics. Unlike package tracefile it distinguishes a panic from a
// rejection, because `gotrace` must agree with a rejection but must not crash where there is a
// panic.
package expected

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/exp/trace"
)

// Kinds of results.
const (
	OK      = "ok"
	Refused = "refused"
	Panic   = "panic"
)

// Result is the result for one trace.
type Result struct {
	Kind   string
	Events int    // delivered
	Reason string // one line; empty if OK
}

// String is "ok EVENTS", "refused REASON" or "panic REASON".
func (r Result) String() string {
	if r.Kind == OK {
		return fmt.Sprint(OK, " ", r.Events)
	}
	return r.Kind + " " + r.Reason
}

// Err is nil if the trace is valid.
func (r Result) Err() error {
	if r.Kind == OK {
		return nil
	}
	return fmt.Errorf("%s after %d events: %s", r.Kind, r.Events, r.Reason)
}

// Of reads a trace and calls fn, unless it is nil, for each event. A panic of fn counts as one of
// the reader.
func Of(in io.Reader, fn func(*trace.Event)) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r.Kind, r.Reason = Panic, oneLine(fmt.Sprint(p))
		}
	}()
	reader, err := trace.NewReader(in)
	for err == nil {
		var ev trace.Event
		if ev, err = reader.ReadEvent(); err != nil {
			break
		}
		if fn != nil {
			fn(&ev)
		}
		r.Events++
	}
	if err == io.EOF && reader != nil {
		r.Kind = OK
	} else {
		r.Kind, r.Reason = Refused, oneLine(err.Error())
	}
	return r
}

// OfFile is Of on a file; one that cannot be opened is rejected.
func OfFile(path string, fn func(*trace.Event)) Result {
	f, err := os.Open(path)
	if err != nil {
		return Result{Kind: Refused, Reason: err.Error()}
	}
	defer f.Close()
	return Of(bufio.NewReaderSize(f, 1<<16), fn)
}

// Deep calls all methods of an event: for some corrupt traces the reader panics only then.
func Deep(ev *trace.Event) { _ = ev.String() }

// oneLine keeps the first line: dumps of the reader's state follow.
func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(line, "?")
}
