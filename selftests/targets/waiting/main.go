// Waiting parks goroutines in 40 kinds of waits, and then traces itself, so that the stacks of
// goroutines that are parked when a recording begins can be compared with those of the runtime.
//
//	waiting [-n N] [-late N] [-threads N] [-trace FILE] [-profile FILE] [-restless] [-duration D]
//
// -n is the number of goroutines, -threads that of goroutines which hold a thread each, in a system
// call. -late is the number of goroutines that are parked after "start". Between "start" and "done" the runtime writes its own trace to the file of -trace, and then
// the text of its goroutine profile (debug=2) to that of -profile. With -restless other goroutines
// grow their stacks, and the garbage collector runs without pause, which shrinks and moves the
// stacks of those that are parked.
//
// It speaks the handshake of package protocol.
package main

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	n := flag.Int("n", 4000, "goroutines to park")
	late := flag.Int("late", 0, "goroutines to park after start")
	threads := flag.Int("threads", 0, "goroutines that wait in a system call")
	traceFile := flag.String("trace", "", "write the runtime's own trace to `FILE`")
	profile := flag.String("profile", "", "write the goroutine profile to `FILE`")
	restless := flag.Bool("restless", false, "move the stacks all the time")
	duration := flag.Duration("duration", time.Second, "time between start and done")
	flag.Parse()

	debug.SetMaxThreads(*threads + 1000)
	setUp()
	park(*n)
	parkThreads(*threads)
	time.Sleep(200 * time.Millisecond) // until all have parked
	if *restless {
		for i := 0; i < 4; i++ {
			go grow()
		}
		go collect()
	}
	protocol.Ready()
	park(*late)
	if *traceFile != "" {
		f := protocol.Must(os.Create(*traceFile))
		protocol.Check(trace.Start(f))
		time.Sleep(*duration)
		trace.Stop()
		protocol.Check(f.Close())
	} else {
		time.Sleep(*duration)
	}
	if *profile != "" {
		f := protocol.Must(os.Create(*profile))
		protocol.Check(pprof.Lookup("goroutine").WriteTo(f, 2))
		protocol.Check(f.Close())
	}
	protocol.Done(map[string]int{"parked": *n, "kinds": len(kinds), "threads": *threads})
}

// park starts n goroutines, of each kind as many; a kind of which each needs files has at most 100.
func park(n int) {
	for i := 0; i < n; {
		for k := 0; k < len(kinds) && i < n; k++ {
			if kinds[k].few && i >= 100*len(kinds) {
				continue
			}
			go kinds[k].wait()
			i++
		}
	}
}

// parkThreads waits until the goroutines are in their system calls.
func parkThreads(n int) {
	var fds [2]int
	var begun sync.WaitGroup

	protocol.Check(syscall.Pipe(fds[:]))
	for i := 0; i < n; i++ {
		begun.Add(1)
		go threadInRead(fds[0], &begun)
	}
	begun.Wait()
}

func threadInRead(fd int, begun *sync.WaitGroup) {
	var buf [1]byte

	begun.Done()
	syscall.Read(fd, buf[:])
}

// grow has a stack that grows and shrinks.
func grow() {
	for {
		deep(200)
		time.Sleep(time.Millisecond)
	}
}

//go:noinline
func deep(n int) int {
	var room [256]byte

	if n > 0 {
		room[n%256] = byte(deep(n - 1))
	}
	return int(room[7]) + n
}

func collect() {
	for {
		runtime.GC()
	}
}
