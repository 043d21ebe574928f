package main

import (
	"encoding/binary"
	"slices"
	"sort"

	"golang.org/x/exp/trace"

	"gotrace-bpf/selftests/reference/internal/tracefile"
)

// change is an event of experiment AllocFree, with all that follows from events before it.
type change struct {
	time     int64
	name     string // of the event
	args     [3]uint64
	kind     string // name of the type of an object
	function string // start function of the goroutine; "" is unknown
	g        int64  // -1: none
}

type history struct {
	changes []change
	sizes   []uint64 // of slots, by size class
}

// load reads a trace into memory.
func load(file string) (*history, error) {
	h := &history{sizes: slotSizes()}
	types := map[uint64]string{}
	functions := map[trace.GoID]string{}
	_, err := tracefile.WalkFile(file, func(_ int, ev *trace.Event) error {
		switch ev.Kind() {
		case trace.EventSync:
			types = map[uint64]string{}
			for _, batch := range ev.Sync().ExperimentalBatches["AllocFree"] {
				readTypes(batch.Data, types)
			}
		case trace.EventStateTransition:
			follow(ev.StateTransition(), functions)
		case trace.EventExperimental:
			x := ev.Experimental()
			c := change{time: int64(ev.Time()), name: x.Name, g: int64(ev.Goroutine())}
			for i := range x.Args {
				c.args[i] = x.ArgValue(i).Uint64()
			}
			c.kind = types[c.args[1]]
			c.function = functions[ev.Goroutine()]
			h.changes = append(h.changes, c)
		}
		return nil
	})
	return h, err
}

// follow notes the outermost frame of any stack of a goroutine.
func follow(st trace.StateTransition, functions map[trace.GoID]string) {
	if st.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	g := st.Resource.Goroutine()
	if _, to := st.Goroutine(); to == trace.GoNotExist {
		delete(functions, g)
		return
	}
	if functions[g] == "" {
		for f := range st.Stack.Frames() {
			functions[g] = f.Func
		}
	}
}

// readTypes reads the records id, address, size, bytes with pointers, length, name.
func readTypes(data []byte, types map[uint64]string) {
	if len(data) == 0 || data[0] != 0 {
		return
	}
	data = data[1:]
	for len(data) > 0 {
		var v [5]uint64
		for i := range v {
			n := 0
			v[i], n = binary.Uvarint(data)
			data = data[n:]
		}
		types[v[0]] = string(data[:v[4]])
		data = data[v[4]:]
	}
}

// slotSizes returns the sizes of Go's size classes, the first of which is that of large objects: what
// append makes of slices of bytes.
func slotSizes() []uint64 {
	sizes := []uint64{0}
	for n := 1; n <= 32768; n++ {
		size := uint64(cap(append([]byte(nil), make([]byte, n)...)))
		if size != sizes[len(sizes)-1] {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// span is one of objects; size is that of its slots.
type span struct{ start, end, size uint64 }

type object struct {
	*change
	bytes uint64
}

// heap is the state after some changes. Slots are found by their span in a sorted list, and live ones
// by their address. Of objects it has those that the query selects.
type heap struct {
	sizes  []uint64
	spans  []span // by start
	live   map[uint64]object
	stacks map[uint64]uint64 // bytes by id
}

const pageSize, unit = 8192, 8

func newHeap(sizes []uint64) *heap {
	return &heap{sizes: sizes, live: map[uint64]object{}, stacks: map[uint64]uint64{}}
}

func (h *heap) spanAt(address uint64) (int, bool) {
	i := sort.Search(len(h.spans), func(i int) bool { return h.spans[i].end > address })
	return i, i < len(h.spans) && h.spans[i].start <= address
}

// slot returns the address and size of the slot with that object.
func (h *heap) slot(id uint64) (address, size uint64, known bool) {
	i, known := h.spanAt(id * unit)
	if !known {
		return 0, 0, false
	}
	s := h.spans[i]
	return s.start + (id*unit-s.start)/s.size*s.size, s.size, true
}

// apply makes a change. It returns the object that began, of 0 bytes if it shares the slot of
// another one, and the one that ended.
func (h *heap) apply(c *change, q *query) (began, ended *object) {
	switch c.name {
	case "Span", "SpanAlloc":
		h.addSpan(c)
	case "SpanFree":
		if i, found := h.spanAt(c.args[0] * pageSize); found {
			h.spans = append(h.spans[:i], h.spans[i+1:]...)
		}
	case "HeapObject", "HeapObjectAlloc":
		address, size, known := h.slot(c.args[0])
		if !known || !q.selects(c) {
			return nil, nil
		}
		if _, shared := h.live[address]; shared {
			return &object{c, 0}, nil
		}
		o := object{c, size}
		h.live[address] = o
		return &o, nil
	case "HeapObjectFree":
		address, _, _ := h.slot(c.args[0])
		if o, found := h.live[address]; found {
			delete(h.live, address)
			return nil, &o
		}
	case "GoroutineStack", "GoroutineStackAlloc":
		if c.args[1] > 0 {
			h.stacks[c.args[0]] = 1 << (c.args[1] - 1)
		}
	case "GoroutineStackFree":
		delete(h.stacks, c.args[0])
	}
	return nil, nil
}

func (h *heap) addSpan(c *change) {
	class := c.args[2]
	if class&1 != 0 {
		return
	}
	s := span{c.args[0] * pageSize, (c.args[0] + c.args[1]) * pageSize, h.sizes[class>>2]}
	if s.size == 0 {
		s.size = s.end - s.start
	}
	i, _ := h.spanAt(s.start)
	h.spans = slices.Insert(h.spans, i, s)
}

func (h *heap) state(time int64) state {
	s := state{Time: time, Spans: uint64(len(h.spans)), Stacks: uint64(len(h.stacks))}
	for _, o := range h.live {
		s.Objects++
		s.Bytes += o.bytes
	}
	for _, span := range h.spans {
		s.SpanBytes += span.end - span.start
	}
	for _, bytes := range h.stacks {
		s.StackBytes += bytes
	}
	return s
}
