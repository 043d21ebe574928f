// Overdue makes goroutines, threads or the whole program wait for a given time, for the triggers of the
// flight recorder: once for each line that it reads after it has printed "begun", until the line "done".
//
//	overdue -case NAME [-for D]
//
// Cases: runnable (next to a goroutine that keeps the only P), blocked (on a channel), syscall
// (nanosleep), stw (while a thread is in a long loop that cannot be preempted), gc (of a large
// heap), runqueue (next to processes that use the CPU, on one CPU), goroutines (many for a moment), heap
// (a large slice for a moment), quiet (waits of all kinds, network and timers included, that are short,
// or that do not count).
//
// Requires GODEBUG=asyncpreemptoff=1, see package clocks. It speaks the handshake of package protocol;
// the done line is {"waits":[{"from":ns,"to":ns}...]}: when each was provoked, and when it was over, by
// CLOCK_MONOTONIC.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

type wait struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

var length = flag.Duration("for", 50*time.Millisecond, "how long each wait takes")

var cases = map[string]struct {
	procs   int
	prepare func()
	provoke func()
}{
	"runnable":   {1, nil, keepTheP},
	"blocked":    {2, nil, block},
	"syscall":    {2, nil, call},
	"stw":        {2, nil, stopTheWorld},
	"gc":         {2, growHeap, runtime.GC},
	"runqueue":   {1, compete, runThread},
	"goroutines": {2, nil, createMany},
	"heap":       {2, nil, allocate},
	"quiet":      {2, nil, shortWaits},
}

// busy computes without a point at which it can be preempted: see package clocks.
//
//go:nosplit
func busy(d time.Duration) {
	for end := clocks.Wall() + int64(d); clocks.Wall() < end; {
		clocks.Burn()
	}
}

// keepTheP lets another goroutine wait for the only P.
func keepTheP() {
	done := make(chan int, 1)
	go func() { done <- 1 }()
	busy(*length)
	<-done
}

//go:noinline
func waiter(done <-chan int) { <-done }

func block() { blockFor(*length) }

func blockFor(d time.Duration) {
	done := make(chan int)
	go waiter(done)
	time.Sleep(d)
	done <- 1
}

// call makes a system call that the runtime is informed about.
func call() { callFor(*length) }

func callFor(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// stopTheWorld has to wait for the other goroutine, which does not stop. On a busy machine that may be over
// before the pause begins: then it tries again.
func stopTheWorld() {
	for waited := time.Duration(0); waited < *length*3/4; {
		var group sync.WaitGroup
		var runs, stops atomic.Bool
		group.Add(1)
		go func() {
			runs.Store(true)
			for !stops.Load() {
			}
			busy(*length)
			group.Done()
		}()
		for !runs.Load() {
			runtime.Gosched()
		}
		var stats runtime.MemStats
		begin := time.Now()
		stops.Store(true)
		runtime.ReadMemStats(&stats)
		waited = time.Since(begin)
		group.Wait()
	}
}

type node struct{ next, other *node }

var heap *node

// growHeap makes a collection take long: a list is marked by one worker, element by element.
func growHeap() {
	debug.SetGCPercent(-1)
	for i := 0; i < 1<<20; i++ {
		heap = &node{heap, heap}
	}
}

func compete() {
	runtime.LockOSThread() // the children end with this thread
	var mask [16]uint64
	mask[0] = 1
	syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	for i := 0; i < 6; i++ {
		cmd := exec.Command("/proc/self/exe", "-case", "competitor")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		protocol.Check(cmd.Start())
	}
}

// runThread uses the CPU for longer than the kernel lets a thread have it next to others.
func runThread() { busy(*length) }

func createMany() {
	var group sync.WaitGroup
	end := make(chan int)
	for i := 0; i < 1000; i++ {
		group.Add(1)
		go func() {
			<-end
			group.Done()
		}()
	}
	close(end)
	group.Wait()
}

var large []byte

func allocate() {
	large = make([]byte, 64<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	large = nil
	runtime.GC()
}

// shortWaits has long waits of network and timer, and a short one of each other kind.
func shortWaits() {
	listener := protocol.Must(net.Listen("tcp", "127.0.0.1:0"))
	done := make(chan int)
	go func() {
		if c, err := listener.Accept(); err == nil {
			c.Close()
		}
		done <- 1
	}()
	time.Sleep(*length * 2)
	listener.Close()
	<-done
	blockFor(time.Millisecond)
	callFor(time.Millisecond)
}

func main() {
	name := flag.String("case", "", "what to do")
	flag.Parse()
	if *name == "competitor" {
		for {
			clocks.Burn()
		}
	}
	c, ok := cases[*name]
	if !ok {
		protocol.Fail(fmt.Errorf("no case %q", *name))
	}
	runtime.GOMAXPROCS(c.procs)
	if c.prepare != nil {
		c.prepare()
	}
	protocol.Ready()
	fmt.Println("begun") // what follows is read here
	waits := []wait{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && lines.Text() != "done" {
		w := wait{From: clocks.Wall()}
		c.provoke()
		w.To = clocks.Wall()
		waits = append(waits, w)
	}
	protocol.Done(map[string]any{"waits": waits})
}
