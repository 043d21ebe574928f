// Pingpong has two goroutines send a value back and forth over a pair of unbuffered channels: the
// smallest load of scheduler events only, used to measure the overhead of tracing and the maximum
// event rate. A round trip is six events: two blocks, unblocks and starts each.
//
//	pingpong [-duration D] [-rate N] [-procs N] [-deeper N] [-trace FILE]
//
// -deeper adds that many frames to the stacks of both.
//
// It speaks the handshake of package protocol and prints on the done line the round trips, the
// seconds and the CPU time, in total and per round trip, between "start" and "done".
package main

import (
	"flag"
	"runtime"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type result struct {
	RoundTrips     int     `json:"round_trips"`
	Seconds        float64 `json:"seconds"`
	CPUNS          int64   `json:"cpu_ns"`
	CPUNSRoundTrip float64 `json:"cpu_ns_per_round_trip"`
	PerSecond      float64 `json:"round_trips_per_second"`

	Expect []protocol.Claim `json:"expect"`
}

func main() {
	duration := flag.Duration("duration", time.Second, "how long to play")
	rate := flag.Int("rate", 0, "round trips per second, 0 for as many as possible")
	procs := flag.Int("procs", 1, "GOMAXPROCS")
	frames := flag.Int("deeper", 0, "frames more on the stacks")
	file := flag.String("trace", "", "have the runtime trace it, into `FILE`")
	flag.Parse()
	runtime.GOMAXPROCS(*procs)

	protocol.Ready()
	stop := protocol.Trace(*file)
	start, cpu := time.Now(), protocol.CPU()
	ping, pong := make(chan int), make(chan int)
	var group sync.WaitGroup
	var r result
	group.Add(1)
	if *frames > 0 {
		go deeper(*frames, func() { ponger(ping, pong) })
	} else {
		go ponger(ping, pong)
	}
	go func() {
		defer group.Done()
		end := start.Add(*duration)
		if *frames > 0 {
			deeper(*frames, func() { r.RoundTrips = pinger(ping, pong, end, *rate) })
		} else {
			r.RoundTrips = pinger(ping, pong, end, *rate)
		}
	}()
	group.Wait()
	r.Seconds = time.Since(start).Seconds()
	r.CPUNS = protocol.CPU() - cpu
	stop()
	r.PerSecond = float64(r.RoundTrips) / r.Seconds
	if r.RoundTrips > 0 {
		r.CPUNSRoundTrip = float64(r.CPUNS) / float64(r.RoundTrips)
	}
	r.Expect = []protocol.Claim{{
		Name: "meetings", Functions: []string{"main.main.func2", "main.ponger", "main.deeper"},
		Event: "unblock", Reasons: []string{"chan send", "chan receive"}, Count: 2 * r.RoundTrips,
		Why: "each meeting unblocks exactly the side that came first",
	}}
	protocol.Done(r)
}

//go:noinline
func deeper(n int, play func()) {
	if n == 0 {
		play()
		return
	}
	deeper(n-1, play)
}

func ponger(ping <-chan int, pong chan<- int) {
	for v := range ping {
		pong <- v
	}
}

// pinger returns the number of round trips made until end.
func pinger(ping chan<- int, pong <-chan int, end time.Time, rate int) (n int) {
	start := time.Now()
	for {
		// The clock is read only once per batch, so that the measurement does not include
		// it.
		for i := 0; i < 100; i++ {
			ping <- i
			<-pong
		}
		n += 100
		now := time.Now()
		if now.After(end) {
			return n
		}
		if rate > 0 {
			// Asleep while ahead of the schedule; late batches run without a pause.
			due := start.Add(time.Duration(n) * time.Second / time.Duration(rate))
			time.Sleep(due.Sub(now))
		}
	}
}
