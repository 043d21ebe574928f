//go:build go1.23

// The module's language version is older than the toolchain, which selects the timer channels of Go
// 1.22; the trace should be that of current programs.
//go:debug asynctimerchan=0

package main

// This file holds the workers that use coroutines, by iter.Pull: some iterators are run to their
// end (the coroutine exits), others abandoned.

import (
	"iter"
	"time"
)

func (w *workload) startCoroutines() {
	w.run(func() {
		for i := 0; w.pause(5 * time.Millisecond); i++ {
			w.counts.coroutines.Add(1)
			w.counts.goroutines.Add(1)
			pullNumbers(8, i%3 == 0)
		}
	})
}

// pullNumbers takes n numbers from an iterator, or only half of them.
func pullNumbers(n int, abandon bool) (sum int) {
	next, stop := iter.Pull(numbers(n))
	defer stop()
	for i := 0; ; i++ {
		v, ok := next()
		if !ok || abandon && i == n/2 {
			return sum
		}
		sum += v
	}
}

func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}
