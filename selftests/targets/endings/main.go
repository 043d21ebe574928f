// Endings traces itself while goroutines end within regions, and while tasks are ended twice, which
// runtime/trace permits.
//
//	endings [-n N] -trace FILE
//
// Each of N goroutines begins two regions, one in the other, and leaves them by runtime.Goexit. Each
// of N tasks is ended by a call and again, later, by a deferred call. The done line has the number,
// and the sums of the durations by the clock of the program, in nanoseconds: of a region until its
// goroutine ends, and of a task until its first end and until its second.
package main

import (
	"context"
	"flag"
	"runtime"
	"runtime/trace"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type result struct {
	N       int   `json:"n"`
	Regions int64 `json:"regions_ns"` // of the outer regions
	First   int64 `json:"first_ns"`
	Second  int64 `json:"second_ns"`
}

func main() {
	n := flag.Int("n", 5, "goroutines, and tasks")
	file := flag.String("trace", "", "have the runtime trace it, into `FILE`")
	flag.Parse()

	protocol.Ready()
	stop := protocol.Trace(*file)
	done := result{N: *n}
	var group sync.WaitGroup
	var mu sync.Mutex
	for i := 0; i < *n; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			began := time.Now()
			defer func() {
				mu.Lock()
				done.Regions += int64(time.Since(began))
				mu.Unlock()
			}()
			leave()
		}()
	}
	group.Wait()
	for i := 0; i < *n; i++ {
		endTwice(&done)
	}
	stop()
	protocol.Done(done)
}

// leave ends its goroutine in two regions, of which the outer one is longer.
func leave() {
	trace.StartRegion(context.Background(), "leaves")
	time.Sleep(4 * time.Millisecond)
	trace.StartRegion(context.Background(), "inner")
	time.Sleep(6 * time.Millisecond)
	runtime.Goexit()
}

func endTwice(done *result) {
	began := time.Now()
	_, task := trace.NewTask(context.Background(), "handle")
	defer func() {
		task.End()
		done.Second += int64(time.Since(began))
	}()
	time.Sleep(2 * time.Millisecond)
	task.End()
	done.First += int64(time.Since(began))
	time.Sleep(5 * time.Millisecond) // not a part of the task
}
