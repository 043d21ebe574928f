package main

// This file makes traces of a random load.

import (
	"math"
	"math/rand/v2"

	"gotrace-bpf/selftests/reference/internal/wire"
)

const (
	mainG = 1
	workG = 2
	logG  = 3
)

type maker struct {
	events []*wire.Event
	seq    [4]uint64 // by goroutine
	random *rand.Rand
	spread float64 // of times, 0: all are the same
}

func (m *maker) add(name string, dt float64, args ...uint64) {
	m.events = append(m.events, &wire.Event{Type: wire.SpecNamed(name).Type, Args: append([]uint64{uint64(dt)}, args...)})
}

// about is a random time, in ns: its logarithm is normally distributed.
func (m *maker) about(ns float64) float64 { return ns * math.Exp(m.spread*m.random.NormFloat64()) }

// call has a goroutine work while the one that runs waits for it.
func (m *maker) call(g uint64, ns float64) {
	m.seq[g]++
	m.add("GoUnblock", 500, g, m.seq[g], 0)
	m.add("GoBlock", 200, 1, 0)
	m.seq[g]++
	m.add("GoStart", m.about(2000), g, m.seq[g])
	m.seq[mainG]++
	m.add("GoUnblock", m.about(ns), mainG, m.seq[mainG], 0)
	m.add("GoBlock", 200, 1, 0)
	m.seq[mainG]++
	m.add("GoStart", m.about(2000), mainG, m.seq[mainG])
}

// madeTrace is a program with one P. A request takes about 300 us, of which main.work takes 200 us. The
// program works as much for what is no request; the share of requests is `share`.
func madeTrace(seed uint64, slower float64, requests int, share, spread float64) []byte {
	m := &maker{random: rand.New(rand.NewPCG(seed, 1)), spread: spread}
	m.add("ProcStatus", 1, 0, 1)
	m.add("GoStatus", 1, mainG, 0, 2)
	for g := uint64(workG); g <= logG; g++ {
		m.add("GoStatusStack", 1, g, math.MaxUint64, 4, g)
	}
	f := &wire.File{Header: []byte("go 1.25 trace\x00\x00\x00")}
	for i := range requests {
		isRequest := share == 1 || m.random.Float64() < share
		if isRequest {
			m.add("UserTaskBegin", 100, uint64(i+1), 0, 5, 1)
		}
		m.call(workG, 200e3*slower)
		m.call(logG, 50e3)
		if isRequest {
			m.add("UserTaskEnd", m.about(20e3), uint64(i+1), 1)
		}
		m.add("GoStop", 100, 1, 1)
		m.seq[mainG]++
		m.add("GoStart", m.about(10e3), mainG, m.seq[mainG])
		if len(m.events) > 4000 || i+1 == requests {
			f.Batches = append(f.Batches, &wire.Batch{Type: wire.EventBatch, Gen: 1, Time: 1, Events: m.events})
			m.events = nil
		}
	}
	// The time of a batch is that of the event before it.
	time := uint64(1)
	for _, b := range f.Batches {
		b.Time = time
		for _, e := range b.Events {
			time += e.Args[0]
		}
	}
	f.Batches = append(f.Batches, tables()...)
	return f.Bytes()
}

func tables() []*wire.Batch {
	text := func(id uint64, s string) *wire.Event {
		return &wire.Event{Type: wire.String, Args: []uint64{id}, Len: uint64(len(s)), Data: []byte(s)}
	}
	table := func(events ...*wire.Event) *wire.Batch {
		return &wire.Batch{Type: wire.EventBatch, Gen: 1, M: math.MaxUint64, Time: 1, Events: events}
	}
	stacks := []*wire.Event{{Type: wire.Stacks}}
	for id := uint64(mainG); id <= logG; id++ {
		stacks = append(stacks, &wire.Event{Type: wire.Stack, Args: []uint64{id, 1}, Frames: []uint64{id << 12, id + 1, 6, id}})
	}
	return []*wire.Batch{
		table(&wire.Event{Type: wire.Sync}, &wire.Event{Type: wire.Frequency, Args: []uint64{1e9}},
			&wire.Event{Type: wire.ClockSnapshot, Args: []uint64{0, 1, 1, 0}}),
		table(stacks...),
		table(&wire.Event{Type: wire.Strings}, text(1, "chan receive"), text(2, "main.main"), text(3, "main.work"),
			text(4, "main.log"), text(5, "GET /work"), text(6, "main.go")),
	}
}
