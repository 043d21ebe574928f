// Package testtrace records real traces for the tests of the Go oracles: the runtime traces a small
// program within the test.
package testtrace

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"sync"
	"testing"
	"time"
)

// RoundTrips is how often the two goroutines started in Ping and Pong meet and meet back.
const RoundTrips = 500

// Record returns the path of a new trace of some goroutines, channels, sleeps and collections.
func Record(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go.trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Skip("tracing is on already: ", err)
	}
	defer trace.Stop()
	// The compared window begins and ends a millisecond inside the trace.
	time.Sleep(5 * time.Millisecond)
	work()
	time.Sleep(5 * time.Millisecond)
	return path
}

func work() {
	ping, pong := make(chan int), make(chan int)
	var group sync.WaitGroup
	group.Add(2)
	go Ping(&group, ping, pong)
	go Pong(&group, ping, pong)
	for i := 0; i < 20; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Millisecond)
			runtime.Gosched()
		}()
	}
	for i := 0; i < 5; i++ {
		runtime.GC()
	}
	group.Wait()
}

// Ping is the start function of the goroutine that sends first.
func Ping(group *sync.WaitGroup, ping chan<- int, pong <-chan int) {
	defer group.Done()
	for i := 0; i < RoundTrips; i++ {
		ping <- i
		<-pong
	}
}

// Pong is the start function of the answering goroutine.
func Pong(group *sync.WaitGroup, ping <-chan int, pong chan<- int) {
	defer group.Done()
	for i := 0; i < RoundTrips; i++ {
		pong <- <-ping
	}
}
