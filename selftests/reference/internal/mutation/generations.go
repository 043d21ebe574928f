package mutation

// This file changes generations, their end marks, and the trace as a whole.

import (
	"fmt"
	"slices"

	"gotrace-bpf/selftests/reference/internal/wire"
)

var ofGenerations = []mutation{
	{4, dropGeneration}, {4, doubleGeneration}, {2, swapGenerations}, {4, renumber}, {4, splitGeneration},
	{10, moveMark}, {4, changeVersion}, {2, convert}, {3, cut}, {4, trail}, {4, splice}, {1, headerByte},
}

// run is a sequence of batches with one generation number, including end marks.
type run struct{ from, to int }

func (c *change) runs() []run {
	var out []run
	gen := uint64(0)
	for i, b := range c.f.Batches {
		switch {
		case b.Type == wire.EndOfGeneration && len(out) > 0:
			out[len(out)-1].to = i + 1
		case len(out) == 0 || b.Gen != gen:
			out = append(out, run{i, i + 1})
			gen = b.Gen
		default:
			out[len(out)-1].to = i + 1
		}
	}
	return out
}

func (c *change) run() (run, bool) {
	runs := c.runs()
	if len(runs) == 0 {
		return run{}, false
	}
	return runs[c.IntN(len(runs))], true
}

func dropGeneration(c *change) string {
	r, ok := c.run()
	if !ok {
		return ""
	}
	c.f.Batches = slices.Delete(c.f.Batches, r.from, r.to)
	return "drop generation"
}

// doubleGeneration inserts a copy after a generation, usually numbered as the next one, like
// everything that follows.
func doubleGeneration(c *change) string {
	r, ok := c.run()
	if !ok {
		return ""
	}
	var again []*wire.Batch
	for _, b := range c.f.Batches[r.from:r.to] {
		again = append(again, b.Clone())
	}
	c.f.Batches = slices.Insert(c.f.Batches, r.to, again...)
	if c.IntN(4) == 0 {
		return "double generation"
	}
	c.shift(r.to, 1)
	return "double generation, renumbered"
}

func swapGenerations(c *change) string {
	runs := c.runs()
	if len(runs) < 2 {
		return ""
	}
	i := c.IntN(len(runs) - 1)
	a, b := runs[i], runs[i+1]
	both := slices.Concat(c.f.Batches[b.from:b.to], c.f.Batches[a.from:a.to])
	copy(c.f.Batches[a.from:b.to], both)
	return "swap generations"
}

// shift adds to the generation numbers of all batches from the i-th.
func (c *change) shift(i int, by uint64) {
	for _, b := range c.f.Batches[i:] {
		b.Gen += by
	}
}

func renumber(c *change) string {
	r, ok := c.run()
	if !ok {
		return ""
	}
	by := c.value("gen", 1)
	if c.IntN(2) == 0 {
		c.shift(0, by)
		return fmt.Sprintf("add %d to generations", by)
	}
	c.shift(r.from, by)
	return fmt.Sprintf("add %d to later generations", by)
}

// splitGeneration splits one into two, each with its tables and its sync batch.
func splitGeneration(c *change) string {
	r, ok := c.run()
	if !ok || r.to-r.from < 2 {
		return ""
	}
	at := r.from + 1 + c.IntN(r.to-r.from-1)
	var tables []*wire.Batch
	for _, b := range c.f.Batches[r.from:r.to] {
		if b.Type == wire.EventBatch && !b.Timed() {
			tables = append(tables, b.Clone())
		}
	}
	var first, second []*wire.Batch
	for _, b := range c.f.Batches[r.from:at] {
		if b.Type == wire.EventBatch && b.Timed() {
			first = append(first, b)
		}
	}
	for _, b := range c.f.Batches[at:r.to] {
		if b.Type == wire.EndOfGeneration || b.Timed() {
			second = append(second, b)
		}
	}
	first = append(first, tables...)
	for _, b := range tables {
		second = slices.Insert(second, 0, b.Clone())
	}
	if c.version() >= 26 {
		first = append(first, &wire.Batch{Type: wire.EndOfGeneration})
	}
	c.f.Batches = slices.Concat(c.f.Batches[:r.from], first, second, c.f.Batches[r.to:])
	c.shift(r.from+len(first), 1)
	return "split generation"
}

// moveMark adds, removes or moves an end of a generation, or makes it the first byte of an ordinary
// batch: Go's reader ends a generation there, too, whatever generation number it has.
func moveMark(c *change) string {
	mark := &wire.Batch{Type: wire.EndOfGeneration}
	if c.IntN(3) == 0 {
		mark = &wire.Batch{Type: wire.EventBatch, Gen: c.like("gen"), M: c.like("m"), Time: c.like("time"),
			Rest: make([]byte, 1+c.IntN(2)*c.IntN(5))}
		mark.Rest[0] = wire.EndOfGeneration
		if c.IntN(4) == 0 {
			mark.Type = wire.ExperimentalBatch
		}
	}
	to, what := c.IntN(len(c.f.Batches)+1), "insert"
	var marks []int
	for i, b := range c.f.Batches {
		if b.Type == wire.EndOfGeneration {
			marks = append(marks, i)
		}
	}
	if len(marks) > 0 && c.IntN(4) > 0 {
		i := marks[c.IntN(len(marks))]
		c.f.Batches = slices.Delete(c.f.Batches, i, i+1)
		switch c.IntN(3) {
		case 0:
			return "drop end of generation"
		case 1:
			to, what = i, "replace"
		default:
			to, what = min(to, len(c.f.Batches)), "move"
		}
	}
	c.f.Batches = slices.Insert(c.f.Batches, to, mark)
	return fmt.Sprintf("%s end of generation (%s)", what, wire.SpecOf(mark.Type).Name)
}

// Existing versions, more often those of v2; and nonexistent ones. Go's reader supports none before
// 1.11.
var versions = []int{11, 19, 20, 21, 22, 22, 22, 23, 23, 23, 24, 25, 25, 25, 26, 26, 26, 27, 99}

func (c *change) version() int { return int(c.f.Header[5]-'0')*10 + int(c.f.Header[6]-'0') }

func (c *change) setVersion(v int) {
	c.f.Header[5], c.f.Header[6] = byte('0'+v/10), byte('0'+v%10)
}

func changeVersion(c *change) string {
	v := versions[c.IntN(len(versions))]
	c.setVersion(v)
	return fmt.Sprint("version ", v)
}

func headerByte(c *change) string {
	i := c.IntN(len(c.f.Header))
	c.f.Header[i] = byte(c.IntN(256))
	return fmt.Sprint("byte of header ", i)
}

// convert changes the version and everything that depends on it: sync batches and end marks.
func convert(c *change) string {
	v := []int{22, 23, 25, 26}[c.IntN(4)]
	runs := c.runs()
	c.setVersion(v)
	var out []*wire.Batch
	for _, r := range runs {
		for _, b := range c.f.Batches[r.from:r.to] {
			if b.Type == wire.EndOfGeneration {
				continue
			}
			if kind := b.Kind(); b.Type == wire.EventBatch && (kind == wire.Frequency || kind == wire.Sync) {
				convertSync(b, v)
			}
			out = append(out, b)
		}
		if v >= 26 {
			out = append(out, &wire.Batch{Type: wire.EndOfGeneration})
		}
	}
	c.f.Batches = out
	return fmt.Sprint("convert to ", v)
}

func convertSync(b *wire.Batch, version int) {
	var events []*wire.Event
	snapshot := false
	for _, e := range b.Events {
		if e.Type == wire.Frequency || e.Type == wire.ClockSnapshot && version >= 25 {
			events = append(events, e)
			snapshot = snapshot || e.Type == wire.ClockSnapshot
		}
	}
	if version >= 25 {
		events = slices.Insert(events, 0, &wire.Event{Type: wire.Sync})
		if !snapshot {
			events = append(events, &wire.Event{Type: wire.ClockSnapshot, Args: []uint64{0, 5, 1700000000, 7}})
		}
	}
	b.Events = events
}

func cut(c *change) string {
	_, i, ok := c.batch()
	if !ok {
		return ""
	}
	c.f.Batches, c.f.Tail = c.f.Batches[:i], nil
	return "cut"
}

// trail adds bytes after the last batch, often those with which a batch might begin.
func trail(c *change) string {
	tail := slices.Clone(c.f.Tail)
	if c.IntN(2) == 0 {
		tail = append(tail, []byte{wire.EventBatch, wire.ExperimentalBatch, wire.EndOfGeneration}[c.IntN(3)])
	}
	for range c.IntN(4) * c.IntN(4) {
		tail = append(tail, byte(c.IntN(256)))
	}
	c.f.Tail = tail
	return fmt.Sprintf("%x at the end", tail)
}

// splice inserts batches of another trace: at the end, as its next generations, or anywhere,
// unchanged.
func splice(c *change) string {
	if len(c.other.Batches) == 0 || len(c.f.Batches) == 0 {
		return ""
	}
	other := c.other.Clone().Batches
	if c.IntN(2) == 0 {
		from := c.IntN(len(other))
		some := other[from:min(from+1+c.IntN(3), len(other))]
		c.f.Batches = slices.Insert(c.f.Batches, c.IntN(len(c.f.Batches)+1), some...)
		return "batches of another trace"
	}
	end := len(c.f.Batches)
	var last uint64
	for _, b := range c.f.Batches {
		last = max(last, b.Gen)
	}
	c.f.Batches = append(c.f.Batches, other...)
	c.shift(end, last+1-other[0].Gen)
	return "another trace behind"
}
