package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const forEver = 1000 * time.Hour

// A kind of wait. Of those with `few`, each goroutine has files of its own, or memory.
type kind struct {
	wait func()
	few  bool
}

var kinds = []kind{
	{receive, false}, {receiveOk, false}, {receiveRange, false}, {receiveNil, false},
	{send, false}, {sendFull, false}, {sendNil, false},
	{selectTwo, false}, {selectSend, false}, {selectMany, false}, {selectNone, false},
	{lock, false}, {lockRW, false}, {lockRead, false}, {waitGroup, false}, {cond, false}, {once, false},
	{sleep, false}, {after, false}, {timer, true}, {ticker, true}, {timerCallback, true},
	{contextDone, false}, {contextTimeout, true},
	{readPipe, true}, {readAll, true}, {scan, true}, {ioPipe, false}, {netPipe, false},
	{accept, true}, {readTCP, true}, {readUDP, true}, {acceptUnix, true}, {readShared, false},
	{recursive20, false}, {recursive300, true}, {deferred, false}, {panicking, false},
	{method, false}, {generic, false}, {reflected, false}, {reflectSelect, true},
	{largeFrame, true}, {wasDeep, true}, {signals, true}, {closure, false},
}

var never struct {
	c, full    chan int
	mu, onceMu sync.Mutex
	rw         sync.RWMutex
	wg         sync.WaitGroup
	cond       *sync.Cond
	once       sync.Once
	ctx        context.Context
	cancel     context.CancelFunc
	pipe       *io.PipeReader
	conn       net.Conn
	shared     *os.File
	kept       []interface{}
	keptMu     sync.Mutex
	sockets    int32
}

func setUp() {
	never.c = make(chan int)
	never.full = make(chan int, 1)
	never.full <- 1
	never.mu.Lock()
	never.rw.Lock()
	never.wg.Add(1)
	never.cond = sync.NewCond(&never.onceMu)
	never.ctx, never.cancel = context.WithCancel(context.Background())
	never.pipe, _ = io.Pipe()
	never.conn, _ = net.Pipe()
	never.shared = pipe()
	started := make(chan bool)
	go never.once.Do(func() { close(started); <-never.c })
	<-started
}

// keep prevents that a finalizer closes what has no other reference.
func keep(x interface{}) {
	never.keptMu.Lock()
	never.kept = append(never.kept, x)
	never.keptMu.Unlock()
}

func pipe() *os.File {
	r, w, err := os.Pipe()
	protocol.Check(err)
	keep(w)
	return r
}

func receive()   { <-never.c }
func receiveOk() { _, ok := <-never.c; fmt.Println(ok) }
func receiveRange() {
	for i := range never.c {
		fmt.Println(i)
	}
}
func receiveNil()               { var c chan int; <-c }
func send()                     { deliver(make(chan int), 1) }
func sendFull()                 { deliver(never.full, 1) }
func sendNil()                  { deliver(nil, 1) }
func deliver(c chan int, i int) { c <- i }

func selectTwo() {
	select {
	case <-never.c:
	case <-never.ctx.Done():
	}
}

func selectSend() {
	select {
	case never.full <- 2:
	case <-never.c:
	}
}

func selectMany() {
	for {
		select {
		case <-never.c:
		case <-never.ctx.Done():
		case never.full <- 2:
		case <-time.After(forEver):
		}
	}
}

func selectNone() { select {} }
func lock()       { never.mu.Lock() }
func lockRW()     { never.rw.Lock() }
func lockRead()   { never.rw.RLock() }
func waitGroup()  { never.wg.Wait() }

func cond() {
	c := sync.NewCond(&sync.Mutex{})
	c.L.Lock()
	for never.c != nil {
		c.Wait()
	}
}

func once()  { never.once.Do(func() {}) }
func sleep() { time.Sleep(forEver) }
func after() { <-time.After(forEver) }

func timer() {
	t := time.NewTimer(forEver)
	defer t.Stop()
	<-t.C
}

func ticker() {
	for range time.NewTicker(forEver).C {
	}
}

func timerCallback() {
	time.AfterFunc(time.Millisecond, func() { receive() })
	select {}
}

func contextDone() { <-never.ctx.Done() }

func contextTimeout() {
	ctx, cancel := context.WithTimeout(context.Background(), forEver)
	defer cancel()
	<-ctx.Done()
}

func readPipe() {
	var buf [1]byte
	pipe().Read(buf[:])
}

func readAll() { io.ReadAll(pipe()) }
func scan()    { bufio.NewScanner(bufio.NewReader(pipe())).Scan() }

func ioPipe() {
	r, w := io.Pipe()
	fmt.Fprintf(w, "%v", r)
}

func netPipe() {
	a, b := net.Pipe()
	a.Write([]byte("x"))
	b.Close()
}

func accept() {
	l := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	l.Accept()
}

func readTCP() {
	l := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	a := protocol.Must(net.Dial("tcp", l.Addr().String()))
	b := protocol.Must(l.Accept())
	keep(a)
	io.ReadFull(b, make([]byte, 10))
}

func readUDP() {
	c := protocol.Must(net.ListenPacket("udp", "127.0.0.1:0"))
	c.ReadFrom(make([]byte, 10))
}

func acceptUnix() {
	name := fmt.Sprintf("@waiting-%d-%d", os.Getpid(), atomic.AddInt32(&never.sockets, 1))
	l := protocol.Must(net.Listen("unix", name))
	l.Accept()
}

// One waits for the pipe, and all others for the right to read.
func readShared() {
	var buf [1]byte
	never.shared.Read(buf[:])
}

func recursive20()  { recurse(20) }
func recursive300() { recurse(300) }

//go:noinline
func recurse(n int) {
	if n == 0 {
		<-never.c
	} else {
		recurse(n - 1)
	}
	never.mu.TryLock()
}

func deferred() {
	defer receive()
	never.mu.TryLock()
}

func panicking() {
	defer func() {
		recover()
	}()
	defer receive()
	panic("waits in a deferred function")
}

type waiter interface{ wait(n int) }
type sender struct{ c chan int }

func (s *sender) wait(n int) { s.c <- n }
func method()                { var w waiter = &sender{make(chan int)}; w.wait(1) }

func receiveAny[T any](c chan T, others ...T) T {
	if len(others) > 1 {
		return others[0]
	}
	return <-c
}

func generic() { receiveAny(make(chan string), "x") }
func reflected() {
	reflect.ValueOf(deliver).Call([]reflect.Value{reflect.ValueOf(make(chan int)), reflect.ValueOf(1)})
}

func reflectSelect() {
	cases := []reflect.SelectCase{
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(never.c)},
		{Dir: reflect.SelectSend, Chan: reflect.ValueOf(never.full), Send: reflect.ValueOf(3)},
	}
	reflect.Select(cases)
}

//go:noinline
func largeFrame() {
	var room [20000]byte

	receive()
	room[len(never.kept)] = 1
	keep(&room)
}

// wasDeep has a stack that was large, so that the garbage collector shrinks it several times.
func wasDeep() {
	deep(1000)
	receive()
}

func signals() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	<-c
}

func closure() {
	n := 0
	func() {
		n++
		func() {
			<-never.c
			n++
		}()
	}()
	fmt.Println(n)
}
