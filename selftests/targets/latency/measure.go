package main

import (
	"runtime"

	"gotrace-bpf/selftests/targets/internal/clocks"
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

// locked runs work in a thread of this goroutine's own until the time is over, and says what that used. It
// has entered the scheduler before: that a goroutine is back from a system call shows, since Go 1.26,
// in what it does next, which here may be nothing for long.
func locked(work func(until int64)) clocks.Reading {
	runtime.Gosched()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := clocks.Now()
	work(before.Wall + int64(*duration))
	return clocks.Now().Since(before)
}

// together has n goroutines started and adds up what they used.
func together(n int, start func(used chan<- clocks.Reading)) (sum clocks.Reading) {
	used := make(chan clocks.Reading)
	for i := 0; i < n; i++ {
		start(used)
	}
	for i := 0; i < n; i++ {
		add(&sum, <-used)
	}
	return sum
}

func add(sum *clocks.Reading, r clocks.Reading) {
	sum.Wall += r.Wall
	sum.CPU += r.CPU
	sum.OnCPU += r.OnCPU
	sum.Delay += r.Delay
}

// split is what the kernel counts of a function's threads.
func split(function string, r clocks.Reading) []part {
	return []part{
		{Function: function, Parts: []string{total}, NS: r.Wall, From: "CLOCK_MONOTONIC"},
		{Function: function, Parts: []string{onCPU}, NS: r.CPU, From: "CLOCK_THREAD_CPUTIME_ID"},
		{Function: function, Parts: []string{onCPU}, NS: r.OnCPU, From: "schedstat"},
		{Function: function, Parts: []string{kernelRunnable, throttled}, NS: r.Delay, From: "schedstat"},
	}
}

// asleep is what is left of a function's time: its threads neither ran nor could have.
func asleep(function, part_, name string, r clocks.Reading) part {
	return part{
		Function: function, Parts: []string{part_}, Name: name, NS: r.Wall - r.CPU - r.Delay,
		From: "the rest of the time",
	}
}

func share(function string, from, to float64, parts ...string) part {
	return part{Function: function, Parts: parts, Share: [2]float64{from, to}, From: "construction"}
}
