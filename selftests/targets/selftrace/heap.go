package main

// This file has the workers that keep the GC busy: a large heap that takes long to mark, and
// goroutines that allocate small and large objects meanwhile, so that they must assist.

import (
	"runtime"
	"runtime/debug"
	"time"
)

// startHeap fills the heap with lists before the first worker allocates, so that it exists when the
// trace begins.
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

// churner allocates short lists as fast as the GC permits.
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

// goals changes the GC's heap goal, and turns the GC off for a moment.
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
