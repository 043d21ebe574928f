package main

// The proxy: passes requests to a server, some of them with a fault.

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	mathrand "math/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Faults that pass: the same request may succeed later.
var passing = []string{
	"close",           // before anything is read
	"cut-request",     // half of the body reaches the server
	"corrupt-request", // a byte of the body is changed
	"cut-answer",      // the server has taken the object, and half of the answer arrives
	"lose-answer",     // no answer arrives
	"stall",           // neither does the end of the connection
	"500",
	"503", // with Retry-After
	"slow-down",
	"wrong-checksum", // in the answer
	"no-checksum",
	"large-error",
}

type proxy struct {
	to    string // host:port
	kinds []string
	rate  float64
	lock  sync.Mutex
	rng   *mathrand.Rand
	log   *os.File
}

func newProxy(to, kinds string, rate float64, seed int64, path string) http.Handler {
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	p := &proxy{to: strings.TrimPrefix(to, "http://"), kinds: passing, rate: rate,
		rng: mathrand.New(mathrand.NewSource(seed)), log: file}
	if kinds != "" {
		p.kinds = strings.Split(kinds, ",")
	}
	return p
}

// listener speaks TLS with a new certificate if its path is given.
func listener(address, cert string) net.Listener {
	l, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	if cert == "" {
		return l
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(cert, text, 0o600); err != nil {
		log.Fatal(err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
}

func (p *proxy) choose() string {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.rng.Float64() >= p.rate {
		return "none"
	}
	return p.kinds[p.rng.Intn(len(p.kinds))]
}

// note adds "FAULT METHOD PATH STATUS" to the log; the status is that of the server, 0: none.
func (p *proxy) note(fault string, r *http.Request, status int) {
	p.lock.Lock()
	defer p.lock.Unlock()
	fmt.Fprintln(p.log, fault, r.Method, r.URL.Path, status)
}

// forward sends a request with this body. The status is 0 if the server did not answer.
func (p *proxy) forward(r *http.Request, body []byte) (status int, answer []byte) {
	conn, err := net.DialTimeout("tcp", p.to, time.Second)
	if err != nil {
		return 0, nil
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.Method, r.URL.RequestURI(), r.Host)
	r.Header.Write(conn)
	if r.Method == http.MethodPut {
		fmt.Fprintf(conn, "Content-Length: %d\r\n", r.ContentLength)
	}
	io.WriteString(conn, "\r\n")
	conn.Write(body)
	if int64(len(body)) < r.ContentLength {
		conn.(*net.TCPConn).CloseWrite()
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	response.Header.Del("Connection")
	response.Close = true
	answer, _ = httputil.DumpResponse(response, true)
	return response.StatusCode, answer
}

func changed(answer []byte, value string) []byte {
	lines := strings.SplitAfter(string(answer), "\r\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.ToLower(line), "x-amz-checksum-sha256:") {
			lines[i] = value
		}
	}
	return []byte(strings.Join(lines, ""))
}

func errorAnswer(status, header, body string) []byte {
	return []byte(fmt.Sprintf("HTTP/1.1 %s\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, header, len(body), body))
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body, answer []byte
	var status int

	fault := p.choose()
	if fault != "close" {
		body, _ = io.ReadAll(r.Body)
	}
	r.Header.Del("Expect")
	r.Header.Del("Content-Length") // forward writes it
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	switch fault {
	case "close":
	case "cut-request":
		status, _ = p.forward(r, body[:len(body)/2])
	case "corrupt-request":
		bad := slices.Clone(body)
		if len(bad) > 0 {
			bad[len(bad)/2] ^= 1
		}
		status, answer = p.forward(r, bad)
	case "500":
		answer = errorAnswer("500 Internal Server Error", "", "<Error><Code>InternalError</Code></Error>")
	case "503":
		answer = errorAnswer("503 Service Unavailable", "Retry-After: 1\r\n", "busy")
	case "slow-down":
		answer = errorAnswer("503 Slow Down", "", "<Error><Code>SlowDown</Code><Message>\x1b[2J slower</Message></Error>")
	case "large-error":
		answer = errorAnswer("500 Internal Server Error", "", strings.Repeat("x", 1<<20))
	case "many-headers": // without an end
		answer = append([]byte("HTTP/1.1 200 OK\r\n"), bytes.Repeat([]byte("x-header: "+strings.Repeat("y", 100)+"\r\n"), 1<<16)...)
	case "long-header":
		answer = append([]byte("HTTP/1.1 200 OK\r\nx-header: "), bytes.Repeat([]byte("y"), 1<<24)...)
	case "redirect":
		answer = errorAnswer("307 Temporary Redirect", "Location: http://127.0.0.1:1/\r\n", "")
	default:
		status, answer = p.forward(r, body)
	}
	p.note(fault, r, status)
	switch fault {
	case "lose-answer":
		answer = nil
	case "stall":
		time.Sleep(time.Minute)
	case "drip": // a byte at a time, without an end
		answer = nil
		conn.Write([]byte("HTTP/1.1 200 OK\r\nx-header: "))
		for i := 0; i < 600; i++ {
			if _, err := conn.Write([]byte("y")); err != nil {
				break
			}
			time.Sleep(300 * time.Millisecond)
		}
	case "cut-answer":
		answer = answer[:len(answer)/2]
	case "wrong-checksum":
		answer = changed(answer, "X-Amz-Checksum-Sha256: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n")
	case "no-checksum":
		answer = changed(answer, "")
	}
	conn.Write(answer)
}
