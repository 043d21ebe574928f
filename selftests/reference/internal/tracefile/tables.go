package tracefile

// This file interns strings and stacks. Traces that are to be compared share one Tables, so that
// equal texts and equal stacks have equal ids and a transition costs a few machine words.

import (
	"encoding/binary"

	"golang.org/x/exp/trace"
)

// Frame is one frame of a stack. PCs and files are left out: the function and its line identify
// the place, and tools may spell PCs differently (call or return address).
type Frame struct {
	Func string
	Line uint64
}

type frameID struct {
	fn   int32
	line uint64
}

// Tables interns strings and stacks. Id 0 is the empty one of each.
type Tables struct {
	stringIDs map[string]int32
	strings   []string
	stackIDs  map[string]int32
	stacks    [][]frameID
	key       []byte
}

// NewTables returns empty tables.
func NewTables() *Tables {
	return &Tables{
		stringIDs: map[string]int32{"": 0},
		strings:   []string{""},
		stackIDs:  map[string]int32{"": 0},
		stacks:    [][]frameID{nil},
	}
}

// ID returns the id of s.
func (t *Tables) ID(s string) int32 {
	id, ok := t.stringIDs[s]
	if !ok {
		id = int32(len(t.strings))
		t.strings = append(t.strings, s)
		t.stringIDs[s] = id
	}
	return id
}

// String returns the string of an id.
func (t *Tables) String(id int32) string { return t.strings[id] }

// StackID returns the id of a stack's frames, leaf first. Frames without a function are left out:
// the runtime writes a lone frame at PC 0 where it skipped more frames than there were.
func (t *Tables) StackID(s trace.Stack) int32 {
	var frames []frameID
	for f := range s.Frames() {
		if f.Func == "" {
			continue
		}
		frames = append(frames, frameID{t.ID(f.Func), f.Line})
	}
	return t.intern(frames)
}

func (t *Tables) intern(frames []frameID) int32 {
	t.key = t.key[:0]
	for _, f := range frames {
		t.key = binary.AppendUvarint(t.key, uint64(f.fn))
		t.key = binary.AppendUvarint(t.key, f.line)
	}
	id, ok := t.stackIDs[string(t.key)]
	if !ok {
		id = int32(len(t.stacks))
		t.stacks = append(t.stacks, frames)
		t.stackIDs[string(t.key)] = id
	}
	return id
}

// Relabel returns the id of stack id with its leaf function renamed; the comparer's self-test
// uses it to seed a wrong frame.
func (t *Tables) Relabel(id int32, leaf string) int32 {
	frames := append([]frameID(nil), t.stacks[id]...)
	if len(frames) == 0 {
		frames = make([]frameID, 1)
	}
	frames[0].fn = t.ID(leaf)
	return t.intern(frames)
}

// Cut returns the id of a stack without its outermost frame.
func (t *Tables) Cut(id int32) int32 { return t.intern(t.stacks[id][:len(t.stacks[id])-1]) }

// Depth returns the number of frames of a stack.
func (t *Tables) Depth(id int32) int { return len(t.stacks[id]) }

// Leaf returns the leaf frame of a stack, and false for an empty one.
func (t *Tables) Leaf(id int32) (Frame, bool) {
	s := t.stacks[id]
	if len(s) == 0 {
		return Frame{}, false
	}
	return Frame{t.strings[s[0].fn], s[0].line}, true
}

// Root returns the outermost frame of a stack, and false for an empty one.
func (t *Tables) Root(id int32) (Frame, bool) {
	s := t.stacks[id]
	if len(s) == 0 {
		return Frame{}, false
	}
	f := s[len(s)-1]
	return Frame{t.strings[f.fn], f.line}, true
}

// Frames returns a stack's frames, leaf first.
func (t *Tables) Frames(id int32) []Frame {
	out := make([]Frame, len(t.stacks[id]))
	for i, f := range t.stacks[id] {
		out[i] = Frame{t.strings[f.fn], f.line}
	}
	return out
}
