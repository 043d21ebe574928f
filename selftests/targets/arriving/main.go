// Arriving is an HTTP server whose requests wait before their handlers begin, and a client that measures
// how long it waits for each of its requests.
//
//	arriving [-case NAME] [-n N] [-new | -h2]
//	arriving -ask ADDRESS [-n N] [-new | -h2]
//
// Cases: quiet; stw (the world is stopped again and again, while a goroutine computes that cannot be
// preempted for 20 ms of CPU time); busy (other goroutines compute on the only P, 10 ms at a time); idle (the
// client pauses for 20 ms or more before each request). The server executes itself with -ask, as a process of its
// own. The client uses blocking system calls on a thread of its own: neither the runtime's poller nor
// its scheduler is part of what it measures. That thread has real-time priority, if that is permitted, so
// that the client does not wait for a CPU. With -new each request has a connection of its own; the
// wait begins when that is established. With -h2 the requests are streams of HTTP/2 without TLS, which needs
// Go 1.24.
//
// Requires GODEBUG=asyncpreemptoff=1 for the case stw. It speaks the handshake of package protocol; the
// done line is what the client prints: {"count":n,"sum":ns,"p50":ns,"p99":ns,"own":ns}, where own is the
// median of a round trip between two threads of the client, and "sent":[[from,to,answered]...], when the
// client began and ended to write each request and had its answer, by CLOCK_MONOTONIC.
package main

import (
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	ask   = flag.String("ask", "", "be the client of the server at `ADDRESS`")
	kind  = flag.String("case", "quiet", "what delays requests")
	n     = flag.Int("n", 300, "requests")
	isH2  = flag.Bool("h2", false, "HTTP/2")
	isNew = flag.Bool("new", false, "a connection for each request")
	pause = flag.Duration("pause", 3*time.Millisecond, "between two requests of the client")
)

func main() {
	flag.Parse()
	if *ask != "" {
		client()
		return
	}
	listener := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	http.HandleFunc("/score", score)
	go newServer(*isH2).Serve(listener)
	switch *kind {
	case "stw":
		go compute(20e6)
		go stop()
	case "busy":
		runtime.GOMAXPROCS(1)
		for i := 0; i < 4; i++ {
			go compute(10e6)
		}
	case "idle":
		if *pause < 20*time.Millisecond {
			*pause = 20 * time.Millisecond
		}
	}
	protocol.Ready()
	command := exec.Command(os.Args[0], "-ask", listener.Addr().String(), "-n", strconv.Itoa(*n),
		"-pause", pause.String(), "-new="+strconv.FormatBool(*isNew), "-h2="+strconv.FormatBool(*isH2))
	command.Stderr = os.Stderr
	out := protocol.Must(command.Output())
	protocol.Done(json.RawMessage(out))
}

//go:noinline
func score(w http.ResponseWriter, r *http.Request) {
	w.Write([]byte("1"))
}

// Compute uses a CPU for ns at a time, in which it is not preempted: it calls no function that checks the stack.
func compute(ns int64) {
	for {
		for start := clocks.CPU(); clocks.CPU()-start < ns; {
		}
		runtime.Gosched()
	}
}

func stop() {
	var m runtime.MemStats
	for {
		runtime.ReadMemStats(&m)
		time.Sleep(5 * time.Millisecond)
	}
}

func client() {
	runtime.LockOSThread()
	priority := int32(10)
	syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, 0, 1 /* SCHED_FIFO */, uintptr(unsafe.Pointer(&priority)))
	address := protocol.Must(net.ResolveTCPAddr("tcp", *ask))
	own := roundTrip()
	waits := make([]int64, 0, *n)
	fd := -1
	for len(waits) < *n {
		time.Sleep(*pause)
		if fd < 0 {
			fd = connect(address)
			if *isH2 {
				greet(fd)
			}
		}
		if *isH2 {
			waits = append(waits, stream(fd, uint32(2*len(waits)+1)))
			continue
		}
		waits = append(waits, request(fd))
		if *isNew {
			protocol.Check(syscall.Close(fd))
			fd = -1
		}
	}
	sort.Slice(waits, func(i, j int) bool { return waits[i] < waits[j] })
	sum := int64(0)
	for _, wait := range waits {
		sum += wait
	}
	protocol.Check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"count": len(waits), "sum": sum, "own": own, "sent": sent,
		"p50": share(waits, 50), "p99": share(waits, 99),
	}))
}

// Share returns the shortest of the sorted times than which at least so many percent are not longer.
func share(sorted []int64, percent int) int64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}

func connect(address *net.TCPAddr) int {
	fd := protocol.Must(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0))
	to := &syscall.SockaddrInet4{Port: address.Port}
	copy(to.Addr[:], address.IP.To4())
	protocol.Check(syscall.Connect(fd, to))
	return fd
}

var (
	buffer [4096]byte
	sent   [][3]int64 // of each request: before and after it was written, and when its answer was there
)

// Send writes a request, reads until the answer is complete, and returns how long that takes.
func send(fd int, text []byte, answered func() bool) int64 {
	begin := clocks.Wall()
	protocol.Must(syscall.Write(fd, text))
	written := clocks.Wall()
	for !answered() {
	}
	end := clocks.Wall()
	sent = append(sent, [3]int64{begin, written, end})
	return end - begin
}

// Request returns how long the client waits for the answer, which the server writes at once.
func request(fd int) int64 {
	text := []byte("GET /score HTTP/1.1\r\nHost: localhost\r\n\r\n")
	return send(fd, text, func() bool { return protocol.Must(syscall.Read(fd, buffer[:])) > 0 })
}

// RoundTrip returns the median time in which another thread of the client answers a byte.
func roundTrip() int64 {
	var times []int64
	listener := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	fds := make(chan int)
	go func() {
		runtime.LockOSThread()
		file := protocol.Must(protocol.Must(listener.Accept()).(*net.TCPConn).File())
		fd := int(file.Fd()) // blocking from now on
		var b [1]byte
		for {
			if got, _ := syscall.Read(fd, b[:]); got != 1 {
				return
			}
			syscall.Write(fd, b[:])
		}
	}()
	go func() { fds <- connect(listener.Addr().(*net.TCPAddr)) }()
	fd := <-fds
	for i := 0; i < 101; i++ {
		time.Sleep(time.Millisecond)
		begin := time.Now()
		protocol.Must(syscall.Write(fd, []byte("x")))
		protocol.Must(syscall.Read(fd, buffer[:1]))
		times = append(times, int64(time.Since(begin)))
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	return times[len(times)/2]
}
