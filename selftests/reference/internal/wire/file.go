package wire

// This file parses a binary trace and writes one.

import (
	"encoding/binary"
	"errors"
)

// HeaderSize is the length of "go 1.NN trace" and its three zero bytes.
const HeaderSize = 16

// File is a whole trace.
type File struct {
	Header  []byte
	Batches []*Batch
	Tail    []byte // what follows the last readable batch
}

// Batch is one batch, or an end-of-generation mark, which has only its Type.
type Batch struct {
	Type         byte // EventBatch, ExperimentalBatch or EndOfGeneration
	Exp          byte // of an ExperimentalBatch
	Gen, M, Time uint64
	Size         uint64 // from the header; Bytes writes the correct number unless Lie
	Lie          bool
	Pad          int // bytes by which each number of the header is longer than necessary
	Events       []*Event
	Rest         []byte // data at the end that could not be parsed as events
}

// Event is one event, also one of a table.
type Event struct {
	Type   byte
	Args   []uint64
	Frames []uint64 // of a Stack: pc, func, file, line of each frame; Args[1] has their number
	Len    uint64   // of a String: the encoded length of Data
	Data   []byte
	Pad    int
}

// Parse parses a trace. It fails only on a header that is not that of a v2 trace; all other errors
// end up in Rest or Tail.
func Parse(data []byte) (*File, error) {
	if len(data) < HeaderSize || string(data[:5]) != "go 1." || string(data[7:13]) != " trace" {
		return nil, errors.New("no trace")
	}
	if version := string(data[5:7]); version < "22" || version > "99" {
		return nil, errors.New("no v2 trace")
	}
	f := &File{Header: data[:HeaderSize]}
	r := reader{data[HeaderSize:]}
	for {
		before := r.rest
		b, ok := r.batch()
		if !ok {
			f.Tail = before
			return f, nil
		}
		f.Batches = append(f.Batches, b)
	}
}

// Clone copies everything that a change of the copy could reach, but not the bytes of strings.
func (f *File) Clone() *File {
	out := &File{Header: append([]byte(nil), f.Header...), Tail: f.Tail}
	for _, b := range f.Batches {
		out.Batches = append(out.Batches, b.Clone())
	}
	return out
}

// Clone copies a batch.
func (b *Batch) Clone() *Batch {
	out := *b
	out.Events = make([]*Event, len(b.Events))
	for i, e := range b.Events {
		out.Events[i] = e.Clone()
	}
	return &out
}

// Clone copies an event.
func (e *Event) Clone() *Event {
	out := *e
	out.Args = append([]uint64(nil), e.Args...)
	out.Frames = append([]uint64(nil), e.Frames...)
	return &out
}

// Kind is the type of the batch's first event, which determines the contents; 0 for an empty one.
func (b *Batch) Kind() byte {
	if len(b.Events) == 0 {
		return 0
	}
	return b.Events[0].Type
}

// Timed reports whether it is a batch of a thread's events.
func (b *Batch) Timed() bool {
	s := SpecOf(b.Kind())
	return b.Type == EventBatch && s != nil && s.Timed()
}

// Bytes writes the trace.
func (f *File) Bytes() []byte {
	out := append([]byte(nil), f.Header...)
	for _, b := range f.Batches {
		out = b.append(out)
	}
	return append(out, f.Tail...)
}

func (b *Batch) append(out []byte) []byte {
	out = append(out, b.Type)
	if b.Type == EndOfGeneration {
		return out
	}
	if b.Type == ExperimentalBatch {
		out = append(out, b.Exp)
	}
	data := b.data()
	size := uint64(len(data))
	if b.Lie {
		size = b.Size
	}
	for _, v := range []uint64{b.Gen, b.M, b.Time, size} {
		out = appendNumber(out, v, b.Pad)
	}
	return append(out, data...)
}

func (b *Batch) data() []byte {
	var data []byte
	for _, e := range b.Events {
		data = e.append(data)
	}
	return append(data, b.Rest...)
}

// DataSize is the size of its data, regardless of its header.
func (b *Batch) DataSize() int { return len(b.data()) }

// Size is its size in bytes.
func (e *Event) Size() int { return len(e.append(nil)) }

func (e *Event) append(out []byte) []byte {
	out = append(out, e.Type)
	for _, v := range e.Args {
		out = appendNumber(out, v, e.Pad)
	}
	for _, v := range e.Frames {
		out = appendNumber(out, v, e.Pad)
	}
	if e.Type == String {
		out = appendNumber(out, e.Len, e.Pad)
	}
	return append(out, e.Data...)
}

// appendNumber writes v with pad additional bytes, up to ten bytes.
func appendNumber(out []byte, v uint64, pad int) []byte {
	start := len(out)
	out = binary.AppendUvarint(out, v)
	for ; pad > 0 && len(out)-start < binary.MaxVarintLen64; pad-- {
		out[len(out)-1] |= 0x80
		out = append(out, 0)
	}
	return out
}

// reader removes what it reads from the front of rest.
type reader struct{ rest []byte }

func (r *reader) byte() (byte, bool) {
	if len(r.rest) == 0 {
		return 0, false
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b, true
}

func (r *reader) number() (uint64, bool) {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return 0, false
	}
	r.rest = r.rest[n:]
	return v, true
}

func (r *reader) numbers(n uint64) ([]uint64, bool) {
	var out []uint64
	for ; n > 0; n-- {
		v, ok := r.number()
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func (r *reader) bytes(n uint64) ([]byte, bool) {
	if n > uint64(len(r.rest)) {
		return nil, false
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out, true
}

func (r *reader) batch() (*Batch, bool) {
	typ, _ := r.byte()
	b := &Batch{Type: typ}
	switch typ {
	case EndOfGeneration:
		return b, true
	case ExperimentalBatch:
		b.Exp, _ = r.byte()
	case EventBatch:
	default:
		return nil, false
	}
	n, ok := r.numbers(4)
	if !ok {
		return nil, false
	}
	b.Gen, b.M, b.Time, b.Size = n[0], n[1], n[2], n[3]
	data, ok := r.bytes(b.Size)
	if !ok {
		return nil, false
	}
	if typ == ExperimentalBatch {
		b.Rest = data
		return b, true
	}
	for in := (reader{data}); len(in.rest) > 0; {
		before := in.rest
		e, ok := in.event()
		if !ok {
			b.Rest = before
			break
		}
		b.Events = append(b.Events, e)
	}
	return b, true
}

func (r *reader) event() (*Event, bool) {
	typ, _ := r.byte()
	s := SpecOf(typ)
	if s == nil || typ == EventBatch || typ == ExperimentalBatch {
		return nil, false
	}
	e := &Event{Type: typ}
	var ok bool
	if e.Args, ok = r.numbers(uint64(len(s.Args))); !ok {
		return nil, false
	}
	switch typ {
	case Stack:
		if e.Args[1] > uint64(len(r.rest)) {
			return nil, false
		}
		e.Frames, ok = r.numbers(4 * e.Args[1])
	case String:
		if e.Len, ok = r.number(); ok {
			e.Data, ok = r.bytes(e.Len)
		}
	}
	return e, ok
}
