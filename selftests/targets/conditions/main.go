// Conditions provokes the conditions of `gotrace-bpf flight --trigger`, one at a time:
//
//	conditions -kind KIND [-n N] [-gap D] [-long D] [-exit STATUS]
//
// Kinds: call (of main.hit, for D, while main.quick is called for a tenth of that), request (to a net/http
// server, answered with 503 after D), cpu (one CPU is busy for D), signal (SIGUSR2 to itself), quiet
// (none of them: short calls and requests with status 200), flood (calls of main.hit without pauses).
//
// It speaks the handshake of package protocol; the done line is {"provoked":[[FROM,TO],...]}, the times
// by CLOCK_MONOTONIC.
package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

var long = flag.Duration("long", 100*time.Millisecond, "duration of a provoked condition")

//go:noinline
func hit(d time.Duration) { time.Sleep(d) }

//go:noinline
func quick(d time.Duration) { time.Sleep(d) }

func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

func slow(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(*long)
	w.WriteHeader(http.StatusServiceUnavailable)
}

func get(url string) {
	response, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

func main() {
	kind := flag.String("kind", "call", "what to provoke")
	n := flag.Int("n", 5, "how often")
	gap := flag.Duration("gap", 1500*time.Millisecond, "time between two")
	status := flag.Int("exit", 0, "exit status")
	flag.Parse()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	mux := http.NewServeMux()
	mux.HandleFunc("/slow", slow)
	mux.HandleFunc("/fast", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	provoke := map[string]func(){
		"call":    func() { hit(*long) },
		"request": func() { get(server.URL + "/slow") },
		"cpu":     func() { spin(*long) },
		"quiet":   func() { get(server.URL + "/fast") },
		"signal":  func() { syscall.Kill(os.Getpid(), syscall.SIGUSR2); <-signals },
		"flood":   func() { hit(0) },
	}[*kind]
	if provoke == nil {
		fmt.Fprintln(os.Stderr, "conditions: unknown kind", *kind)
		os.Exit(2)
	}
	protocol.Ready()
	times := [][2]int64{}
	for i := 0; i < *n; i++ {
		if *gap > 0 {
			quick(*long / 10)
			time.Sleep(*gap)
		}
		from := clocks.Wall()
		provoke()
		if *kind != "flood" {
			times = append(times, [2]int64{from, clocks.Wall()})
		}
	}
	protocol.Done(map[string]any{"provoked": times})
	os.Exit(*status)
}
