// Grpc is a grpc-go server on a Unix socket with its own clients, which make unary calls that succeed and
// that fail.
//
//	grpc [-n ROUNDS] [-clients N]
//
// It speaks the handshake of package protocol. The done line is {"requests":{METHOD:{"ok":N,"error":N}}},
// as the program has counted the calls.
package main

import (
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	pb "google.golang.org/grpc/health/grpc_health_v1"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type counter struct {
	mu    sync.Mutex
	count map[string]map[string]int
}

func (c *counter) call(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count[name] == nil {
		c.count[name] = map[string]int{}
	}
	if err != nil {
		c.count[name]["error"]++
	} else {
		c.count[name]["ok"]++
	}
}

func (c *counter) calls(conn *grpc.ClientConn, rounds int) {
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
		c.call("/grpc.health.v1.Health/Check", err)
		_, err = client.List(ctx, &pb.HealthListRequest{})
		c.call("/grpc.health.v1.Health/List", err)
		err = conn.Invoke(ctx, "/no.Service/Method", &pb.HealthCheckRequest{}, &pb.HealthCheckResponse{})
		c.call("/no.Service/Method", err)
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
	socket := filepath.Join(folder, "socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		protocol.Fail(err)
	}
	server := grpc.NewServer()
	pb.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		protocol.Fail(err)
	}
	c := &counter{count: map[string]map[string]int{}}
	protocol.Ready()
	var group sync.WaitGroup
	for i := 0; i < *clients; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			c.calls(conn, *rounds)
		}()
	}
	group.Wait()
	time.Sleep(50 * time.Millisecond) // so that the trace contains the ends of all tasks
	protocol.Done(map[string]any{"requests": c.count})
}
