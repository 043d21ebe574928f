// Outgoing makes requests to others, which are in the program itself: HTTP by a Unix socket, with
// redirections and failures, and DNS by a connection in memory.
//
//	outgoing [-n ROUNDS] [-clients N]
//
// It speaks the handshake of package protocol. The done line is {"requests":{NAME:{OUTCOME:N}}}: the
// calls of RoundTrip and of the resolver, with status, "ok" or "error", as the program has counted them.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const secret = "hushhush" // in paths, queries, headers and bodies

type counter struct {
	mu    sync.Mutex
	count map[string]map[string]int
}

func (c *counter) call(name, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count[name] == nil {
		c.count[name] = map[string]int{}
	}
	c.count[name][outcome]++
}

func (c *counter) lookup(name string, err error) {
	if err != nil {
		c.call(name, "error")
	} else {
		c.call(name, "ok")
	}
}

// RoundTrip counts what passes the transport below.
func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	method := r.Method
	if method == "" {
		method = "GET"
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	outcome := "error"
	if err == nil {
		outcome = fmt.Sprint(answer.StatusCode)
	}
	c.call(method+" "+r.URL.Host, outcome)
	return answer, err
}

func serve(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	switch r.URL.Path {
	case "/moved":
		http.Redirect(w, r, "http://other.example:81/", http.StatusFound)
	case "/fail":
		w.WriteHeader(503)
	case "/abort":
		panic(http.ErrAbortHandler)
	default:
		io.WriteString(w, "answer")
	}
}

func web(c *counter) {
	client := &http.Client{Transport: c}
	for _, call := range []struct{ method, url string }{
		{"", "http://api.example/" + secret},
		{"GET", "http://user:" + secret + "@api.example/x?token=" + secret},
		{"POST", "http://api.example/moved"},
		{"PUT", "http://api.example:8080/fail"},
		{"GET", "http://api.example/abort"},
		{"GET", "http://unreachable.example/"},
		{"DELETE", "http://[2001:db8::1]:80/"},
	} {
		r := protocol.Must(http.NewRequest(call.method, call.url, strings.NewReader(secret)))
		r.Header.Set("Authorization", secret)
		if call.method == "" {
			r.Method = ""
		}
		if answer, err := client.Do(r); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	r, _ := http.NewRequestWithContext(late, "GET", "http://late.example/", nil)
	client.Do(r)
}

// answer is a name server for one connection: it knows an address of known.example.
func answer(conn net.Conn) {
	defer conn.Close()
	var size [2]byte
	for {
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil || len(query) < 17 {
			return
		}
		end := 12
		for end < len(query) && query[end] != 0 {
			end += int(query[end]) + 1
		}
		end += 5
		reply := append([]byte{}, query[:end]...)
		reply[2], reply[3] = 0x84, 0 // an authoritative answer
		copy(reply[4:12], []byte{0, 1, 0, 0, 0, 0, 0, 0})
		switch {
		case query[13] != 'k':
			reply[3] = 3 // there is no such name
		case query[end-3] == 1:
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1)
		}
		binary.BigEndian.PutUint16(size[:], uint16(len(reply)))
		if _, err := conn.Write(append(size[:], reply...)); err != nil {
			return
		}
	}
}

func names(c *counter) {
	ctx := context.Background()
	r := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go answer(theirs)
		return ours, nil
	}}
	known, unknown := "known.example.", "unknown.example."
	_, err := r.LookupIPAddr(ctx, known)
	c.lookup(known, err)
	_, err = r.LookupHost(ctx, known)
	c.lookup(known, err)
	_, err = r.LookupIP(ctx, "ip4", known)
	c.lookup(known, err)
	_, err = r.LookupIPAddr(ctx, unknown)
	c.lookup(unknown, err)
	_, err = r.LookupHost(ctx, unknown)
	c.lookup(unknown, err)
	_, err = r.LookupCNAME(ctx, unknown)
	c.lookup(unknown, err)
	_, _, err = r.LookupSRV(ctx, "service", "tcp", unknown)
	c.lookup(unknown, err)
	_, err = r.LookupMX(ctx, unknown)
	c.lookup(unknown, err)
	_, err = r.LookupNS(ctx, unknown)
	c.lookup(unknown, err)
	_, err = r.LookupTXT(ctx, unknown)
	c.lookup(unknown, err)
	_, err = r.LookupAddr(ctx, "192.0.2.17")
	c.lookup("{addr}", err)
	_, err = r.LookupHost(ctx, "2001:db8::17")
	c.lookup("{addr}", err)
	_, err = r.LookupHost(ctx, "")
	c.lookup("?", err)
}

func main() {
	rounds := flag.Int("n", 20, "how many times each client makes all requests")
	clients := flag.Int("clients", 4, "how many goroutines make requests")
	flag.Parse()

	folder := protocol.Must(os.MkdirTemp("", "outgoing"))
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "socket")
	listener := protocol.Must(net.Listen("unix", socket))
	go http.Serve(listener, http.HandlerFunc(serve))
	http.DefaultTransport = &http.Transport{DialContext: func(ctx context.Context, _, at string) (net.Conn, error) {
		if strings.HasPrefix(at, "unreachable") {
			return nil, errors.New("unreachable")
		}
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	c := &counter{count: map[string]map[string]int{}}
	protocol.Ready()
	var group sync.WaitGroup
	for i := 0; i < *clients; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < *rounds; i++ {
				web(c)
				names(c)
			}
		}()
	}
	group.Wait()
	time.Sleep(50 * time.Millisecond) // so that the trace contains the ends of all tasks
	protocol.Done(map[string]any{"requests": c.count})
}
