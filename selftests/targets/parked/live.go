package main

// This file has the work that continues while all other goroutines are parked.

import (
	"sync/atomic"
	"time"
)

// meter holds the longest time between two steps of the work, beyond its own pauses.
type meter struct{ longest atomic.Int64 }

// take returns the longest pause since the last call.
func (m *meter) take() time.Duration { return time.Duration(m.longest.Swap(0)) }

func (m *meter) note(d time.Duration) {
	for {
		old := m.longest.Load()
		if int64(d) <= old || m.longest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

const livePause = 500 * time.Microsecond

// startLive starts a pair of goroutines: one sends a request each half millisecond, the other
// answers.
func startLive() *meter {
	m := &meter{}
	ask, answer := make(chan int), make(chan int)
	go liveAnswer(ask, answer)
	go liveAsk(m, ask, answer)
	return m
}

func liveAnswer(ask <-chan int, answer chan<- int) {
	for v := range ask {
		answer <- v + 1
	}
}

func liveAsk(m *meter, ask chan<- int, answer <-chan int) {
	last := time.Now()
	for i := 0; ; i++ {
		ask <- i
		<-answer
		time.Sleep(livePause)
		now := time.Now()
		m.note(now.Sub(last) - livePause)
		last = now
	}
}
