// Load keeps a server busy: some connections with one request after the other, each connection
// closed and reopened after a while, so that the server's goroutines are created and exit.
//
//	load [-connections N] [-requests N] [-think D] [-rate N] [-duration D]
//		http|nats|mqtt|dns ADDRESS [PATH...]
//
// It waits for -think between two requests of a connection, or makes -rate per second in all. It
// ends on SIGTERM, or when the server exits, and prints the number of answered requests; after
// -duration it ends, too, and prints as JSON how many and how long they took. HTTP uses PATHs in turn, of which "PATH BODY"
// is posted; DNS uses names in turn; a NATS or MQTT client publishes to a subject to which it
// subscribed.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// A client makes its own connection ready, and then exchanges messages over it.
type client interface {
	greet(id int64) error
	exchange(n int) error
}

type connection struct {
	net.Conn
	in *bufio.Reader
}

var (
	connections = flag.Int("connections", 8, "how many at a time")
	requests    = flag.Int("requests", 50, "requests per connection")
	think       = flag.Duration("think", 0, "pause of a connection after each request")
	rate        = flag.Float64("rate", 0, "requests per second, 0 for as many as possible")
	duration    = flag.Duration("duration", 0, "how long to measure, 0 for no end")
	answered    atomic.Int64
	made        atomic.Int64
)

func main() {
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	gone := make(chan error, *connections)
	for i := 0; i < *connections; i++ {
		go func() { gone <- keepBusy(flag.Arg(0), flag.Arg(1), flag.Args()[2:]) }()
	}
	var over <-chan time.Time
	if *duration > 0 {
		over = time.After(*duration)
	}
	start := time.Now()
	select {
	case <-end:
	case <-over:
		report(time.Since(start))
		return
	case err := <-gone:
		fmt.Fprintln(os.Stderr, "load:", err)
	}
	fmt.Println(answered.Load())
}

func keepBusy(kind, address string, paths []string) error {
	for {
		if err := serveOne(kind, address, paths); err != nil {
			return err
		}
	}
}

func serveOne(kind, address string, paths []string) error {
	network := "tcp"
	if kind == "dns" {
		network = "udp"
	}
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	c := connection{conn, bufio.NewReader(conn)}
	var client client
	switch kind {
	case "http":
		client = &httpClient{c, address, paths}
	case "nats":
		client = &natsClient{c, ""}
	case "mqtt":
		client = &mqttClient{c, nil}
	case "dns":
		client = &dnsClient{c, paths}
	default:
		return fmt.Errorf("no protocol %q", kind)
	}
	if err := client.greet(made.Add(1)); err != nil {
		return err
	}
	next := time.Now()
	for n := 0; n < *requests; n++ {
		if *rate > 0 {
			next = next.Add(time.Duration(float64(*connections) / *rate * 1e9))
			time.Sleep(time.Until(next))
		}
		start := time.Now()
		if err := client.exchange(n); err != nil {
			return err
		}
		answered.Add(1)
		if *duration > 0 {
			note(time.Since(start))
		}
		time.Sleep(*think)
	}
	return nil
}

func (c connection) expect(want []byte) error {
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c.in, got); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("the answer is %q, not %q", got, want)
	}
	return nil
}

// A NATS client has a subject of its own.
type natsClient struct {
	connection
	subject string
}

func (c *natsClient) greet(id int64) error {
	if _, err := c.in.ReadString('\n'); err != nil { // INFO
		return err
	}
	c.subject = fmt.Sprintf("load.%d", id)
	_, err := fmt.Fprintf(c, "CONNECT {\"verbose\":false}\r\nSUB %s 1\r\n", c.subject)
	return err
}

func (c *natsClient) exchange(n int) error {
	if _, err := fmt.Fprintf(c, "PUB %s 5\r\nhello\r\n", c.subject); err != nil {
		return err
	}
	if err := c.pong(); err != nil {
		return err
	}
	return c.expect([]byte(fmt.Sprintf("MSG %s 1 5\r\nhello\r\n", c.subject)))
}

// pong answers the server if it asks whether the client is there, as it does after two seconds.
func (c *natsClient) pong() error {
	const ping = "PING\r\n"

	next, err := c.in.Peek(len(ping))
	if err != nil || string(next) != ping {
		return err
	}
	if _, err = c.in.Discard(len(ping)); err == nil {
		_, err = c.Write([]byte("PONG\r\n"))
	}
	return err
}

// An MQTT client speaks version 3.1.1 with quality of service 0. All its packets are short.
type mqttClient struct {
	connection
	publish []byte
}

func mqttString(s string) []byte { return append([]byte{byte(len(s) >> 8), byte(len(s))}, s...) }

func mqttPacket(kind byte, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append([]byte{kind, byte(len(body))}, body...)
}

func (c *mqttClient) greet(id int64) error {
	name := fmt.Sprintf("load/%d", id)
	connect := mqttPacket(0x10, mqttString("MQTT"), []byte{4, 2, 0, 60}, mqttString(name))
	if _, err := c.Write(connect); err != nil {
		return err
	}
	if err := c.expect([]byte{0x20, 2, 0, 0}); err != nil {
		return err
	}
	if _, err := c.Write(mqttPacket(0x82, []byte{0, 1}, mqttString(name), []byte{0})); err != nil {
		return err
	}
	c.publish = mqttPacket(0x30, mqttString(name), []byte("hello"))
	return c.expect([]byte{0x90, 3, 0, 1, 0})
}

func (c *mqttClient) exchange(n int) error {
	if _, err := c.Write(c.publish); err != nil {
		return err
	}
	return c.expect(c.publish)
}
