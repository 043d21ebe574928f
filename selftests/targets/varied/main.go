// Varied answers requests, one at a time, in which a function takes a given CPU time, so
// that recordings of different loads can be compared. Each request is a task of package runtime/trace.
//
//	varied [-trace FILE] [-n N] [-work DURATION]
//
// It speaks the handshake of package protocol. With -trace it also traces itself. The done line is
// {"requests":N}.
package main

import (
	"context"
	"flag"
	"runtime"
	"runtime/trace"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	file := flag.String("trace", "", "also write the runtime's own trace to `FILE`")
	n := flag.Int("n", 1000, "how many requests")
	duration := flag.Duration("work", 300*time.Microsecond, "CPU time of each call of work")
	flag.Parse()

	requests, answers := make(chan context.Context), make(chan bool)
	go work(*duration, requests, answers)
	protocol.Ready()
	stop := func() {}
	if *file != "" {
		stop = protocol.Trace(*file)
	}
	for i := 0; i < *n; i++ {
		ctx, task := trace.NewTask(context.Background(), "request")
		requests <- ctx
		<-answers
		task.End()
		time.Sleep(100 * time.Microsecond)
	}
	stop()
	protocol.Done(map[string]int{"requests": *n})
}

// work answers each request after that time on the CPU.
func work(d time.Duration, requests chan context.Context, answers chan bool) {
	runtime.LockOSThread()
	for ctx := range requests {
		trace.WithRegion(ctx, "work", func() {
			for since := clocks.CPU(); clocks.CPU()-since < int64(d); {
				clocks.Burn()
			}
		})
		answers <- true
	}
}
