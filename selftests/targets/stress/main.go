// Stress does what a change of its code at run time could disturb, and verifies every result: deep
// stacks that grow and shrink under garbage collections, panics that are recovered, signals of a
// profiler and of the preemption of busy loops, threads that end with their goroutines, wake-ups in
// an exact order, timers and children. It is the target of `make soak`, which patches it and
// restores it meanwhile, and kills the recorder at any point of that.
//
//	stress [-duration D]    or until SIGTERM
//
// It speaks the handshake of package protocol; the done line is the number of operations of each
// kind. A wrong result ends it with a message and status 1.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	stop  atomic.Bool
	group sync.WaitGroup
)

// repeat runs a kind of operation until the end, in a goroutine, and counts it. The number of the
// operation is its argument.
func repeat(count *int64, operation func(n int64) error) {
	group.Add(1)
	go func() {
		defer group.Done()
		for n := int64(0); !stop.Load(); n++ {
			protocol.Check(operation(n))
			*count = n + 1
		}
	}()
}

func main() {
	duration := flag.Duration("duration", 10*time.Second, "how long to work")
	flag.Parse()
	runtime.GOMAXPROCS(4)
	protocol.Ready()

	runtime.SetCPUProfileRate(500)
	protocol.Check(pprof.StartCPUProfile(io.Discard))
	kinds := []struct {
		name      string
		operation func(n int64) error
	}{
		{"stacks", growStack},
		{"panics", recoverPanic},
		{"heaps", fillHeap},
		{"threads", endThread},
		{"wakes", passAround()},
		{"loops", busyLoop},
		{"timers", expireTimers},
		{"children", runChild},
		{"collections", collect},
	}
	counts := make([]int64, len(kinds))
	for i, kind := range kinds {
		repeat(&counts[i], kind.operation)
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	select {
	case <-time.After(*duration):
	case <-term:
	}
	stop.Store(true)
	group.Wait()
	pprof.StopCPUProfile()
	result := map[string]any{"go": runtime.Version()}
	for i, kind := range kinds {
		if counts[i] == 0 {
			protocol.Fail(fmt.Errorf("no operation of the kind %s", kind.name))
		}
		result[kind.name] = counts[i]
	}
	protocol.Done(result)
}

// growStack needs up to 1 MiB of stack in a goroutine of its own.
func growStack(n int64) error {
	depth := 100 + n%4000
	sum := make(chan int64)
	go func() { sum <- sumOfFrames(depth) }()
	if got, want := <-sum, depth*(depth+1)/2; got != want {
		return fmt.Errorf("stack of %d frames: %d instead of %d", depth, got, want)
	}
	return nil
}

//go:noinline
func sumOfFrames(depth int64) int64 {
	var frame [24]int64
	for i := range frame {
		frame[i] = depth
	}
	if depth == 0 {
		return 0
	}
	below := sumOfFrames(depth - 1)
	return below + frame[depth%int64(len(frame))]
}

var errExpected = errors.New("expected")

func recoverPanic(n int64) (err error) {
	defer func() {
		got := recover()
		if got != errExpected {
			err = fmt.Errorf("recovered %v", got)
		}
	}()
	panicAt(int(n % 50))
	return nil
}

//go:noinline
func panicAt(depth int) {
	defer func() {}()
	if depth == 0 {
		panic(errExpected)
	}
	panicAt(depth - 1)
}

func fillHeap(n int64) error {
	size := 1 + int(n%64)<<10
	blocks := make([][]byte, 32)
	for i := range blocks {
		blocks[i] = bytes.Repeat([]byte{byte(i)}, size)
	}
	runtime.Gosched()
	for i, block := range blocks {
		if len(block) != size || bytes.Count(block, []byte{byte(i)}) != size {
			return fmt.Errorf("block %d of %d bytes has changed", i, size)
		}
	}
	return nil
}

// endThread ends a goroutine that is locked to its thread, which ends with it.
func endThread(n int64) error {
	result := make(chan int64)
	go func() {
		runtime.LockOSThread()
		result <- n
	}()
	if got := <-result; got != n {
		return fmt.Errorf("thread %d returned %d", n, got)
	}
	time.Sleep(time.Millisecond)
	return nil
}

// passAround sends a number through a ring of goroutines, each of which adds its place.
func passAround() func(int64) error {
	const places = 16
	first := make(chan int64)
	in := first
	for i := int64(0); i < places; i++ {
		out := make(chan int64)
		go func(in, out chan int64, i int64) {
			for value := range in {
				out <- value + i
			}
		}(in, out, i)
		in = out
	}
	last := in
	return func(n int64) error {
		first <- n
		if got, want := <-last, n+places*(places-1)/2; got != want {
			return fmt.Errorf("passed %d around: %d instead of %d", n, got, want)
		}
		return nil
	}
}

var sink atomic.Uint64

// busyLoop has no call, so only a signal can preempt it.
func busyLoop(n int64) error {
	x := uint64(n)
	for i := 0; i < 20_000_000; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink.Store(x)
	return nil
}

func expireTimers(int64) error {
	const timers = 20
	expired := make(chan int, timers)
	for i := 0; i < timers; i++ {
		i := i
		time.AfterFunc(time.Duration(i)*100*time.Microsecond, func() { expired <- i })
	}
	var seen [timers]bool
	for range seen {
		i := <-expired
		if seen[i] {
			return fmt.Errorf("timer %d expired twice", i)
		}
		seen[i] = true
	}
	return nil
}

func runChild(n int64) error {
	want := fmt.Sprintf("child %d\n", n)
	got, err := exec.Command("/bin/echo", "child", fmt.Sprint(n)).Output()
	if err != nil || string(got) != want {
		return fmt.Errorf("child %d: %q, %v", n, got, err)
	}
	time.Sleep(20 * time.Millisecond)
	return nil
}

func collect(n int64) error {
	if n%10 == 0 {
		debug.FreeOSMemory() // shrinks stacks, too
	} else {
		runtime.GC()
	}
	time.Sleep(5 * time.Millisecond)
	return nil
}
