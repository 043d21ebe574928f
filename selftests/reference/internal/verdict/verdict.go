// Package verdict is the expected result for a trace according to golang.org/x/exp/trace: it
// accepts it, rejects it, or panics. Unlike package tracefile it distinguishes a panic from a
// rejection, because `gotrace` must agree with a rejection but must not crash where there is a
// panic.
package verdict

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

// Verdict is the result for one trace.
type Verdict struct {
	Kind   string
	Events int    // delivered
	Reason string // one line; empty if OK
}

// String is "ok EVENTS", "refused REASON" or "panic REASON".
func (v Verdict) String() string {
	if v.Kind == OK {
		return fmt.Sprint(OK, " ", v.Events)
	}
	return v.Kind + " " + v.Reason
}

// Err is nil if the trace is valid.
func (v Verdict) Err() error {
	if v.Kind == OK {
		return nil
	}
	return fmt.Errorf("%s after %d events: %s", v.Kind, v.Events, v.Reason)
}

// Of reads a trace and calls fn, unless it is nil, for each event. A panic of fn counts as one of
// the reader.
func Of(in io.Reader, fn func(*trace.Event)) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v.Kind, v.Reason = Panic, oneLine(fmt.Sprint(p))
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
		v.Events++
	}
	if err == io.EOF && reader != nil {
		v.Kind = OK
	} else {
		v.Kind, v.Reason = Refused, oneLine(err.Error())
	}
	return v
}

// OfFile is Of on a file; one that cannot be opened is rejected.
func OfFile(path string, fn func(*trace.Event)) Verdict {
	f, err := os.Open(path)
	if err != nil {
		return Verdict{Kind: Refused, Reason: err.Error()}
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
