// Grpc is a grpc-go server on Unix sockets with its own clients, which make calls that succeed and that
// fail: by grpc's own transport, and by that for net/http.
//
//	grpc [-n ROUNDS] [-clients N]
//
// It speaks the handshake of package protocol. The done line is
//
//	{"requests":{METHOD:{"ok":N,"error":N}},"served":{METHOD:{CODE:N}}}
//
// with the unary calls, and with all calls that reached the server by the code that the client received.
//
// It builds with all versions of grpc-go from 1.63 on; v*.mod select some.
package main

import (
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	pb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type counter struct {
	mu    sync.Mutex
	count map[string]map[string]int
}

func (c *counter) add(name, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count[name] == nil {
		c.count[name] = map[string]int{}
	}
	c.count[name][outcome]++
}

func (c *counter) call(name string, err error) {
	if err != nil {
		c.add(name, "error")
	} else {
		c.add(name, "ok")
	}
}

// The calls of clients, and those that reached the server.
type counters struct {
	unary, served counter
}

func (c *counters) call(name string, err error) {
	c.unary.call(name, err)
	c.reached(name, err)
}

func (c *counters) reached(name string, err error) {
	c.served.add(name, strconv.Itoa(int(status.Code(err))))
}

func (c *counters) calls(conn *grpc.ClientConn, rounds int) {
	ctx := context.Background()
	late, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	client := pb.NewHealthClient(conn)
	for i := 0; i < rounds; i++ {
		_, err := client.Check(ctx, &pb.HealthCheckRequest{})
		c.call("/grpc.health.v1.Health/Check", err)
		_, err = client.Check(ctx, &pb.HealthCheckRequest{Service: "hushhush"})
		c.call("/grpc.health.v1.Health/Check", err)
		_, err = client.Check(late, &pb.HealthCheckRequest{})
		c.unary.call("/grpc.health.v1.Health/Check", err)
		err = conn.Invoke(ctx, "/grpc.health.v1.Health/List", &pb.HealthCheckRequest{}, &pb.HealthCheckResponse{})
		c.call("/grpc.health.v1.Health/List", err)
		err = conn.Invoke(ctx, "/no.Service/Method", &pb.HealthCheckRequest{}, &pb.HealthCheckResponse{})
		c.call("/no.Service/Method", err)
		for _, s := range streams {
			c.reached(streamsService+s.StreamName, stream(conn, s.StreamName))
		}
	}
}

func main() {
	rounds := flag.Int("n", 50, "how many times each client makes all calls")
	clients := flag.Int("clients", 4, "how many goroutines make calls")
	flag.Parse()

	folder, err := os.MkdirTemp("", "grpc")
	if err != nil {
		protocol.Fail(err)
	}
	defer os.RemoveAll(folder)
	server := newServer()
	conns := []*grpc.ClientConn{
		connect(filepath.Join(folder, "socket"), server.Serve),
		connect(filepath.Join(folder, "http"), func(l net.Listener) error { return serveHTTP(server, l) }),
	}
	c := &counters{counter{count: map[string]map[string]int{}}, counter{count: map[string]map[string]int{}}}
	protocol.Ready()
	var group sync.WaitGroup
	for i := 0; i < *clients; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			c.calls(conns[i%len(conns)], *rounds)
		}()
	}
	group.Wait()
	waiting.Wait()
	time.Sleep(50 * time.Millisecond) // so that the trace contains the ends of all tasks
	protocol.Done(map[string]any{"requests": c.unary.count, "served": c.served.count})
}
