package main

import (
	"testing"
	"time"

	"golang.org/x/exp/trace"
)

const run, wait = trace.GoRunning, trace.GoWaiting

// periodic is a goroutine of thread 7 that changes between two states at these times, first to waiting.
func periodic(times ...trace.Time) history {
	h := history{from: 0, to: 1000, goroutines: map[trace.GoID][]change{}}
	state := [2]trace.GoState{run, wait}
	for i, at := range times {
		h.goroutines[1] = append(h.goroutines[1], change{state[i%2], state[1-i%2], at, 7})
	}
	return h
}

func TestDiscount(t *testing.T) {
	own, ours := periodic(100, 200, 300, 400), periodic(20, 60, 104, 260, 301, 402)
	off := offs{7: {{90, 101}, {210, 250}, {390, 401}}, 8: {{0, 1000}}}
	changes, sum := ours.discount(own, off)
	if changes != 3 || sum != 42*time.Nanosecond {
		t.Errorf("%d changes, %v; want 3, 42ns", changes, sum)
	}
	for i, want := range []trace.Time{20, 60, 103, 220, 301, 401} {
		if at := ours.goroutines[1][i].at; at != want {
			t.Errorf("change %d at %d, want %d", i, at, want)
		}
	}
	if sums := ours.within(103, 301); sums[wait] != 117 || sums[run] != 81 {
		t.Errorf("%v; want 117 waiting, 81 running", sums)
	}
}

// TestOtherSequence: nothing is discounted if the changes are not the same.
func TestOtherSequence(t *testing.T) {
	own, ours := periodic(100, 200, 300), periodic(150, 250, 350)
	own.goroutines[1][1].to = trace.GoSyscall
	if changes, _ := ours.discount(own, offs{7: {{0, 1000}}}); changes != 0 {
		t.Errorf("%d changes, want 0", changes)
	}
}
