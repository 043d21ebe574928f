// Allocations compares the figures of `gotrace alloc` with a second computation from the experimental
// events that Go's own reader returns.
//
//	allocations GOTRACE TRACE [OPTION...]
//
// The options are passed on: --from @NS, --to @NS, --goroutine ID, and --function ^NAME$. Compared are the
// sums, the rows by type, function and size, and each point of the curve. Findings go to standard
// output; exit status 1 if there are any.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"gotrace-bpf/selftests/reference/internal/command"
)

type sum struct {
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

func (s *sum) add(bytes uint64) { s.Objects++; s.Bytes += bytes }

type counts struct {
	Allocated sum `json:"allocated"`
	Freed     sum `json:"freed"`
	Kept      sum `json:"kept"`
	Live      sum `json:"live"`
}

type state struct {
	Time       int64  `json:"time"`
	Objects    uint64 `json:"objects"`
	Bytes      uint64 `json:"bytes"`
	Spans      uint64 `json:"spans"`
	SpanBytes  uint64 `json:"span_bytes"`
	Stacks     uint64 `json:"stacks"`
	StackBytes uint64 `json:"stack_bytes"`
}

// row is one of `gotrace alloc --json`, which has one of the first three.
type row struct {
	Type     string `json:"type"`
	Function string `json:"function"`
	Size     uint64 `json:"size"`
	Before   bool   `json:"before_trace"`
	counts
}

type output struct {
	counts
	AtStart state   `json:"at_start"`
	AtEnd   state   `json:"at_end"`
	Peak    state   `json:"peak"`
	Rows    []row   `json:"rows"`
	Curve   []state `json:"curve"`
}

// query is what the options ask for.
type query struct {
	from, to  int64
	goroutine int64 // -1: all
	function  string
}

func (q *query) isAll() bool { return q.goroutine == -1 && q.function == "" }

func (q *query) selects(c *change) bool {
	return q.isAll() || c.name == "HeapObjectAlloc" && (q.goroutine == -1 || c.g == q.goroutine) &&
		(q.function == "" || c.function == q.function)
}

func (q *query) contains(c *change) bool { return c.time >= q.from && c.time < q.to }

var wrong int

func differ(format string, args ...any) {
	wrong++
	if wrong <= 20 {
		fmt.Printf(format+"\n", args...)
	}
}

func main() {
	command.Usage(len(os.Args) >= 3, "allocations GOTRACE TRACE [OPTION...]")
	err := run(os.Args[1], os.Args[2], os.Args[3:])
	command.End(wrong == 0, err)
}

func run(gotrace, file string, options []string) error {
	q := command.Must(parse(options))
	h := command.Must(load(file))
	if len(h.changes) == 0 {
		return fmt.Errorf("%s has no events of allocations", file)
	}
	for _, by := range []string{"type", "function", "size"} {
		args := append([]string{"alloc", "--json", "--by", by, file}, options...)
		text, err := exec.Command(gotrace, args...).Output()
		if err != nil {
			return fmt.Errorf("gotrace alloc --by %s: %w", by, err)
		}
		var out output
		command.Check(json.Unmarshal(text, &out))
		compare(h, q, by, &out)
	}
	return nil
}

func parse(options []string) (*query, error) {
	q := &query{from: math.MinInt64, to: math.MaxInt64}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	from, to := flags.String("from", "", ""), flags.String("to", "", "")
	flags.Int64Var(&q.goroutine, "goroutine", -1, "")
	flags.StringVar(&q.function, "function", "", "")
	err := flags.Parse(options)
	q.function = strings.TrimSuffix(strings.TrimPrefix(q.function, "^"), "$")
	if err == nil && *from != "" {
		q.from, err = strconv.ParseInt((*from)[1:], 10, 64)
	}
	if err == nil && *to != "" {
		q.to, err = strconv.ParseInt((*to)[1:], 10, 64)
	}
	return q, err
}

// replay applies the changes before `until`, with a call for each.
func (h *history) replay(q *query, until int64, step func(c *change, heap *heap, began, ended *object)) *heap {
	heap := newHeap(h.sizes)
	for i := range h.changes {
		c := &h.changes[i]
		if c.time >= until {
			break
		}
		began, ended := heap.apply(c, q)
		if step != nil {
			step(c, heap, began, ended)
		}
	}
	return heap
}

func key(by string, o *object, size uint64) string {
	switch {
	case by == "type":
		return o.kind
	case by == "size":
		return strconv.FormatUint(size, 10)
	case o.name == "HeapObject":
		return "(before the trace)"
	}
	return o.function
}

// compare replays the changes from their begin for each figure that it needs.
func compare(h *history, q *query, by string, out *output) {
	rows := map[string]*counts{}
	of := func(o *object, size uint64) *counts {
		k := key(by, o, size)
		if rows[k] == nil {
			rows[k] = &counts{}
		}
		return rows[k]
	}
	live, peak := uint64(0), out.AtStart.Bytes
	end := h.replay(q, math.MaxInt64, func(c *change, heap *heap, began, ended *object) {
		if began != nil {
			live += began.bytes
			if c.name == "HeapObjectAlloc" && q.contains(c) {
				_, size, _ := heap.slot(c.args[0])
				of(began, size).Allocated.add(began.bytes)
				peak = max(peak, live)
			}
		}
		if ended != nil {
			live -= ended.bytes
			if q.contains(c) {
				of(ended, ended.bytes).Freed.add(ended.bytes)
			}
		}
	})
	for _, o := range end.live {
		if o.name == "HeapObjectAlloc" && q.contains(o.change) {
			of(&o, o.bytes).Kept.add(o.bytes)
		}
	}
	for _, o := range h.replay(q, q.to, nil).live {
		of(&o, o.bytes).Live.add(o.bytes)
	}
	if out.Peak.Bytes != peak {
		differ("by %s: peak of %d bytes, expected %d", by, out.Peak.Bytes, peak)
	}
	compareRows(by, rows, out)
	for _, point := range append(out.Curve, out.AtStart) {
		if got := h.replay(q, point.Time, nil).state(point.Time); got != point {
			differ("by %s: point %+v, expected %+v", by, point, got)
		}
	}
	if got := h.replay(q, q.to, nil).state(out.AtEnd.Time); got != out.AtEnd {
		differ("by %s: at the end %+v, expected %+v", by, out.AtEnd, got)
	}
}

func compareRows(by string, rows map[string]*counts, out *output) {
	var total counts
	for k, r := range rows {
		add(&total, r)
		if *r == (counts{}) || r.Allocated.Objects+r.Freed.Objects+r.Live.Objects == 0 {
			delete(rows, k)
		}
	}
	if total != out.counts {
		differ("by %s: sums %+v, expected %+v", by, out.counts, total)
	}
	for _, r := range out.Rows {
		k := map[string]string{"type": r.Type, "function": r.Function, "size": strconv.FormatUint(r.Size, 10)}[by]
		if r.Before {
			k = "(before the trace)"
		}
		want := rows[k]
		if want == nil {
			want = &counts{}
		}
		if r.counts != *want {
			differ("by %s: row %q %+v, expected %+v", by, k, r.counts, *want)
		}
		delete(rows, k)
	}
	for k, r := range rows {
		differ("by %s: no row %q %+v", by, k, *r)
	}
}

func add(total, more *counts) {
	for to, from := range map[*sum]sum{
		&total.Allocated: more.Allocated, &total.Freed: more.Freed, &total.Kept: more.Kept, &total.Live: more.Live,
	} {
		to.Objects += from.Objects
		to.Bytes += from.Bytes
	}
}
