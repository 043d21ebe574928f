package main

import (
	"bytes"
	"math/rand"
	"testing"
)

const cpuOn, cpuOff, execute = 56, 57, 1

func made(kind, tid int, time uint64, seq uint32) record {
	r := make(record, head+payloads[kind]-1)
	r.setTime(time)
	le.PutUint32(r[8:], uint32(tid))
	le.PutUint16(r[12:], uint16(kind))
	le.PutUint32(r[28:], seq)
	return r
}

// Two rings, each with records of the kernel and one hit.
func rawFile() *file {
	header := make([]byte, 32)
	copy(header, "GOTRRAW\x00")
	le.PutUint32(header[12:], 32)
	return &file{header: header, chunks: []chunk{
		{kind: records, ring: 0, data: le.AppendUint64(nil, 0), records: []record{
			made(cpuOn, 7, 10, 1), made(execute, 7, 20, 2), made(cpuOff, 7, 30, 3), made(waking, 7, 40, 4),
		}},
		{kind: 2, data: le.AppendUint64(nil, 41)},
		{kind: records, ring: 1, data: le.AppendUint64(nil, 1), records: []record{
			made(cpuOn, 8, 15, 1), made(execute, 8, 50, 2), made(cpuOff, 8, 60, 3),
		}},
	}}
}

func TestRoundTrip(t *testing.T) {
	b := rawFile().bytes(nil)
	f, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(f.bytes(nil), b) {
		t.Error("it differs")
	}
	if n := len(f.kernel()); n != 5 {
		t.Errorf("%d kernel events", n)
	}
	if _, err := parse([]byte("go 1.26 trace\x00\x00\x00")); err == nil {
		t.Error("a trace is no raw file")
	}
}

// The numbers in a ring have no gap, so that nothing counts as lost.
func TestLeaveOut(t *testing.T) {
	f, err := parse(rawFile().with([]change{{at: [2]int{0, 0}, how: leaveOut}, {at: [2]int{0, 2}, how: leaveOut}}))
	if err != nil {
		t.Fatal(err)
	}
	left := f.chunks[0].records
	if len(left) != 2 || left[0].kind() != execute || left[0].seq() != 1 || left[1].seq() != 2 {
		t.Errorf("%v", left)
	}
	if other := f.chunks[2].records; len(other) != 3 || other[2].seq() != 3 {
		t.Errorf("%v", other)
	}
}

func TestTimes(t *testing.T) {
	f := rawFile()
	was := f.bytes(nil)
	off, wake := [2]int{0, 2}, [2]int{0, 3}
	equal, _ := parse(f.with([]change{{at: wake, before: off, how: equalize}}))
	if equal.at(off).time() != 30 || equal.at(wake).time() != 30 {
		t.Error("not equal")
	}
	exchanged, _ := parse(f.with([]change{{at: wake, before: off, how: exchange}}))
	if exchanged.at(off).time() != 40 || exchanged.at(wake).time() != 30 {
		t.Error("not exchanged")
	}
	stopped, _ := parse(f.with([]change{{at: off, how: stop}}))
	if n := len(stopped.chunks[2].records); n != 2 {
		t.Errorf("%d records are left", n)
	}
	if !bytes.Equal(f.bytes(nil), was) {
		t.Error("the file itself has changed")
	}
}

// The first two events of a thread stay; only a wake-up, which another CPU may report, exchanges its time.
func TestChanges(t *testing.T) {
	f := rawFile()
	for seed := range int64(100) {
		for _, c := range f.changes(rand.New(rand.NewSource(seed)), 1) {
			if c.how != stop && (c.at != [2]int{0, 3} || c.how != leaveOut && c.before != [2]int{0, 2}) {
				t.Errorf("seed %d: %v", seed, c)
			}
			if c.how == exchange && f.at(c.at).kind() != waking && f.at(c.before).kind() != waking {
				t.Errorf("seed %d: %v", seed, c)
			}
		}
	}
}
