// Requests is an HTTP server on loopback with its own clients, which has a task of package
// runtime/trace for each request: named by method and route, with its status as a log, and with the
// regions of all goroutines that work for it. Each route spends its time in another way.
//
//	requests [-trace FILE] [-n N] [-clients N]
//
// It speaks the handshake of package protocol. With -trace it also traces itself. The done line is
// {"requests":{NAME:{"count":N,"errors":N}}}, for comparison with `gotrace requests`.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// tally is what a route has answered.
type tally struct {
	Count  int `json:"count"`
	Errors int `json:"errors"`
}

type server struct {
	mu      sync.Mutex
	tallies map[string]*tally
	lock    sync.Mutex // what the route /lock waits for
	file    *os.File
	kept    [][]byte
}

// routes, and what they do. The result is the HTTP status.
func (s *server) routes() map[string]func(ctx context.Context, n int) int {
	return map[string]func(ctx context.Context, n int) int{
		"/cpu":   s.cpu,
		"/disk":  s.disk,
		"/lock":  s.locked,
		"/fan":   s.fan,
		"/sleep": s.sleep,
		"/alloc": s.alloc,
		"/fails": s.fails,
	}
}

func main() {
	file := flag.String("trace", "", "also write the runtime's own trace to `FILE`")
	n := flag.Int("n", 60, "how many requests each client makes per route")
	clients := flag.Int("clients", 4, "how many clients")
	flag.Parse()

	var err error
	s := &server{tallies: map[string]*tally{}}
	if s.file, err = os.CreateTemp("", "requests"); err != nil {
		protocol.Fail(err)
	}
	os.Remove(s.file.Name())
	listener := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	mux := http.NewServeMux()
	for route, do := range s.routes() {
		mux.HandleFunc(route, s.handler(route, do))
	}
	go http.Serve(listener, mux)

	protocol.Ready()
	stop := func() {}
	if *file != "" {
		stop = protocol.Trace(*file)
	}
	s.load("http://"+listener.Addr().String(), *clients, *n)
	time.Sleep(20 * time.Millisecond) // so that the trace contains the ends of all tasks
	stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	protocol.Done(map[string]any{"requests": s.tallies})
}

// load makes all requests.
func (s *server) load(url string, clients, n int) {
	var group sync.WaitGroup
	for c := 0; c < clients; c++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client := &http.Client{Transport: &http.Transport{}}
			for i := 0; i < n; i++ {
				for route := range s.routes() {
					response := protocol.Must(client.Get(url + route + "?n=" + strconv.Itoa(i)))
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			}
			client.CloseIdleConnections()
		}()
	}
	group.Wait()
}

func (s *server) handler(route string, do func(ctx context.Context, n int) int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.Method + " " + route
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		ctx, task := trace.NewTask(r.Context(), name)
		defer task.End()
		status := 0
		trace.WithRegion(ctx, "handle", func() { status = do(ctx, n) })
		trace.Log(ctx, "status", strconv.Itoa(status))
		s.count(name, status)
		if status == 418 { // an error without a status that shows it
			trace.Log(ctx, "error", "a teapot")
		}
		w.WriteHeader(status)
		fmt.Fprintln(w, name)
	}
}

func (s *server) count(name string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tallies[name] == nil {
		s.tallies[name] = &tally{}
	}
	s.tallies[name].Count++
	if status >= 500 || status == 418 {
		s.tallies[name].Errors++
	}
}

func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

func (s *server) cpu(ctx context.Context, n int) int {
	burn(200 * time.Microsecond)
	return 200
}

func (s *server) disk(ctx context.Context, n int) int {
	trace.WithRegion(ctx, "write", func() {
		s.file.WriteAt(make([]byte, 4096), int64(n)*4096)
		s.file.Sync()
	})
	return 200
}

func (s *server) locked(ctx context.Context, n int) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	burn(100 * time.Microsecond)
	if n%20 == 19 { // a slow one
		time.Sleep(3 * time.Millisecond)
	}
	return 200
}

// fan has others work for it; one of them still does when the task has ended.
func (s *server) fan(ctx context.Context, n int) int {
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			trace.WithRegion(ctx, "part", func() {
				burn(50 * time.Microsecond)
				trace.WithRegion(ctx, "wait", func() { time.Sleep(100 * time.Microsecond) })
			})
		}()
	}
	go trace.WithRegion(ctx, "late", func() { time.Sleep(2 * time.Millisecond) })
	group.Wait()
	return 202
}

func (s *server) sleep(ctx context.Context, n int) int {
	time.Sleep(time.Millisecond)
	return 204
}

// alloc makes garbage while there is a lot to mark, so that it has to assist.
func (s *server) alloc(ctx context.Context, n int) int {
	var kept [][]byte
	for i := 0; i < 64; i++ {
		kept = append(kept, make([]byte, 16<<10))
	}
	s.mu.Lock()
	s.kept = kept
	s.mu.Unlock()
	return 200
}

func (s *server) fails(ctx context.Context, n int) int {
	switch n % 4 {
	case 0:
		return 503
	case 1:
		return 418
	}
	return 404
}
