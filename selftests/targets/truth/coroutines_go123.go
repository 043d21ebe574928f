//go:build go1.23

// The module's language version is older than the toolchain, which selects the timer channels of Go
// 1.22; the trace should be that of current programs.
//go:debug asynctimerchan=0

package main

// This file has the phase that counts coroutine switches, by iter.Pull.

import (
	"iter"
	"sync"
)

func init() { phases = append(phases, coroutines) }

// coroutines: each next() switches to the coroutine and back. Run to its end, a coroutine over v
// values is entered v+1 times, yields v times and then exits. One that is stopped after half its
// values is entered another time, by stop, and exits. A switch blocks without a reason; the last
// one destroys the coroutine. Every coroutine's goroutine starts in runtime.corostart.
func coroutines() []claim {
	const whole, halved, values = 53, 29, 10
	gather(1, func(g *sync.WaitGroup) { go coroutineUser(g, whole, halved, values) })
	entered := whole*(values+1) + halved*(values/2+1)
	yielded := entered - whole - halved
	coro, user := []string{"runtime.corostart"}, []string{"main.coroutineUser"}
	const why = "a coroutine runs only when next or stop switches to it, and switches back"
	return append(lives("runtime.corostart", whole+halved),
		expect("coroutine entered", coro, "unblock", []string{""}, entered, why),
		expect("coroutine yields", coro, "block", []string{""}, yielded, why),
		expect("switches to coroutines", user, "block", []string{""}, entered, why),
		expect("returns from coroutines", user, "unblock", []string{""}, entered, why))
}

func coroutineUser(group *sync.WaitGroup, whole, halved, values int) {
	for i := 0; i < whole; i++ {
		pull(values, values+1)
	}
	for i := 0; i < halved; i++ {
		pull(values, values/2)
	}
	group.Done()
}

// pull calls next the given number of times, then stop, which has no effect after the end.
func pull(values, calls int) {
	next, stop := iter.Pull(numbers(values))
	for i := 0; i < calls; i++ {
		next()
	}
	stop()
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
