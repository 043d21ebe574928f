package main

// This file holds the workers that keep the collector busy: a large heap that takes it long to mark,
// and goroutines that allocate small and large objects meanwhile, so that they have to help.

import (
	"runtime"
	"runtime/debug"
	"time"
)

// startHeap fills the heap with lists before the first worker allocates, so that it is there when
// the trace begins.
func (w *workload) startHeap() {
	lists := make([]*node, w.heap)
	for i := range lists {
		for size := 0; size < 1<<20; size += 352 {
			lists[i] = &node{next: lists[i]}
		}
	}
	w.run(func() {
		<-w.quit
		runtime.KeepAlive(lists)
	})
	for i := 0; i < 3; i++ {
		w.run(w.churner)
	}
	w.run(w.largeObjects)
	w.run(w.goals)
}

// churner allocates short lists as fast as the collector lets it.
func (w *workload) churner() {
	for w.pause(time.Millisecond) {
		var keep *node
		for i := 0; i < 2000; i++ {
			keep = &node{next: keep}
		}
		runtime.KeepAlive(keep)
	}
}

// largeObjects allocates runs of pages, for which the runtime sweeps whole chunks of the heap.
func (w *workload) largeObjects() {
	var keep [16][]byte
	for i := 0; w.pause(5 * time.Millisecond); i++ {
		keep[i%len(keep)] = make([]byte, 64<<10<<(i%5))
	}
	runtime.KeepAlive(keep)
}

// goals changes what the collector aims at, and turns it off for a moment.
func (w *workload) goals() {
	for i := 0; w.pause(200 * time.Millisecond); i++ {
		switch i % 4 {
		case 0:
			debug.SetGCPercent(50 + i%100)
		case 1:
			debug.SetMemoryLimit(int64(w.heap+256) << 20)
		case 2:
			debug.SetGCPercent(-1)
			time.Sleep(20 * time.Millisecond)
			debug.SetGCPercent(60)
		case 3:
			debug.SetMemoryLimit(1 << 50)
		}
	}
}
