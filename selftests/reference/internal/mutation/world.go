package mutation

// This file creates small synthetic traces, as additional bases: it adds random events, a few of
// every kind, and keeps those that Go's reader accepts. So they reach states that real programs and
// Go's golden tests rarely or never reach, without a model of the rules. Of those that it rejects,
// some are kept as mutants, for each reason for rejection.

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"

	"gotrace-bpf/selftests/reference/internal/expected"
	"gotrace-bpf/selftests/reference/internal/wire"
)

// The objects of the events of such a trace: few of each, so that events share them.
var small = values{
	"g": {1, 2, 3, 4, 5, math.MaxUint64}, "p": {0, 1, 2}, "m": {1, 2, 3, 4, math.MaxUint64},
	"string": {0, 1, 2, 3}, "stack": {0, 1, 2}, "task": {0, 1, 2, 3}, "seq": {1, 2, 3, 4, 5, 6},
	"gstatus": {1, 1, 2, 2, 3, 3, 4, 4, 0, 5, 258}, "pstatus": {1, 1, 2, 2, 3, 3, 4, 4, 0, 5},
	"value": {0, 5, 1 << 40}, "gen": {1, 2, 3}, "time": {100, 200},
}

// broken are traces that one more event made invalid.
type broken struct {
	found map[string]int // number for each reason
	list  [][]Base       // the first ones of all reasons, the second ones, ...
}

const brokenOfReason = 12

var digits = regexp.MustCompile(`[0-9]+`)

func (t *broken) add(f *wire.File, name string, e *wire.Event, reason string) {
	event := wire.SpecOf(e.Type).Name
	class := event + digits.ReplaceAllString(reason, "")
	n := t.found[class]
	if n == brokenOfReason {
		return
	}
	t.found[class]++
	if n == len(t.list) {
		t.list = append(t.list, nil)
	}
	t.list[n] = append(t.list[n], Base{fmt.Sprint(name, " and ", event, " ", e.Args), f.Bytes()})
}

// makeWorld returns the n-th trace of a seed, and adds rejected ones to broken.
func makeWorld(seed, n uint64, broke *broken) *wire.File {
	r := rand.New(rand.NewPCG(^seed, n))
	f := &wire.File{Header: []byte("go 1.22 trace\x00\x00\x00")}
	c := &change{Rand: r, f: f, other: f, known: small}
	version := []int{22, 23, 25, 26}[r.IntN(4)]
	c.setVersion(version)
	gen := uint64(1 + r.IntN(2)*r.IntN(5))
	for range 1 + r.IntN(3) {
		c.generation(gen, version, fmt.Sprint("world-", n), broke)
		gen++
	}
	return f
}

// generation adds the batches of a generation: sync, tables, one for each of some threads; then
// events.
func (c *change) generation(gen uint64, version int, name string, broke *broken) {
	add := func(m, time uint64, events ...*wire.Event) *wire.Batch {
		b := &wire.Batch{Type: wire.EventBatch, Gen: gen, M: m, Time: time, Events: events}
		c.f.Batches = append(c.f.Batches, b)
		return b
	}
	start := gen * 10000
	sync := add(math.MaxUint64, start, made("Frequency", 1e9-uint64(c.IntN(2))*7e8))
	convertSync(sync, version)
	strings := add(math.MaxUint64, start, &wire.Event{Type: wire.Strings})
	for id := range uint64(3) {
		strings.Events = append(strings.Events, stringOf(id+1, []byte{'a' + byte(id)}))
	}
	add(math.MaxUint64, start, &wire.Event{Type: wire.Stacks},
		&wire.Event{Type: wire.Stack, Args: []uint64{1, 1}, Frames: []uint64{4096, 1, 2, 10}},
		&wire.Event{Type: wire.Stack, Args: []uint64{2, 2},
			Frames: []uint64{4097, 3, 2, 11, 4096, 1, 2, 10}})
	var threads []*wire.Batch
	for m := range uint64(2 + c.IntN(3)) {
		b := add(m+1, start+uint64(c.IntN(3)*100))
		if threads = append(threads, b); len(c.f.Batches) < 8 && c.IntN(4) > 0 { // the first generation
			b.Events = append(b.Events, made("ProcStatus", 1, m, 1), made("GoStatus", 1, m+1, m+1, 2))
		}
	}
	threads = append(threads, add(math.MaxUint64, start))
	if version >= 26 {
		c.f.Batches = append(c.f.Batches, &wire.Batch{Type: wire.EndOfGeneration})
	}
	for left := 100 + c.IntN(400); left > 0; left-- {
		b := threads[c.IntN(len(threads))]
		e := c.likely(gen)
		b.Events = append(b.Events, e)
		if v := expected.Of(bytes.NewReader(c.f.Bytes()), nil); v.Kind != expected.OK {
			broke.add(c.f, name, e, v.Reason)
			b.Events = b.Events[:len(b.Events)-1]
		}
	}
}

func made(name string, args ...uint64) *wire.Event {
	return &wire.Event{Type: wire.SpecNamed(name).Type, Args: args}
}

// Events that enable the others; half of the attempts are of these.
var frequent = []string{
	"ProcStatus", "GoStatus", "GoStatusStack", "ProcStart", "ProcSteal", "GoStart", "GoStart", "GoCreate",
	"GoCreateBlocked", "GoUnblock", "GoBlock", "GoSyscallBegin", "GoSyscallBegin", "GoSyscallBegin",
	"GoSyscallEnd", "GoSyscallEndBlocked", "GoCreateSyscall", "GoDestroySyscall", "GoSwitch", "GoSwitch",
	"GoSwitchDestroy", "UserRegionBegin", "UserRegionEnd", "UserTaskBegin", "STWBegin", "STWEnd",
}

// likely creates an event that probably fits at the end of a thread's batch: its sequence number is
// usually the next one of its object.
func (c *change) likely(gen uint64) *wire.Event {
	e := c.event()
	for e.Type >= 128 && c.IntN(8) > 0 { // experimental: without effect
		e = c.event()
	}
	if c.IntN(2) == 0 {
		e = c.eventOf(wire.SpecNamed(frequent[c.IntN(len(frequent))]))
	}
	if e.Type == wire.SpecNamed("GoSyscallBegin").Type && c.IntN(3) > 0 {
		e.Args[1] = 1 + uint64(c.IntN(3)) // of the thread's P, which the event does not name
	}
	kinds := wire.SpecOf(e.Type).Kinds
	for i := 2; i < len(kinds); i++ {
		if kinds[i] == "seq" && c.IntN(3) > 0 {
			e.Args[i] = c.lastSequence(gen, kinds[i-1], e.Args[i-1]) + 1
		}
	}
	return e
}

// lastSequence is the highest sequence number that a goroutine or P has in a generation.
func (c *change) lastSequence(gen uint64, kind string, id uint64) uint64 {
	var last uint64
	for _, b := range c.f.Batches {
		if b.Gen != gen {
			continue
		}
		for _, e := range b.Events {
			kinds := wire.SpecOf(e.Type).Kinds
			if len(kinds) > 2 && kinds[1] == kind && e.Args[1] == id && kinds[2] == "seq" {
				last = max(last, e.Args[2])
			}
		}
	}
	return last
}
