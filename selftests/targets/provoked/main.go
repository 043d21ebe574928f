// Provoked has a task of package runtime/trace per request, and makes some requests slow for one known
// reason:
//
//	provoked -case NAME [-duration D] [-cgroup DIR]
//
// Cases: fsync (of a file in a slow file system), throttle (a CPU quota
// of the cgroup), convoy (a lock that each request holds while it computes), assist
// (allocation next to a large heap, so that requests have to mark), random (a system call that the kernel computes
// in, and whose threads take the CPUs from each other), watched (a goroutine that sleeps, while
// watchdogs wait for the end of the request, on which nobody waits). The case pool has no requests: each of many
// workers computes once for a short time, and waits for work otherwise.
//
// It speaks the handshake of package protocol; the done line is {"requests":N,"longest_ns":N,"slept_ns":N,"worked_ns":N,
// "cpu_ns":N}, as the program has measured them; slept_ns is the sum of what requests slept in the case "watched",
// worked_ns the CPU time that threads spent on computing in the case "pool", and cpu_ns that of the process in work().
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
	"gotrace-bpf/selftests/targets/internal/slowfs"
)

// scenario has what its requests use.
type scenario struct {
	procs    int
	clients  int
	prepare  func()
	request  func()
	work     func(time.Duration) // instead of requests
	requests atomic.Int64
	longest  atomic.Int64
}

var (
	dir    = flag.String("cgroup", "", "run in the cgroup of `DIR`")
	file   *os.File
	lock   sync.Mutex
	heap   []*node
	spare  [64]atomic.Pointer[node]
	slept  atomic.Int64
	worked atomic.Int64
	random [1 << 21]byte
)

type node struct {
	next [4]*node
	more [32]byte
}

var scenarios = map[string]*scenario{
	"fsync":    {procs: 4, clients: 1, prepare: openFile, request: save},
	"throttle": {procs: 1, clients: 1, request: compute},
	"convoy":   {procs: 2, clients: 16, request: update},
	"assist":   {procs: 1, clients: 1, prepare: fillHeap, request: allocate},
	"watched":  {procs: 2, clients: 2, request: watched},
	"random":   {procs: 4, clients: 4, request: draw},
	"pool":     {procs: 2, work: pool},
}

func main() {
	name := flag.String("case", "convoy", "why requests are slow")
	duration := flag.Duration("duration", time.Second, "how long to work")
	flag.Parse()
	if *name == "be-slow" {
		slowfs.Serve()
		return
	}
	s := scenarios[*name]
	if s == nil {
		protocol.Fail(fmt.Errorf("no case %q", *name))
	}
	runtime.GOMAXPROCS(s.procs)
	if s.prepare != nil {
		s.prepare()
	}
	joinCgroup()
	protocol.Ready()
	before := cpuTime(clockProcess)
	if s.work != nil {
		s.work(*duration)
	} else {
		s.serveAll(*duration)
	}
	used := cpuTime(clockProcess) - before
	protocol.Done(map[string]any{"requests": s.requests.Load(), "longest_ns": s.longest.Load(), "slept_ns": slept.Load(),
		"worked_ns": worked.Load(), "cpu_ns": used})
}

func (s *scenario) serveAll(duration time.Duration) {
	var group sync.WaitGroup
	end := time.Now().Add(duration)
	for c := 0; c < s.clients; c++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				s.serve()
				time.Sleep(time.Millisecond)
			}
		}()
	}
	group.Wait()
}

// serve is one request.
func (s *scenario) serve() {
	_, task := trace.NewTask(context.Background(), "request")
	start := time.Now()
	s.request()
	ns := time.Since(start).Nanoseconds()
	task.End()
	s.requests.Add(1)
	for {
		longest := s.longest.Load()
		if ns <= longest || s.longest.CompareAndSwap(longest, ns) {
			return
		}
	}
}

func joinCgroup() {
	if *dir == "" {
		return
	}
	protocol.Check(os.WriteFile(*dir+"/cgroup.procs", []byte("0"), 0))
}

func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// ---- fsync

func openFile() {
	cmd := exec.Command("/proc/self/exe", "-case", "be-slow")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	path := slowfs.Start(cmd, func(cmd *exec.Cmd) {
		runtime.LockOSThread() // the signal comes when the thread ends
		protocol.Check(cmd.Start())
	})
	file = protocol.Must(os.Open(path))
}

//go:noinline
func save() {
	protocol.Check(file.Sync())
}

// ---- throttle

//go:noinline
func compute() {
	burn(4 * time.Millisecond)
}

// ---- convoy

//go:noinline
func update() {
	lock.Lock()
	defer lock.Unlock()
	burn(500 * time.Microsecond)
}

// ---- assist

func fillHeap() {
	debug.SetGCPercent(4)
	for i := 0; i < 1<<21; i++ {
		n := &node{}
		for k := range n.next {
			if i > 0 {
				n.next[k] = heap[(i*7919+k*104729)%i]
			}
		}
		heap = append(heap, n)
	}
}

//go:noinline
func allocate() {
	for i := 0; i < 20000; i++ {
		spare[i%len(spare)].Store(&node{})
	}
}

// ---- watched

//go:noinline
func watched() {
	ended, result := make(chan bool), make(chan bool)
	for i := 0; i < 3; i++ {
		go watchdog(ended)
	}
	go fetch(result)
	<-result
	close(ended)
}

//go:noinline
func watchdog(ended chan bool) {
	select {
	case <-ended:
	case <-time.After(time.Minute):
	}
}

//go:noinline
func fetch(result chan bool) {
	start := time.Now()
	time.Sleep(20 * time.Millisecond)
	slept.Add(time.Since(start).Nanoseconds())
	result <- true
}

// ---- random

//go:noinline
func draw() {
	const getrandom = 318
	for size := len(random); size > 0; { // a signal ends it before
		n, _, errno := syscall.Syscall(getrandom, uintptr(unsafe.Pointer(&random)), uintptr(size), 0)
		if errno != 0 && errno != syscall.EINTR {
			protocol.Fail(errno)
		}
		if errno == 0 {
			size -= int(n)
		}
	}
}

// ---- pool

const workers = 100

// pool gives one worker at a time a hundredth of the duration, so that each computes for a thousandth.
func pool(duration time.Duration) {
	work, done := make(chan bool), make(chan bool)
	for i := 0; i < workers; i++ {
		go computesRarely(work, done, duration/1000)
	}
	for i, start := 0, time.Now(); i < workers; i++ {
		time.Sleep(time.Until(start.Add(time.Duration(i) * duration / workers)))
		work <- true
		<-done
	}
	close(work)
}

func computesRarely(work, done chan bool, d time.Duration) {
	for range work {
		runtime.LockOSThread()
		before := cpuTime(clockThread)
		for cpuTime(clockThread)-before < d.Nanoseconds() {
			spin()
		}
		worked.Add(cpuTime(clockThread) - before)
		runtime.UnlockOSThread()
		done <- true
	}
}

//go:noinline
func spin() {
	for i := 0; i < 10000; i++ {
	}
}

const (
	clockProcess = 2
	clockThread  = 3
)

// cpuTime is the time on a CPU by that clock, in ns.
func cpuTime(clock uintptr) int64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
