// Pair is an HTTP server and its clients in one process, used to measure the overhead of tracing on
// plain net/http: each request is a system call and a few switches of goroutines on both sides.
//
//	pair [-requests N] [-connections N] [-rate N] [-trace FILE]
//
// It speaks the handshake of package protocol and prints on the done line the requests, the seconds,
// the CPU time per request, and the median and 99th percentile of a request's time.
package main

import (
	"flag"
	"io"
	"net"
	"net/http"
	"sort"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type result struct {
	Requests  int     `json:"requests"`
	Seconds   float64 `json:"seconds"`
	CPUNS     float64 `json:"cpu_ns_per_request"`
	PerSecond float64 `json:"per_second"`
	P50       int64   `json:"p50_ns"`
	P99       int64   `json:"p99_ns"`
}

func main() {
	requests := flag.Int("requests", 20000, "how many, of all connections")
	connections := flag.Int("connections", 8, "how many clients at a time")
	rate := flag.Float64("rate", 0, "requests per second, 0 for as many as possible")
	file := flag.String("trace", "", "have the runtime trace it, into `FILE`")
	flag.Parse()

	listener := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "hello")
	}))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *connections}}
	url := "http://" + listener.Addr().String() + "/"
	request(client, url)

	protocol.Ready()
	stop := protocol.Trace(*file)
	each := *requests / *connections
	took := make([][]int64, *connections)
	start, cpu := time.Now(), protocol.CPU()
	var group sync.WaitGroup
	for i := range took {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			took[i] = play(client, url, each, *rate/float64(*connections))
		}(i)
	}
	group.Wait()
	seconds, cpuNS := time.Since(start).Seconds(), protocol.CPU()-cpu
	stop()
	var all []int64
	for _, some := range took {
		all = append(all, some...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	protocol.Done(result{
		Requests: len(all), Seconds: seconds, CPUNS: float64(cpuNS) / float64(len(all)),
		PerSecond: float64(len(all)) / seconds, P50: all[len(all)/2], P99: all[len(all)*99/100],
	})
}

// play makes n requests, at this rate, and returns the time that each took.
func play(client *http.Client, url string, n int, rate float64) []int64 {
	took := make([]int64, 0, n)
	next := time.Now()
	for i := 0; i < n; i++ {
		if rate > 0 {
			next = next.Add(time.Duration(1e9 / rate))
			time.Sleep(time.Until(next))
		}
		start := time.Now()
		request(client, url)
		took = append(took, time.Since(start).Nanoseconds())
	}
	return took
}

func request(client *http.Client, url string) {
	response := protocol.Must(client.Get(url))
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}
