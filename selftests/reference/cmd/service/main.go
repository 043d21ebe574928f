// SPDX-License-Identifier: GPL-2.0

// Service is the other side of gotrace-bpf serve in tests: a service manager, and hostile clients of
// the control socket.
//
//	service listen ADDRESS FILE    receives reports of the service, as a manager does: each is a line
//	                               of FILE, {"ms": ..., "text": ...}
//	service flood PATH N           connects N times and sends garbage each time, then keeps as many
//	                               silent connections as possible for 200 ms
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strconv"
	"time"

	"gotrace-bpf/selftests/reference/internal/command"
)

func listen(address, file string) {
	conn := command.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"}))
	out := command.Must(os.Create(file))
	fmt.Println("ready")
	buf := make([]byte, 4096)
	start := time.Now()
	for {
		n, _, err := conn.ReadFromUnix(buf)
		command.Check(err)
		command.Check(json.NewEncoder(out).Encode(map[string]any{
			"ms":   time.Since(start).Milliseconds(),
			"text": string(buf[:n]),
		}))
	}
}

func dial(path string) *net.UnixConn {
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil
	}
	return conn
}

func flood(path string, n int) {
	connected := 0
	for i := 0; i < n; i++ {
		conn := dial(path)
		if conn == nil {
			time.Sleep(time.Millisecond)
			continue
		}
		connected++
		garbage := make([]byte, 1+rand.Intn(300))
		rand.Read(garbage)
		conn.Write(garbage)
		if i%3 == 0 {
			conn.Write([]byte("GET /metrics HTTP/1.1\r\n\r\n"))
		}
		conn.Close()
	}
	var kept []*net.UnixConn
	for i := 0; i < 100; i++ {
		if conn := dial(path); conn != nil {
			kept = append(kept, conn)
		}
	}
	time.Sleep(200 * time.Millisecond)
	for _, conn := range kept {
		conn.Close()
	}
	fmt.Println(connected)
}

func main() {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "listen":
		listen(os.Args[2], os.Args[3])
	case len(os.Args) == 4 && os.Args[1] == "flood":
		n := command.Must(strconv.Atoi(os.Args[3]))
		flood(os.Args[2], n)
	default:
		fmt.Fprintln(os.Stderr, "usage: service listen ADDRESS FILE | flood PATH N")
		os.Exit(2)
	}
}
