// Package verdict says what golang.org/x/exp/trace thinks of a trace: whether it reads it to its
// end, refuses it, or panics. Unlike package tracefile it tells a panic from a refusal, because
// `gotrace` must agree with a refusal and survive where there was a panic.
package verdict

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/exp/trace"
)

// Kinds of verdicts.
const (
	OK      = "ok"
	Refused = "refused"
	Panic   = "panic"
)

// Verdict is what was found.
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

// Err is nil if the trace is good.
func (v Verdict) Err() error {
	if v.Kind == OK {
		return nil
	}
	return fmt.Errorf("%s after %d events: %s", v.Kind, v.Events, v.Reason)
}

// Of reads a trace and calls fn, unless it is nil, for each event. A panic of fn counts as the
// reader's.
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

// OfFile is Of on a file; one that cannot be opened is refused.
func OfFile(path string, fn func(*trace.Event)) Verdict {
	f, err := os.Open(path)
	if err != nil {
		return Verdict{Kind: Refused, Reason: err.Error()}
	}
	defer f.Close()
	return Of(bufio.NewReaderSize(f, 1<<16), fn)
}

// Deep asks an event for all that it can tell: some broken traces make the reader panic only then.
func Deep(ev *trace.Event) { _ = ev.String() }

// oneLine keeps the first line: dumps of the reader's state follow.
func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.ToValidUTF8(line, "?")
}
