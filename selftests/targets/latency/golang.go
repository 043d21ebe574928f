package main

// Waits caused by Go itself, and its garbage collector with more Ps than CPUs.

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

// waitForGo makes two goroutines take turns on one P, and one that sleeps, and must then also wait
// for the P.
func waitForGo() []part {
	yielded, slept := make(chan waits, 2), make(chan waits)
	go yielder(yielded)
	go yielder(yielded)
	go sleeper(slept)
	s, y, second := <-slept, <-yielded, <-yielded
	y.add(second.use)
	return []part{
		y.is("main.yielder", "CLOCK_MONOTONIC", y.waited+second.waited, goRunnable),
		y.is("main.yielder", "CLOCK_THREAD_CPUTIME_ID", y.CPU, onCPU),
		share("main.yielder", 0.45, 0.55, goRunnable),
		s.is("main.sleeper", "CLOCK_MONOTONIC", s.waited, goBlocked, goRunnable),
		share("main.sleeper", 0.6, 1, goBlocked),
	}
}

// waits is what a goroutine used, and how long it waited for a P meanwhile.
type waits struct {
	use
	waited int64
}

// again repeats work, and the wait that follows it.
func again(work, wait func()) (w waits) {
	g, begin := goroutine(), clocks.Wall()
	for clocks.Wall() < begin+int64(*duration) {
		cpu := clocks.CPU()
		work()
		w.CPU += clocks.CPU() - cpu
		before := clocks.Wall()
		wait()
		w.waited += clocks.Wall() - before
	}
	w.windows = []protocol.Window{{G: g, From: begin, To: clocks.Wall()}}
	return w
}

func yielder(done chan<- waits) {
	done <- again(func() {
		for i := 0; i < 100; i++ {
			clocks.Burn()
		}
	}, runtime.Gosched)
}

func sleeper(done chan<- waits) {
	done <- again(func() {}, func() { time.Sleep(10 * time.Millisecond) })
}

// collect keeps two Ps busy on one CPU, with continuous garbage collections. The runtime counts the
// wall-clock time of its workers.
func collect() []part {
	debug.SetGCPercent(25)
	cpu, workers := clocks.Process(), workersTime()
	done := make(chan bool)
	for i := 0; i < 2; i++ {
		go allocator(done)
	}
	<-done
	<-done
	debug.SetGCPercent(-1)
	runtime.GC() // the metrics are updated at the end of a collection
	cpu, workers = clocks.Process()-cpu, workersTime()-workers
	const worker, running = "runtime.gcBgMarkWorker", "runtime/metrics"
	half := share(worker, 0.05, 0.65, onCPU)
	half.Of = []string{onCPU, kernelRunnable, throttled}
	// The workers also complete unfinished work, which the runtime does not count as theirs.
	return []part{
		{Function: worker, Parts: half.Of, NS: workers, Least: true, From: running},
		{Function: "gc_workers", Parts: []string{"wall_ns"}, NS: workers, Least: true, From: running},
		{Function: "*", Parts: []string{onCPU}, NS: cpu, From: "CLOCK_PROCESS_CPUTIME_ID"},
		half,
	}
}

type node struct {
	next *node
	data [4]uint64
}

var kept, garbage *node

func growHeap() {
	for i := 0; i < 1<<20; i++ {
		kept = &node{next: kept}
	}
	runtime.GC()
}

func allocator(done chan<- bool) {
	for end := clocks.Wall() + int64(*duration); clocks.Wall() < end; {
		for i := 0; i < 100; i++ {
			garbage = &node{}
		}
	}
	done <- true
}

func workersTime() int64 {
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
	}
	metrics.Read(samples)
	var seconds float64
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindFloat64 {
			protocol.Fail(fmt.Errorf("no metric %s", s.Name))
		}
		seconds += s.Value.Float64()
	}
	return int64(seconds * 1e9)
}
