package main

// This file has the workers whose Ps are taken while goroutines are in system calls, in every way
// of the runtime: sysmon retakes them, an STW pause does, so does a change of GOMAXPROCS (by main),
// and a goroutine locked to its thread hands off its own. Each call lasts about as long as taking
// its P does, so that the two race.

import (
	"runtime"
	"syscall"
	"time"
)

func (w *workload) startRaces() {
	for i := 0; i < 2; i++ {
		w.run(w.dozer)
	}
	w.run(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		w.dozer()
	})
	w.run(w.worldStopper)
	w.run(w.syscallBursts)
}

// doze sleeps in the kernel, in what the scheduler treats as a system call. sysmon looks for these
// every 20 us at first, and every 10 ms when it has long found none.
func doze(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	syscall.Nanosleep(&t, nil)
}

func (w *workload) dozer() {
	for i := 0; w.pause(4 * time.Millisecond); i++ {
		doze(time.Duration(1+i%7*10) * time.Microsecond)
		doze(time.Duration(50+i%5*100) * time.Microsecond)
		w.counts.syscalls.Add(2)
	}
}

// worldStopper stops the world for reasons other than a collection, while others are in system
// calls.
func (w *workload) worldStopper() {
	var stats runtime.MemStats
	stacks := make([]byte, 1<<16)
	for i := 0; w.pause(25 * time.Millisecond); i++ {
		if i%4 == 0 {
			runtime.Stack(stacks, true)
		} else {
			runtime.ReadMemStats(&stats)
		}
	}
}

// syscallBursts enters and leaves system calls without a pause, longer than a time slice: STW
// pauses and preemption occur in every part of the exit and entry.
func (w *workload) syscallBursts() {
	for w.pause(60 * time.Millisecond) {
		for end := time.Now().Add(spinFor); time.Now().Before(end); {
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
			burn(w.between)
			w.counts.syscalls.Add(1)
		}
	}
}
