package mutation

// This file changes batches: their order, their headers, their boundaries.

import (
	"fmt"
	"math"
	"slices"

	"gotrace-bpf/selftests/reference/internal/wire"
)

var ofBatches = []mutation{
	{4, dropBatch}, {3, doubleBatch}, {5, swapBatches}, {3, moveBatch}, {4, splitBatch}, {3, mergeBatches},
	{6, changeThread}, {4, changeTime}, {3, changeGeneration}, {3, emptyBatch}, {3, insertExperimental},
	{2, makeExperimental}, {3, lieAboutSize}, {2, garbage}, {3, padBatch}, {3, mixKinds}, {2, withoutThread},
	{4, crowd},
}

// batch selects one, and returns its position; false if there is none.
func (c *change) batch() (*wire.Batch, int, bool) {
	if len(c.f.Batches) == 0 {
		return nil, 0, false
	}
	i := c.IntN(len(c.f.Batches))
	return c.f.Batches[i], i, true
}

// title describes a batch by its contents.
func title(b *wire.Batch) string {
	if b.Type != wire.EventBatch {
		return wire.SpecOf(b.Type).Name
	}
	if s := wire.SpecOf(b.Kind()); s != nil && !s.Timed() {
		return "batch of " + s.Name
	}
	return fmt.Sprintf("batch of %d events", len(b.Events))
}

func dropBatch(c *change) string {
	b, i, ok := c.batch()
	if !ok {
		return ""
	}
	c.f.Batches = slices.Delete(c.f.Batches, i, i+1)
	return "drop " + title(b)
}

func doubleBatch(c *change) string {
	b, i, ok := c.batch()
	if !ok {
		return ""
	}
	c.f.Batches = slices.Insert(c.f.Batches, i, b.Clone())
	return "double " + title(b)
}

func swapBatches(c *change) string {
	a, i, ok := c.batch()
	if !ok || i+1 >= len(c.f.Batches) {
		return ""
	}
	j := min(i+1+c.IntN(4), len(c.f.Batches)-1)
	c.f.Batches[i], c.f.Batches[j] = c.f.Batches[j], a
	return "swap " + title(a) + " with " + title(c.f.Batches[i])
}

func moveBatch(c *change) string {
	b, i, ok := c.batch()
	if !ok {
		return ""
	}
	c.f.Batches = slices.Delete(c.f.Batches, i, i+1)
	c.f.Batches = slices.Insert(c.f.Batches, c.IntN(len(c.f.Batches)+1), b)
	return "move " + title(b)
}

func splitBatch(c *change) string {
	b, i, ok := c.batch()
	if !ok || len(b.Events) < 2 {
		return ""
	}
	at := 1 + c.IntN(len(b.Events)-1)
	rest := *b
	rest.Events = b.Events[at:]
	b.Events, b.Rest = b.Events[:at:at], nil
	if c.IntN(2) == 0 {
		rest.Time = c.value("time", b.Time)
	}
	c.f.Batches = slices.Insert(c.f.Batches, i+1, &rest)
	return "split " + title(b)
}

func mergeBatches(c *change) string {
	a, i, ok := c.batch()
	if !ok || i+1 >= len(c.f.Batches) {
		return ""
	}
	b := c.f.Batches[i+1]
	if a.Type != wire.EventBatch || b.Type != wire.EventBatch {
		return ""
	}
	a.Events = append(a.Events, b.Events...)
	c.f.Batches = slices.Delete(c.f.Batches, i+1, i+2)
	return "merge " + title(b)
}

func changeThread(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	b.M = c.value("m", b.M)
	return fmt.Sprintf("thread of %s is %d", title(b), b.M)
}

func withoutThread(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	b.M = math.MaxUint64
	return "no thread for " + title(b)
}

func changeTime(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	if c.IntN(2) == 0 {
		b.Time += uint64(c.Int64N(1<<20)) - 1<<19
	} else {
		b.Time = c.value("time", b.Time)
	}
	return fmt.Sprintf("time of %s is %d", title(b), b.Time)
}

func changeGeneration(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	b.Gen = c.value("gen", b.Gen)
	return fmt.Sprintf("generation of %s is %d", title(b), b.Gen)
}

func emptyBatch(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	was := title(b)
	b.Events, b.Rest = nil, nil
	return "empty " + was
}

func insertExperimental(c *change) string {
	b, i, ok := c.batch()
	if !ok {
		return ""
	}
	e := &wire.Batch{
		Type: wire.ExperimentalBatch, Exp: byte(1 + c.IntN(2)*c.IntN(3)),
		Gen: b.Gen, M: b.M, Time: b.Time, Rest: make([]byte, c.IntN(40)),
	}
	if c.IntN(8) == 0 {
		e.Exp = 0
	}
	c.f.Batches = slices.Insert(c.f.Batches, i, e)
	return fmt.Sprintf("insert batch of experiment %d", e.Exp)
}

func makeExperimental(c *change) string {
	b, _, ok := c.batch()
	if !ok || b.Type == wire.EndOfGeneration {
		return ""
	}
	was := title(b)
	if b.Type == wire.EventBatch {
		b.Type, b.Exp = wire.ExperimentalBatch, byte(c.IntN(3))
	} else {
		b.Type = wire.EventBatch
	}
	return was + " becomes " + title(b)
}

func lieAboutSize(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	b.Lie, b.Size = true, c.value("size", b.Size)
	return fmt.Sprintf("size of %s is %d", title(b), b.Size)
}

func garbage(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	for range 1 + c.IntN(8) {
		b.Rest = append(b.Rest[:len(b.Rest):len(b.Rest)], byte(c.IntN(256)))
	}
	return "garbage after " + title(b)
}

func padBatch(c *change) string {
	b, _, ok := c.batch()
	if !ok {
		return ""
	}
	b.Pad = 1 + c.IntN(10)
	return "pad header of " + title(b)
}

// mixKinds inserts an event into a batch of another kind.
func mixKinds(c *change) string {
	a, _, ok := c.batch()
	b, _, _ := c.batch()
	if !ok || len(a.Events) == 0 || b.Type != wire.EventBatch {
		return ""
	}
	e := a.Events[c.IntN(min(len(a.Events), 3))].Clone()
	b.Events = slices.Insert(b.Events, c.IntN(len(b.Events)+1), e)
	return fmt.Sprintf("%s into %s", wire.SpecOf(e.Type).Name, title(b))
}

// crowd adds many threads whose events have nearly the same times, and one that must wait: a reader
// then sorts the threads, and its output shows the order of those with equal times.
func crowd(c *change) string {
	at, i, ok := c.batch()
	if !ok {
		return ""
	}
	n := 2 + c.IntN(60)
	start, spread := at.Time, 1+c.IntN(4)
	if c.IntN(2) == 0 {
		start -= min(start, 1000)
	}
	var more []*wire.Batch
	for k := range n {
		e := made("ProcStatus", uint64(c.IntN(spread)), uint64(5000+k), 2)
		if c.IntN(8) == 0 {
			waits := []string{"GoUnblock", "GoStart", "ProcStart", "ProcSteal"}[c.IntN(4)]
			e = c.eventOf(wire.SpecNamed(waits))
			e.Args[0] = 0
		}
		more = append(more, &wire.Batch{
			Type: wire.EventBatch, Gen: at.Gen, M: uint64(9000 + k), Time: start, Events: []*wire.Event{e},
		})
	}
	c.f.Batches = slices.Insert(c.f.Batches, i, more...)
	return fmt.Sprintf("%d more threads", n)
}
