package latency

import (
	"testing"
)

const output = `{"functions":[{"name":"main.f","count":1,"oncpu_ns":600,"go_runnable_ns":0,"kernel_runnable_ns":300,
"throttled_ns":0,"kernel_blocked_ns":100,"syscall_blocked_ns":0,"go_blocked_ns":0,"total_ns":1000,
"of_which":{"syscall_oncpu_ns":50,"gc_assist_ns":0},
"by_reason":{"kernel_blocked":[{"name":"futex","ns":90},{"name":"page fault","ns":10}]}}],
"goroutines":[{"id":7,"name":"main.f","oncpu_ns":10,"total_ns":10}],
"gc_workers":[{"mode":"GC (idle)","wall_ns":5,"oncpu_ns":2},{"mode":"GC (dedicated)","wall_ns":6,"oncpu_ns":3}],
"start":1,"end":1001}`

func parsed(t *testing.T, text string) *Output {
	t.Helper()
	o, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestJudge(t *testing.T) {
	o := parsed(t, output)
	for _, c := range []struct {
		claim Part
		ours  int64
		ok    bool
	}{
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 600}, 600, true},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 618}, 600, true},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 621}, 600, false},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 550, Stolen: 40}, 600, true},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 550, Stolen: 20}, 600, false},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 550, Stolen: -40}, 600, false},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 650, Stolen: -40}, 600, true},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, NS: 650, Stolen: 40}, 600, false},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns", "kernel_runnable_ns"}, NS: 900}, 900, true},
		{Part{Function: "main.f", Parts: []string{"throttled_ns"}, NS: 20}, 0, true},
		{Part{Function: "main.f", Parts: []string{"throttled_ns"}, NS: 21}, 0, false},
		{Part{Function: "main.f", Parts: []string{"kernel_blocked_ns"}, Name: "futex", NS: 90}, 90, true},
		{Part{Function: "main.f", Parts: []string{"syscall_oncpu_ns"}, NS: 10, Least: true}, 50, true},
		{Part{Function: "main.f", Parts: []string{"syscall_oncpu_ns"}, NS: 73, Least: true}, 50, false},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, Share: [2]float64{0.6, 0.7}}, 600, true},
		{Part{Function: "main.f", Parts: []string{"oncpu_ns"}, Share: [2]float64{0.61, 0.7}}, 600, false},
		{Part{Function: "main.f", Parts: []string{"kernel_blocked_ns"}, Of: []string{"oncpu_ns"},
			Share: [2]float64{0.16, 0.17}}, 100, true},
		{Part{Function: "gc_workers", Parts: []string{"wall_ns"}, NS: 11}, 11, true},
		{Part{Function: "*", Parts: []string{"total_ns"}, NS: 1000}, 1000, true},
		{Part{Function: "main.g", Parts: []string{"total_ns"}, NS: 0}, 0, false},
		{Part{Function: "main.f", Windows: []Window{{G: 7}}, Parts: []string{"oncpu_ns"}, NS: 10}, 10, true},
	} {
		rows, err := o.Judge([]Part{c.claim}, func(from, to int64) (*Output, error) { return o, nil })
		if err != nil || rows[0].Ours != c.ours || rows[0].OK != c.ok {
			t.Errorf("%+v: %v, %v", c.claim, rows, err)
		}
	}
	wrong := Part{Function: "main.g", Windows: []Window{{G: 7}}}
	if _, err := o.Judge([]Part{wrong}, func(from, to int64) (*Output, error) { return o, nil }); err == nil {
		t.Error("a goroutine of another function is taken")
	}
}

func TestSums(t *testing.T) {
	o := parsed(t, output)
	if wrong := o.Sums(); wrong != nil {
		t.Error(wrong)
	}
	o.Functions["main.f"].NS["oncpu_ns"]++
	o.Goroutines[7].NS["oncpu_ns"]--
	o.Functions["main.f"].ByReason["kernel_blocked"]["futex"]--
	if wrong := o.Sums(); len(wrong) != 3 {
		t.Error(wrong)
	}
}
