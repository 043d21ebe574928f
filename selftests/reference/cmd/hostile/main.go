// Hostile attacks an HTTP service on a loopback address, and at the same time is a fair client of it.
//
//	hostile -address HOST:PORT [-n N] [-path PATH] ATTACK
//
// It prints how many requests of the fair client were answered, how many of these needed another
// attempt, and the longest time to an answer. Exit status 0 if the service resisted: it answered each
// request of the fair client, and the attack as its function below demands; 1 otherwise.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	address = flag.String("address", "", "of the service")
	number  = flag.Int("n", 100, "connections of the attack")
	path    = flag.String("path", "/metrics", "what clients that do not read request")
)

var attacks = map[string]func() error{
	"idle":     idle,
	"partial":  partial,
	"garbage":  garbage,
	"headers":  headers,
	"bodies":   bodies,
	"pipeline": pipeline,
	"unread":   unread,
	"abort":    abort,
	"traces":   traces,
}

const deadline = 60 * time.Second

func dial() (net.Conn, error) {
	c, err := net.DialTimeout("tcp", *address, deadline)
	if err == nil {
		c.SetDeadline(time.Now().Add(deadline))
	}
	return c, err
}

func request(path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: " + *address + "\r\n\r\n"
}

// answered counts the answers to the fair client.
var answered atomic.Int64

// Each connection does nothing, and is kept until the last one is open and others are answered.
func idle() error {
	var conns []net.Conn
	for range *number {
		c, err := dial()
		if err != nil {
			return fmt.Errorf("after %d connections: %w", len(conns), err)
		}
		conns = append(conns, c)
	}
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	before := answered.Load()
	for started := time.Now(); answered.Load() < before+10; time.Sleep(time.Millisecond) {
		if time.Since(started) > deadline {
			return errors.New("others are not answered")
		}
	}
	return nil
}

// each runs f once per connection of the attack, at the same time, and returns the first error.
func each(f func(i int) error) error {
	var wait sync.WaitGroup
	failures := make(chan error, *number)
	for i := range *number {
		wait.Go(func() {
			if err := f(i); err != nil {
				failures <- fmt.Errorf("connection %d: %w", i, err)
			}
		})
	}
	wait.Wait()
	close(failures)
	return <-failures
}

// A request of which a byte comes now and then must be ended, not only when no byte comes.
func partial() error {
	return each(func(i int) error {
		c, err := dial()
		if err != nil {
			return err
		}
		defer c.Close()
		text := "GET /targets HTTP/1.1\r\nHost: " + *address + "\r\nX: " + strings.Repeat("x", 1<<20)
		for i := range text {
			if _, err := c.Write([]byte{text[i]}); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return err
				}
				return nil
			}
			time.Sleep(50 * time.Millisecond)
		}
		return errors.New("was not ended")
	})
}

// send writes data, and returns what the service sends until it closes the connection. A service that
// closes it before everything is written may reset it.
func send(data []byte) ([]byte, error) {
	c, err := dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	go c.Write(data)
	got, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	return got, nil
}

var refusal = regexp.MustCompile(`^HTTP/1\.[01] (4\d\d|505) `)

func refused(data []byte) error {
	got, err := send(data)
	if err != nil {
		return err
	}
	if len(got) > 0 && !refusal.Match(got) {
		return fmt.Errorf("sent %.60q, got %.200q", data, got)
	}
	return nil
}

func garbage() error {
	lines := []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "GET / \r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "G\x00T / HTTP/1.1\r\n\r\n", ": :\r\n\r\n",
		"GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\nHost: x\n\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /%ff%00%zz?%00=%00&&&=&%%% HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://example.com/metrics HTTP/1.1\r\nHost: " + *address + "\r\n\r\n",
	}
	return each(func(i int) error {
		if i < len(lines) {
			return refused([]byte(lines[i]))
		}
		random := rand.New(rand.NewSource(int64(i)))
		data := make([]byte, random.Intn(4096)+1)
		random.Read(data)
		if i%2 == 0 { // in a request
			line := request("/targets")
			copy(data, line[:random.Intn(len(line)-4)])
		}
		return refused(data)
	})
}

// More than the limit: in one header, in many, in the path.
func headers() error {
	head := "GET /targets HTTP/1.1\r\nHost: " + *address + "\r\n"
	long := strings.Repeat("x", 1<<20)
	return each(func(i int) error {
		switch i % 3 {
		case 0:
			return refused([]byte(head + "X: " + long + "\r\n\r\n"))
		case 1:
			return refused([]byte(head + strings.Repeat("X: y\r\n", 100000) + "\r\n"))
		default:
			return refused([]byte("GET /" + long + " HTTP/1.1\r\nHost: " + *address + "\r\n\r\n"))
		}
	})
}

// Requests with a body: it must not be interpreted as another request.
func bodies() error {
	inner := request("/targets")
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
	return each(func(i int) error {
		method := []string{"GET", "POST", "HEAD", "PUT"}[i%4]
		head := method + " /targets HTTP/1.1\r\nHost: " + *address + "\r\n"
		text := head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + inner
		switch i / 4 % 4 {
		case 1:
			text = head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s%s", len(inner), inner, inner)
		case 2:
			text = head + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s%s",
				len(inner), chunk, inner)
		case 3:
			text = head + "Content-Length: 999999999999999999999\r\n\r\n" + inner
		}
		got, err := send([]byte(text))
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(got, []byte("HTTP/1.1 4")) || bytes.Contains(got, []byte(" 200 ")) {
			return fmt.Errorf("sent %.100q, got %.300q", text, got)
		}
		return nil
	})
}

// Many requests in one packet are answered in turn, each completely.
func pipeline() error {
	c, err := dial()
	if err != nil {
		return err
	}
	defer c.Close()
	var text strings.Builder
	for i := range *number {
		text.WriteString(request([]string{"/targets", "/", "/nothing"}[i%3]))
	}
	go io.WriteString(c, text.String())
	r := bufio.NewReader(c)
	for i := range *number {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			return fmt.Errorf("response %d: %w", i, err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return fmt.Errorf("response %d: %w", i, err)
		}
		if want := []int{200, 200, 404}[i%3]; response.StatusCode != want {
			return fmt.Errorf("response %d: %s", i, response.Status)
		}
	}
	return nil
}

// Clients that request a page or a trace, and do not read it.
func unread() error {
	return each(func(i int) error {
		c, err := dial()
		if err != nil {
			return err
		}
		defer c.Close()
		c.(*net.TCPConn).SetReadBuffer(4096)
		io.WriteString(c, request(*path))
		time.Sleep(4 * time.Second)
		return nil
	})
}

// Clients that leave after the first bytes of a response, or before.
func abort() error {
	return each(func(i int) error {
		c, err := dial()
		if err != nil {
			return err
		}
		defer c.Close()
		io.WriteString(c, request(*path))
		if i%2 == 0 {
			c.Read(make([]byte, 1))
		}
		time.Sleep(time.Duration(i%7) * 10 * time.Millisecond)
		return nil
	})
}

// No attack: traces of the fake supervisor of selftests/service/front.c, at the same time, each of which
// must arrive complete. Prints the length of each, for a comparison with what was sent.
func traces() error {
	return each(func(i int) error {
		response, err := http.Get("http://" + *address + *path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != 200 {
			return fmt.Errorf("%s: %w", response.Status, err)
		}
		for at, b := range body {
			if b != byte(at*7+at/251) {
				return fmt.Errorf("byte %d of %d is wrong", at, len(body))
			}
		}
		fmt.Println("trace", len(body))
		return nil
	})
}

// What the fair client has seen.
type fair struct {
	answered, retried int
	longest           time.Duration
}

func (f *fair) get() error {
	const attempts = 5
	started := time.Now()
	for i := range attempts {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
		response, err := client.Get("http://" + *address + "/targets")
		if err == nil {
			var body []byte
			body, err = io.ReadAll(response.Body)
			response.Body.Close()
			if err == nil && (response.StatusCode != 200 || !bytes.HasPrefix(body, []byte("["))) {
				return fmt.Errorf("fair client: %s: %.100q", response.Status, body)
			}
		}
		if err == nil {
			f.answered++
			answered.Add(1)
			f.longest = max(f.longest, time.Since(started))
			return nil
		}
		f.retried++
		if i == attempts-1 {
			return fmt.Errorf("fair client: %w", err)
		}
	}
	return nil
}

func main() {
	flag.Parse()
	attack := attacks[flag.Arg(0)]
	if attack == nil || *address == "" {
		flag.Usage()
		os.Exit(2)
	}
	done := make(chan error)
	go func() { done <- attack() }()
	var f fair
	for {
		if err := f.get(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		select {
		case err := <-done:
			fmt.Printf("%s: fair client: %d answers, %d other attempts, longest %v\n", flag.Arg(0), f.answered,
				f.retried, f.longest.Round(time.Microsecond))
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}
