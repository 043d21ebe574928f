// Web is a net/http server on loopback, by HTTP/1 and HTTP/2, with its own clients: handlers with
// and without patterns, behind middleware that copies the request, that panic, take over the
// connection, answer nothing, or fail.
//
//	web [-n N] [-clients N] [-paths N]
//
// It speaks the handshake of package protocol. The done line is
// {"requests":{NAME:{STATUS:N}},"p50":NS,"p99":NS}: what the outermost handler has counted and
// measured, for comparison with `gotrace-bpf record --requests http`. A client states in a header
// which name it expects. With GODEBUG=httpmuxgo121=0 and Go 1.23, names are those of the patterns.
// -paths only requests that many different paths.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// Secret is the value of each query, header and body; no trace may contain it.
const secret = "hushhush"

// call is a request that clients make, and its expected name with patterns and without them.
type call struct {
	method, path string
	pattern      string
	plain        string
}

// The paths after /raw/ are handled without a ServeMux.
var calls = []call{
	{"GET", "/x", "GET /x", "GET /x"},
	{"HEAD", "/x", "HEAD /x", "HEAD /x"},
	{"POST", "/x", "POST /x", "POST /x"},
	{"GET", "/users/123", "GET /users/{id}", "GET /users/{id}"},
	{"GET", "/users/00c0ffee", "GET /users/{id}", "GET /users/{id}"},
	{"GET", "/files/a/b", "GET /files/", "GET /files/a/b"},
	{"PUT", "/raw/42/7d444840-9dc0-11d1-b245-5ffdce74fad2/part", "PUT /raw/{id}/{id}/part", "PUT /raw/{id}/{id}/part"},
	{"GET", "/raw/cafe/1x", "GET /raw/cafe/1x", "GET /raw/cafe/1x"},
	{"GET", "/raw/a%3Fq=" + secret, "GET /raw/a", "GET /raw/a"},
	{"GET", "/raw/%01%ff%00", "GET /raw/???", "GET /raw/???"},
	{"GET", "/copied/name", "GET /copied/{name}", "GET /copied/name"},
	{"GET", "/struct/name", "GET /struct/{name}", "GET /struct/name"},
	{"GET", "/hosted", "GET 127.0.0.1/hosted", "GET /hosted"},
	{"GET", "/missing", "GET /missing", "GET /missing"},
	{"GET", "/fail", "GET /fail", "GET /fail"},
	{"GET", "/empty", "GET /empty", "GET /empty"},
	{"DELETE", "/gone", "DELETE /gone", "DELETE /gone"},
	{"POST", "/panic", "POST /panic", "POST /panic"},
	{"GET", "/hijack", "GET /hijack", "GET /hijack"},
	{"GET", "/long/" + strings.Repeat("y", 2000), "GET /long/", "GET /long/" + strings.Repeat("y", 246)},
}

type server struct {
	mu    sync.Mutex
	count map[string]map[string]int
	took  []time.Duration
	mux   *http.ServeMux
}

type key struct{}

// response notes the status that a handler sets.
type response struct {
	http.ResponseWriter
	status string
}

func (r *response) WriteHeader(status int) {
	r.status = fmt.Sprint(status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.status = "none"
	return r.ResponseWriter.(http.Hijacker).Hijack()
}

// ServeHTTP is the outermost handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	name := r.Header.Get("Name")
	noted := &response{w, "200"}
	returned := false
	defer func() {
		took := time.Since(start)
		s.mu.Lock()
		defer s.mu.Unlock()
		if !returned {
			noted.status = "error"
		}
		if s.count[name] == nil {
			s.count[name] = map[string]int{}
		}
		s.count[name][noted.status]++
		s.took = append(s.took, took)
	}()
	switch {
	case strings.HasPrefix(r.URL.Path, "/raw/"):
		io.Copy(io.Discard, r.Body)
	case strings.HasPrefix(r.URL.Path, "/copied/"):
		s.mux.ServeHTTP(noted, r.WithContext(context.WithValue(r.Context(), key{}, 1)))
	default:
		s.mux.ServeHTTP(noted, r)
	}
	returned = true
}

// answer is a handler that is no http.HandlerFunc.
type answer string

func (a answer) ServeHTTP(w http.ResponseWriter, r *http.Request) { io.WriteString(w, string(a)) }

// hasPatterns returns whether a ServeMux sets Request.Pattern.
func hasPatterns() bool {
	_, has := reflect.TypeOf(http.Request{}).FieldByName("Pattern")
	return has && os.Getenv("GODEBUG") == "httpmuxgo121=0"
}

func (s *server) routes() {
	fixed := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }
	}
	s.mux.HandleFunc("/x", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.URL.RawQuery) })
	s.mux.HandleFunc("/files/", fixed(206))
	s.mux.HandleFunc("/long/", fixed(200))
	s.mux.HandleFunc("127.0.0.1/hosted", fixed(201))
	s.mux.HandleFunc("/fail", fixed(503))
	s.mux.HandleFunc("/gone", fixed(204))
	s.mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s.mux.HandleFunc("/hijack", func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			io.WriteString(conn, "HTTP/1.1 299 Mine\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			conn.Close()
		}
	})
	if hasPatterns() {
		s.mux.HandleFunc("GET /users/{id}", fixed(200))
		s.mux.HandleFunc("GET  /copied/{name}", fixed(200))
		s.mux.Handle("/struct/{name}", answer("a"))
	} else {
		s.mux.HandleFunc("/users/", fixed(200))
		s.mux.HandleFunc("/copied/", fixed(200))
		s.mux.Handle("/struct/", answer("a"))
	}
}

func main() {
	n := flag.Int("n", 20, "how many times each client makes all requests")
	clients := flag.Int("clients", 4, "how many clients, half of them by HTTP/2")
	paths := flag.Int("paths", 0, "instead: how many different paths to request")
	flag.Parse()

	log.SetOutput(io.Discard)
	s := &server{count: map[string]map[string]int{}, mux: http.NewServeMux()}
	s.routes()
	plain := httptest.NewServer(s)
	second := httptest.NewUnstartedServer(s)
	second.EnableHTTP2 = true
	second.StartTLS()

	protocol.Ready()
	var group sync.WaitGroup
	for c := 0; c < *clients; c++ {
		group.Add(1)
		go func(c int) {
			defer group.Done()
			if *paths > 0 {
				visit(plain, *paths / *clients, c)
			} else if c%2 == 0 {
				load(plain, *n, true)
			} else {
				load(second, *n, false)
			}
		}(c)
	}
	group.Wait()
	time.Sleep(50 * time.Millisecond) // so that the trace contains the ends of all tasks

	s.mu.Lock()
	defer s.mu.Unlock()
	sort.Slice(s.took, func(i, j int) bool { return s.took[i] < s.took[j] })
	protocol.Done(map[string]any{
		"requests": s.count,
		"p50":      s.took[len(s.took)/2].Nanoseconds(),
		"p99":      s.took[len(s.took)*99/100].Nanoseconds(),
	})
}

func load(to *httptest.Server, n int, hijack bool) {
	for i := 0; i < n; i++ {
		for _, c := range calls {
			if c.path != "/hijack" || hijack {
				request(to, c)
			}
		}
	}
}

func visit(to *httptest.Server, n, client int) {
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("GET /raw/p-%d-%d", client, i)
		request(to, call{"GET", strings.TrimPrefix(name, "GET "), name, name})
	}
}

func request(to *httptest.Server, c call) {
	var body io.Reader
	if c.method == "POST" || c.method == "PUT" {
		body = strings.NewReader(secret)
	}
	separator := "?"
	r := protocol.Must(http.NewRequest(c.method, to.URL+c.path+separator+"token="+secret, body))
	r.Header.Set("Authorization", secret)
	r.Header.Set("Name", c.plain)
	if hasPatterns() {
		r.Header.Set("Name", c.pattern)
	}
	answer, err := to.Client().Do(r)
	if err != nil {
		if c.path == "/panic" {
			return
		}
		protocol.Fail(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}
