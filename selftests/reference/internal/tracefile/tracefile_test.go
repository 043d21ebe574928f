package tracefile

// This file tests reading and the strict checks on a trace written by the runtime and on corrupt
// ones.

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"gotrace-bpf/selftests/reference/internal/testtrace"

	"golang.org/x/exp/trace"
)

func TestLoad(t *testing.T) {
	tr, err := Load(testtrace.Record(t), NewTables())
	if err != nil {
		t.Fatal(err)
	}
	if tr.Generations < 1 || tr.Start <= 0 || tr.End <= tr.Start || len(tr.Procs) == 0 {
		t.Errorf("%d generations, from %d to %d, %d P transitions",
			tr.Generations, tr.Start, tr.End, len(tr.Procs))
	}
	found := false
	for _, name := range tr.StartFunc {
		found = found || strings.HasSuffix(name, "testtrace.Ping")
	}
	if !found {
		t.Error("no goroutine started in testtrace.Ping")
	}
}

func TestStrict(t *testing.T) {
	check := NewStrict()
	_, err := WalkFile(testtrace.Record(t), func(_ int, ev *trace.Event) error { return check.Event(ev) })
	if err != nil {
		t.Error("the runtime's trace is refused:", err)
	}
}

func TestBroken(t *testing.T) {
	whole, err := os.ReadFile(testtrace.Record(t))
	if err != nil {
		t.Fatal(err)
	}
	ignore := func(int, *trace.Event) error { return nil }
	damaged := bytes.Clone(whole)
	for i := len(damaged) / 2; i < len(damaged); i += 7 {
		damaged[i] ^= 0xff
	}
	for name, text := range map[string][]byte{
		"empty": nil, "no trace": []byte("go 1.24 trace\x00\x00\x00"),
		"cut": whole[:len(whole)/2], "damaged": damaged,
	} {
		if _, err := Walk(bytes.NewReader(text), ignore); err == nil {
			t.Error(name, "is accepted")
		}
	}
}

func TestIntern(t *testing.T) {
	tab := NewTables()
	a := tab.intern([]frameID{{tab.ID("leaf"), 1}, {tab.ID("root"), 2}})
	b := tab.intern([]frameID{{tab.ID("leaf"), 1}, {tab.ID("root"), 2}})
	if a != b || a == 0 {
		t.Errorf("equal stacks have the ids %d and %d", a, b)
	}
	c := tab.Relabel(a, "other")
	if leaf, _ := tab.Leaf(c); c == a || leaf.Func != "other" {
		t.Errorf("relabelled leaf is %q", leaf.Func)
	}
	if root, _ := tab.Root(a); root.Func != "root" {
		t.Errorf("root is %q", root.Func)
	}
}
