package truth

// This file tests the counting on a trace written by the runtime.

import (
	"testing"

	"gotrace-bpf/selftests/reference/internal/testtrace"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func TestCount(t *testing.T) {
	tr, err := tracefile.Load(testtrace.Record(t), tracefile.NewTables())
	if err != nil {
		t.Fatal(err)
	}
	const pkg = "gotrace-bpf/selftests/reference/internal/testtrace."
	both := []string{pkg + "Ping", pkg + "Pong"}
	channels := []string{"chan send", "chan receive"}
	for _, c := range []Claim{
		{Name: "created", Functions: both, Event: "create", Count: 2},
		{Name: "blocks", Functions: both, Event: "block", Reasons: channels, Count: 2 * testtrace.RoundTrips},
		{Name: "unblocks", Functions: both, Event: "unblock", Reasons: channels, Count: 2 * testtrace.RoundTrips},
		{Name: "GCs", Event: "range", Reasons: []string{"GC concurrent mark phase"}, Count: 5},
		{Name: "nobody's", Functions: []string{"main.nobody"}, Event: "create", Count: 0},
	} {
		if n, ok := Count(tr, &c); !ok || n != c.Count {
			t.Errorf("%s: %d, want %d", c.Name, n, c.Count)
		}
	}
	if _, ok := Count(tr, &Claim{Event: "no such event"}); ok {
		t.Error("an unknown event is counted")
	}
}
