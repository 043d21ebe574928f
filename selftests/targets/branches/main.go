// Branches has as many different stacks as log entries: it recurses 60 deep through two functions,
// selected at random, and logs the selection at the bottom, so that the stack of each log entry can
// be compared with its message.
//
//	branches [-logs N] [-seconds S]
//
// It speaks the handshake of package protocol; the done line has the number of log entries.
package main

import (
	"context"
	"flag"
	"math/rand"
	"runtime/trace"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const depth = 60

var (
	logs    = flag.Int("logs", 20000, "how many log entries")
	seconds = flag.Float64("seconds", 0, "stop after so many seconds; 0: only by -logs")
)

func main() {
	flag.Parse()
	protocol.Ready()
	done := make(chan int)
	go walker(done)
	n := <-done
	time.Sleep(20 * time.Millisecond) // so that the trace contains its end
	protocol.Done(map[string]any{"logs": n})
}

func walker(done chan int) {
	ctx := context.Background()
	random := rand.New(rand.NewSource(1))
	begin := time.Now()
	n := 0
	for n < *logs && (*seconds == 0 || time.Since(begin).Seconds() < *seconds) {
		var way [depth]byte
		bits := random.Uint64()
		for i := range way {
			way[i] = 'a' + byte(bits>>uint(i)&1)
		}
		walk(ctx, &way, 0)
		n++
	}
	done <- n
}

//go:noinline
func walk(ctx context.Context, way *[depth]byte, i int) {
	switch {
	case i == depth:
		trace.Log(ctx, "way", string(way[:]))
	case way[i] == 'a':
		a(ctx, way, i+1)
	default:
		b(ctx, way, i+1)
	}
}

//go:noinline
func a(ctx context.Context, way *[depth]byte, i int) {
	if i < depth {
		if way[i] == 'a' {
			a(ctx, way, i+1)
		} else {
			b(ctx, way, i+1)
		}
		return
	}
	walk(ctx, way, i)
}

//go:noinline
func b(ctx context.Context, way *[depth]byte, i int) {
	if i < depth {
		if way[i] == 'a' {
			a(ctx, way, i+1)
		} else {
			b(ctx, way, i+1)
		}
		return
	}
	walk(ctx, way, i)
}
