package canonical

// This file removes the dependence of Go's reader on the order of hash maps for v1 traces.

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Sort copies canonical text of a v1 trace, and sorts the events of each run of lines that are one
// nanosecond apart by their Ps; those of one P stay in order, but goroutines that become runnable
// without a P are sorted by id. The times stay in place.
//
// This is the difference between two readings of a trace: Go's reader merges the events of all Ps,
// selects any P first among equal times, and then changes the times so that they differ.
func Sort(out io.Writer, in io.Reader) error {
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	var run []line
	for {
		text, err := r.ReadString('\n')
		l := parse(text)
		if len(run) > 0 && (err != nil || l.time != run[len(run)-1].time+1) {
			writeRun(w, run)
			run = run[:0]
		}
		if err == io.EOF {
			w.WriteString(text)
			return w.Flush()
		}
		if err != nil {
			return err
		}
		run = append(run, l)
	}
}

type line struct {
	time, p, g int64 // g of a goroutine that becomes runnable without P, else 0
	rest       string
}

const status = "\tStateTransition\t-1\t-1\t-1\tgoroutine="

func parse(text string) line {
	var l line
	at := strings.IndexByte(text, '\t')
	if at < 0 {
		return line{rest: text}
	}
	l.time, _ = strconv.ParseInt(text[:at], 10, 64)
	l.rest = text[at:]
	if fields := strings.SplitN(l.rest, "\t", 5); len(fields) == 5 {
		l.p, _ = strconv.ParseInt(fields[3], 10, 64)
	}
	if id, after, found := strings.Cut(strings.TrimPrefix(l.rest, status), " "); found &&
		strings.HasPrefix(l.rest, status) && strings.HasPrefix(after, "Undetermined->Runnable ") {
		l.g, _ = strconv.ParseInt(id, 10, 64)
	}
	return l
}

func writeRun(w *bufio.Writer, run []line) {
	first := run[0].time
	slices.SortStableFunc(run, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.g, b.g))
	})
	for i, l := range run {
		w.WriteString(strconv.FormatInt(first+int64(i), 10) + l.rest)
	}
}
