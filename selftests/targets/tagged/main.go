// Tagged is a program whose goroutines have labels of package runtime/pprof, and that uses nothing else that a trace
// shows as a task: tools must show none. Its main goroutine runs all the time.
//
//	tagged [-trace FILE] [-duration TIME]
//
// It speaks the handshake of package protocol. With -trace it writes a trace of itself between "start" and "done", for
// a comparison of what tools show of both. The done line is {"sets":N}, the number of sets of labels.
package main

import (
	"context"
	"flag"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var sets atomic.Int64

func main() {
	file := flag.String("trace", "", "write a trace of runtime/trace")
	duration := flag.Duration("duration", 500*time.Millisecond, "time between start and done")
	flag.Parse()
	protocol.Ready()
	if *file != "" {
		protocol.Check(trace.Start(protocol.Must(os.Create(*file))))
	}
	for begin := time.Now(); time.Since(begin) < *duration; {
		serve()
		time.Sleep(time.Millisecond)
	}
	trace.Stop()
	protocol.Done(map[string]int64{"sets": sets.Load()})
}

func serve() {
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go handle(i, &group)
	}
	group.Wait()
}

// handle sets labels twice, within each other: Do sets the former ones again when it returns.
func handle(i int, group *sync.WaitGroup) {
	defer group.Done()
	pprof.Do(context.Background(), pprof.Labels("endpoint", "/"+strconv.Itoa(i)), func(ctx context.Context) {
		pprof.Do(ctx, pprof.Labels("user", "a b"), func(context.Context) { time.Sleep(100 * time.Microsecond) })
	})
	sets.Add(4)
}
