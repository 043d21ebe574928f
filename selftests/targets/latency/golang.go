package main

// What Go itself makes a goroutine wait for, and its collector, which believes in more cores than there are.

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

// waitForGo has two goroutines take turns on one P, and one that sleeps, and must then wait for it, too.
func waitForGo() []part {
	yielded, slept := make(chan waits, 2), make(chan waits)
	go yielder(yielded)
	go yielder(yielded)
	go sleeper(slept)
	s, a, b := <-slept, <-yielded, <-yielded
	return []part{
		{Function: "main.yielder", Parts: []string{goRunnable}, NS: a.waited + b.waited, From: "CLOCK_MONOTONIC"},
		{Function: "main.yielder", Parts: []string{onCPU}, NS: a.cpu + b.cpu, From: "CLOCK_THREAD_CPUTIME_ID"},
		share("main.yielder", 0.45, 0.55, goRunnable),
		{Function: "main.sleeper", Parts: []string{goBlocked, goRunnable}, NS: s.waited, From: "CLOCK_MONOTONIC"},
		share("main.sleeper", 0.6, 0.99, goBlocked),
	}
}

type waits struct{ waited, cpu int64 }

func yielder(done chan<- waits) {
	var w waits
	for begin := clocks.Wall(); clocks.Wall() < begin+int64(*duration); {
		cpu := clocks.CPU()
		for i := 0; i < 20; i++ {
			clocks.Burn()
		}
		w.cpu += clocks.CPU() - cpu
		before := clocks.Wall()
		runtime.Gosched()
		w.waited += clocks.Wall() - before
	}
	done <- w
}

func sleeper(done chan<- waits) {
	var w waits
	for begin := clocks.Wall(); clocks.Wall() < begin+int64(*duration); {
		before := clocks.Wall()
		time.Sleep(10 * time.Millisecond)
		w.waited += clocks.Wall() - before
	}
	done <- w
}

// collect keeps two Ps busy on one core, with collections all the time. The runtime counts what its workers
// took by the clock on the wall.
func collect() []part {
	grow(1 << 20)
	debug.SetGCPercent(25)
	runtime.GC()
	cpu, workers := clocks.Process(), workersTime()
	done := make(chan bool)
	for i := 0; i < 2; i++ {
		go allocator(done)
	}
	<-done
	<-done
	cpu = clocks.Process() - cpu
	debug.SetGCPercent(-1)
	runtime.GC() // the metrics are as of the last collection's end
	workers = workersTime() - workers
	const worker = "runtime.gcBgMarkWorker"
	half := share(worker, 0.2, 0.65, onCPU)
	half.Of = []string{onCPU, kernelRunnable, throttled}
	return []part{
		{Function: worker, Parts: []string{onCPU, kernelRunnable, throttled, kernelBlocked}, NS: workers,
			From: "runtime/metrics"},
		{Function: "*", Parts: []string{onCPU}, NS: cpu, From: "CLOCK_PROCESS_CPUTIME_ID"},
		half,
	}
}

type node struct {
	next *node
	data [4]uint64
}

var kept, garbage *node

func grow(n int) {
	for i := 0; i < n; i++ {
		kept = &node{next: kept}
	}
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
