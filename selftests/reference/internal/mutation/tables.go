package mutation

// This file changes strings, stacks, CPU samples and clocks.

import (
	"fmt"
	"slices"

	"gotrace-bpf/selftests/reference/internal/wire"
)

var ofTables = []mutation{
	{5, dropEntry}, {4, doubleEntry}, {5, changeID}, {3, changeLength}, {3, changeString}, {4, changeFrame},
	{4, swapIDs}, {5, changeClock}, {3, doubleClock}, {2, dropClock}, {5, insertSample}, {3, changeSample},
	{2, fill},
}

// entry selects an event of one of the types, with equal probability.
func (c *change) entry(types ...byte) (place, bool) {
	var found []place
	for _, b := range c.f.Batches {
		for i, e := range b.Events {
			if slices.Contains(types, e.Type) {
				found = append(found, place{b, i})
			}
		}
	}
	if len(found) == 0 {
		return place{}, false
	}
	return found[c.IntN(len(found))], true
}

func dropEntry(c *change) string {
	p, ok := c.entry(wire.String, wire.Stack)
	if !ok {
		return ""
	}
	name, id := p.name(), p.event().Args[0]
	p.b.Events = slices.Delete(p.b.Events, p.i, p.i+1)
	return fmt.Sprint("drop ", name, " ", id)
}

func doubleEntry(c *change) string {
	p, ok := c.entry(wire.String, wire.Stack)
	if !ok {
		return ""
	}
	again := p.event().Clone()
	what := "double "
	if c.IntN(2) == 0 {
		what = "double with new id "
		kind := map[byte]string{wire.String: "string", wire.Stack: "stack"}[again.Type]
		again.Args[0] = c.value(kind, again.Args[0])
	}
	p.b.Events = slices.Insert(p.b.Events, p.i+1, again)
	return what + p.name()
}

func changeID(c *change) string {
	p, ok := c.entry(wire.String, wire.Stack)
	if !ok {
		return ""
	}
	e := p.event()
	old := e.Args[0]
	e.Args[0] = c.value("", old)
	return fmt.Sprintf("%s %d to %d", p.name(), old, e.Args[0])
}

func swapIDs(c *change) string {
	a, ok := c.entry(wire.String, wire.Stack)
	if !ok {
		return ""
	}
	b, _ := c.entry(a.event().Type)
	x, y := a.event(), b.event()
	x.Args[0], y.Args[0] = y.Args[0], x.Args[0]
	return fmt.Sprintf("swap %s %d and %d", a.name(), x.Args[0], y.Args[0])
}

// changeLength sets a wrong length of a string or stack.
func changeLength(c *change) string {
	p, ok := c.entry(wire.String, wire.Stack)
	if !ok {
		return ""
	}
	e := p.event()
	length := &e.Len
	if e.Type == wire.Stack {
		length = &e.Args[1]
	}
	*length = c.value("", *length)
	return fmt.Sprintf("%s of length %d", p.name(), *length)
}

// changeString makes it empty, as long as permitted or longer, or invalid UTF-8.
func changeString(c *change) string {
	p, ok := c.entry(wire.String)
	if !ok {
		return ""
	}
	e := p.event()
	e.Data = slices.Clone(e.Data)
	switch c.IntN(4) {
	case 0:
		e.Data = nil
	case 1:
		e.Data = slices.Repeat([]byte("x"), 1023+c.IntN(3))
	case 2:
		e.Data = append(e.Data, 0xff, 0, '"', '\\', '\n', 0xed, 0xa0, 0x80)
	case 3:
		e.Data = append(e.Data, "é€\u2028\U0001f600\ufffd"...)
	}
	e.Len = uint64(len(e.Data))
	return fmt.Sprintf("string %d of %d bytes", e.Args[0], e.Len)
}

// changeFrame changes a PC, a string or a line, removes all frames or adds too many.
func changeFrame(c *change) string {
	p, ok := c.entry(wire.Stack)
	if !ok || len(p.event().Frames) == 0 {
		return ""
	}
	e := p.event()
	switch c.IntN(6) {
	case 0:
		e.Frames = nil
	case 1:
		frames := 127 + c.IntN(3)
		e.Frames = slices.Repeat(e.Frames[:4], frames)
	case 2:
		e.Frames = append(e.Frames, e.Frames[:4]...)
	default:
		i := c.IntN(len(e.Frames))
		e.Frames[i] = c.value(map[int]string{1: "string", 2: "string"}[i%4], e.Frames[i])
	}
	e.Args[1] = uint64(len(e.Frames) / 4)
	return fmt.Sprint("frames of stack ", e.Args[0])
}

var clocks = []byte{wire.Frequency, wire.ClockSnapshot}

func changeClock(c *change) string {
	p, ok := c.entry(clocks...)
	if !ok {
		return ""
	}
	e := p.event()
	i := c.IntN(len(e.Args))
	if e.Type == wire.Frequency && c.IntN(2) == 0 {
		e.Args[i] = []uint64{0, 1, 2, 3, 7, 1000, 15625000, 1e9, 1e9 + 1, 3e9, 1 << 40,
			1 << 63}[c.IntN(12)]
	} else {
		e.Args[i] = c.value("", e.Args[i])
	}
	return fmt.Sprintf("%s %s is %d", p.name(), wire.SpecOf(e.Type).Args[i], e.Args[i])
}

func doubleClock(c *change) string {
	p, ok := c.entry(append(clocks, wire.Sync)...)
	if !ok {
		return ""
	}
	p.b.Events = slices.Insert(p.b.Events, p.i+1, p.event().Clone())
	return "double " + p.name()
}

func dropClock(c *change) string {
	p, ok := c.entry(append(clocks, wire.Sync)...)
	if !ok {
		return ""
	}
	name := p.name()
	p.b.Events = slices.Delete(p.b.Events, p.i, p.i+1)
	return "drop " + name
}

// insertSample adds CPU samples, in a batch of their own or in an existing one.
func insertSample(c *change) string {
	at, i, ok := c.batch()
	if !ok {
		return ""
	}
	b := &wire.Batch{Type: wire.EventBatch, Gen: at.Gen, M: c.like("m"), Time: c.like("time"),
		Events: []*wire.Event{{Type: wire.CPUSamples}}}
	if p, ok := c.entry(wire.CPUSamples); ok && c.IntN(2) == 0 {
		b = p.b
	} else {
		c.f.Batches = slices.Insert(c.f.Batches, i, b)
	}
	n := 1 + c.IntN(30)
	for range n {
		e := c.eventOf(wire.SpecOf(wire.CPUSample))
		if c.IntN(2) == 0 {
			e.Args[0] += uint64(c.IntN(100000))
		}
		if c.IntN(4) == 0 {
			e.Args[3] = 0 // no goroutine
		}
		b.Events = append(b.Events, e)
	}
	return fmt.Sprintf("insert %d samples", n)
}

func changeSample(c *change) string {
	p, ok := c.entry(wire.CPUSample)
	if !ok {
		return ""
	}
	e, s := p.event(), wire.SpecOf(wire.CPUSample)
	i := c.IntN(len(e.Args))
	e.Args[i] = c.value(s.Kinds[i], e.Args[i])
	return fmt.Sprintf("sample's %s is %d", s.Args[i], e.Args[i])
}

// fill adds strings to a batch up to its maximum size, or a byte more or less.
func fill(c *change) string {
	p, ok := c.entry(wire.Strings)
	if !ok {
		return ""
	}
	left := 65535 + c.IntN(3) - p.b.DataSize()
	for id := uint64(1 << 20); left > 400; id++ {
		size := 600
		if left < 1000+6 {
			size = left - 6 // its type, three bytes of id, two of the length
		}
		left -= size + 6
		p.b.Events = append(p.b.Events, stringOf(id, make([]byte, size)))
	}
	return fmt.Sprintf("batch of %d bytes", p.b.DataSize())
}

func stringOf(id uint64, data []byte) *wire.Event {
	return &wire.Event{Type: wire.String, Args: []uint64{id}, Len: uint64(len(data)), Data: data}
}
