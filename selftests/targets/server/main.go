// Server is a small but real service: an HTTP front on loopback, a pool of workers behind a
// channel, a cache under a contended mutex, a journal on disk, periodic jobs, and clients of its
// own that keep it busy. It is what `make demo` records.
//
//	server [-duration D] [-rate N]
//
// It prints "ready PID http://ADDRESS" and runs for -duration or, when that is 0, until SIGTERM or
// SIGINT; then it prints the number of requests it served. At the default rate it needs about half
// of a CPU, so that a trace shows the program and not an overloaded machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	duration := flag.Duration("duration", 0, "how long to run, 0 until SIGTERM or SIGINT")
	rate := flag.Int("rate", 1500, "requests per second that the server's own clients make")
	flag.Parse()

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	if *duration > 0 {
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	if err := run(ctx, *rate); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rate int) error {
	s, err := newService()
	if err != nil {
		return err
	}
	defer s.journal.close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	front := &http.Server{Handler: s.routes()}
	go serveHTTP(front, listener)

	// The clients end first, then the front end, then the workers that serve both.
	working, stop := context.WithCancel(context.Background())
	defer stop()
	s.start(working)
	url := "http://" + listener.Addr().String()
	startClients(ctx, &s.group, url, rate)
	fmt.Printf("ready %d %s\n", os.Getpid(), url)

	<-ctx.Done()
	shutdown, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	front.Shutdown(shutdown)
	stop()
	s.group.Wait()
	fmt.Printf("served %d requests, %d jobs, %d journal entries\n",
		s.requests.Load(), s.jobs.Load(), s.journal.entries.Load())
	return nil
}

func serveHTTP(front *http.Server, listener net.Listener) {
	if err := front.Serve(listener); err != http.ErrServerClosed {
		fmt.Fprintln(os.Stderr, "server:", err)
	}
}
