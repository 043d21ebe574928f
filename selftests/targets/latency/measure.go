package main

import (
	"fmt"
	"runtime"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

// The components as named by `gotrace latency --json`.
const (
	onCPU          = "oncpu_ns"
	goRunnable     = "go_runnable_ns"
	kernelRunnable = "kernel_runnable_ns"
	throttled      = "throttled_ns"
	kernelBlocked  = "kernel_blocked_ns"
	syscallBlocked = "syscall_blocked_ns"
	goBlocked      = "go_blocked_ns"
	total          = "total_ns"
	syscallOnCPU   = "syscall_oncpu_ns" // of which
)

// use is the resource use of goroutines, with its time.
type use struct {
	clocks.Reading
	windows []protocol.Window
	stolen  int64 // by the hypervisor, of all CPUs: clocks of CPU time leave it out
}

// measure returns the resource use of the calling goroutine in work. The goroutine must not change
// its thread.
func measure(work func(until int64)) use {
	g := goroutine()
	stolen := clocks.Stolen()
	// Since Go 1.26, only a goroutine's next action shows that it has returned from a system
	// call. Here that may be nothing for long, so do something.
	runtime.Gosched()
	before := clocks.Now()
	work(before.Wall + int64(*duration))
	after := clocks.Now()
	if after.Thread != before.Thread {
		protocol.Fail(fmt.Errorf("goroutine %d went from thread %d to %d", g, before.Thread, after.Thread))
	}
	return use{
		after.Since(before), []protocol.Window{{G: g, From: before.Wall, To: after.Wall}},
		clocks.Stolen() - stolen,
	}
}

// locked runs measure in a thread of its own.
func locked(work func(until int64)) use {
	runtime.Gosched()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return measure(work)
}

// goroutine is the id of the calling one.
func goroutine() (id int) {
	var text [64]byte
	runtime.Stack(text[:], false)
	fmt.Sscanf(string(text[:]), "goroutine %d ", &id)
	return id
}

// together starts n goroutines and adds up their use.
func together(n int, start func(used chan<- use)) (sum use) {
	used := make(chan use)
	for i := 0; i < n; i++ {
		start(used)
	}
	for i := 0; i < n; i++ {
		sum.add(<-used)
	}
	return sum
}

func (u *use) add(other use) {
	u.Wall += other.Wall
	u.CPU += other.CPU
	u.OnCPU += other.OnCPU
	u.Delay += other.Delay
	u.windows = append(u.windows, other.windows...)
	if other.stolen > u.stolen { // at the same time: a CPU's is of one thread only
		u.stolen = other.stolen
	}
}

func (u *use) is(function, from string, ns int64, parts ...string) part {
	return part{Function: function, Windows: u.windows, Parts: parts, NS: ns, From: from}
}

func apart(p part, stolen int64) part {
	p.Stolen = stolen
	return p
}

// split has the kernel's figures for a function's threads.
func (u *use) split(function string) []part {
	return []part{
		u.is(function, "CLOCK_MONOTONIC", u.Wall, total),
		apart(u.is(function, "CLOCK_THREAD_CPUTIME_ID", u.CPU, onCPU), u.stolen),
		apart(u.is(function, "schedstat", u.OnCPU, onCPU), u.stolen),
		u.is(function, "schedstat", u.Delay, kernelRunnable, throttled),
	}
}

// asleep is the rest of a function's time: its threads neither ran nor were runnable.
func (u *use) asleep(function, where, name string) part {
	p := apart(u.is(function, "the rest of the time", u.Wall-u.CPU-u.Delay, where), -u.stolen)
	p.Name = name
	return p
}

func share(function string, from, to float64, parts ...string) part {
	return part{Function: function, Parts: parts, Share: [2]float64{from, to}, From: "construction"}
}
