package main

import (
	"fmt"
	"runtime"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

// The parts as `gotrace latency --json` names them.
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

// use is what goroutines have used, and when.
type use struct {
	clocks.Reading
	windows []protocol.Window
}

// measure says what the calling goroutine uses in work. It may not go to another thread.
func measure(work func(until int64)) use {
	g := goroutine()
	// What a goroutine does next tells, since Go 1.26, that it is back from a system call. Here that
	// may be nothing for long, and so is this.
	runtime.Gosched()
	before := clocks.Now()
	work(before.Wall + int64(*duration))
	after := clocks.Now()
	if after.Thread != before.Thread {
		protocol.Fail(fmt.Errorf("goroutine %d went from thread %d to %d", g, before.Thread, after.Thread))
	}
	return use{after.Since(before), []protocol.Window{{G: g, From: before.Wall, To: after.Wall}}}
}

// locked does so in a thread of its own.
func locked(work func(until int64)) use {
	runtime.Gosched()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return measure(work)
}

// goroutine is the number of the calling one.
func goroutine() (id int) {
	var text [64]byte
	runtime.Stack(text[:], false)
	fmt.Sscanf(string(text[:]), "goroutine %d ", &id)
	return id
}

// together has n goroutines started and adds up what they used.
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
}

func (u *use) is(function, from string, ns int64, parts ...string) part {
	return part{Function: function, Windows: u.windows, Parts: parts, NS: ns, From: from}
}

// split is what the kernel counts of a function's threads.
func (u *use) split(function string) []part {
	return []part{
		u.is(function, "CLOCK_MONOTONIC", u.Wall, total),
		u.is(function, "CLOCK_THREAD_CPUTIME_ID", u.CPU, onCPU),
		u.is(function, "schedstat", u.OnCPU, onCPU),
		u.is(function, "schedstat", u.Delay, kernelRunnable, throttled),
	}
}

// asleep is what is left of a function's time: its threads neither ran nor could have.
func (u *use) asleep(function, where, name string) part {
	p := u.is(function, "the rest of the time", u.Wall-u.CPU-u.Delay, where)
	p.Name = name
	return p
}

func share(function string, from, to float64, parts ...string) part {
	return part{Function: function, Parts: parts, Share: [2]float64{from, to}, From: "construction"}
}
