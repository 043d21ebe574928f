package mutation

// This file selects numbers: another goroutine of the trace, the next sequence number, a very large
// length. Numbers that a trace already uses reach more rules than random ones.

import (
	"math"

	"gotrace-bpf/selftests/reference/internal/wire"
)

// values are the numbers that a trace uses, by meaning.
type values map[string][]uint64

func collect(f *wire.File) values {
	v := values{}
	if f == nil {
		return v
	}
	for _, b := range f.Batches {
		if b.Type == wire.EndOfGeneration {
			continue
		}
		v["gen"] = append(v["gen"], b.Gen)
		v["m"] = append(v["m"], b.M)
		v["time"] = append(v["time"], b.Time)
		for _, e := range b.Events {
			v.add(e)
		}
	}
	return v
}

func (v values) add(e *wire.Event) {
	switch e.Type {
	case wire.String:
		v["string"] = append(v["string"], e.Args[0])
	case wire.Stack:
		v["stack"] = append(v["stack"], e.Args[0])
	default:
		for i, kind := range wire.SpecOf(e.Type).Kinds {
			v[kind] = append(v[kind], e.Args[i])
		}
	}
}

// Limits of what readers represent: bytes, table sizes, batch and string limits, signed and
// unsigned.
var hostile = []uint64{
	1, 3, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 65535, 65536, 65537, 1 << 24,
	math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32, 1<<32 + 1, 1 << 53, 1 << 62,
	math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64,
}

// value returns a number of a kind to replace old.
func (c *change) value(kind string, old uint64) uint64 {
	switch n := c.IntN(100); {
	case n < 8:
		return hostile[c.IntN(len(hostile))]
	case n < 16:
		return uint64(c.IntN(9))
	case n < 40, kind == "seq" && n < 80:
		return old + uint64(1-2*c.IntN(2))
	case n < 50:
		return old ^ 1<<c.IntN(8)
	}
	switch kind {
	case "gstatus", "pstatus":
		return uint64(c.IntN(6))
	case "dt", "time":
		return uint64(c.Int64N(1 << c.IntN(30)))
	}
	return c.like(kind)
}

// like returns a number of that kind that occurs in the trace.
func (c *change) like(kind string) uint64 {
	known := c.known[kind]
	if len(known) == 0 {
		return uint64(c.IntN(9))
	}
	return known[c.IntN(len(known))]
}

// event creates an event of a thread, with numbers that the trace uses.
func (c *change) event() *wire.Event {
	var s *wire.Spec
	for s == nil || !s.Timed() {
		s = wire.Specs()[c.IntN(len(wire.Specs()))]
	}
	return c.eventOf(s)
}

func (c *change) eventOf(s *wire.Spec) *wire.Event {
	e := &wire.Event{Type: s.Type}
	for _, kind := range s.Kinds {
		v := c.like(kind)
		switch {
		case kind == "dt":
			v = uint64(c.IntN(1000))
		case kind == "seq" && c.IntN(2) == 0:
			v++
		}
		e.Args = append(e.Args, v)
	}
	return e
}
