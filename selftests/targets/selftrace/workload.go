package main

// This file starts and stops the workers and holds those that exercise channels, select and
// package sync. Each worker does a burst of operations, then sleeps: the rates, not the machine's
// speed, decide the load. Each kind of worker is a named function, so that a summary by start
// function lists each.

import (
	"sync"
	"time"
)

type workload struct {
	churn   int // number of workers that create short-lived goroutines
	counts  counts
	quit    chan struct{}
	all     sync.WaitGroup
	heap    int // MiB that startHeap keeps alive, 0: no such work
	slower  int // factor for the pauses
	between int // how much syscallBursts computes between two system calls
}

func newWorkload(churn int) *workload {
	return &workload{churn: churn, quit: make(chan struct{}), slower: 1}
}

// start sets all workers to work.
func (w *workload) start() {
	for i := 0; i < 6; i++ {
		w.startPingPong()
	}
	w.startProducers(4)
	w.startSelects(3)
	w.startMutexes(6)
	w.startCond(4)
	w.run(w.waitGroupRounds)
	for i := 0; i < 30; i++ {
		w.run(w.sleeper)
	}
	w.startNetwork(4)
	w.startSyscalls(3)
	w.startRaces()
	w.startSchedulerWork()
	for i := 0; i < w.churn; i++ {
		w.startChurn()
	}
	w.startCoroutines()
	w.startAnnotators(3)
	if w.heap > 0 {
		w.startHeap()
	}
}

// stop ends the workers and waits for them.
func (w *workload) stop() {
	close(w.quit)
	w.all.Wait()
}

// run starts a worker that stop waits for.
func (w *workload) run(worker func()) {
	w.all.Add(1)
	w.counts.goroutines.Add(1)
	go func() {
		defer w.all.Done()
		worker()
	}()
}

// pause sleeps, and reports whether to go on.
func (w *workload) pause(d time.Duration) bool {
	time.Sleep(d * time.Duration(w.slower))
	select {
	case <-w.quit:
		return false
	default:
		return true
	}
}

// startPingPong makes most of the transitions: bursts of round trips over two channels.
func (w *workload) startPingPong() {
	ping, pong := make(chan int), make(chan int)
	w.run(func() {
		defer close(ping)
		for i := 0; w.pause(10 * time.Millisecond); i++ {
			for j := 0; j < 10; j++ {
				ping <- j
				<-pong
			}
			w.counts.roundTrips.Add(10)
		}
	})
	w.run(func() {
		for v := range ping {
			pong <- v
		}
	})
}

// startProducers makes senders wait: one slow receiver for n of them.
func (w *workload) startProducers(n int) {
	c := make(chan int)
	for i := 0; i < n; i++ {
		w.run(func() {
			for j := 0; ; j++ {
				select {
				case <-w.quit:
					return
				default:
				}
				w.sendOne(c, j)
			}
		})
	}
	w.run(func() {
		for w.pause(2 * time.Millisecond) {
			<-c
			<-c
		}
		// Senders may still wait: serve them until all have seen quit.
		for i := 0; i < 4*n; i++ {
			select {
			case <-c:
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

func (w *workload) sendOne(c chan<- int, v int) {
	w.counts.sends.Add(1)
	c <- v
}

// startSelects has n goroutines wait in select for two channels and a timer.
func (w *workload) startSelects(n int) {
	a, b := make(chan int), make(chan string)
	for i := 0; i < n; i++ {
		w.run(func() {
			for {
				select {
				case <-a:
				case <-b:
				case <-time.After(5 * time.Millisecond):
				case <-w.quit:
					return
				}
				w.counts.selects.Add(1)
			}
		})
	}
	w.run(func() {
		for w.pause(3 * time.Millisecond) {
			select {
			case a <- 1:
			case b <- "b":
			case <-w.quit:
			}
		}
	})
}

// startMutexes has n goroutines contend for a mutex and a read-write mutex that are held across
// a sleep, so that the others really wait.
func (w *workload) startMutexes(n int) {
	var mu sync.Mutex
	var rw sync.RWMutex
	for i := 0; i < n; i++ {
		i := i
		w.run(func() {
			for w.pause(4 * time.Millisecond) {
				w.counts.locks.Add(2)
				mu.Lock()
				time.Sleep(200 * time.Microsecond)
				mu.Unlock()
				if i == 0 {
					rw.Lock()
					time.Sleep(100 * time.Microsecond)
					rw.Unlock()
				} else {
					rw.RLock()
					time.Sleep(50 * time.Microsecond)
					rw.RUnlock()
				}
			}
		})
	}
}

// startCond has n goroutines wait for work by sync.Cond, signalled singly and by broadcast.
func (w *workload) startCond(n int) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	work, over := 0, false
	for i := 0; i < n; i++ {
		w.run(func() {
			mu.Lock()
			defer mu.Unlock()
			for !over {
				for work == 0 && !over {
					w.counts.conds.Add(1)
					cond.Wait()
				}
				work--
			}
		})
	}
	w.run(func() {
		for i := 0; w.pause(5 * time.Millisecond); i++ {
			mu.Lock()
			if i%4 == 0 {
				work += n
				cond.Broadcast()
			} else {
				work++
				cond.Signal()
			}
			mu.Unlock()
		}
		mu.Lock()
		over = true
		cond.Broadcast()
		mu.Unlock()
	})
}

// waitGroupRounds starts groups of short goroutines and waits for each group.
func (w *workload) waitGroupRounds() {
	for w.pause(10 * time.Millisecond) {
		var group sync.WaitGroup
		for i := 0; i < 5; i++ {
			group.Add(1)
			w.counts.goroutines.Add(1)
			go func() {
				defer group.Done()
				time.Sleep(300 * time.Microsecond)
			}()
		}
		w.counts.waitGroups.Add(1)
		group.Wait()
	}
}

// sleeper sleeps for 7 ms at a time.
func (w *workload) sleeper() {
	for w.pause(7 * time.Millisecond) {
		w.counts.sleeps.Add(1)
	}
}
