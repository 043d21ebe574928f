package wire

// This file tests that parsing and writing preserve a trace, and the text form on an example of
// each kind of line.

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"gotrace-bpf/selftests/reference/internal/expected"
	"gotrace-bpf/selftests/reference/internal/testtrace"
)

func TestRealTrace(t *testing.T) {
	data, err := os.ReadFile(testtrace.Record(t))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(data)
	if err != nil || len(f.Tail) > 0 {
		t.Fatalf("%v, %d bytes left", err, len(f.Tail))
	}
	for i, b := range f.Batches {
		if len(b.Rest) > 0 {
			t.Errorf("batch %d: %d bytes left", i, len(b.Rest))
		}
	}
	again := f.Bytes()
	before, after := expected.Of(bytes.NewReader(data), nil), expected.Of(bytes.NewReader(again), nil)
	if before != after || before.Kind != expected.OK {
		t.Errorf("%v became %v", before, after)
	}
	second, err := Parse(again)
	if err != nil || !bytes.Equal(second.Bytes(), again) || len(second.Batches) != len(f.Batches) {
		t.Error("not the same, taken apart again")
	}
	if !bytes.Equal(f.Clone().Bytes(), again) {
		t.Error("the clone differs")
	}
}

func TestPadding(t *testing.T) {
	for pad := range 12 {
		e := Event{Type: 16, Args: []uint64{1, 300, 1 << 63}, Pad: pad}
		in := reader{e.append(nil)}
		got, ok := in.event()
		if !ok || len(in.rest) > 0 || !reflect.DeepEqual(got.Args, e.Args) {
			t.Errorf("padded by %d: %v, %d bytes left", pad, got, len(in.rest))
		}
	}
}

func TestText(t *testing.T) {
	const text = `
# a comment
Trace Go1.26 # and one behind
EventBatch gen=1 m=7 time=300 size=6
Strings
String id=1
	data="a\x00#"
EventBatch gen=1 m=18446744073709551615 time=1 size=11
Stacks
Stack id=2 nframes=1
	pc=128 func=1 file=1 line=3
ExperimentalBatch exp=1 gen=1 m=7 time=2
	data="xy"
EndOfGeneration
`
	want := "go 1.26 trace\x00\x00\x00" + "\x01\x01\x07\xac\x02\x06" + "\x04\x05\x01\x03a\x00#" +
		"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x0b" + "\x02\x03\x02\x01\x80\x01\x01\x01\x03" +
		"\x31\x01\x01\x07\x02\x02xy" + "\x34"
	got, err := FromText(strings.NewReader(text))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%q, not\n%q", err, got, want)
	}
	for _, bad := range []string{
		"", "Trace", "Trace Go1.26 x", "Trace Go1.26\nNoEvent", "Trace Go1.26\nGoStart dt=1 g=2",
		"Trace Go1.26\nGoStart dt=1 g=2 x=3", "Trace Go1.26\nGoStart dt=1 g=2 g_seq=-3",
		"Trace Go1.26\nString id=1", "Trace Go1.26\nStack id=1 nframes=1", "Trace Go1.26\nString id=1\ndata=x"} {
		if got, err := FromText(strings.NewReader(bad)); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

// The table must name every event of Go's reader, with the same names of arguments: parsing the
// text of the golden traces tests that. This test checks that the table is complete.
func TestTable(t *testing.T) {
	for i, s := range Specs() {
		if SpecOf(s.Type) != s || SpecNamed(s.Name) != s {
			t.Errorf("row %d is not found", i)
		}
	}
	if n := len(Specs()); n != 52+9 {
		t.Error(fmt.Sprint(n, " rows"))
	}
}
