package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	pb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	streamsService = "/test.Streams/"
	messageMax     = 10000 // bytes that the server sends
)

var streams = []grpc.StreamDesc{
	{StreamName: "Echo", Handler: echo, ServerStreams: true, ClientStreams: true},
	{StreamName: "Abort", Handler: abort, ServerStreams: true, ClientStreams: true},
	{StreamName: "Cancel", Handler: wait, ServerStreams: true, ClientStreams: true},
	{StreamName: "Grow", Handler: grow, ServerStreams: true, ClientStreams: true},
	{StreamName: "Large", Handler: large, ServerStreams: true, ClientStreams: true},
	{StreamName: "Panic", Handler: panics, ServerStreams: true, ClientStreams: true},
}

var waiting sync.WaitGroup

func echo(_ any, s grpc.ServerStream) error {
	for {
		var m pb.HealthCheckRequest
		if err := s.RecvMsg(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.SendMsg(&m); err != nil {
			return err
		}
	}
}

func abort(_ any, s grpc.ServerStream) error {
	return status.Error(codes.Aborted, "hushhush")
}

// Until the client cancels the call, which it does after the first message. The client does not wait.
func wait(_ any, s grpc.ServerStream) error {
	waiting.Add(1)
	defer waiting.Done()
	if err := s.SendMsg(&pb.HealthCheckRequest{}); err != nil {
		return err
	}
	<-s.Context().Done()
	return s.Context().Err()
}

// The goroutine's stack is copied between the begin and the status.
func grow(_ any, s grpc.ServerStream) error {
	deep(1000)
	return status.Error(codes.DataLoss, "")
}

//go:noinline
func deep(n int) byte {
	var use [256]byte
	use[n%256] = byte(n)
	if n == 0 {
		return use[0]
	}
	return use[n%256] + deep(n-1)
}

// The first status is that of sending, which fails; the client does not receive the second.
func large(_ any, s grpc.ServerStream) error {
	s.SendMsg(&pb.HealthCheckRequest{Service: strings.Repeat("x", 2*messageMax)})
	return nil
}

func panics(_ any, s grpc.ServerStream) error {
	panic("panics")
}

func recovers(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() {
		if recover() != nil {
			err = status.Error(codes.Internal, "")
		}
	}()
	return handler(srv, s)
}

// Makes the call NAME, and returns its error.
func stream(conn *grpc.ClientConn, name string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, streamsService+name)
	if err != nil {
		return err
	}
	for i := 0; i < 3; i++ {
		if s.SendMsg(&pb.HealthCheckRequest{}) != nil {
			break // RecvMsg has the reason
		}
	}
	s.CloseSend()
	for {
		err := s.RecvMsg(&pb.HealthCheckRequest{})
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if name == "Cancel" {
			cancel()
		}
	}
}

// Half of the calls run on goroutines of their own.
func newServer() *grpc.Server {
	server := grpc.NewServer(grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))),
		grpc.MaxSendMsgSize(messageMax), grpc.StreamInterceptor(recovers))
	pb.RegisterHealthServer(server, health.NewServer())
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: strings.Trim(streamsService, "/"),
		HandlerType: (*any)(nil),
		Streams:     streams,
	}, server)
	return server
}

func serveHTTP(server *grpc.Server, l net.Listener) error {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return (&http.Server{Handler: server, Protocols: &protocols}).Serve(l)
}

func connect(socket string, serve func(net.Listener) error) *grpc.ClientConn {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		protocol.Fail(err)
	}
	go serve(listener)
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		protocol.Fail(err)
	}
	return conn
}
