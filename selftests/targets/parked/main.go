// Parked is a nearly idle program: N goroutines wait on channels, in selects, for mutexes, in
// sleeps and forever. It tests the state of goroutines that do not run during a recording, and with
// -n 1000000 the cost of attaching to so many.
//
//	parked [-n N] [-threads N] [-live] [-churn RATE] [-duration D]
//
// -threads adds goroutines that hold a thread each, half of them in a blocking read, half locked to
// theirs and waiting. -live adds a little continuous work and measures how long it is delayed: the
// done line has its longest pauses before "ready" and after it. -churn adds that many goroutines
// per second that start and exit.
//
// It speaks the handshake of package protocol, with -duration between "start" and "done".
package main

import (
	"flag"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	n := flag.Int("n", 1000, "goroutines to park")
	threads := flag.Int("threads", 0, "goroutines to park that hold a thread")
	live := flag.Bool("live", false, "work a little all the time, and measure the pauses of that")
	churn := flag.Int("churn", 0, "goroutines to create and end per second")
	duration := flag.Duration("duration", time.Second, "time between start and done")
	flag.Parse()

	var mu sync.Mutex
	mu.Lock()
	c, never := make(chan int), make(chan string)
	for i := 0; i < *n; i++ {
		switch i % 5 {
		case 0:
			go parkedReceive(c)
		case 1:
			go parkedMutex(&mu)
		case 2:
			go parkedSleep()
		case 3:
			go parkedForEver()
		case 4:
			go parkedSelect(c, never)
		}
	}
	debug.SetMaxThreads(*threads + 1000)
	parkThreads(*threads, never)
	var pauses *meter
	if *live {
		pauses = startLive()
	}
	if *churn > 0 {
		go churner(*churn)
	}
	time.Sleep(50 * time.Millisecond) // until all have parked
	result := map[string]int64{"parked": int64(*n), "threads": int64(*threads)}
	if *live {
		pauses.take()
		time.Sleep(2 * time.Second)
		result["longest_pause_before_us"] = pauses.take().Microseconds()
	}
	protocol.Ready()
	if *live {
		result["longest_pause_attaching_us"] = pauses.take().Microseconds()
	}
	time.Sleep(*duration)
	if *live {
		result["longest_pause_recording_us"] = pauses.take().Microseconds()
	}
	protocol.Done(result)
}

func parkedReceive(c <-chan int) { <-c }
func parkedMutex(mu *sync.Mutex) { mu.Lock() }
func parkedSleep()               { time.Sleep(1000 * time.Hour) }
func parkedForEver()             { select {} }

func parkedSelect(a <-chan int, b <-chan string) {
	select {
	case <-a:
	case <-b:
	}
}

// parkThreads waits until the threads exist: the runtime's monitor creates those of the readers one
// by one, as it finds their Ps in a long system call.
func parkThreads(n int, never <-chan string) {
	var fds [2]int
	protocol.Check(syscall.Pipe(fds[:]))
	var begun sync.WaitGroup
	for i := 0; i < n; i++ {
		begun.Add(1)
		if i%2 == 0 {
			go threadInRead(fds[0], begun.Done)
		} else {
			go threadLocked(never, begun.Done)
		}
	}
	begun.Wait()
}

// threadInRead holds a thread in a read that never returns.
func threadInRead(fd int, begun func()) {
	var buf [1]byte
	begun()
	syscall.Read(fd, buf[:])
}

func threadLocked(never <-chan string, begun func()) {
	runtime.LockOSThread()
	begun()
	<-never
}

// churner creates goroutines that exit at once, a burst each millisecond.
func churner(rate int) {
	for begin, begun := time.Now(), 0; ; time.Sleep(time.Millisecond) {
		for due := int(time.Since(begin).Seconds() * float64(rate)); begun < due; begun++ {
			go shortLived(begun)
		}
	}
}

func shortLived(i int) {
	if i%3 == 0 {
		time.Sleep(time.Millisecond)
	}
}
