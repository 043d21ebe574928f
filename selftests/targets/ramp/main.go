// Ramp is a load of scheduler events that rises and falls, for recordings with a limited overhead: two
// goroutines send a value back and forth over a pair of unbuffered channels, at rates that change.
//
//	ramp [-steps RATE:TIME,...] [-procs N]
//
// Round trips are made in batches of 100, each of which has exactly 200 meetings: a meeting unblocks the
// side that came first; kernel events have a fifth of the cost. It speaks the handshake of package protocol; the done line has the time of each
// batch, by CLOCK_MONOTONIC, and the CPU time between "start" and "done".
package main

import (
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	batch = 100 // round trips
	calls = 4   // system calls after each, which only kernel events contain
)

type step struct {
	rate int
	time time.Duration
}

type result struct {
	RoundTrips int        `json:"round_trips"`
	CPUNS      int64      `json:"cpu_ns"`
	Batches    [][2]int64 `json:"batches"`
}

func parse(text string) (steps []step) {
	for _, word := range strings.Split(text, ",") {
		rate, length, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(rate)
		if err != nil || n < 1 {
			protocol.Fail(fmt.Errorf("invalid rate in %q", word))
		}
		d := protocol.Must(time.ParseDuration(length))
		steps = append(steps, step{n, d})
	}
	return steps
}

func ponger(ping <-chan int, pong chan<- int) {
	for v := range ping {
		pong <- v
	}
}

// play makes as many batches as the step's rate and time require, late ones without a pause: the work
// does not depend on what a recording costs.
func play(s step, ping chan<- int, pong <-chan int, r *result) {
	start, batches := time.Now(), int(s.time.Seconds()*float64(s.rate))/batch
	for n := 0; n < batches; n++ {
		time.Sleep(time.Until(start.Add(time.Duration(n) * batch * time.Second / time.Duration(s.rate))))
		from := clocks.Wall()
		for i := 0; i < batch; i++ {
			ping <- i
			<-pong
			for j := 0; j < calls; j++ {
				syscall.Getppid()
			}
		}
		r.Batches = append(r.Batches, [2]int64{from, clocks.Wall()})
		r.RoundTrips += batch
	}
}

func main() {
	steps := flag.String("steps", "500:3s,10000:6s,500:20s", "round trips per second, for how long")
	procs := flag.Int("procs", 1, "GOMAXPROCS")
	flag.Parse()
	runtime.GOMAXPROCS(*procs)

	plan := parse(*steps)
	protocol.Ready()
	cpu := protocol.CPU()
	ping, pong := make(chan int), make(chan int)
	r := result{Batches: [][2]int64{}}
	go ponger(ping, pong)
	for _, s := range plan {
		play(s, ping, pong, &r)
	}
	r.CPUNS = protocol.CPU() - cpu
	protocol.Done(r)
}
