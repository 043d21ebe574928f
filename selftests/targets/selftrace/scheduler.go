package main

// This file has the workers for the scheduler itself: spinning and yielding, the garbage collector,
// short-lived goroutines, timers.

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// spinFor is longer than sysmon's 10 ms time slice, so that a spin is preempted by it.
const spinFor = 12 * time.Millisecond

func (w *workload) startSchedulerWork() {
	collect := make(chan struct{}, 1)
	w.run(func() { w.spinner(collect) })
	w.run(func() { w.collector(collect) })
	w.run(w.allocator)
	for i := 0; i < 2; i++ {
		w.run(w.yielder)
	}
	w.run(w.tickerLoop)
	w.run(w.timerLoop)
}

// spinner computes without calls for more than a time slice, and requests a collection at the
// beginning: the GC wants to scan the stack of a running goroutine, so it suspends it (block reason
// "preempted", while sysmon's time slice is the stop reason "preempted").
func (w *workload) spinner(collect chan<- struct{}) {
	for w.pause(30 * time.Millisecond) {
		w.counts.spins.Add(1)
		select {
		case collect <- struct{}{}:
		default:
		}
		for end := time.Now().Add(spinFor); time.Now().Before(end); {
			burn(20_000)
		}
	}
}

var sink atomic.Uint64

// burn has a loop without calls, so that only a signal can preempt it.
func burn(n int) {
	x := uint64(n)
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// collector triggers a collection per request: usually by allocating until one starts, because
// runtime.GC waits for the sweepers in a loop of Gosched, hundreds of thousands of them when the
// spinner keeps a sweeper off its P.
func (w *workload) collector(requests <-chan struct{}) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // the smallest heap that is collected: 2 MB
	for i := 0; ; i++ {
		select {
		case <-requests:
			w.counts.collections.Add(1)
			if i%10 == 9 {
				runtime.GC()
			} else {
				allocateUntilCollected()
			}
		case <-w.quit:
			return
		}
	}
}

// garbage keeps the compiler from putting what is allocated on the stack.
var garbage []byte

func allocateUntilCollected() {
	cycles := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(cycles)
	before := cycles[0].Value.Uint64()
	for i := 0; i < 1000; i++ {
		garbage = make([]byte, 16<<10)
		if metrics.Read(cycles); cycles[0].Value.Uint64() != before {
			return
		}
	}
}

type node struct {
	next *node
	data [40]uint64
}

// allocator allocates in bursts of linked objects, so that collections have something to mark, also
// start by themselves, and make it assist.
func (w *workload) allocator() {
	var keep *node
	for i := 0; w.pause(8 * time.Millisecond); i++ {
		if i%20 == 0 {
			keep = nil
		}
		for j := 0; j < 100; j++ {
			keep = &node{next: keep}
		}
	}
	runtime.KeepAlive(keep)
}

// yielder calls runtime.Gosched in bursts.
func (w *workload) yielder() {
	for w.pause(6 * time.Millisecond) {
		for i := 0; i < 10; i++ {
			runtime.Gosched()
		}
		w.counts.yields.Add(10)
	}
}

// startChurn keeps creating goroutines of a few kinds that soon end.
func (w *workload) startChurn() {
	w.run(func() {
		for w.pause(10 * time.Millisecond) {
			var group sync.WaitGroup
			result := make(chan int)
			group.Add(5)
			w.counts.goroutines.Add(10)
			for i := 0; i < 5; i++ {
				go shortLived(&group)
				go sendResult(result, i)
			}
			for i := 0; i < 5; i++ {
				<-result
			}
			group.Wait()
		}
	})
	w.run(func() {
		for i := 0; w.pause(20 * time.Millisecond); i++ {
			done := make(chan struct{})
			w.counts.goroutines.Add(3)
			w.counts.goexits.Add(1)
			go exits(done)
			<-done
			go blockedForEver()
			// 20 frames fit a trace's stack, 200 exceed its limit.
			go recurse(20+180*(i%2), done)
			<-done
		}
	})
}

func shortLived(group *sync.WaitGroup) {
	burn(100)
	group.Done()
}

func sendResult(c chan<- int, v int) { c <- v }

// exits ends by runtime.Goexit instead of returning.
func exits(done chan<- struct{}) {
	defer func() { done <- struct{}{} }()
	runtime.Goexit()
}

// blockedForEver stays blocked: block reason "forever", once per goroutine.
func blockedForEver() { select {} }

// recurse blocks at the bottom of a deep stack.
func recurse(depth int, done chan<- struct{}) {
	if depth == 0 {
		time.Sleep(time.Millisecond)
		done <- struct{}{}
		return
	}
	recurse(depth-1, done)
}

// tickerLoop waits for a ticker.
func (w *workload) tickerLoop() {
	ticker := time.NewTicker(3 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.counts.timers.Add(1)
		case <-w.quit:
			return
		}
	}
}

// timerLoop has timers call functions, each in a goroutine of its own, and resets and stops
// others before they fire.
func (w *workload) timerLoop() {
	never := time.AfterFunc(time.Hour, func() {})
	defer never.Stop()
	for w.pause(5 * time.Millisecond) {
		w.counts.timers.Add(1)
		w.counts.goroutines.Add(1)
		fired := make(chan struct{})
		time.AfterFunc(time.Millisecond, func() { close(fired) })
		never.Reset(time.Hour)
		<-fired
	}
}
