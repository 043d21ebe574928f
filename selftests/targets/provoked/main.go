// Provoked has a task of package runtime/trace per request, and makes some requests slow for one known
// reason:
//
//	provoked -case NAME [-duration D] [-cgroup DIR]
//
// Cases: fsync (of a file in a slow file system), throttle (a CPU quota
// of the cgroup), convoy (a lock that each request holds while it computes), assist
// (allocation next to a large heap, so that requests have to mark), watched (a goroutine that sleeps, while
// watchdogs wait for the end of the request, on which nobody waits).
//
// It speaks the handshake of package protocol; the done line is {"requests":N,"longest_ns":N,"slept_ns":N}, as
// the program has measured them; slept_ns is the sum of what requests slept in the case "watched".
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

	"gotrace-bpf/selftests/targets/internal/protocol"
	"gotrace-bpf/selftests/targets/internal/slowfs"
)

// scenario has what its requests use.
type scenario struct {
	procs    int
	clients  int
	prepare  func()
	request  func()
	requests atomic.Int64
	longest  atomic.Int64
}

var (
	dir   = flag.String("cgroup", "", "run in the cgroup of `DIR`")
	file  *os.File
	lock  sync.Mutex
	heap  []*node
	spare [64]atomic.Pointer[node]
	slept atomic.Int64
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
	s.work(*duration)
	protocol.Done(map[string]any{"requests": s.requests.Load(), "longest_ns": s.longest.Load(), "slept_ns": slept.Load()})
}

func (s *scenario) work(duration time.Duration) {
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
